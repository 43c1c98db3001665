"""The prose of docstrings, in the three styles that people write."""

from __future__ import annotations

import inspect

import pytest

from graphflow.tools.docstring import Description, parse_docstring


def google() -> None:
    """Find the orders of
    a customer.

    Never twice: it is slow.

    Args:
        email: the mail address:
            in lower case.
        limit (int, optional): how many. Defaults to 3.
        *rest: more.

    Returns:
        The orders.
    """


def numpy() -> None:
    """Find the orders of
    a customer.

    Never twice: it is slow.

    Parameters
    ----------
    email : str
        the mail address:
        in lower case.
    limit : int, optional
        how many. Defaults to 3.
    *rest
        more.

    Returns
    -------
    list
        The orders.
    """


def rest() -> None:
    """Find the orders of
    a customer.

    Never twice: it is slow.

    :param email: the mail address:
        in lower case.
    :type email: str
    :param int limit: how many. Defaults to 3.
    :param rest: more.
    :returns: the orders.
    """


@pytest.mark.parametrize("func", [google, numpy, rest])
def test_each_style_says_the_same(func: object) -> None:
    """The summary is the first paragraph on one line; a parameter's words are on one line too."""
    assert parse_docstring(inspect.getdoc(func) or "") == Description(
        "Find the orders of a customer.",
        {"email": "the mail address: in lower case.", "limit": "how many. Defaults to 3.", "rest": "more."},
    )


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("", ""),
        ("Do it.", "Do it."),
        ("Do it: now.", "Do it: now."),
        ("Do it.\n\n:param", "Do it."),
        ("Do it.\n\n:param x y z w: too many words", "Do it."),
        ("Do it.\n\nArgs:\n", "Do it."),
        ("Do it.\n\nArgs:\nnot indented", "Do it."),
        ("Do it.\n\nArgs:\n    without a colon", "Do it."),
    ],
)
def test_prose_of_no_style_is_no_error(text: str, summary: str) -> None:
    """What breaks the rules of a style still has its first paragraph."""
    assert parse_docstring(text).summary == summary


def test_a_parameter_without_words_is_left_out() -> None:
    """An entry that says nothing is as good as none."""
    assert parse_docstring("Do it.\n\n:param x:\n:param y: why").parameters == {"y": "why"}
