"""The table layout of an invoice: a header row, rows in its columns, labels around it.

::

    SKU        Qty    Unit price
    PAPER-A4    12          4.50
    REBATE      -1         50.00

Columns are found by their names, in any order. A row that does not fit makes the text unreadable while the table goes
on; after a blank line, what does not fit is a sentence.
"""

from __future__ import annotations

import re

from graphflow.examples.invoice_amounts import CODES, SYMBOLS, parse_amount
from graphflow.examples.invoice_draft import ROLES, TOTAL, Draft, Unreadable, label_of, shown

_LONGEST_HEADER = 120
_CURRENCY = re.compile(r"\((" + "|".join([*map(re.escape, SYMBOLS), *CODES]) + r")\)", re.IGNORECASE)
_UNIT = re.compile(r" ?(?:pcs|pieces?|units?|x)\.?$", re.IGNORECASE)
_TOTAL_ROW = re.compile(
    "(" + "|".join(sorted(TOTAL, key=len, reverse=True)) + r")(?: \([^()]{1,3}\))? (.+)", re.IGNORECASE
)


def read_table(lines: list[str]) -> Draft | None:
    """Read an invoice laid out as a table.

    Args:
        lines: the text.

    Returns:
        What was read, None if there is no header row.

    Raises:
        Unreadable: there is no row or one that does not fit, or the text contradicts itself.
    """
    header, columns = next(((at, found) for at, line in enumerate(lines) if (found := _columns(line))), (-1, ()))
    if not columns:
        return None
    draft = Draft()
    _take_currency(draft, lines[header])
    inside = True
    for at, line in enumerate(lines):
        flat = " ".join(line.replace("|", " ").split())
        if not flat and draft.lines:
            inside = False
        if at == header or not any(character.isalnum() for character in flat) or _take_label(draft, flat):
            continue
        if at < header or _columns(line) == columns or _take_row(draft, line, columns):
            continue
        if inside:
            raise Unreadable(f"its table row {shown(flat)} does not fit the columns {', '.join(columns)}")
    if not draft.lines:
        raise Unreadable("its table has no rows")
    return draft


def _columns(line: str) -> tuple[str, ...]:
    """Name the roles of a header row's columns, none if it is not one."""
    if len(line) > _LONGEST_HEADER:
        return ()
    words = _CURRENCY.sub("", line).casefold().replace("|", " ").split()
    roles: list[str] = []
    at = 0
    while at < len(words):
        pair = ROLES.get(" ".join(words[at : at + 2])) if at + 1 < len(words) else None
        role = pair or ROLES.get(words[at])
        if role is None:
            return ()
        roles.append(role)
        at += 2 if pair else 1
    if "sku" not in roles and "text" in roles:
        roles[roles.index("text")] = "sku"
    complete = {"sku", "quantity", "price"} <= set(roles) and len(set(roles)) == len(roles)
    return tuple(roles) if complete else ()


def _take_currency(draft: Draft, header: str) -> None:
    for found in _CURRENCY.findall(header):
        draft.labelled("currency", found)


def _take_label(draft: Draft, line: str) -> bool:
    label = label_of(line)
    if label is not None and draft.labelled(*label):
        return True
    row = _TOTAL_ROW.fullmatch(line) if len(line) <= _LONGEST_HEADER else None
    return row is not None and parse_amount(row[2]) is not None and draft.labelled(line[: -len(row[2])].strip(), row[2])


def _take_row(draft: Draft, line: str, columns: tuple[str, ...]) -> bool:
    cells = _cells(line, columns)
    if len(cells) != len(columns):
        return False
    row = dict(zip(columns, (" ".join(cell.split()) for cell in cells), strict=True))
    if "amount" in row and not row["amount"]:
        return False
    return draft.line(row["sku"], _UNIT.sub("", row["quantity"]), row["price"], row.get("amount", ""))


def _cells(line: str, columns: tuple[str, ...]) -> list[str]:
    row = line.strip(" ")
    if "|" in row:
        return row.strip("|").split("|")
    if "\t" in row:
        return re.split(r"\t+", row)
    cells = re.split(r" {2,}", row)
    if len(cells) == len(columns) or columns[0] != "sku" or "text" in columns:
        return cells
    return row.rsplit(None, len(columns) - 1)
