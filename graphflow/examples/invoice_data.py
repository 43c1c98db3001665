"""What the invoice example is about: invoices, known vendors and purchase orders.

The tables are files beside this module, so that the example can be changed without code::

    vendors()["northwind traders"].risk      # "LOW"
    orders()["po-1001"].lines                # what was ordered

Amounts are decimals throughout; a float never comes near them. This module knows no layout and no model.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Iterator, Mapping
from decimal import Decimal, localcontext
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Amount = Annotated[Decimal, Field(max_digits=18)]
Sample = Literal["approved", "transposed", "malformed"]


class Line(BaseModel):
    """One line of an invoice or an order; a credit has a negative quantity or price.

    Attributes:
        sku: what is charged for.
        quantity: how many.
        unit_price: price of one.
        amount: the line's amount as the invoice states it, None if it does not.
    """

    model_config = ConfigDict(frozen=True)

    sku: str
    quantity: Amount
    unit_price: Amount
    amount: Amount | None = None

    @property
    def worth(self) -> Decimal:
        """Quantity times price, exactly."""
        with localcontext(prec=40):
            return self.quantity * self.unit_price


class Invoice(BaseModel):
    """An invoice as it was read.

    Attributes:
        vendor: who sent it, empty if it does not say.
        po_number: the purchase order it is for, empty if it does not say.
        currency: three-letter code, empty if it does not say.
        lines: what is charged for, in order.
        total: the total as stated, None if it states none.
        problem: why the text could not be read; None if it could. The rest is empty then.
    """

    model_config = ConfigDict(frozen=True)

    vendor: str = ""
    po_number: str = ""
    currency: str = ""
    lines: tuple[Line, ...] = ()
    total: Amount | None = None
    problem: str | None = None


class Vendor(BaseModel):
    """A vendor we know: its name, its risk and why."""

    model_config = ConfigDict(frozen=True)

    vendor: str
    risk: Literal["LOW", "MEDIUM", "HIGH"]
    note: str


class Order(BaseModel):
    """A purchase order: what was ordered from whom, in which currency."""

    model_config = ConfigDict(frozen=True)

    po_number: str
    vendor: str
    currency: str
    lines: tuple[Line, ...]


def folded(name: str) -> str:
    """Give the form in which two spellings of a name are equal: compatible characters, case and spaces do not count."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def money(value: Decimal) -> str:
    """Write an amount with thousands separators and at least two decimals, without rounding it."""
    with localcontext(prec=60):
        exponent = value.as_tuple().exponent
        exact = value if isinstance(exponent, int) and exponent < -2 else value.quantize(Decimal("0.01"))
    return f"{exact:,f}"


def plain(value: Decimal) -> str:
    """Write a count without needless zeros."""
    return f"{value.normalize():f}"


@cache
def vendors() -> Mapping[str, Vendor]:
    """Read the known vendors: folded name -> vendor."""
    return {folded(row["vendor"]): Vendor.model_validate(row) for row in _rows("vendors.csv")}


@cache
def orders() -> Mapping[str, Order]:
    """Read the purchase orders, one row for each of their lines: folded number -> order."""
    lines: dict[tuple[str, str, str], list[Line]] = {}
    for row in _rows("orders.csv"):
        line = Line(sku=row["sku"], quantity=Decimal(row["quantity"]), unit_price=Decimal(row["unit_price"]))
        lines.setdefault((row["po_number"], row["vendor"], row["currency"]), []).append(line)
    return {
        folded(number): Order(po_number=number, vendor=vendor, currency=currency, lines=tuple(ordered))
        for (number, vendor, currency), ordered in lines.items()
    }


def table(name: Literal["vendors", "orders"]) -> str:
    """Give a table as it can stand in a prompt: comma-separated, the names of its columns first.

    Args:
        name: which one.

    Returns:
        The text.
    """
    return _text(f"{name}.csv").strip()


def sample(name: Sample) -> str:
    """Give the text of an invoice e-mail that ships with the example.

    Args:
        name: "approved", "transposed" (its total has two digits swapped) or "malformed" (it cannot be read).

    Returns:
        The text.
    """
    return _text(f"invoice_{name}.txt")


def _rows(name: str) -> Iterator[dict[str, str]]:
    return csv.DictReader(_text(name).splitlines())


def _text(name: str) -> str:
    return (files("graphflow.examples") / "data" / name).read_text(encoding="utf-8")
