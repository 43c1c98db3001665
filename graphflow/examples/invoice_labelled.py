"""The layout of an invoice in labelled lines: a label, a colon, a value.

::

    Vendor: Northwind Traders
    PO number: PO-1001
    Line: PAPER-A4, 12 x 4.50
    Total: EUR 54.00

An item is a line of that form, or labels of its own (`SKU: PAPER-A4`, `Qty: 12`, `Unit price: 4.50`) on one line or on
several. What has no label of an invoice is skipped as a heading or a greeting.
"""

from __future__ import annotations

import re

from graphflow.examples.invoice_amounts import MINUS, parse_amount
from graphflow.examples.invoice_draft import ROLES, TOTAL, Draft, Unreadable, label_of, shown

_LONGEST_ITEM = 300
_UNNAMED = "unnamed item"
_BULLET = re.compile(r"[-*\u2022] (.*)")
_ITEM_LABEL = re.compile(r"(line|item|credit)(?: ?#?[0-9]{1,4})?", re.IGNORECASE)
_LISTS = ("items", "lines", "line items", "positions")
_NEXT_LABEL = re.compile(r"[,;|] ?(?=[A-Za-z ]{1,20}:)")
_QUANTITY = rf"[{MINUS}]?[0-9][0-9,.']{{0,20}}"
_TIMES = r"(?: (?:units?|pcs|pieces?))? ?(?:[x\u00d7@]|at(?= )) ?"
_PRICE = r"([^=]+?)(?: (?:each|apiece|a piece|per unit|per piece))?(?: ?= ?([^=]+))?"
_COUNT_FIRST = re.compile(rf"({_QUANTITY}) ?(?:[x\u00d7] |\w{{1,20}} of )(.+) (?:at|@) {_PRICE}", re.IGNORECASE)
_SKU_FIRST = re.compile(rf"(?:(.+) )?({_QUANTITY}){_TIMES}{_PRICE}", re.IGNORECASE)
_CUT_COUNT = re.compile(r"[,;:|] ?[0-9]{1,3}$")


def read_labelled(lines: list[str]) -> Draft:
    """Read an invoice laid out in labelled lines.

    Args:
        lines: the text.

    Returns:
        What was read; empty if nothing has a label of an invoice.

    Raises:
        Unreadable: an item is not written as one, or the text contradicts itself.
    """
    draft = Draft()
    listing = False
    parts: dict[str, str] = {}
    for raw in lines:
        line = " ".join(raw.split())
        if not line:
            listing = listing and not draft.lines
            continue
        name, value = label_of(line) or ("", "")
        if name.casefold() in _LISTS and not value:
            listing = True
        elif _take_parts(draft, parts, line):
            continue
        elif draft.labelled(name, value):
            listing = False
        elif listing and any(character.isalnum() for character in line):
            _take_item(draft, line)
        elif not listing and draft.names and not parts:
            _try_item(draft, line)
    _finish_parts(draft, parts)
    return draft


def _take_parts(draft: Draft, parts: dict[str, str], line: str) -> bool:
    """Take the labels of an item from a line; an item goes on until the next one starts."""
    taken = False
    for piece in _NEXT_LABEL.split(line) if len(line) <= _LONGEST_ITEM else [line]:
        name, value = label_of(piece) or ("", "")
        role = "" if name.casefold() in TOTAL else ROLES.get(name.casefold(), "")
        item = _ITEM_LABEL.fullmatch(name)
        if item is not None or role == "sku":
            _finish_parts(draft, parts)
            if item is None or not _try_item(draft, value, credit=item[1].casefold() == "credit"):
                parts["sku"] = value
        elif role in ("quantity", "price", "amount") and "sku" in parts:
            if role in parts:
                raise Unreadable(f"its item {shown(parts['sku'])} has more than one {role}")
            parts[role] = value
        elif not taken or role != "text":
            return taken
        taken = True
    return taken


def _finish_parts(draft: Draft, parts: dict[str, str]) -> None:
    if parts:
        sku, quantity, price = (parts.get(role, "") for role in ("sku", "quantity", "price"))
        if not draft.line(sku, quantity, price, parts.get("amount", "")):
            raise Unreadable(f"its line {shown(sku)} is neither `PAPER-A4, 12 x 4.50` nor has quantity and unit price")
        parts.clear()


def _take_item(draft: Draft, text: str) -> None:
    if not _try_item(draft, text):
        raise Unreadable(f"its line {shown(text)} is not written as `PAPER-A4, 12 x 4.50`")


def _try_item(draft: Draft, text: str, *, credit: bool = False) -> bool:
    bullet = _BULLET.fullmatch(text)
    item = bullet[1] if bullet is not None else text
    if len(item) > _LONGEST_ITEM:
        return False
    if found := _COUNT_FIRST.fullmatch(item):
        quantity, sku, price, amount = found.groups()
    elif found := _SKU_FIRST.fullmatch(item):
        sku, quantity, price, amount = found.groups()
    else:
        return False
    sku = _UNNAMED if sku is None else sku
    if _CUT_COUNT.search(sku):  # `PEN, 1 000 x 4.50`: the name would take the thousands
        return False
    asked = parse_amount(price)
    if credit and asked is not None and asked.value > 0 and quantity[0] not in MINUS:
        quantity = f"-{quantity}"
    return draft.line(sku.strip(" ,;:|"), quantity, price, amount or "")
