"""The models of the invoice example: Python functions that really read what they are sent, so that it runs offline.

Each stands where a language model would stand in production and gets nothing but its request, as that one would:

* `READER` reads the e-mail and answers an `Invoice` (see `invoice_layouts` for what it can read);
* `VENDOR_DESK` looks the vendor up and answers `LOW`, `MEDIUM` or `HIGH` with the reason; a vendor that is not in the
  table is MEDIUM;
* `ORDER_DESK` compares with the purchase order and answers `MATCH`, `MISMATCH` with the differing lines, or `HOLD`
  for an order that is not in the table;
* `APPROVER` reads invoice, risk and comparison and answers `REJECT` (high risk), `HOLD` (anything else that is not
  plainly in order: medium risk, a mismatch, an unknown order, words it does not know) or `APPROVE`, then the reasons.

Credits count: quantities of one SKU are added up before they are compared. An invoice that names no currency is taken
to be in the order's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal

from pydantic import ValidationError

from graphflow.examples.invoice_data import Invoice, Line, Order, folded, money, orders, plain, vendors
from graphflow.examples.invoice_layouts import read_invoice
from graphflow.models.base import ModelRequest
from graphflow.models.function import FunctionModel

_VERDICT = re.compile(r"(LOW|MEDIUM|HIGH|MATCH|MISMATCH|HOLD)\b")


def _read(request: ModelRequest) -> Invoice:
    return read_invoice(request.text)


def _rate_vendor(request: ModelRequest) -> str:
    invoice = _invoice_in(request.text)
    if invoice is None:
        return "MEDIUM: the request holds no invoice"
    vendor = vendors().get(folded(invoice.vendor))
    if vendor is None:
        return f"MEDIUM: {_named(invoice.vendor, 'the vendor')} is not among the known vendors"
    return f"{vendor.risk}: {vendor.vendor}, {vendor.note}"


def _match_order(request: ModelRequest) -> str:
    invoice = _invoice_in(request.text)
    if invoice is None:
        return "HOLD: the request holds no invoice"
    order = orders().get(folded(invoice.po_number))
    if order is None:
        return f"HOLD: purchase order {_named(invoice.po_number, '(none given)')} is unknown"
    differences = list(_differences(invoice, order))
    if differences:
        return f"MISMATCH: {order.po_number}: " + "; ".join(differences)
    return f"MATCH: all {len(order.lines)} lines are as ordered in {order.po_number}"


def _decide(request: ModelRequest) -> str:
    invoice = _invoice_in(request.text)
    if invoice is None:
        return "HOLD: the request holds no invoice"
    risk = _answer_in(request.text, "Vendor risk")
    match = _answer_in(request.text, "Purchase order")
    total = f"{invoice.currency} {money(invoice.total)}".strip() if invoice.total is not None else "no stated total"
    about = f"{_named(invoice.vendor, 'An unnamed vendor')} asks for {total}."
    reasons = f"{about} Vendor risk {risk or 'unknown'}. Purchase order {match or 'unknown'}."
    return f"{_ruling(_verdict(risk), _verdict(match))}: {reasons}"


READER = FunctionModel(_read, name="invoice-reader")
VENDOR_DESK = FunctionModel(_rate_vendor, name="vendor-desk")
ORDER_DESK = FunctionModel(_match_order, name="order-desk")
APPROVER = FunctionModel(_decide, name="invoice-approver")


def _ruling(risk: str, match: str) -> str:
    if risk == "HIGH":
        return "REJECT"
    return "APPROVE" if (risk, match) == ("LOW", "MATCH") else "HOLD"


def _verdict(answer: str) -> str:
    found = _VERDICT.match(answer)
    return found[1] if found is not None else ""


def _named(name: str, nameless: str) -> str:
    return " ".join(name.split()) or nameless


def _invoice_in(text: str) -> Invoice | None:
    """Find the invoice's JSON in a prompt; numbers in it never become floats."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        data, _ = json.JSONDecoder(parse_float=Decimal).raw_decode(text[start:])
        return Invoice.model_validate(data)
    except (ValueError, ValidationError, RecursionError):
        return None


def _answer_in(text: str, label: str) -> str:
    """Find an answer in a prompt; the last line with its label counts, as the invoice stands before it."""
    lines = [line.removeprefix(f"{label}: ") for line in text.splitlines() if line.startswith(f"{label}: ")]
    return lines[-1].strip() if lines else ""


def _differences(invoice: Invoice, order: Order) -> Iterator[str]:
    if folded(invoice.vendor) != folded(order.vendor):
        yield f"ordered from {order.vendor}, invoiced by {_named(invoice.vendor, 'an unnamed vendor')}"
    if invoice.currency and invoice.currency != order.currency:
        yield f"ordered in {order.currency}, invoiced in {invoice.currency}"
    ordered, invoiced = _by_sku(order.lines), _by_sku(invoice.lines)
    for sku, lines in invoiced.items():
        name = _named(lines[0].sku, "a line")
        if sku not in ordered:
            yield f"{name} was not ordered"
            continue
        asked, agreed = _quantity(lines), _quantity(ordered[sku])
        if asked != agreed:
            yield f"{name}: {plain(asked)} invoiced, {plain(agreed)} ordered"
        prices = {line.unit_price for line in lines} - {line.unit_price for line in ordered[sku]}
        if prices:
            yield f"{name}: price {money(max(prices))} instead of {money(ordered[sku][0].unit_price)}"
    yield from (
        f"{_named(lines[0].sku, 'a line')} was ordered but not invoiced"
        for sku, lines in ordered.items()
        if sku not in invoiced
    )


def _by_sku(lines: tuple[Line, ...]) -> dict[str, list[Line]]:
    grouped: dict[str, list[Line]] = {}
    for line in lines:
        grouped.setdefault(folded(line.sku), []).append(line)
    return grouped


def _quantity(lines: list[Line]) -> Decimal:
    return sum((line.quantity for line in lines), Decimal(0))
