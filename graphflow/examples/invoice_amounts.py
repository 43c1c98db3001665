"""Numbers and amounts of money as people write them.

::

    parse_amount("-€1,234.50")       # Amount(Decimal("-1234.50"), "EUR", ".")
    parse_amount("(12,50 CHF)")      # Amount(Decimal("-12.50"), "CHF", ",")
    parse_amount("1,2345")           # None: no way to write a number

Thousands are grouped by commas, points, apostrophes or spaces, and the decimal sign is a point or a comma. A single
group after a comma is thousands (`1,234` is 1234) and after a point decimals (`1.234` is less than 2); which decimal
sign a number proves is part of the result, so that a reader can refuse an invoice that uses both. `$` is the US
dollar and `¥` the yen; other dollars and the yuan are named by their codes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

DecimalSign = Literal["", ".", ","]

SYMBOLS = {"US$": "USD", "€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY"}
CODES = ("EUR", "USD", "GBP", "CHF", "JPY", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "CAD", "AUD", "NZD", "INR", "CNY")
MINUS = "-\u2212\u2013"
CURRENCY = "(?:" + "|".join([*map(re.escape, SYMBOLS), *CODES]) + ")"

_LONGEST = 48
_MOST_DIGITS = 16
_PLAIN = re.compile(r"[0-9]+")
_POINT = re.compile(r"(?:[0-9]+|[0-9]{1,3}([,' ])[0-9]{3}(?:\1[0-9]{3})*)\.[0-9]+")
_COMMA = re.compile(r"(?:[0-9]+|[0-9]{1,3}([.' ])[0-9]{3}(?:\1[0-9]{3})*),[0-9]{1,2}")
_GROUPED = re.compile(r"[0-9]{1,3}([,.' ])[0-9]{3}(?:\1[0-9]{3})*")
_AMOUNT = re.compile(
    rf"(?P<open>\()?(?P<outer>[{MINUS}])? ?(?P<before>{CURRENCY})? ?(?P<inner>[{MINUS}])? ?"
    rf"(?P<number>[0-9](?:[0-9,.' ]*[0-9])?) ?(?P<after>{CURRENCY})?(?P<close>\))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with what its writing tells.

    Attributes:
        value: the number.
        currency: three-letter code, empty if none is written.
        decimal_sign: the decimal sign that the writing proves, empty if it would read alike with either.
    """

    value: Decimal
    currency: str = ""
    decimal_sign: DecimalSign = ""


def currency_code(text: str) -> str:
    """Give the three-letter code for a currency's symbol or code, empty if it is neither."""
    upper = text.strip().upper()
    return SYMBOLS.get(upper, upper if upper in CODES else "")


def parse_amount(text: str) -> Amount | None:
    """Read a number: with or without sign, currency and thousands separators; in parentheses it is negative.

    Args:
        text: the number and nothing else, at most 48 characters and 16 digits.

    Returns:
        The number, None if the text is none.
    """
    if len(text) > _LONGEST:
        return None
    found = _AMOUNT.fullmatch(" ".join(text.replace("\u2019", "'").split()))
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    minuses = [group for group in ("open", "outer", "inner") if found[group]]
    before, after = currency_code(found["before"] or ""), currency_code(found["after"] or "")
    number = _parse_number(found["number"])
    if number is None or len(minuses) > 1 or (before and after and before != after):
        return None
    value, sign = number
    return Amount(-value if minuses else value, before or after, sign)


def _parse_number(text: str) -> tuple[Decimal, DecimalSign] | None:
    if sum(character.isdigit() for character in text) > _MOST_DIGITS:
        return None
    if _PLAIN.fullmatch(text):
        return Decimal(text), ""
    if _POINT.fullmatch(text):
        return Decimal(re.sub(r"[,' ]", "", text)), "."
    if _COMMA.fullmatch(text):
        return Decimal(re.sub(r"[.' ]", "", text).replace(",", ".")), ","
    grouped = _GROUPED.fullmatch(text)
    if grouped is None:
        return None
    signs: dict[str, DecimalSign] = {",": ".", ".": ","}
    return Decimal(re.sub(r"[,.' ]", "", text)), signs.get(grouped[1], "")
