"""Profiles: under which meanings a graph is checked. Ours, and those of a framework that the same agents may run in.

A profile is data. Rules and facts ask it one question at a time, so one rule serves all frameworks::

    profile_named("adk").live_state     # True: branches that run side by side see each other's writes
    facts.profile.braces                # which braces of an instruction are placeholders

It knows neither graphs nor rules. A new framework is one line in `PROFILES`, and its name in `graphflow.ir.names`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from graphflow.errors import UsageError, closest
from graphflow.ir.names import ADK, GRAPHFLOW
from graphflow.template import Braces


@dataclass(frozen=True, slots=True)
class Profile:
    """How a framework treats state, escalations, graphs and texts.

    Attributes:
        name: what `profile=` takes.
        title: what findings call the framework.
        keeps_state: the next run of a session finds every key that a run has left there, not only what is declared to stay.
        live_state: what runs side by side works on one state: it may see the others' writes, and the last write stays.
        escalate_crosses_loops: an escalation ends all loops around it, not only the nearest.
        dead_path_elimination: a join does not wait for a path that was not taken.
        unmatched_routes_end: a route that no edge is for ends the graph without a word; else it fails the run.
        answers_are_history: model agents are sent what those before them answered, whether it is in a key or not.
        braces: the grammar of placeholders.
    """

    name: str
    title: str
    keeps_state: bool = False
    live_state: bool = False
    escalate_crosses_loops: bool = False
    dead_path_elimination: bool = True
    unmatched_routes_end: bool = False
    answers_are_history: bool = False
    braces: Braces = "graphflow"


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            Profile(GRAPHFLOW, "graphflow"),
            Profile(
                ADK,
                "Google ADK",
                keeps_state=True,
                live_state=True,
                escalate_crosses_loops=True,
                dead_path_elimination=False,
                unmatched_routes_end=True,
                answers_are_history=True,
                braces="adk",
            ),
        )
    }
)
"""The profiles there are, by name."""


def profile_named(name: str) -> Profile:
    """Find a profile.

    Args:
        name: its name.

    Raises:
        UsageError: there is none of this name; the message gives the closest one.
    """
    if name in PROFILES:
        return PROFILES[name]
    near = closest(str(name), PROFILES)
    known = f"did you mean `{near}`" if near else f"there are {', '.join(f'`{known}`' for known in PROFILES)}"
    raise UsageError(f"there is no profile `{name}`; {known}")
