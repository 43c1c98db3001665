"""Whatever number is written in one of the ways the module names is read back exactly; anything else is no number."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow.examples.invoice_amounts import CODES, SYMBOLS, currency_code, parse_amount

amounts = st.decimals(min_value=-9_999_999, max_value=9_999_999, places=2)
SEPARATORS = {",": ".", "'": ".", " ": ".", "": ".", ".": ","}


def written(value: Decimal, separator: str, point: str) -> str:
    """Write an amount without sign, grouped by `separator`, with `point` before the decimals."""
    return f"{abs(value):,.2f}".replace(",", "\0").replace(".", point).replace("\0", separator)


@given(amounts, st.sampled_from(sorted(SEPARATORS)), st.sampled_from(["-", "\u2212", "()"]))
def test_amounts_are_read_back_exactly(value: Decimal, separator: str, minus: str) -> None:
    """Separator, sign and parentheses do not change the value, and the decimal sign is recognised."""
    point = SEPARATORS[separator]
    text = written(value, separator, point)
    if value < 0:
        text = f"({text})" if minus == "()" else minus + text
    found = parse_amount(text)
    assert found is not None
    assert (found.value, found.decimal_sign) == (value, point)


@given(amounts, st.sampled_from([*SYMBOLS, *CODES]), st.booleans(), st.booleans(), st.booleans())
def test_currencies_may_stand_on_either_side(value: Decimal, mark: str, ahead: bool, spaced: bool, inner: bool) -> None:
    """`EUR 5`, `5 EUR`, `-$5` and `$-5` all give the currency's code and the value."""
    space = " " if spaced else ""
    sign, number = "-" if value < 0 else "", written(value, ",", ".")
    before = f"{mark}{space}{sign}{number}" if inner else f"{sign}{mark}{space}{number}"
    found = parse_amount(before if ahead else f"{sign}{number}{space}{mark}")
    assert found is not None
    assert (found.value, found.currency) == (value, currency_code(mark))


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "x", "1.2.3", "1,2345", "12,34,567", "1,234.50.1", "1'234,567.0", "--5", "(-5)", "(5", "5)"),
        *("EUR 5 USD", "1e5", "NaN", "٣", "1" * 17, "1" * 100_000, "1 " * 50_000, "5 %", "EUR", "1,23,456.00", "$ $5"),
    ],
)
def test_anything_else_is_no_amount(text: str) -> None:
    """There is no guessing."""
    assert parse_amount(text) is None


@given(st.text(max_size=60) | st.text("0123456789,.'-() $€EURx", max_size=48))
def test_no_text_raises(text: str) -> None:
    """Any text is read or refused, and what is read is finite."""
    found = parse_amount(text)
    assert found is None or found.value.is_finite()
