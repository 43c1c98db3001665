"""What a docstring says about a function and its parameters, in the Google, numpy and reST styles.

::

    parse_docstring(inspect.getdoc(find)).parameters        # {"email": "in lower case."}

Parsing is `docstring_parser`'s business; this module knows no signatures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Description:
    """The prose of a docstring.

    Attributes:
        summary: its first paragraph, on one line; "" if there is none.
        parameters: parameter name -> what it is for; parameters that are not described are missing.
    """

    summary: str
    parameters: Mapping[str, str]


def parse_docstring(text: str) -> Description:
    """Read a docstring; the style is recognised.

    Args:
        text: the docstring, indentation removed (`inspect.getdoc`).

    Returns:
        Its summary and the descriptions of parameters; of a docstring that breaks the rules of every style only the summary.
    """
    import docstring_parser  # only pipelines with tools need it

    try:
        found = docstring_parser.parse(text)
    except docstring_parser.ParseError:
        return Description(_line(text.partition("\n\n")[0]), {})
    parameters = {each.arg_name.lstrip("*"): _line(each.description or "") for each in found.params}
    summary = _line((found.description or "").partition("\n\n")[0])
    return Description(summary, {name: prose for name, prose in parameters.items() if prose})


def _line(text: str) -> str:
    return " ".join(text.split())
