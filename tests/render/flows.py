"""The flows that the tests of pictures draw, and findings to mark on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

from graphflow import (
    PASS,
    ConditionalAgent,
    Flow,
    FunctionAgent,
    Gate,
    LlmAgent,
    LoopAgent,
    ParallelAgent,
    SequentialAgent,
    key,
)
from graphflow.agents import Agent
from graphflow.render.elements import Scene

Category = Literal["BUG", "BILLING", "OTHER"]


@dataclass(frozen=True)
class Finding:
    code: str
    severity: str
    node: str
    message: str = "something is wrong"
    help: str = ""


@dataclass(frozen=True)
class Findings:
    diagnostics: tuple[Finding, ...]


def ids_of(scene: Scene) -> list[str]:
    nodes = [node.id for node in scene.nodes]
    return [*nodes, *(cluster.id for cluster in scene.clusters), *(edge.id for edge in scene.edges)]


def code(name: str, reads: dict[str, object] | None = None, writes: dict[str, object] | None = None) -> Agent:
    return FunctionAgent(name=name, func=lambda ctx: None, reads=reads or {}, writes=writes or {})


def model(name: str, instruction: str, output_key: str, **more: Any) -> Agent:
    return LlmAgent(name=name, model="tiny-1", instruction=instruction, output_key=output_key, **more)


def invoice() -> Flow:
    """A straight flow with a gate and a parallel part."""
    root = SequentialAgent(
        "invoice",
        [
            model("extract", "Read {message}", "fields", output_schema=dict[str, str]),
            code("validate", {"fields": dict[str, str]}, {"validation": str}),
            Gate("adds_up", require=key("validation") == "ok"),
            ParallelAgent(
                "enrich", [code("risk", {"fields": dict[str, str]}, {"risk": str}), code("order", {}, {"order": str})]
            ),
            model("decide", "Decide {fields} {risk} {order}", "decision"),
        ],
    )
    return Flow(root, inputs={"message": str}, outputs={"decision": str})


def support() -> Flow:
    """Sequence, parallel, loop and conditional, nested three deep."""
    refine = LoopAgent(
        "refine",
        [
            model("draft", "{message} {feedback?}", "draft"),
            model("critic", "{draft}", "feedback"),
            code("score_it", {"draft": str, "feedback": str}, {"score": float}),
        ],
        max_iterations=3,
        until=key("score") > 0.8,
    )
    research = ParallelAgent("research", [model("search", "{message}", "hits"), refine])
    bug = SequentialAgent("bug_path", [research, model("answer_bug", "{hits} {draft}", "answer")])
    billing = model("answer_billing", "{message}", "answer")
    root = SequentialAgent(
        "support",
        [
            model("classify", "{message}", "category", output_schema=Category),
            ConditionalAgent("route", on=key("category"), cases={"BUG": bug, "BILLING": billing}, default=PASS),
            code("send", {"answer?": str, "message": str}, {"receipt": str}),
        ],
    )
    return Flow(root, inputs={"message": str}, outputs={"receipt": str})


NAMES = ("a", "b", "c", "d", "e", "f", "g", "h")
KEYS = ("topic", "one", "two", "three")


@st.composite
def trees(draw: st.DrawFn, names: st.SearchStrategy[str] | None = None) -> Agent:
    """Any tree of agents, three composites deep at most, empty composites included."""
    return _tree(draw, st.sampled_from(NAMES) if names is None else names, 3)


def _tree(draw: st.DrawFn, names: st.SearchStrategy[str], depth: int) -> Agent:
    name = draw(names)
    kinds = ["code", "code", "gate", *(["sequence", "parallel", "loop", "conditional"] if depth else [])]
    kind = draw(st.sampled_from(kinds))
    keys = st.sampled_from(KEYS)
    if kind == "code":
        return code(name, {f"{draw(keys)}?": str}, {draw(keys): str})
    if kind == "gate":
        return Gate(name, require=key(draw(keys)) == "ok")
    children = [_tree(draw, names, depth - 1) for _ in range(draw(st.integers(0, 3)))]
    if kind == "sequence":
        return SequentialAgent(name, children)
    if kind == "parallel":
        return ParallelAgent(name, children)
    if kind == "loop":
        until = draw(st.sampled_from([None, key("one") == "ok"]))
        return LoopAgent(name, children, until=until, max_iterations=draw(st.sampled_from([2, None])), exit_key="how")
    default = draw(st.sampled_from([None, PASS]))
    return ConditionalAgent(name, on=key(draw(keys)), cases=dict(zip("ABC", children, strict=False)), default=default)
