"""Read an invoice from the text of an e-mail, in one of three layouts.

**Labelled lines**, a line for each thing; headings and greetings around are skipped::

    Vendor: Northwind Traders           or Supplier, Seller
    PO number: PO-1001                  or PO, Purchase order, Order number
    Line: PAPER-A4, 12 x 4.50           or `12 x PAPER-A4 at 4.50`; `= 54.00` may follow
    Credit: PAPER-A4, 1 x 4.50          takes off
    Total: EUR 49.50                    or Total due, Amount due, Grand total

Items may also stand under `Items:`, without a label once the vendor or the order is named, or in labels of their own
(`SKU: PAPER-A4`, `Qty: 12`, `Unit price: 4.50`, on one line or several).

**A table** with a header row: what (SKU, Item, Article, Product), how many (Qty, Quantity), price of one (Unit price,
Price) and, if there is one, the amount. Columns are parted by two spaces, tabs or bars; vendor, order and total are
labelled as above::

    SKU         Qty   Unit price
    PAPER-A4     12         4.50

**Prose**: `invoice 77 from VENDOR for purchase order NUMBER`, `VENDOR is billing you` or `this is VENDOR`; items as
`12 x PAPER-A4 at 4.50`, `12 boxes of PAPER-A4 at 4.50 each` or `12 reams at 4.50 each`, with `less`, `minus` or `credit
of` before what is taken off; `the total is EUR 54.00`. An amount that belongs to nothing makes the text unreadable.

Numbers and currencies are those of `invoice_amounts`. Anything else is unreadable, and `problem` says why. Nothing here
raises, and a long text takes no more than a moment: every pattern looks at a bounded stretch.
"""

from __future__ import annotations

import re

from graphflow.examples.invoice_data import Invoice
from graphflow.examples.invoice_draft import Draft, Unreadable
from graphflow.examples.invoice_labelled import read_labelled
from graphflow.examples.invoice_prose import read_prose
from graphflow.examples.invoice_table import read_table

_LONGEST_TEXT = 100_000
_DAMAGE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufffd\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


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
    labelled = read_labelled(lines)
    if labelled.lines:
        return labelled
    prose = read_prose(lines)
    if prose.lines:
        return prose
    if labelled.names or labelled.total is not None:
        return labelled
    raise Unreadable("it is neither labelled lines, nor a table with a header row, nor sentences that name items")
