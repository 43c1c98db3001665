"""An expense claim that people decide on: the manager always, finance above a limit, and the employee may be asked back.

::

    read -> policy -> complete? (ask the employee -> amend) -> manager -> ok -> large? (brief -> finance) -> settle -> pay
"""

from __future__ import annotations

import dataclasses
from typing import Literal

from pydantic import BaseModel

from graphflow import AskAgent, ConditionalAgent, Flow, Gate, LlmAgent, SequentialAgent, agent, key


class Claim(BaseModel):
    employee: str
    amount: float
    purpose: str
    missing: list[str] = []


@dataclasses.dataclass
class Settlement:
    amount: float
    cost_centre: int


read = LlmAgent(
    name="read",
    instruction=(
        "Read the expense claim. Amounts are in EUR; convert nothing. List under `missing` what the policy "
        "needs and the claim "
        "does not say: the date, the purpose, a receipt for everything above 20 EUR.\n"
        'Example: {"employee": "Kim", "amount": 84.2, "purpose": "train", "missing": ["receipt"]}'
    ),
    prompt="{text}",
    output_key="claim",
    output_schema=Claim,
)
policy = LlmAgent(
    name="policy",
    instruction=(
        "Which rule of the travel policy applies? Name it by its number (§ 4.2) and quote at most one sentence."
    ),
    prompt="{claim.purpose}, {claim.amount} EUR",
    output_key="rule",
)
ask_employee = AskAgent(
    name="ask_employee",
    prompt=(
        "Dear {claim.employee}, your claim lacks: {claim.missing}. Please add it here (plain text, at most 500 words)."
    ),
    output_key="addition",
)
amend = LlmAgent(
    name="amend",
    instruction=(
        "Amend the claim with what the employee adds; change nothing else. `missing` lists what is missing still."
    ),
    prompt="Claim: {claim}\nThe employee says: {addition}",
    output_key="claim",
    output_schema=Claim,
)
complete = ConditionalAgent(
    name="complete",
    when=key("claim").field("missing").len() > 0,
    then=SequentialAgent(name="ask_back", sub_agents=[ask_employee, amend]),
)
manager = AskAgent(
    name="manager",
    prompt="Approve {claim.amount} EUR for {claim.employee}? Purpose: {claim.purpose}. Rule: {rule}",
    output_key="approval",
    output_schema=Literal["approve", "reject"],
    timeout=7 * 24 * 3600.0,
    default="reject",
)
ok = Gate(name="ok", require=key("approval") == "approve", reason="the manager says {approval}")
brief = LlmAgent(
    name="brief",
    instruction=(
        "Brief the finance team in three bullet points: who, what for, and why it is above the limit of 1000 EUR."
    ),
    prompt="{claim}\nRule: {rule}",
    output_key="brief",
)
finance = AskAgent(
    name="finance",
    prompt="{brief}\n\nWhich cost centre pays (4 digits)?",
    output_key="cost_centre",
    output_schema=int,
)


@agent(writes="cost_centre", blocking=False)
def usual() -> int:
    """The cost centre of small expenses."""
    return 4711


large = ConditionalAgent(
    name="large",
    when=key("claim").field("amount") > 1000,
    then=SequentialAgent(name="with_finance", sub_agents=[brief, finance]),
    otherwise=usual,
)


@agent(writes="settlement", blocking=False)
def settle(claim: Claim, cost_centre: int) -> Settlement:
    """What will be paid, and by whom."""
    return Settlement(claim.amount, cost_centre)


@agent(writes="receipt", effect="irreversible")
def pay(claim: Claim, settlement: Settlement) -> str:
    """Pays it out with the next salary."""
    return f"{settlement.amount:.2f} EUR to {claim.employee} from {settlement.cost_centre}"


tell = LlmAgent(
    name="tell",
    instruction="Tell the employee what is paid and when. Mention the rule, kindly. No more than four sentences.",
    prompt="{receipt}\nRule: {rule}",
    output_key="message_to_employee",
)

flow = Flow(
    SequentialAgent(name="expenses", sub_agents=[read, policy, complete, manager, ok, large, settle, pay, tell]),
    inputs={"text": str},
    outputs={"receipt": str, "message_to_employee": str},
    model="gemini-2.5-flash",
)
INPUTS = {"text": "flight, 1200"}
_CLAIM = {"employee": "Kim", "amount": 1200, "purpose": "flight"}
REPLIES = {"read": {**_CLAIM, "missing": ["date"]}, "amend": _CLAIM, "*": "text"}
ANSWERS = {
    "expenses/complete/ask_back/ask_employee": "on Monday",
    "expenses/manager": "approve",
    "expenses/large/with_finance/finance": 1234,
}
