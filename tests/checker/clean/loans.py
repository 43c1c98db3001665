"""A loan application under a declared state: keys, types, defaults and merges stand in one model, and nothing else exists.

::

    read -> eligible -> scores [income | history | collateral] -> weigh -> band {green | amber (ask more) | red} -> letter
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from graphflow import (
    AskAgent,
    ConditionalAgent,
    Flow,
    Gate,
    LlmAgent,
    Merge,
    ParallelAgent,
    SequentialAgent,
    agent,
    key,
)


class Applicant(BaseModel):
    name: str
    income: float = Field(description="EUR per month, after tax")
    amount: float
    years: int


class State(BaseModel):
    """All keys there are."""

    application: str
    applicant: Applicant | None = None
    reasons: Annotated[list[str], Merge.append] = []
    income_score: float = 0.0
    history_score: float = 0.0
    collateral: str = "none"
    collateral_score: float = 0.0
    total: float = 0.0
    band: Literal["green", "amber", "red"] = "red"
    officer: str = ""
    letter: str = ""
    digest: str = ""


read = LlmAgent(
    name="read",
    instruction=(
        "Read the application. Money is in EUR without separators, and the term in full years.\n"
        'Example: {"name": "A. Novak", "income": 3200, "amount": 18000, "years": 5}. Do not guess an income.'
    ),
    prompt="{application}",
    output_key="applicant",
    output_schema=Applicant,
)
eligible = Gate(
    name="eligible",
    require=(key("applicant").field("amount") <= 75_000) & (key("applicant").field("years") >= 1),
    reason="out of range: {applicant.amount} EUR for {applicant.years} years",
)


@agent(writes={"income_score": float, "reasons": str}, blocking=False)
def income(applicant: Applicant) -> dict[str, object]:
    """The rate may take a third of the income."""
    rate = applicant.amount / (12 * applicant.years)
    return {"income_score": max(0.0, 1 - 3 * rate / applicant.income), "reasons": f"a rate of {rate:.0f} EUR"}


history = LlmAgent(
    name="history",
    instruction=(
        "Score the credit history from 0 (defaults) to 1 (nothing to say). Reply with the number alone. The "
        "registry's codes: "
        "{A} is paid, {B} is late, {C} is lost; they may stand in the text as they are."
    )
    .replace("{A}", "A")
    .replace("{B}", "B")
    .replace("{C}", "C"),
    prompt="{applicant.name}",
    output_key="history_score",
    output_schema=float,
)
find_collateral = LlmAgent(
    name="find_collateral",
    instruction="Which collateral does the application offer? Say `none`, or name it with its value in EUR.",
    prompt="{application}",
    output_key="collateral",
)
value_collateral = LlmAgent(
    name="value_collateral",
    instruction="Score the collateral from 0 (none) to 1 (worth the whole loan). Reply with the number alone.",
    prompt="{collateral}\nLoan: {applicant.amount} EUR",
    output_key="collateral_score",
    output_schema=float,
)
scores = ParallelAgent(
    name="scores",
    sub_agents=[
        income,
        history,
        SequentialAgent(name="security", sub_agents=[find_collateral, value_collateral]),
    ],
    on_error="collect",
)


@agent(writes={"total": float, "band": Literal["green", "amber", "red"]}, blocking=False)
def weigh(income_score: float, history_score: float, collateral_score: float) -> dict[str, object]:
    """Half the income, and a quarter each for history and collateral."""
    total = income_score / 2 + history_score / 4 + collateral_score / 4
    return {"total": total, "band": "green" if total > 0.6 else "amber" if total > 0.3 else "red"}


grant = LlmAgent(
    name="grant",
    instruction=(
        "Write the letter that grants the loan: amount, term, rate per month, and the right to withdraw (14 days)."
    ),
    prompt="{applicant.name}: {applicant.amount} EUR, {applicant.years} years",
    output_key="letter",
)
look_closer = AskAgent(
    name="look_closer",
    prompt="{applicant.name} scores {total}: {reasons}. What does the applicant have to send?",
    output_key="officer",
)
ask_more = LlmAgent(
    name="ask_more",
    instruction="Write a letter that asks for more papers. Explain for each what it is needed for. Promise nothing.",
    prompt="{applicant.name}\nThe officer needs: {officer}",
    output_key="letter",
)
deny = LlmAgent(
    name="deny",
    instruction="Write the letter that denies the loan, in three sentences, with the reasons and where to get advice.",
    prompt="{applicant.name}\n{reasons}",
    output_key="letter",
)
band = ConditionalAgent(
    name="by_band",
    on="band",
    cases={
        "green": grant,
        "amber": SequentialAgent(name="closer", sub_agents=[look_closer, ask_more]),
        "red": deny,
    },
)
digest = LlmAgent(
    name="digest",
    instruction="One line for the register: band, score with two decimals, the first reason.",
    prompt="{band} {total} {reasons}",
    output_key="digest",
)

flow = Flow(
    SequentialAgent(name="loans", sub_agents=[read, eligible, scores, weigh, band, digest]),
    inputs={"application": str},
    outputs=["letter", "digest"],
    state=State,
    model="gemini-2.5-pro",
)
INPUTS = {"application": "18000 EUR for 5 years"}
REPLIES = {
    "read": {"name": "A. Novak", "income": 3200, "amount": 18000, "years": 5},
    "history": "0.5",
    "find_collateral": RuntimeError("no answer"),
    "*": "text",
}
ANSWERS = {"loans/by_band/closer/look_closer": "three payslips"}
