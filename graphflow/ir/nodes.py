"""The nodes, edges and regions of the graph IR: a closed set of plain data.

A pipeline of any shape is a directed graph of seven node kinds. Control edges say what may run after what; those that
close a loop are marked `back`. State edges (writer -> reader of one key) are computed from the contracts and never
authored. A node's `id` is the path of its agent (`invoice/enrich/po_match`), with a suffix for what graphflow adds
around it (`invoice/enrich#join`)::

    Entry -> Task invoice/extract -> Task invoice/validate -> Branch invoice/gate -> Fork invoice/enrich#fork -> ...

Concrete node classes are never subclassed, so a `match` over `Node` is exhaustive. Nothing here knows how to execute,
check or draw.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, final

from graphflow.conditions import Condition
from graphflow.contracts.contract import NOTHING, Contract, Origin
from graphflow.contracts.retry import RetryPolicy
from graphflow.ir.notes import NO_NOTES, Notes
from graphflow.schema import Key, Type
from graphflow.template import Template

NEXT = "next"
BODY = "body"
EXIT = "exit"
EXHAUSTED = "exhausted"
ESCALATE = "escalate"
POSSIBLE_ESCALATE = "escalate?"
"""An escalation that only an open contract makes possible: it is obeyed at run time, and no finding rests on it."""
ERROR = "error"
"""The way out of a task, or of the join of a guarded composite, that failed for good."""
EMPTY = "empty"
"""The way past the body of a map, for an empty list."""
CALL = "call:"
"""Prefix of the ways from a custom agent's code to its children; the child's name follows. Children return along back edges."""
ESCALATIONS = frozenset({ESCALATE, POSSIBLE_ESCALATE})

OUT = "out:"
"""Prefix of the reserved keys that hold what a node of a `Workflow` gave to the next (`node_input`)."""
ROUTE = "route:"
"""Prefix of the reserved keys that hold the route a node of a `Workflow` chose."""
IN = "in:"
"""Prefix of the reserved keys that hold what several nodes gave to the next, node name -> value."""

RegionKind = Literal[
    "root", "sequence", "parallel", "loop", "conditional", "gate", "guard", "map", "subflow", "custom", "workflow"
]
ExitReason = Literal["until", "escalate", "max_iterations"]


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """Where a run begins. Its contract writes the inputs and the defaults of declared keys."""

    id: str
    region: str
    contract: Contract = NOTHING
    origin: Origin | None = None


@final
@dataclass(frozen=True, slots=True)
class Exit:
    """Where a run that is neither halted nor failed ends. Its contract reads the declared outputs."""

    id: str
    region: str
    contract: Contract = NOTHING
    origin: Origin | None = None


@final
@dataclass(frozen=True, slots=True)
class Task:
    """A node with a body: the only kind that runs the user's code or a model.

    A task with `call:...` edges is the code of a custom agent: each such edge leads to a child that the code may run, and
    back edges bring the children's ends back to it.

    Attributes:
        kind: "model", "code", "custom", "ask" or "glue" (made by graphflow); what the body is, for tables and pictures.
        model: the model's name, if the body calls one and the agent names it.
        retry: when a failed attempt is followed by another.
        timeout: seconds that one attempt may take.
        output: reserved key that is given the body's value (`out:...`); None where nobody reads it.
        route: reserved key that is given the route the body chose (`route:...`); None where no route is looked at.
        fresh: prefix of keys that end here: the state after this task has none of them but those that it writes.
        scope: prefix of all keys in the graph that the body knows without it: the key scope of the sub-flow around it.
        body: the opaque executable; no part of the graph's identity.
    """

    id: str
    region: str
    contract: Contract = NOTHING
    origin: Origin | None = None
    kind: str = "code"
    model: str | None = None
    retry: RetryPolicy | None = None
    timeout: float | None = None
    output: str | None = None
    route: str | None = None
    fresh: str | None = None
    scope: str = ""
    body: object = field(default=None, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Arm:
    """One way out of a branch: an edge label and the condition that selects it (None: whatever is left)."""

    label: str
    condition: Condition | None = None


@final
@dataclass(frozen=True, slots=True)
class Branch:
    """Takes the first arm whose condition holds. When none does, the run halts (`halt` given) or fails.

    An arm without a condition is taken if no other is. With `multiple` every arm whose condition holds is taken, side by
    side: the subject is then a list of routes, an arm holds if its value is in it, and the arm without a condition is taken
    for routes that have no arm of their own and for an empty list.

    Attributes:
        arms: in the order in which they are tried.
        halt: the reason of the halt, a template; None means that no match is a `RouteError`.
        subject: what the arms compare, for messages and pictures (`category`, `score < 0.8`).
        cases: True if the arms are cases of one key.
        multiple: True if several arms may be taken at once.
    """

    id: str
    region: str
    contract: Contract = NOTHING
    origin: Origin | None = None
    arms: tuple[Arm, ...] = ()
    halt: Template | None = None
    subject: str = ""
    cases: bool = False
    multiple: bool = False


@final
@dataclass(frozen=True, slots=True)
class Over:
    """What a map runs over: the list in `key` (or in a field of it), element by element.

    Attributes:
        key: key that holds the list.
        path: fields below the key, outermost first.
        item: key that an instance finds its element in.
        index: key that an instance finds its 0-based index in, None for none.
    """

    key: str
    path: tuple[str, ...] = ()
    item: str = "item"
    index: str | None = None


@final
@dataclass(frozen=True, slots=True)
class Group:
    """How the instances of a fork are run where it is not simply all branches up to the join.

    An instance is a branch (an edge `next` of the fork), an element of a list (`over`: the one edge `body`, run once for
    each) or an attempt (a guard: the one edge `body`, run until it succeeds). Everything between the fork and `join` belongs
    to instances, and leaves them only through `join`.

    Attributes:
        join: id of the join where the instances end.
        over: the list of a map, None for branches and guards.
        need: successes that end the region; None: all instances have to end.
        failures: "fail": a failed instance fails the region; "collect": it is left out, or its place in a list shows it.
        limit: the most bodies that run at once in the region.
        retry: when a failed guard is tried again.
        timeout: seconds that one attempt at a guard may take.
    """

    join: str
    over: Over | None = None
    need: int | None = None
    failures: Literal["fail", "collect"] = "fail"
    limit: int | None = None
    retry: RetryPolicy | None = None
    timeout: float | None = None


@final
@dataclass(frozen=True, slots=True)
class Fork:
    """Starts all its successors side by side, each on the state at the fork; `group` says where that is not all."""

    id: str
    region: str
    contract: Contract = NOTHING
    origin: Origin | None = None
    group: Group | None = None


@final
@dataclass(frozen=True, slots=True)
class Collect:
    """A list that a map makes: `inner`'s value of each instance, in input order, becomes `outer`.

    Attributes:
        inner: key of an instance.
        outer: key after the map.
        flatten: the values are lists, and `outer` is given them joined.
    """

    inner: str
    outer: str
    flatten: bool = False


@final
@dataclass(frozen=True, slots=True)
class Gathered:
    """One part of what a join hands to the next node: where `source` was left by `label`, `key`'s value as `name`."""

    source: str
    label: str
    name: str
    key: str


