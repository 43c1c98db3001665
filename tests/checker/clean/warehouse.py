"""Orders in a warehouse: mostly code over typed dictionaries and data classes, a model only where words are needed.

::

    parse -> pick each line (find -> reserve | substitute) -> packing (fit)* -> price -> papers -> carrier
"""

from __future__ import annotations

import dataclasses
from typing import Literal, NotRequired, TypedDict

from graphflow import (
    ConditionalAgent,
    Context,
    Flow,
    FunctionAgent,
    Gate,
    Key,
    LlmAgent,
    LoopAgent,
    MapAgent,
    ParallelAgent,
    RetryPolicy,
    SequentialAgent,
    agent,
    key,
)


class Line(TypedDict):
    sku: str
    count: int
    note: NotRequired[str]


@dataclasses.dataclass
class Picked:
    sku: str
    count: int
    shelf: str


@dataclasses.dataclass
class Box:
    weight: float
    fits: bool


STOCK = {"PEN": ("A1", 100), "PAPER": ("B2", 3)}


@agent(writes="lines", blocking=False)
def parse(order: str) -> list[Line]:
    """`PEN 3; PAPER 10` becomes lines."""
    pairs = (part.split() for part in order.split(";"))
    return [{"sku": sku, "count": int(count)} for sku, count in pairs]


something = Gate(name="something", require=key("lines").len() > 0, reason="an empty order")


@agent(writes={"shelf": str, "there": bool}, blocking=False)
def find(line: Line) -> dict[str, object]:
    """Where it is, and whether there is enough."""
    shelf, count = STOCK.get(line["sku"], ("", 0))
    return {"shelf": shelf, "there": count >= line["count"]}


@agent(writes="picked", effect="idempotent", retry=RetryPolicy(attempts=2, backoff=0.0, jitter=0.0))
def reserve(line: Line, shelf: str, ctx: Context) -> Picked:
    """Reserves what is there."""
    assert ctx.idempotency_key
    return Picked(line["sku"], line["count"], shelf)


suggest = LlmAgent(
    name="suggest",
    instruction=(
        "The article is out of stock. Name the article number of the closest substitute: PEN, PAPER or CLIP. "
        "One word, in "
        'capital letters; no quotes, no {"json"}.'
    ),
    prompt="{line}",
    output_key="substitute",
)


@agent(writes="picked", blocking=False)
def swap(line: Line, substitute: str) -> Picked:
    """Takes the substitute instead."""
    return Picked(substitute, line["count"], "C3")


pick = MapAgent(
    name="pick",
    over="lines",
    item="line",
    agent=SequentialAgent(
        name="one",
        sub_agents=[
            find,
            ConditionalAgent(
                name="enough",
                when=key("there") == True,  # noqa: E712
                then=reserve,
                otherwise=SequentialAgent(name="other", sub_agents=[suggest, swap]),
            ),
        ],
    ),
    collect={"picked": "basket"},
)


@agent(writes={"box": Box, "size": int}, blocking=False)
def fit(basket: list[Picked], size: int) -> dict[str, object]:
    """Tries the next larger box."""
    weight = sum(each.count for each in basket) * 0.1
    return {"box": Box(weight, weight < size), "size": size + 1}


packing = LoopAgent(
    name="packing", sub_agents=[fit], until=key("box").field("fits"), max_iterations=9, on_exhausted="fail"
)


def price_of(ctx: Context) -> dict[str, object]:
    net = 1.5 * len(ctx.state["basket"]) + ctx.state["box"].weight
    return {"net": net, "gross": round(net * 1.2, 2)}


price = FunctionAgent(
    name="price", func=price_of, reads={"basket": list[Picked], "box": Box}, writes={"net": float, "gross": float}
)


@agent(writes="zone", blocking=False)
def zone(address: str) -> Literal["near", "far"]:
    """Whether the van goes there."""
    return "near" if address.startswith("1") else "far"


letter = LlmAgent(
    name="letter",
    instruction="Write the note in the parcel: what is in it, and which article was replaced by which. Prices in EUR.",
    prompt="Ordered: {lines}\nIn the box: {basket}\nTo pay: {gross} (net {net})",
    output_key="letter",
)


@agent(writes="label", blocking=False)
def label(address: str, box: Box) -> str:
    """Prints the label, with the weight in kg."""
    return f"{address} {box.weight:.1f} kg"


@agent(writes="tracking", effect="irreversible")
def by_van(label: str) -> str:
    """Hands it to our own van."""
    return f"van:{label}"


@agent(writes="tracking", effect="irreversible")
def by_post(label: str, box: Box) -> str:
    """Hands it to the post."""
    return f"post:{label}:{box.weight}"


flow = Flow(
    SequentialAgent(
        name="warehouse",
        sub_agents=[
            parse,
            something,
            pick,
            packing,
            price,
            ParallelAgent(name="papers", sub_agents=[letter, label, zone]),
            ConditionalAgent(name="carrier", on="zone", cases={"near": by_van, "far": by_post}),
        ],
    ),
    inputs={"order": str, "address": str},
    outputs={"tracking": str, "letter": str, "gross": float},
    keys=[Key("size", int, default=1)],
    model="gemini-2.5-flash",
)
INPUTS = {"order": "PEN 3; PAPER 10", "address": "2 Hill Road"}
REPLIES = {"suggest": "CLIP", "*": "text"}
