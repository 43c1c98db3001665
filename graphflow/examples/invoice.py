"""The demo: an invoice e-mail is read, checked by code, enriched from two tables and decided upon.

::

    extract -> validate (code) -> gate -> enrich [vendor_risk | po_match] -> decide

The gate stops what does not add up before another model is asked: for a total of 132.00 over lines worth 123.00 the run
halts with that reason, `vendor_risk`, `po_match` and `decide` are never called, and nobody pays for an answer about an
invoice that is wrong. Run it with `graphflow demo`, or on a file of your own::

    graphflow run graphflow.examples.invoice:flow --message @FILE

It works offline: the models are functions that really parse the text they are sent (`invoice_models`), from e-mails
in one of three layouts (`invoice_layouts`): labelled lines, a table with a header row, or prose, all with thousands
separators, negative lines and currency symbols or codes. Anything else halts as unreadable. Any model
can take their place: `flow.run(..., models={"extract": model})`.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext

from graphflow.agents import Gate, LlmAgent, ParallelAgent, SequentialAgent, agent
from graphflow.conditions import key
from graphflow.examples.invoice_data import Invoice, money, plain, table
from graphflow.examples.invoice_models import APPROVER, ORDER_DESK, READER, VENDOR_DESK
from graphflow.flow import Flow

_CENT = Decimal("0.01")

extract = LlmAgent(
    name="extract",
    model=READER,
    description="Reads the invoice out of the e-mail.",
    instruction=(
        "Extract the invoice from the user's message. Copy every number as it is written, without separators; credits "
        "are negative. If the message is no invoice that you can read with certainty, fill in `problem` alone and say "
        "why."
    ),
    prompt="{message}",
    output_key="invoice",
    output_schema=Invoice,
)


@agent(writes="validation", blocking=False)
def validate(invoice: Invoice) -> str:
    """Checks that the invoice is complete and adds up, to the cent: `ok`, or the reason why not."""
    if invoice.problem is not None:
        return f"unreadable: {invoice.problem}"
    given = {"vendor": invoice.vendor, "purchase order": invoice.po_number, "line items": invoice.lines}
    missing = [name for name, value in given.items() if not value]
    if invoice.total is None:
        return f"missing: {', '.join([*missing, 'total'])}"
    if missing:
        return f"missing: {', '.join(missing)}"
    with localcontext(prec=60):
        for line in invoice.lines:
            if line.amount is not None and not _agree(line.worth, line.amount):
                price, worth, stated = money(line.unit_price), money(line.worth), money(line.amount)
                return f"line {line.sku}: {plain(line.quantity)} x {price} is {worth}, not {stated}"
        worth_of_all = sum((line.worth for line in invoice.lines), Decimal(0))
        if not _agree(worth_of_all, invoice.total):
            return f"the lines add up to {money(worth_of_all)}, not to the total {money(invoice.total)}"
    return "ok"


def _agree(exact: Decimal, stated: Decimal) -> bool:
    return stated in (exact, exact.quantize(_CENT, ROUND_HALF_UP))


gate = Gate(name="gate", require=key("validation") == "ok", reason="{validation}")

vendor_risk = LlmAgent(
    name="vendor_risk",
    model=VENDOR_DESK,
    description="Rates the vendor.",
    instruction=(
        "Look the vendor up in the table and reply with its risk (LOW, MEDIUM or HIGH), a colon and the reason; a vendor "
        f"that is not in it is MEDIUM.\n\nVendors:\n{table('vendors')}"
    ),
    prompt="Invoice: {invoice}",
    output_key="vendor_risk",
)

po_match = LlmAgent(
    name="po_match",
    model=ORDER_DESK,
    description="Compares the invoice with the purchase order.",
    instruction=(
        "Compare the invoice with its purchase order: vendor, currency, and quantity and price of each line. Reply MATCH, "
        "MISMATCH with the differing lines, or HOLD if there is no such order in the table.\n\n"
        f"Purchase orders, one row for each line:\n{table('orders')}"
    ),
    prompt="Invoice: {invoice}",
    output_key="po_match",
)

decide = LlmAgent(
    name="decide",
    model=APPROVER,
    description="Approves, holds or rejects the invoice.",
    instruction=(
        "Reply APPROVE, HOLD or REJECT, a colon and one paragraph of reasons. Reject at high risk; hold at medium "
        "risk, at a mismatch and for an unknown order; approve the rest."
    ),
    prompt="Invoice: {invoice}\nVendor risk: {vendor_risk}\nPurchase order: {po_match}",
    output_key="decision",
)

enrich = ParallelAgent(name="enrich", sub_agents=[vendor_risk, po_match])

flow = Flow(
    SequentialAgent(name="invoice", sub_agents=[extract, validate, gate, enrich, decide]),
    inputs={"message": str},
    outputs=["decision"],
)