@final
@dataclass(frozen=True, slots=True)
class Join:
    """Goes on when every in-edge is settled, uniting what they bring (dead edges carry the state at which they died).

    Attributes:
        exclusive: at most one in-edge fires (the end of a conditional or of a loop), else several may.
        exit_key: the key that is given the exit reason of the loop which ends here.
        collect: the lists that the map which ends here makes; of its instances nothing else but merged keys goes on.
        gather: what is put together under the `in:` key that the join writes, for in-edges that fired.
    """

    id: str
    region: str
    contract: Contract = NOTHING
    origin: Origin | None = None
    exclusive: bool = False
    exit_key: str | None = None
    collect: tuple[Collect, ...] = ()
    gather: tuple[Gathered, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class LoopHeader:
    """Where every iteration begins: entered once from outside, then along the back edges.

    After each iteration: `until` (true: out by `exit`), then the bound (reached: out by `exhausted` if there is such an
    edge, else by `exit`), else round again by `body`.

    Attributes:
        bound: the most iterations; None means no bound.
        until: the exit test over the state after the body; None means no test.
        exhausted: what reaching the bound means: go on, or fail the run.
    """

    id: str
    region: str
    contract: Contract = NOTHING
    origin: Origin | None = None
    bound: int | None = None
    until: Condition | None = None
    exhausted: Literal["continue", "fail"] = "continue"


Node = Entry | Exit | Task | Branch | Fork | Join | LoopHeader


@final
@dataclass(frozen=True, slots=True)
class Edge:
    """A control edge. `label` says under which outcome of the source it fires; `back` marks a loop's return."""

    source: str
    target: str
    label: str = NEXT
    back: bool = False


@final
@dataclass(frozen=True, slots=True)
class StateEdge:
    """`writer`'s value of `key` may be what `reader` reads. `type` is the type as written."""

    writer: str
    reader: str
    key: str
    type: Type


@final
@dataclass(frozen=True, slots=True)
class Region:
    """One composite agent in the tree of regions.

    Attributes:
        id: its path; the root of the tree is the region of the whole flow.
        kind: what the composite is.
        parent: path of the enclosing region; None for the root.
        items: ids of the nodes and regions directly inside, in declaration order.
        label: a line about it for pictures (`up to 3, until approved`).
    """

    id: str
    kind: str
    parent: str | None
    items: tuple[str, ...] = ()
    origin: Origin | None = None
    label: str = ""


@final
@dataclass(frozen=True, slots=True)
class Declaration:
    """The agent that made a node or region, as far as findings need it.

    Attributes:
        path: path of the agent in the flow.
        name: its name, valid or not.
        origin: where it was made.
        ignore: codes of findings it does not want reported.
        shared_with: path of an earlier place that holds the very same agent object, if there is one.
        composite: what kind of composite it is; "" for a leaf.
        description: the agent's own description.
        title: the agent's class, for tables and pictures.
        estimate: seconds that the author expects it to take.
        notes: what only the check looks at; no part of the graph's identity.
    """

    path: str
    name: str
    origin: Origin | None = None
    ignore: frozenset[str] = frozenset()
    shared_with: str | None = None
    composite: str = ""
    description: str = ""
    title: str = ""
    estimate: float | None = None
    notes: Notes = field(default=NO_NOTES, compare=False, repr=False)


@final
@dataclass(frozen=True, slots=True)
class Fault:
    """Something that could not be lowered, left out of the graph and kept for the check. Such a graph is never run.

    Attributes:
        kind: what is wrong.
        node: path of the agent concerned.
        subject: what it is about: the name of the missing target, the node by which a cycle is entered a second time.
        related: paths of the other agents concerned.
    """

    kind: Literal["unknown-target", "irreducible-cycle", "unexpected-edge"]
    node: str
    subject: str = ""
    related: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Interface:
    """What a flow declares about its keys.

    Attributes:
        inputs: declared inputs in order, key -> (type, required, default or MISSING); None leaves the world open.
        outputs: declared outputs in order, key -> (type, required); None means none declared.
        keys: declared keys by name.
        closed: only declared keys may be used.
    """

    inputs: tuple[tuple[str, Type, bool, object], ...] | None = None
    outputs: tuple[tuple[str, Type, bool], ...] | None = None
    keys: tuple[Key, ...] = ()
    closed: bool = False


def called(label: str) -> str | None:
    """Give the child's name in the label of a `call:` edge, None for other edges."""
    return label.removeprefix(CALL) if label.startswith(CALL) else None


def agent_path(node_id: str) -> str:
    """Give the path of the agent that a node or region belongs to (`a/loop#header` -> `a/loop`)."""
    head, mark, tail = node_id.rpartition("#")
    return head if mark and not tail.isdigit() and "/" not in tail else node_id
