"""What all layouts share while an invoice is being read: the draft, the labels and the reasons to give up.

Whatever is said twice has to be said alike, all amounts have to be in one currency and written in one way; otherwise
the text is unreadable, which is better than read wrongly::

    draft = Draft()
    draft.labelled("Vendor", "Northwind Traders")     # True: a label that it knows
    draft.labelled("Total (EUR)", "1,234.50")         # True
    draft.labelled("Greetings", "from us all")        # False: not a label of an invoice
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

from graphflow.examples.invoice_amounts import Amount, currency_code, parse_amount
from graphflow.examples.invoice_data import Invoice, Line

VENDOR = ("vendor", "vendor name", "supplier", "supplier name", "seller")
NUMBER = (
    *("po", "po number", "po no", "po no.", "po #", "purchase order", "purchase order number", "purchase order no."),
    *("order", "order number", "order no", "order no."),
)
TOTAL = ("total", "total due", "total amount", "grand total", "invoice total", "amount due", "balance due")
COLUMNS = {
    "position": ("#", "no", "no.", "pos", "pos.", "line"),
    "sku": ("sku", "item", "article", "product", "part", "code", "item code", "part number"),
    "text": ("description", "name"),
    "quantity": ("qty", "qty.", "quantity", "units", "pcs", "count"),
    "price": ("unit price", "price", "price each", "unit cost", "rate", "each"),
    "amount": ("amount", "line total", "line amount", "total", "sum", "net"),
}
ROLES = {name: role for role, names in COLUMNS.items() for name in names}
CHARGES = ("vat", "tax", "sales", "shipping", "freight", "delivery", "handling", "discount", "surcharge", "deposit")
_LABEL = re.compile(r"([^:=]{1,40}?) ?[:=] ?(.*)")
_IN_CURRENCY = re.compile(r"(.*?) ?\(([^()]{1,3})\)")


class Unreadable(Exception):
    """The text is no invoice that the example can read; the message says why."""


@dataclass(slots=True)
class Draft:
    """An invoice while it is being read.

    Attributes:
        names: field of `Invoice` -> what was read for it.
        lines: the lines so far.
        total: the stated total.
        signs: decimal signs that were seen.
    """

    names: dict[str, str] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    total: Decimal | None = None
    signs: set[str] = field(default_factory=set)

    def name(self, field_: str, value: str) -> None:
        """Take a name, a number or a currency; said twice, it has to be the same."""
        known = self.names.setdefault(field_, value)
        if known != value:
            what = {"po_number": "purchase order"}.get(field_, field_)
            raise Unreadable(f"it names more than one {what}, {shown(known)} and {shown(value)}")

    def amount(self, amount: Amount) -> Decimal:
        """Take an amount: its currency and its way of writing bind the whole invoice."""
        if amount.currency:
            self.name("currency", amount.currency)
        if amount.decimal_sign:
            self.signs.add(amount.decimal_sign)
        if len(self.signs) > 1:
            raise Unreadable("it uses both decimal points and decimal commas")
        return amount.value

    def set_total(self, amount: Amount) -> None:
        """Take the total; said twice, it has to be the same."""
        value = self.amount(amount)
        if self.total is not None and self.total != value:
            raise Unreadable(f"it states two totals, {self.total} and {value}")
        self.total = value

    def line(self, sku: str, quantity: str, unit_price: str, amount: str = "") -> bool:
        """Take a line if its parts can be read.

        Args:
            sku: what is charged for.
            quantity: how many, as written; no money.
            unit_price: price of one, as written.
            amount: the line's amount as written, empty if none is.

        Returns:
            Whether it was a line.
        """
        count, price = parse_amount(quantity), parse_amount(unit_price)
        stated = parse_amount(amount) if amount else None
        if not sku or count is None or count.currency or price is None or (amount and stated is None):
            return False
        worth = self.amount(stated) if stated is not None else None
        self.lines.append(Line(sku=sku, quantity=self.amount(count), unit_price=self.amount(price), amount=worth))
        return True

    def labelled(self, label: str, value: str) -> bool:
        """Take what a label names.

        Args:
            label: what stands before the colon.
            value: what stands after it.

        Returns:
            Whether the label is one of an invoice.
        """
        name = label.casefold()
        marked = _IN_CURRENCY.fullmatch(label)
        if marked is not None and currency_code(marked[2]):
            self.name("currency", currency_code(marked[2]))
            name = marked[1].casefold()
        if name in VENDOR and value:
            self.name("vendor", value)
        elif name in NUMBER and value:
            self.name("po_number", value)
        elif name == "currency":
            if not currency_code(value):
                raise Unreadable(f"its currency is {shown(value)}, which is not known")
            self.name("currency", currency_code(value))
        elif name in TOTAL:
            total = parse_amount(value)
            if total is None:
                raise Unreadable(f"its total is {shown(value)}, which is no amount")
            self.set_total(total)
        elif name.partition(" ")[0] in CHARGES and any(character.isdigit() for character in value):
            raise Unreadable(f"it charges {shown(label)} outside its lines")
        else:
            return False
        return True

    def finish(self) -> Invoice:
        """Make the invoice."""
        return Invoice(lines=tuple(self.lines), total=self.total, **self.names)


def label_of(line: str) -> tuple[str, str] | None:
    """Split a line at its first colon or equals sign, if a label of at most 40 characters stands before it."""
    found = _LABEL.fullmatch(" ".join(line.split()))
    return (found[1], found[2]) if found is not None else None


def shown(text: str) -> str:
    """Quote what was read, shortened to what fits a sentence."""
    flat = " ".join(text.split())
    return f"`{flat if len(flat) <= 60 else flat[:57] + '...'}`"
