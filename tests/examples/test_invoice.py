"""The demo pipeline, end to end: what is right is decided upon, what is wrong halts before another model is asked."""

from __future__ import annotations

from decimal import Decimal

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphflow.examples.invoice import flow, validate
from graphflow.examples.invoice_data import Invoice, Line, Sample, money, sample
from graphflow.models.base import Message
from graphflow.models.scripted import ScriptedModel

COMPLETE = Invoice(
    vendor="Northwind Traders",
    po_number="PO-1001",
    currency="USD",
    lines=(
        Line(sku="PAPER-A4", quantity=Decimal(12), unit_price=Decimal("4.50")),
        Line(sku="TONER-85A", quantity=Decimal(2), unit_price=Decimal("30.00")),
        Line(sku="STAPLER", quantity=Decimal(1), unit_price=Decimal("9.00")),
    ),
    total=Decimal("123.00"),
)
amounts = st.decimals(min_value=-5_000, max_value=5_000, places=2)


def test_the_flow_has_no_findings_above_info() -> None:
    """A shipped example is an example."""
    assert [f for f in flow.check().diagnostics if f.severity != "info"] == []


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_approved_sample(backend: str) -> None:
    """Every model is asked once, and the decision says why."""

    async def main() -> None:
        result = await flow.run(message=sample("approved"))
        assert result.status == "completed"
        assert result.outputs["decision"].startswith("APPROVE: Alster Paper & Sons asks for EUR 3,250.00.")
        assert result.state["validation"] == "ok"
        assert {name: usage.calls for name, usage in result.usage.by_model.items()} == {
            "invoice-reader": 1,
            "vendor-desk": 1,
            "order-desk": 1,
            "invoice-approver": 1,
        }

    anyio.run(main, backend=backend)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("transposed", "the lines add up to 123.00, not to the total 132.00"),
        ("malformed", "unreadable: its amount `USD 40.00` belongs to no item and is not the total"),
    ],
)
def test_the_other_samples_halt_before_another_model_is_asked(name: Sample, reason: str) -> None:
    """The gate gives the reason, and only the reader was called."""
    result = flow.run_sync(message=sample(name))
    assert (result.status, result.reason) == ("halted", reason)
    assert {node.rpartition("/")[2]: usage.calls for node, usage in result.usage.by_node.items()} == {"extract": 1}
    assert result.halt is not None
    assert dict(result.halt.values) == {"validation": reason}
    assert not {"vendor_risk", "po_match", "decision"} & set(result.state)


def test_a_corrected_total_is_approved() -> None:
    """It is the total alone that halts the transposed invoice."""
    result = flow.run_sync(message=sample("transposed").replace("132.00", "123.00"))
    assert result.outputs["decision"].startswith("APPROVE: Northwind Traders asks for USD 123.00.")


@pytest.mark.parametrize(
    ("old", "new", "ruling", "word"),
    [
        ("Alster Paper & Sons", "Unheard Of Ltd", "HOLD", "MEDIUM: Unheard Of Ltd is not among the known vendors"),
        ("PO-1002", "PO-4711", "HOLD", "purchase order PO-4711 is unknown"),
        ("PAPER-A3  ", "PAPER-A9  ", "HOLD", "MISMATCH: PO-1002: PAPER-A9 was not ordered"),
        ("Alster Paper & Sons", "Blue Yonder Logistics", "REJECT", "HIGH: Blue Yonder Logistics"),
    ],
)
def test_what_is_doubtful_is_held_or_rejected(old: str, new: str, ruling: str, word: str) -> None:
    """An unknown vendor, an unknown order, a line that was not ordered, a vendor under investigation."""
    result = flow.run_sync(message=sample("approved").replace(old, new))
    assert result.outputs["decision"].partition(":")[0] == ruling
    assert word in result.outputs["decision"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "ok"),
        ({"total": None}, "missing: total"),
        (
            {"vendor": "", "po_number": "", "lines": (), "total": None},
            "missing: vendor, purchase order, line items, total",
        ),
        ({"problem": "smudged"}, "unreadable: smudged"),
        ({"total": Decimal("123.01")}, "the lines add up to 123.00, not to the total 123.01"),
        ({"currency": ""}, "ok"),
    ],
)
def test_validation_says_what_is_wrong(changes: dict[str, object], reason: str) -> None:
    """`ok`, or one reason."""
    assert validate(COMPLETE.model_copy(update=changes)) == reason


@given(st.lists(st.tuples(amounts, amounts), min_size=1, max_size=8), amounts)
def test_validation_is_exact(pairs: list[tuple[Decimal, Decimal]], off: Decimal) -> None:
    """A total passes if it is the sum, or the sum rounded to cents, and fails by as little as a cent."""
    lines = tuple(Line(sku="a", quantity=quantity, unit_price=price) for quantity, price in pairs)
    exact = sum((quantity * price for quantity, price in pairs), Decimal(0))
    invoice = COMPLETE.model_copy(update={"lines": lines, "total": exact})
    assert validate(invoice) == "ok"
    assert validate(invoice.model_copy(update={"total": Decimal(f"{exact:.2f}")})) in ("ok", *_half_cent(exact))
    wrong = exact + off
    if abs(off) >= Decimal("0.01"):
        reason = f"the lines add up to {money(exact)}, not to the total {money(wrong)}"
        assert validate(invoice.model_copy(update={"total": wrong})) == reason


def _half_cent(exact: Decimal) -> list[str]:
    """Formatting rounds a half to even, invoices round it up: only there may the two differ."""
    return [f"the lines add up to {money(exact)}, not to the total {exact:,.2f}"] if exact % Decimal("0.01") else []


def test_a_stated_line_amount_has_to_be_right() -> None:
    """The line is named."""
    line = Line(sku="PEN", quantity=Decimal(2), unit_price=Decimal("30.00"), amount=Decimal("66.00"))
    wrong = COMPLETE.model_copy(update={"lines": (line,), "total": Decimal("60.00")})
    assert validate(wrong) == "line PEN: 2 x 30.00 is 60.00, not 66.00"
    right = line.model_copy(update={"unit_price": Decimal("0.333"), "amount": Decimal("0.67")})
    assert validate(wrong.model_copy(update={"lines": (right,), "total": Decimal("0.67")})) == "ok"


def test_models_can_be_replaced() -> None:
    """The stages are wired by keys: any model that answers an invoice will do, and each prompt holds what it names."""
    model = ScriptedModel({"extract": COMPLETE, "decide": "HOLD: because", "*": "no idea"})
    result = flow.run_sync(message="call me", models={"*": model})
    assert result.outputs == {"decision": "HOLD: because"}
    asked = {request.agent: request for request in model.calls}
    assert list(asked) == ["extract", "vendor_risk", "po_match", "decide"]
    assert asked["extract"].contents == (Message("user", "call me"),)
    assert asked["extract"].output_schema is Invoice
    assert asked["decide"].text.endswith("\nVendor risk: no idea\nPurchase order: no idea")
