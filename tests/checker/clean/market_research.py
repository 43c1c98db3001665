"""A market study: four desks look for evidence side by side, two of them in more than one step, and one author merges it.

::

    scope -> desks [(search -> rate) | filings | (interview -> quote) | prices] -> rank -> merge -> verify -> memo
"""

from __future__ import annotations

import dataclasses

from pydantic import BaseModel

from graphflow import Flow, Key, LlmAgent, Merge, ParallelAgent, SequentialAgent, agent


class Scope(BaseModel):
    market: str
    region: str
    questions: list[str]


@dataclasses.dataclass
class Evidence:
    claim: str
    source: str
    weight: float = 0.5


scope = LlmAgent(
    name="scope",
    instruction=(
        "Narrow the request down to one market, one region and three questions that evidence can answer. Do "
        "not answer them.\n"
        'Example: {"market": "heat pumps", "region": "EU-27", "questions": ["How many were sold in 2024 '
        '(units/year)?"]}'
    ),
    prompt="Request: {request}",
    output_key="scope",
    output_schema=Scope,
)
search = LlmAgent(
    name="search",
    instruction=(
        "Collect what public web pages say about the market. Give each statement on a line, followed by its address."
    ),
    prompt="{scope.market} in {scope.region}\nQuestions: {scope.questions}",
    output_key="pages",
)
rate = LlmAgent(
    name="rate",
    instruction=(
        "Turn each line into evidence. The weight is 0.1 for a forum, 0.5 for a newspaper and 0.9 for an "
        "agency's statistics.\n"
        'Reply with a list: [{"claim": "...", "source": "https://example.org", "weight": 0.5}]'
    ),
    prompt="{pages}",
    output_key="evidence",
    output_schema=list[Evidence],
)
filings = LlmAgent(
    name="filings",
    instruction=(
        "Give evidence from annual reports of companies in this market. Amounts in million EUR, never in thousands."
    ),
    prompt="Market: {scope.market}, region: {scope.region}",
    output_key="evidence",
    output_schema=list[Evidence],
)
interview = LlmAgent(
    name="interview",
    instruction=(
        "Write the five questions that you would ask a distributor, and the answers that the notes of the panel give."
    ),
    prompt="Panel notes:\n{panel_notes}\nMarket: {scope.market}",
    output_key="interview",
)
quote = LlmAgent(
    name="quote",
    instruction="Pick the answers that are evidence, and cite the distributor by trade and not by name.",
    prompt="{interview}",
    output_key="evidence",
    output_schema=list[Evidence],
)


@agent(writes="evidence")
def prices(scope: Scope) -> list[Evidence]:
    """Reads the price index of the region."""
    return [Evidence(f"prices of {scope.market} fell by 4 %", "index", 0.9)]


@agent(writes="ranked")
def rank(evidence: list[Evidence]) -> list[Evidence]:
    """The heaviest evidence first, at most twenty pieces."""
    return sorted(evidence, key=lambda each: -each.weight)[:20]


merge = LlmAgent(
    name="merge",
    instruction=(
        "Write the study from the evidence alone. Each paragraph answers one question and ends with its "
        "sources in brackets. "
        "Where two pieces of evidence contradict each other say so, and prefer the heavier one."
    ),
    prompt="Questions: {scope.questions}\nEvidence:\n{ranked}",
    output_key="study",
)
verify = LlmAgent(
    name="verify",
    instruction=(
        "List each sentence of the study that no piece of evidence supports. Reply with an empty list if there is none."
    ),
    prompt="Study:\n{study}\nEvidence:\n{ranked}",
    output_key="unsupported",
    output_schema=list[str],
)
memo = LlmAgent(
    name="memo",
    instruction=(
        "Write a memo of one page for the board: the three findings, what is not supported, what it costs to know more."
    ),
    prompt="Study:\n{study}\nNot supported:\n{unsupported}",
    output_key="memo",
)

flow = Flow(
    SequentialAgent(
        name="market_research",
        sub_agents=[
            scope,
            ParallelAgent(
                name="desks",
                sub_agents=[
                    SequentialAgent(name="web", sub_agents=[search, rate]),
                    filings,
                    SequentialAgent(name="panel", sub_agents=[interview, quote]),
                    prices,
                ],
                max_concurrency=3,
            ),
            rank,
            merge,
            verify,
            memo,
        ],
    ),
    inputs={"request": str, "panel_notes": str},
    outputs={"memo": str, "study": str},
    keys=[Key("evidence", list[Evidence], default=[], merge=Merge.extend, doc="What the desks have found.")],
    model="gemini-2.5-pro",
)
INPUTS = {"request": "heat pumps in Europe", "panel_notes": "none"}
_FOUND = [{"claim": "c", "source": "s", "weight": 0.7}]
REPLIES = {
    "scope": {"market": "heat pumps", "region": "EU", "questions": ["how many?"]},
    "rate": [_FOUND],
    "filings": [_FOUND],
    "quote": [_FOUND],
    "verify": [[]],
    "*": "text",
}
