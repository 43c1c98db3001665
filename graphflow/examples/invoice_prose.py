"""The prose layout of an invoice: sentences that name vendor, order, items and total.

::

    Please find attached invoice 77 from Northwind Traders for purchase order PO-1001: 12 x PAPER-A4 at 4.50 each,
    2 boxes of PEN-BLUE at 30.00 each, less 1 x PAPER-A4 at 4.50. The total is EUR 109.50.

Paragraphs may be wrapped anywhere. Every amount has to belong to an item or to the total, so that nothing is passed
over in silence.
"""

from __future__ import annotations

import re
from itertools import groupby

from graphflow.examples.invoice_amounts import CURRENCY, MINUS, parse_amount
from graphflow.examples.invoice_draft import Draft, Unreadable, shown

_NUMBER = r"(?:[0-9]{1,3}(?: [0-9]{3}){1,3}(?:[.,][0-9]{1,6})?(?![0-9])|[0-9](?:[0-9,.'\u2019]{0,20}[0-9])?)"
_AFTER = rf" ?{CURRENCY}(?!\w)"
_BARE = rf"[{MINUS}]? ?(?:{CURRENCY} ?)?[{MINUS}]?{_NUMBER}(?:{_AFTER})?"
_MONEY = rf"(?:\({_BARE}\)|{_BARE})"
_EACH = r" (?:each|apiece|a piece|per unit|per piece)"
# A price that is one beyond doubt: with a currency, with `each`, or with cents.
_PLAINLY = rf"(?=\(?[{MINUS}]? ?(?:{CURRENCY}|{_NUMBER}(?:{_AFTER}|{_EACH})|[0-9,']{{1,20}}\.[0-9]{{2}}(?!\d)))"
_COUNT = rf"(?<![\w.,'/#-])([{MINUS}]?[0-9](?:[0-9,.']{{0,20}}[0-9])?)"
_OF = r"(?:[x\u00d7] |(?:[^\W\d_]{1,20} )?of )"
_ITEM = re.compile(
    rf"(?:\b(less|minus|(?:credit|refund) (?:of|for))\b (?:a |the )?)?{_COUNT} ?(?:"
    rf"{_OF}([^\n]{{1,80}}?) (?:at|@) ({_MONEY})|((?:(?! [0-9])[^\n,;:]){{1,40}}?) (?:at|@) {_PLAINLY}({_MONEY})"
    rf")(?:{_EACH})?",
    re.IGNORECASE,
)
_SECOND_ITEM = re.compile(r"[0-9] ?[x\u00d7] ")
_ORDER = r"(?:purchase order|order|PO)"
_ORDER_NUMBER = re.compile(
    rf"(?<!\w)(?:{_ORDER}(?: (?:number|no\.?|nr\.?))?:? #?(?=[\w./-]{{0,40}}[0-9])(\w[\w./-]{{0,40}})"
    r"|(PO-\w[\w./-]{0,40}))",
    re.IGNORECASE,
)
_FROM = r"\b(?:invoice|bill)(?: (?:number|no\.?|nr\.?))?(?: [\w#./-]{1,40})? from "
_BILLS = r"(?:is |are )?(?:hereby )?(?:bills?|billing|invoices?|invoicing|charges?|charging) you\b"
_VENDORS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_FROM}([^\n]{{1,120}}?)(?:,? (?:for|against|on|under|regarding)|,) (?:your |our |the )?{_ORDER}(?!\w)",
        rf"{_FROM}([^\n,;:]{{1,80}}?)(?:\.?\n|\. )",
        rf"(?:^|[.!?,:;] |\n)([^\n.!?,:;]{{1,80}}?) (?:here\.|{_BILLS})",
        r"\b(?:this is|we are) (?!(?:our|the|an?|your|invoice|to|in)\b)([^\n.!?,:;]{1,80}?)(?:[.,]| with| and) ",
    )
]
_TOTAL = re.compile(
    r"\btotal(?: (?:amount|due|price|sum|payable|to pay)){0,3}(?: (?:of|is|comes to|amounts to|being|at|will be))?:? "
    rf"({_MONEY})|({_MONEY}) in total\b",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    rf"(?<!\w){CURRENCY} ?[0-9][0-9,.']{{0,20}}|[0-9] ?{CURRENCY}(?!\w)"
    r"|(?<![\w.,])[0-9][0-9,']{0,20}[.,][0-9]{2}(?![.,]?\w)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[^\W\d_]{5,}[.!?] |[!?;] ")
_PRONOUNS = ("we", "i", "us", "our", "they")
_MAIL_HEADER = re.compile(r"(?:from|to|cc|bcc|subject|date|sent|reply-to): ?", re.IGNORECASE)


def read_prose(lines: list[str]) -> Draft:
    """Read an invoice written in sentences.

    Args:
        lines: the text.

    Returns:
        What was read; without lines if it names no items.

    Raises:
        Unreadable: it names items, but an amount belongs to nothing or the text contradicts itself.
    """
    text = "\n".join(_paragraphs(lines))
    draft = Draft()
    rest = _ITEM.sub(lambda found: _take_item(draft, found), text)
    if not draft.lines:
        return draft
    candidates = (pattern.search(rest) for pattern in _VENDORS)
    vendor = next((found for found in candidates if found is not None and _is_name(found[1])), None)
    if vendor is not None:
        draft.name("vendor", vendor[1])
        rest = rest[: vendor.start(1)] + rest[vendor.end(1) :]
    for found in _ORDER_NUMBER.finditer(rest):
        draft.name("po_number", (found[1] or found[2]).rstrip("./-"))
    rest = _TOTAL.sub(lambda found: _take_total(draft, found), _ORDER_NUMBER.sub("\n", rest))
    loose = _LOOSE.search(rest)
    if loose is not None:
        raise Unreadable(f"its amount {shown(loose[0])} belongs to no item and is not the total")
    return draft


def _is_name(text: str) -> bool:
    return _SENTENCE_END.search(text) is None and text.casefold() not in _PRONOUNS


def _paragraphs(lines: list[str]) -> list[str]:
    start = 0
    while start < len(lines) and _MAIL_HEADER.match(lines[start]):
        start += 1
    blocks = groupby(lines[start:], key=lambda line: bool(line.strip()))
    return [" ".join(" ".join(block).split()) for filled, block in blocks if filled]


def _take_item(draft: Draft, found: re.Match[str]) -> str:
    credit, quantity = found[1], found[2]
    sku, price = found[3] or found[5], found[4] or found[6]
    if _SECOND_ITEM.search(sku):
        raise Unreadable(f"its item {shown(found[0])} names two items and one price")
    asked = parse_amount(price)
    if credit and asked is not None and asked.value > 0 and quantity[0] not in MINUS:
        quantity = f"-{quantity}"
    if not draft.line(sku, quantity, price):
        raise Unreadable(f"its item {shown(found[0])} is not written as `12 x PAPER-A4 at 4.50 each`")
    return "\n"


def _take_total(draft: Draft, found: re.Match[str]) -> str:
    total = parse_amount(found[1] or found[2])
    if total is None:
        raise Unreadable(f"its total {shown(found[0])} is no amount")
    draft.set_total(total)
    return "\n"
