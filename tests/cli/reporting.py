"""The reports of one flow with a finding of every severity, in every format; `tests/cli/reports/` holds what they are to be.

After a change that is meant, `python -m tests.cli.reporting` writes them again; read every changed line before committing.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from graphflow.checker.engine import Settings
from graphflow.checker.formats import FORMATS, Checked, Layout
from graphflow.cli.checking import check_targets

COMMITTED = Path(__file__).parent / "reports"
FILES = {
    "text": "report.txt",
    "json": "report.json",
    "sarif": "report.sarif",
    "github": "report.github",
    "junit": "report.xml",
    "gitlab": "report.gitlab.json",
}
ROOT = "/project"
PROGRAM = """\
from graphflow import ConditionalAgent, Flow, FunctionAgent, ParallelAgent, SequentialAgent, key




facts = FunctionAgent(name="facts", func=lambda ctx: {}, reads=["topic"], writes=["notes"])
links = FunctionAgent(name="links", func=lambda ctx: {}, reads=["topic"], writes=["notes", "spare"])
gather = ParallelAgent("gather", [facts, links])
post = FunctionAgent(name="post", func=lambda ctx: {}, reads=["notes"], writes=["url"])
old = FunctionAgent(name="old", func=lambda ctx: {}, reads=["topic"], writes=["gone"])  # graphflow: ignore[GF203]
flow = Flow(SequentialAgent("story", [gather, old, post]), inputs={"topic": str, "tone": str})
maybe = ConditionalAgent("agreed", when=key("topic") == "x", then=post)
agreed = Flow(maybe, inputs={"notes": str, "topic": str}, outputs=["url"])
clean = Flow(post, inputs={"notes": str}, outputs=["url"])
"""


def results_in(directory: Path) -> tuple[Checked, ...]:
    """Check the program, and a file that is not there."""
    (directory / "story.py").write_text(PROGRAM, encoding="utf-8")
    targets = ["story.py", "missing.py:flow"]
    return check_targets(targets, directory, Settings(), 60).results


def reports_of(results: tuple[Checked, ...], directory: Path) -> dict[str, str]:
    """Format -> report, with the directory called `/project`, and without the pages of rules, which have tests of their own."""
    layout = Layout(show_info=True, root=str(directory), fail_on="warning", version="1.2.3")
    written = {name: write(results, layout).replace(str(directory), ROOT) for name, write in FORMATS.items()}
    log = json.loads(written["sarif"])
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        rule |= {"shortDescription": {"text": "..."}, "help": {"text": "...", "markdown": "..."}}
    return {**written, "sarif": json.dumps(log, indent=2) + "\n"}


def main() -> None:
    """Write what is committed."""
    COMMITTED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory).resolve()
        for name, text in reports_of(results_in(project), project).items():
            (COMMITTED / FILES[name]).write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {COMMITTED / FILES[name]}\n")


if __name__ == "__main__":
    main()
