"""A contract is read into nested structures, and every later stage takes the fields that it needs, and no more.

::

    read -> parties -> [duties | money (amounts -> sum) | dates] -> risks -> for each risk (explain -> rate) -> table -> opinion
"""

from __future__ import annotations

import dataclasses
from datetime import date
from decimal import Decimal
from typing import Literal, NewType, Optional, TypedDict

from pydantic import BaseModel

from graphflow import Flow, LlmAgent, MapAgent, ParallelAgent, SequentialAgent, agent, key

Clause = NewType("Clause", str)


class Address(BaseModel):
    street: str
    country: str


class Party(BaseModel):
    name: str
    role: Literal["buyer", "seller"]
    address: Optional[Address] = None  # noqa: UP045 - people write it so


class Deal(BaseModel):
    title: str
    signed: date
    parties: tuple[Party, Party]
    clauses: dict[str, str]


class Risk(BaseModel):
    clause: str
    what: str


class Rated(TypedDict):
    clause: str
    level: Literal["low", "high"]
    why: str


@dataclasses.dataclass(frozen=True)
class Money:
    amount: Decimal
    due_days: int = 30


read = LlmAgent(
    name="read",
    instruction=(
        "Read the contract into the form that is asked for. Dates are ISO 8601 (2025-03-31). Clauses go from "
        "their number to "
        'their text, unabridged: {"1": "The seller delivers ...", "2.1": "..."}. The two parties come in the '
        "order of signing."
    ),
    prompt="{contract}",
    output_key="deal",
    output_schema=Deal,
)


@agent(writes="names", blocking=False)
def parties(deal: Deal) -> list[str]:
    """Who is bound, with the country where that is known."""
    return [f"{party.name} ({party.address.country if party.address else 'unknown'})" for party in deal.parties]


duties = LlmAgent(
    name="duties",
    instruction="List who has to do what, by clause. Use the words of the contract for the duty and yours for nothing.",
    prompt="{names}\nClauses: {deal.clauses}",
    output_key="duties",
)
amounts = LlmAgent(
    name="amounts",
    instruction=(
        'List all amounts that fall due: [{"amount": "1000.00", "due_days": 30}]. Net of VAT; 0 days is at once.'
    ),
    prompt="{deal.clauses}",
    output_key="amounts",
    output_schema=list[Money],
)


@agent(writes="worth", blocking=False)
def add_up(amounts: list[Money]) -> Decimal:
    """The sum."""
    return sum((each.amount for each in amounts), Decimal(0))


dates = LlmAgent(
    name="dates",
    instruction="List the dates that somebody has to keep, counted from the day of signing (D+14).",
    prompt="Signed on {deal.signed}\n{deal.clauses}",
    output_key="dates",
)
find_risks = LlmAgent(
    name="find_risks",
    instruction=(
        "Find clauses that could hurt the buyer: penalties without a cap, liability for what nobody controls, "
        "silence taken for "
        'consent. Reply with a list such as [{"clause": "7.2", "what": "no cap on penalties"}]; it may be empty.'
    ),
    prompt="{deal.title}\n{duties}\nWorth: {worth}\nDates: {dates}",
    output_key="risks",
    output_schema=list[Risk],
)
explain = LlmAgent(
    name="explain",
    instruction="Explain the risk to somebody who has never read a contract, in two sentences, with an example in EUR.",
    prompt="{risk.what} in clause {risk.clause}",
    output_key="explained",
)
level = LlmAgent(
    name="level",
    instruction="Is the risk low or high for a deal of this worth? Answer with the one word.",
    prompt="{risk.what}\nWorth of the deal: {worth}",
    output_key="level",
    output_schema=Literal["low", "high"],
)


@agent(writes="rated", blocking=False)
def rate(risk: Risk, explained: str, level: Literal["low", "high"]) -> Rated:
    """One row of the table."""
    return {"clause": risk.clause, "level": level, "why": explained}


each_risk = MapAgent(
    name="each_risk",
    over=key("risks"),
    item="risk",
    agent=SequentialAgent(
        name="risk_by_risk", sub_agents=[ParallelAgent(name="both", sub_agents=[explain, level]), rate]
    ),
    collect={"rated": "table"},
)


@agent(writes={"worst": Clause, "high": int}, blocking=False)
def worst_of(table: list[Rated]) -> dict[str, object]:
    """The first clause with a high risk, and how many there are."""
    high = [row["clause"] for row in table if row["level"] == "high"]
    return {"worst": high[0] if high else "none", "high": len(high)}


opinion = LlmAgent(
    name="opinion",
    instruction="Write the opinion: sign, negotiate or walk away. Begin with the worst clause. At most one page (A4).",
    prompt="{names}\nRisks: {table}\nHigh ones: {high}, worst clause: {worst}\nWorth: {worth}",
    output_key="opinion",
)

flow = Flow(
    SequentialAgent(
        name="contracts",
        sub_agents=[
            read,
            parties,
            ParallelAgent(
                name="look", sub_agents=[duties, SequentialAgent(name="money", sub_agents=[amounts, add_up]), dates]
            ),
            find_risks,
            each_risk,
            worst_of,
            opinion,
        ],
    ),
    inputs={"contract": str},
    outputs={"opinion": str, "table": list[Rated]},
    model="gemini-2.5-pro",
)
_PARTY = {"name": "N", "role": "buyer"}
INPUTS = {"contract": "We agree."}
REPLIES = {
    "read": {"title": "Sale", "signed": "2025-03-31", "parties": [_PARTY, _PARTY], "clauses": {"1": "c"}},
    "amounts": [[{"amount": "10.00"}]],
    "find_risks": [[{"clause": "1", "what": "w"}, {"clause": "2", "what": "w"}]],
    "level": "high",
    "*": "text",
}
