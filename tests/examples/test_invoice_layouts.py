"""Invoices written in each of the three layouts are read back exactly; hostile text is refused quickly."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphflow.examples.invoice_data import Invoice, Line, Sample, sample
from graphflow.examples.invoice_layouts import read_invoice

SYMBOL = {"EUR": "€", "USD": "$", "GBP": "£", "CHF": "CHF ", "SEK": "SEK "}
words = st.text(st.characters(categories=["Lu", "Ll", "Lo"]), min_size=1, max_size=12).filter(
    lambda word: word.split() == [word]
)
vendor_names = st.builds(
    lambda head, tail, mark: mark.join([head, *tail]),
    words,
    st.lists(words, max_size=3),
    st.sampled_from([" ", " & ", "-"]),
)
skus = st.from_regex(r"[A-Z]{2,6}-[0-9A-Z]{1,5}( [A-Z][a-z]{2,6})?", fullmatch=True)
quantities = st.integers(-99, 12_000).filter(bool).map(Decimal)
prices = st.decimals(min_value=-2_000, max_value=900_000, places=2)
item_lines = st.builds(
    lambda sku, quantity, price: Line(sku=sku, quantity=quantity, unit_price=price), skus, quantities, prices
)


@st.composite
def invoices(draw: st.DrawFn) -> Invoice:
    """A complete invoice whose lines add up to its total."""
    lines = tuple(draw(st.lists(item_lines, min_size=1, max_size=6)))
    return Invoice(
        vendor=draw(vendor_names),
        po_number=f"PO-{draw(st.integers(1, 99_999))}",
        currency=draw(st.sampled_from(sorted(SYMBOL))),
        lines=lines,
        total=sum((line.worth for line in lines), Decimal(0)),
    )


def priced(value: Decimal, currency: str, marked: str) -> str:
    """Write an amount with thousands separators, and its currency as `marked` says."""
    number = f"{abs(value):,.2f}"
    sign = "-" if value < 0 else ""
    return {"symbol": f"{sign}{SYMBOL[currency]}{number}", "code": f"{sign}{number} {currency}", "": sign + number}[
        marked
    ]


marks = st.sampled_from(["symbol", "code", ""])


@given(
    invoices(), marks, st.sampled_from(["{sku}, {n} x {price}", "{n} x {sku} at {price} each", "{sku}: {n} @ {price}"])
)
def test_labelled_lines_are_read_back(invoice: Invoice, marked: str, form: str) -> None:
    """Each way to write an item gives the same lines."""
    text = [f"Supplier: {invoice.vendor}", f"Purchase order: {invoice.po_number}", f"Currency: {invoice.currency}", ""]
    for at, line in enumerate(invoice.lines, 1):
        price = priced(line.unit_price, invoice.currency, marked)
        text.append(f"Line {at}: " + form.format(sku=line.sku, n=f"{line.quantity:,f}", price=price))
    text += [f"Total due: {priced(invoice.total or Decimal(0), invoice.currency, marked)}", "", "Kind regards"]
    assert read_invoice("\n".join(text)) == invoice


@given(invoices(), marks, st.sampled_from(["   ", "\t", " | "]), st.booleans())
def test_tables_are_read_back(invoice: Invoice, marked: str, gap: str, with_amount: bool) -> None:
    """Spaces, tabs and bars part the columns; a column of amounts is read too."""
    header = ["SKU", "Qty", "Unit price"] + (["Amount"] if with_amount else [])
    text = ["Dear all,", "", f"Vendor: {invoice.vendor}", f"PO number: {invoice.po_number}", gap.join(header)]
    for line in invoice.lines:
        cells = [line.sku, f"{line.quantity:,f}", priced(line.unit_price, invoice.currency, marked)]
        cells += [priced(line.worth, invoice.currency, marked)] if with_amount else []
        text.append(gap.join(cells))
    text += [f"Total{gap}{priced(invoice.total or Decimal(0), invoice.currency, 'code')}", "", "See you soon."]
    stated = (
        tuple(line.model_copy(update={"amount": line.worth}) for line in invoice.lines)
        if with_amount
        else invoice.lines
    )
    assert read_invoice("\n".join(text)) == invoice.model_copy(update={"lines": stated})


@given(invoices(), marks, st.integers(30, 100))
def test_prose_is_read_back(invoice: Invoice, marked: str, width: int) -> None:
    """Sentences may be wrapped anywhere; what is taken off may be said in words."""
    items = []
    for line in invoice.lines:
        credit = line.quantity < 0 < line.unit_price
        count = f"{abs(line.quantity) if credit else line.quantity:,f}"
        price = priced(line.unit_price, invoice.currency, marked)
        items.append(f"{'less ' if credit else ''}{count} x {line.sku} at {price} each")
    total = priced(invoice.total or Decimal(0), invoice.currency, "code")
    sentence = (
        f"Please find attached invoice 77 from {invoice.vendor} for your purchase order {invoice.po_number}: "
        f"{', '.join(items)}. The total is {total}. Thank you."
    )
    assert read_invoice("Subject: our invoice\n\nDear all,\n\n" + wrapped(sentence, width)) == invoice


def wrapped(sentence: str, width: int) -> str:
    """Break a sentence into lines at spaces."""
    lines = [""]
    for word in sentence.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n\t ", "empty"),
        ("hello, how are you?", "neither"),
        ("Vendor: a\x00\x01\x02", "control"),
        ("Vendor: \u202eabc", "control"),
        ("Vendor: \ud800", "control"),
        ("PK\x03\x04\ufffd\ufffd", "control"),
        ("x" * 1_000_000, "1,000,000 characters"),
        ("Vendor: a\nVendor: b\nTotal: 5", "more than one vendor"),
        ("Vendor: a\nTotal: 5\nTotal: 6", "two totals"),
        ("Vendor: a\nTotal: EUR 5\nAmount due: USD 5", "more than one currency"),
        ("Vendor: a\nLine: a, 2 x 1.50\nTotal: 3,00", "decimal commas"),
        ("Vendor: a\nTotal: soon", "`soon`"),
        ("Vendor: a\nCurrency: beads", "`beads`"),
        ("Vendor: a\nLine: what we agreed\nTotal: 5", "`what we agreed`"),
        ("Vendor: a\nLine: b, 1 x 5\nShipping: 4.00\nTotal: 9", "`Shipping`"),
        ("Vendor: a\nSKU  Qty  Price\nb  1  5\nc  many  5\nTotal: 5", "`c many 5`"),
        (
            "invoice from a for order PO-1: 2 x b at 5.00 each plus EUR 4.00 for the way. The total is EUR 14.00",
            "`EUR 4.00`",
        ),
        ("Vendor: a\nSKU  Qty  Price\n", "no rows"),
        ("Vendor: a\nSKU: b\nQty: 2\nTotal: 5", "`b`"),
        ("Vendor: a\nSKU: b\nQty: 2\nQty: 3\nPrice: 5", "more than one quantity"),
        ("invoice from a for order PO-1: 2 x b and 3 x c at 5.00 each.", "two items"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, why: str) -> None:
    """An unreadable invoice has nothing but the reason."""
    found = read_invoice(text)
    assert found.problem is not None
    assert why in found.problem
    assert found == Invoice(problem=found.problem)


def test_what_is_not_said_is_left_empty() -> None:
    """A readable invoice that leaves things out is not made up."""
    assert read_invoice("Vendor: a") == Invoice(vendor="a")
    assert read_invoice("Line: a, 1 x 2").lines == (Line(sku="a", quantity=Decimal(1), unit_price=Decimal(2)),)


def test_each_item_form_is_read() -> None:
    """A list under a heading, amounts behind the price, credits and decimal commas."""
    text = (
        "Vendor: A: B\nOrder: 7\nItems:\n\n- PEN, 12 x 1.234,50\n* 2 boxes of A 4 x 6 at 3,00 = 6,00\n"
        "Credit: PEN, 2 x 4,50\n"
    )
    found = read_invoice(text)
    assert (found.vendor, found.po_number) == ("A: B", "7")
    assert [(line.sku, line.quantity, line.unit_price, line.amount) for line in found.lines] == [
        ("PEN", Decimal(12), Decimal("1234.50"), None),
        ("A 4 x 6", Decimal(2), Decimal("3.00"), Decimal("6.00")),
        ("PEN", Decimal(-2), Decimal("4.50"), None),
    ]


THREE = [("12", "4.50"), ("2", "30.00"), ("1", "9.00")]


@pytest.mark.parametrize(
    ("text", "vendor", "skus"),
    [
        ("Vendor: Acme\nPO: PO-7\n12 x 4.50\n2 units at 30.00\n1 @ 9.00\nTotal: 123.00", "Acme", ["unnamed item"] * 3),
        (
            "Seller: Acme\nPO: PO-7\nLines:\n- A: 12 @ $4.50\n- B: 2 @ $30.00\n- C: 1 @ $9.00\nTotal: $123.00",
            "Acme",
            "ABC",
        ),
        (
            (
                "Vendor: Acme\nPO: PO-7\nSKU: A, Qty: 12, Unit price: 4.50\nSKU: B; Qty: 2; Price: 30.00; Amount: 60.00\n"
                "Item: C\nDescription: what: a thing\nQuantity: 1\nUnit price: 9.00\nAmount due: 123.00"
            ),
            "Acme",
            "ABC",
        ),
        (
            (
                "This is Acme & Co with our invoice. We shipped 12 reams at 4.50 each, 2 inks at 30.00 and 1 jar at $9 "
                "against PO-7. The total comes to 123.00."
            ),
            "Acme & Co",
            ["reams", "inks", "jar"],
        ),
        (
            (
                "Hello,\n\nAcme Corp here. Against purchase order PO-7 we bill you for 12 units of A-1 at $4.50, 2 units "
                "of B-2 at $30.00 and 1 unit of C-3 at $9.00. That makes $123.00 in total."
            ),
            "Acme Corp",
            ["A-1", "B-2", "C-3"],
        ),
        (
            "Our invoice from Acme Ltd, purchase order PO-7. 12 of A at 4.50; 2 of B at 30.00; 1 of C at 9.00. Total 123.00.",
            "Acme Ltd",
            "ABC",
        ),
        (
            (
                "Acme is billing you for order PO-7: 12 A at $4.50 each, 2 B at $30.00 each and 1 C at $9.00 each, for a "
                "total of $123.00."
            ),
            "Acme",
            "ABC",
        ),
        (
            "Hi, this is Acme, we have invoice 9 for PO-7 here: 12 x A at 4.50, 2 x B at 30.00, 1 x C at 9.00, total: 123.00",
            "Acme",
            "ABC",
        ),
    ],
)
def test_other_ways_to_say_it(text: str, vendor: str, skus: list[str]) -> None:
    """One invoice in the words of different people, read alike."""
    found = read_invoice(text)
    assert (found.vendor, found.po_number, found.total) == (vendor, "PO-7", Decimal("123.00"))
    assert [line.sku for line in found.lines] == list(skus)
    assert [(line.quantity, line.unit_price) for line in found.lines] == [(Decimal(n), Decimal(p)) for n, p in THREE]


@pytest.mark.parametrize("name", ["approved", "transposed"])
def test_the_samples_are_readable(name: Sample) -> None:
    """Two of the three shipped files are complete invoices."""
    found = read_invoice(sample(name))
    assert found.problem is None
    assert all((found.vendor, found.po_number, found.currency, found.lines, found.total))


HOSTILE = {
    "digits": "1" * 99_000,
    "vendors": "12 x a at 5 " + "invoice from " * 7_000,
    "a long vendor": "12 x a at 5 invoice from " + "a for " * 16_000,
    "orders": "12 x a at 5 " + "order " * 16_000,
    "items": "1 x " * 24_000,
    "priced items": "1 x a at " * 11_000,
    "spaces in lines": ("a" + " " * 300 + "\n") * 320,
    "spaces": "Vendor: a\n" + " " * 98_000 + "x",
    "colons": ":" * 99_000,
    "rows": "SKU  Qty  Unit price\n" + "a  1  1 \n" * 10_000,
    "item line": ("Line: " + "1 x " * 70 + "\n") * 340,
    "list": "Vendor: a\nItems:\n" + ("a " + "1 x " * 60 + "at 4\n") * 340,
    "almost money": "12 x a at 5 " + "1 234 " * 16_000,
    "currencies": "12 x a at 5 " + "EUR " * 24_000,
    "totals": "12 x a at 5 " + "total due " * 9_000,
    "words": "12 x a at 5 " + "w" * 99_000,
    "labels": "Vendor: a\n" + "SKU: b, " * 12_000,
    "short labels": ("SKU: b, Qty: 1, " * 18 + "\n") * 340,
    "names": "12 x a at 5. " + "Acme and " * 10_000,
    "bills": "12 x a at 5. " + "this is a " * 9_000,
    "plain items": "1 a at 5.00 " * 8_000,
    "a megabyte": "Vendor: a\n" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_read_or_refused_within_a_second(name: str) -> None:
    """No pattern runs away."""
    start = time.process_time()
    read_invoice(HOSTILE[name])
    assert time.process_time() - start < 1


PIECES = """
Vendor: PO: Line: Items: Total: Currency: SKU__Qty__Price invoice_from for_order 12_x at EUR $ 4.50 1,234 1.234,5 - ( )
= | each less total_is a
"""
pieces = st.sampled_from([piece.replace("_", " ") for piece in PIECES.split()] + ["\t", "  ", "\n", "\n\n"])


@settings(max_examples=300)
@given(
    st.text(max_size=200)
    | st.lists(pieces, max_size=40).map(" ".join)
    | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1"))
)
def test_no_text_raises(text: str) -> None:
    """Any text gives an invoice, and either a problem or at least something of it."""
    found = read_invoice(text)
    assert found.problem is None or found == Invoice(problem=found.problem)
    assert found != Invoice()
