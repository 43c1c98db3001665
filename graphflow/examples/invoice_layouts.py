"""Read an invoice from the text of an e-mail, in one of three layouts.

**Labelled lines**, a line for each thing. An item is `Line`, `Item` or `Credit` (which takes off), or stands under
`Items:`; headings and greetings around are skipped::

    Vendor: Northwind Traders           or Supplier, Seller
    PO number: PO-1001                  or PO, Purchase order, Order number
    Line: PAPER-A4, 12 x 4.50           or `12 x PAPER-A4 at 4.50`; `= 54.00` may follow
    Total: EUR 54.00                    or Total due, Amount due, Grand total

**A table** with a header row: what (SKU, Item, Article, Product), how many (Qty, Quantity), price of one (Unit price,
Price) and, if there is one, the amount. Columns are parted by two spaces, tabs or bars; vendor, order and total are
labelled as above::

    SKU         Qty   Unit price
    PAPER-A4     12         4.50

**Prose**: `invoice 77 from VENDOR for purchase order NUMBER`; items as `12 x PAPER-A4 at 4.50 each` or `12 boxes of
PAPER-A4 at 4.50 each`, with `less`, `minus` or `credit of` before what is taken off; `the total is EUR 54.00`. An
amount that belongs to nothing makes the text unreadable.

Numbers and currencies are those of `invoice_amounts`. Anything else is unreadable, and `problem` says why. Nothing here
raises, and a long text takes no more than a moment: every pattern looks at a bounded stretch.
"""

from __future__ import annotations

import re

from graphflow.examples.invoice_amounts import MINUS, parse_amount
from graphflow.examples.invoice_data import Invoice
from graphflow.examples.invoice_draft import Draft, Unreadable, label_of, shown
from graphflow.examples.invoice_prose import read_prose
from graphflow.examples.invoice_table import read_table

_LONGEST_TEXT = 100_000
_LONGEST_ITEM = 300
_DAMAGE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufffd\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_BULLET = re.compile(r"[-*\u2022] (.*)")
_ITEM_LABEL = re.compile(r"(line|item|credit)(?: ?#?[0-9]{1,4})?", re.IGNORECASE)
_LISTS = ("items", "lines", "line items", "positions")
_QUANTITY = rf"[{MINUS}]?[0-9][0-9,.']{{0,20}}"
_PRICE = r"([^=]+?)(?: (?:each|apiece|a piece|per unit|per piece))?(?: ?= ?([^=]+))?"
_COUNT_FIRST = re.compile(rf"({_QUANTITY}) ?(?:[x\u00d7] |\w{{1,20}} of )(.+) (?:at|@) {_PRICE}", re.IGNORECASE)
_CUT_COUNT = re.compile(r"[,;:|] ?[0-9]{1,3}$")
_SKU_FIRST = re.compile(
    rf"(.+) ({_QUANTITY})(?: (?:units?|pcs|pieces?))? ?(?:[x\u00d7@]|at(?= )) ?{_PRICE}", re.IGNORECASE
)


def read_invoice(text: str) -> Invoice:
    """Read an invoice.

    Args:
        text: an e-mail, or the invoice alone; any text will do.

    Returns:
        The invoice; what it does not say is left empty. If the text is in none of the layouts, or contradicts itself,
        an invoice with nothing but `problem`.
    """
    try:
        return _read(text).finish()
    except Unreadable as reason:
        return Invoice(problem=str(reason))


def _read(text: str) -> Draft:
    if not text.strip():
        raise Unreadable("it is empty")
    if len(text) > _LONGEST_TEXT:
        raise Unreadable(f"it has {len(text):,} characters, too many for an invoice")
    if _DAMAGE.search(text):
        raise Unreadable("it holds control characters or is damaged")
    lines = text.removeprefix("\ufeff").splitlines()
    table = read_table(lines)
    if table is not None:
        return table
    labelled = _read_labelled(lines)
    if labelled.lines:
        return labelled
    prose = read_prose(lines)
    if prose.lines:
        return prose
    if labelled.names or labelled.total is not None:
        return labelled
    raise Unreadable("it is neither labelled lines, nor a table with a header row, nor sentences that name items")


def _read_labelled(lines: list[str]) -> Draft:
    draft = Draft()
    listing = False
    for raw in lines:
        line = " ".join(raw.split())
        if not line:
            listing = listing and not draft.lines
            continue
        name, value = label_of(line) or ("", "")
        item = _ITEM_LABEL.fullmatch(name)
        if item is not None:
            _take(draft, value, credit=item[1].casefold() == "credit")
        elif name.casefold() in _LISTS and not value:
            listing = True
        elif draft.labelled(name, value):
            listing = False
        elif listing and any(character.isalnum() for character in line):
            _take(draft, line)
    return draft


def _take(draft: Draft, text: str, *, credit: bool = False) -> None:
    bullet = _BULLET.fullmatch(text)
    item = bullet[1] if bullet is not None else text
    if len(item) <= _LONGEST_ITEM:
        if found := _COUNT_FIRST.fullmatch(item):
            quantity, sku, price, amount = found.groups()
        elif found := _SKU_FIRST.fullmatch(item):
            sku, quantity, price, amount = found.groups()
        else:
            raise Unreadable(f"its line {shown(text)} is not written as `PAPER-A4, 12 x 4.50`")
        asked = parse_amount(price)
        if credit and asked is not None and asked.value > 0 and quantity[0] not in MINUS:
            quantity = f"-{quantity}"
        cut = _CUT_COUNT.search(sku) is not None  # `PEN, 1 000 x 4.50`: the name would take the thousands
        if not cut and draft.line(sku.strip(" ,;:|"), quantity, price, amount or ""):
            return
    raise Unreadable(f"its line {shown(text)} is not written as `PAPER-A4, 12 x 4.50`")
