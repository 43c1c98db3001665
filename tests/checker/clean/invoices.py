"""An invoice on its way to being paid: every step may stop it, and money moves once, at the very end.

::

    extract -> validate -> adds_up -> enrich [vendor | order | duplicate] -> decide -> approved -> book -> pay -> confirm
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import BaseModel

from graphflow import Context, Flow, Gate, LlmAgent, ParallelAgent, RetryPolicy, SequentialAgent, agent, key


class Line(BaseModel):
    text: str
    amount: Decimal


class Invoice(BaseModel):
    vendor: str
    iban: str
    total: Decimal
    currency: Literal["EUR", "USD", "GBP"]
    order: str | None = None
    lines: list[Line]


class Decision(BaseModel):
    verdict: Literal["approve", "reject"]
    reason: str


extract = LlmAgent(
    name="extract",
    instruction=(
        "Extract the invoice. Amounts are decimals with a point and without thousands separators: 1,234.50 EUR "
        "is 1234.50. Do "
        "not add anything up yourself.\n"
        'Example: {"vendor": "ACME", "iban": "DE02...", "total": "12.50", "currency": "EUR", "lines": '
        '[{"text": "paper", '
        '"amount": "12.50"}]}'
    ),
    prompt="{message}",
    output_key="invoice",
    output_schema=Invoice,
    retry=RetryPolicy(attempts=3, backoff=0.0, jitter=0.0),
    timeout=60.0,
)


@agent(writes="validation", blocking=False)
def validate(invoice: Invoice) -> str:
    """Adds the lines up: `ok`, or what is wrong."""
    worth = sum((line.amount for line in invoice.lines), Decimal(0))
    return "ok" if worth == invoice.total else f"lines are {worth}, total is {invoice.total}"


adds_up = Gate(name="adds_up", require=key("validation") == "ok", reason="{validation} ({invoice.currency})")
vendor = LlmAgent(
    name="vendor",
    instruction="Rate the vendor LOW, MEDIUM or HIGH. A vendor whose bank account has changed within 90 days is HIGH.",
    prompt="{invoice.vendor}, account {invoice.iban}",
    output_key="risk",
    output_schema=Literal["LOW", "MEDIUM", "HIGH"],
)
order = LlmAgent(
    name="order",
    instruction=(
        "Compare the lines with the purchase order. Prices may differ by 2 % and quantities not at all. Say "
        "MATCH, or list the "
        "lines that differ as a table: | line | ordered | invoiced |"
    ),
    prompt="Order: {invoice.order?}\nLines: {invoice.lines}",
    output_key="match",
)


@agent(writes="duplicate_of", blocking=False)
def duplicate(invoice: Invoice) -> str | None:
    """Looks for the same amount of the same vendor in the last 60 days."""
    return "INV-7" if invoice.total == Decimal("66.60") else None


enrich = ParallelAgent(name="enrich", sub_agents=[vendor, order, duplicate])
not_twice = Gate(name="not_twice", require=key("duplicate_of") == None, reason="a duplicate of {duplicate_of}")  # noqa: E711
decide = LlmAgent(
    name="decide",
    instruction=(
        'Approve or reject, with one sentence that a vendor may read: {"verdict": "approve", "reason": "All '
        'lines match."}. '
        "Reject at HIGH risk, always. Reject a mismatch above 100.00 in the invoice's currency."
    ),
    prompt="{invoice}\nRisk: {risk}\nOrder: {match}",
    output_key="decision",
    output_schema=Decision,
)
approved = Gate(
    name="approved", require=key("decision").field("verdict") == "approve", reason="rejected: {decision.reason}"
)


@agent(writes="booking", effect="idempotent")
def book(invoice: Invoice, ctx: Context) -> str:
    """Books the amount; the same key twice books once."""
    return f"{invoice.vendor}-{invoice.total}-{ctx.node}"


@agent(writes="transfer", effect="irreversible")
def pay(invoice: Invoice, booking: str) -> str:
    """Sends the money."""
    return f"{invoice.total} {invoice.currency} to {invoice.iban} for {booking}"


confirm = LlmAgent(
    name="confirm",
    instruction="Write the vendor a note of three lines: what was paid, when it arrives (2 working days), whom to ask.",
    prompt="To: {invoice.vendor}\nTransfer: {transfer}\nWhy: {decision.reason}",
    output_key="note",
)

flow = Flow(
    SequentialAgent(
        name="invoices",
        sub_agents=[extract, validate, adds_up, enrich, not_twice, decide, approved, book, pay, confirm],
    ),
    inputs={"message": str},
    outputs=["transfer", "note"],
    model="gemini-2.5-pro",
)
INPUTS = {"message": "Invoice of ACME: paper 12.50 EUR"}
REPLIES = {
    "extract": {
        "vendor": "ACME", "iban": "DE02", "total": "12.50", "currency": "EUR", "lines": [{"text": "p", "amount": "12.50"}],
    },
    "vendor": "LOW",
    "decide": {"verdict": "approve", "reason": "All lines match."},
    "*": "MATCH",
}  # fmt: skip
