"""The pipelines that the tests of the command line check and run, and what its messages have to be like."""

from __future__ import annotations

GOOD = """\
from graphflow import Flow, Gate, SequentialAgent, agent, key


@agent(writes="total", blocking=False)
def add_up(numbers: list[int]) -> int:
    return sum(numbers)


@agent(writes="verdict", blocking=False)
def judge(total: int, note: str = "-") -> str:
    return f"{total} {note}"


flow = Flow(
    SequentialAgent("sums", [add_up, Gate("enough", key("total") > 2, reason="only {total}"), judge]),
    inputs={"numbers": list[int], "note?": str},
    outputs=["verdict"],
)
"""
BROKEN = GOOD.replace("def judge(total: int,", "def judge(totl: int,")


def one_line(text: str) -> str:
    """Assert that text is one line without a traceback, and give it."""
    lines = text.strip().splitlines()
    assert len(lines) == 1, text
    assert "Traceback" not in text
    return lines[0]
