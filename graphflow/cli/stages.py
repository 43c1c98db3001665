"""What a flow's stages and keys are, as rows of data: `graphflow contract` lays them out or writes them as JSON.

::

    stage_rows(graph)     [StageRow("main/writer", "model", "gemini-2.5-flash", reads=(KeyUse("topic", "str"),), ...)]
    key_rows(graph)       [KeyRow("draft", "", "str", writers=("main/writer",), readers=("main/critic",), ...)]

Keys are called what their authors call them, also in a sub-flow; those that graphflow keeps for itself are left out. Knows the
graph, and of bodies only how long a question waits. Names are given as they are: whoever prints them makes them harmless.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from graphflow.agents.ask import AskBody
from graphflow.contracts.contract import Read
from graphflow.ir.graph import Graph
from graphflow.ir.nodes import Branch, Entry, Exit, Fork, Join, LoopHeader, Node, Task, agent_path
from graphflow.render.labels import KeyNames, group_text, guard_text, local_name
from graphflow.schema import ANY, MISSING, Type, type_of

NODE_INPUT = "(node_input)"


@dataclass(frozen=True, slots=True)
class KeyUse:
    """One read or write of a key.

    Attributes:
        key: its name, with the fields that are read below it.
        type: what is asked for or written; "Any" if nothing is known.
        optional: the reader copes with an absent key; the writer may leave it out.
    """

    key: str
    type: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class StageRow:
    """What one stage does.

    Attributes:
        node: its path, that of the root included.
        kind: what runs there.
        model: the model's name, None for none.
        notes: how it is tried, asked or how its parts are run, in words.
        reads: keys with types.
        writes: keys with types.
        open: why not all of its keys can be known; empty if they are.
        effect: what running it twice does to the world.
        halts: it may halt the run.
        escalates: it may end a loop.
        attempts: how often it is tried, None if nothing is said.
        timeout: seconds for one attempt, or for an answer; None for any time.
    """

    node: str
    kind: str
    model: str | None = None
    notes: tuple[str, ...] = ()
    reads: tuple[KeyUse, ...] = ()
    writes: tuple[KeyUse, ...] = ()
    open: tuple[str, ...] = ()
    effect: str = "none"
    halts: bool = False
    escalates: bool = False
    attempts: int | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Touch:
    """A stage that writes or reads a key: its path, and whether it only may write it, or copes without it."""

    node: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class KeyRow:
    """What is known of one key.

    Attributes:
        key: its name.
        scope: path of the sub-flow that it lives in, below the root; "" for the flow itself.
        type: as declared, else as written, else as read.
        input: "required", "optional", or None if it is no input.
        output: likewise.
        declared: the flow declares it, as an input, an output or a key.
        merge: how several writes are combined, None if they are not.
        persist: the next run of a session may read it before writing it.
        default: its value before any write, MISSING for none.
        doc: what its author says about it.
        writers: the stages that write it, in canonical order.
        readers: the stages that read it.
    """

    key: str
    scope: str
    type: str
    input: str | None = None
    output: str | None = None
    declared: bool = False
    merge: str | None = None
    persist: bool = False
    default: object = MISSING
    doc: str = ""
    writers: tuple[Touch, ...] = ()
    readers: tuple[Touch, ...] = ()


def root_of(graph: Graph) -> str:
    """Give the path of the outermost agent."""
    return next((region.id for region in graph.regions.values() if region.parent is not None), graph.name)


def stage_rows(graph: Graph) -> list[StageRow]:
    """List the stages of a graph, in canonical order: tasks, gates, and whatever else touches a key or is run specially.

    Args:
        graph: any graph.
    """
    names = KeyNames(graph)
    return [_row(node, kind, notes, graph, names) for node, kind, notes in _shown(graph, names)]


def _shown(graph: Graph, names: KeyNames) -> Iterator[tuple[Node, str, tuple[str, ...]]]:
    """Yield the nodes that have a row: what runs there, and words about it."""
    for node in graph.nodes.values():
        used = [*(read.key for read in node.contract.reads), *(write.key for write in node.contract.writes)]
        own = [key for key in used if not names.reserved(key)]
        match node:
            case Task():
                yield node, _kind(node), (guard_text(node.retry, node.timeout), _question(node))
            case Branch(halt=None, subject=subject):
                if own or not subject:
                    yield node, "route" if node.id.endswith("#route") else "branch", ()
            case Branch():
                yield node, "gate", ()
            case LoopHeader() if own:
                yield node, "loop", ()
            case Fork(group=group) if group is not None:
                text = group_text(group, len(graph.out(node.id)))
                kind = "map" if group.over is not None else graph.regions[node.region].kind
                yield from [(node, kind, (text,))] * (bool(text) or bool(own))
            case Join(collect=collect, exit_key=exit_key) if own:
                yield node, "collect" if collect else "loop end" if exit_key else "join", ()
            case _:
                pass


def _kind(task: Task) -> str:
    """Say what runs in a task; the two tasks at the ends of a sub-flow are told apart by their names."""
    if task.kind == "glue":
        return f"subflow {local_name(task.id)}" if task.fresh is not None else local_name(task.id)
    return task.kind


def _question(task: Task) -> str:
    """Say how long a question waits for its answer."""
    if not isinstance(task.body, AskBody) or task.body.timeout is None:
        return ""
    otherwise = "fails" if task.body.default is None else repr(task.body.default)
    return f"after {task.body.timeout:g} s: {otherwise}"


def _row(node: Node, kind: str, notes: tuple[str, ...], graph: Graph, names: KeyNames) -> StageRow:
    contract = node.contract
    reads = [
        KeyUse(".".join((names.shown(read.key), *read.path)), _read_type(read, node, graph).text, read.optional)
        for read in contract.reads
        if not read.implicit and not names.reserved(read.key)
    ]
    given = next((_read_type(read, node, graph) for read in contract.reads if names.reserved(read.key)), None)
    if given is not None and isinstance(node, Task):
        reads.append(KeyUse(NODE_INPUT, given.text))
    writes = [
        KeyUse(names.shown(write.key), write.type.text, not write.sure)
        for write in contract.writes
        if not names.reserved(write.key)
    ]
    task = node if isinstance(node, Task) else None
    retry = task.retry if task is not None else None
    asked = task.body.timeout if task is not None and isinstance(task.body, AskBody) else None
    return StageRow(
        agent_path(node.id),
        kind,
        task.model if task is not None and task.kind == "model" else None,
        tuple(note for note in notes if note),
        tuple(reads),
        tuple(writes),
        contract.open,
        contract.effect,
        contract.halts,
        contract.escalates,
        retry.attempts if retry is not None else None,
        asked if asked is not None or task is None else task.timeout,
    )


def _read_type(read: Read, node: Node, graph: Graph) -> Type:
    """What the reader asks for; where it takes anything, what the writers agree on."""
    if read.type != ANY or read.path:
        return read.type
    written = {edge.type for edge in graph.state if edge.reader == node.id and edge.key == read.key}
    return written.pop() if len(written) == 1 else ANY


@dataclass(slots=True)
class _Uses:
    """Who touches a key, path -> whether surely, and with which types."""

    writers: dict[str, bool] = field(default_factory=dict)
    readers: dict[str, bool] = field(default_factory=dict)
    written: dict[str, None] = field(default_factory=dict)
    read: dict[str, None] = field(default_factory=dict)


def key_rows(graph: Graph) -> list[KeyRow]:
    """List the keys of a graph: inputs, then the others in the order in which they are used, then those that nobody uses.

    Args:
        graph: any graph.
    """
    names, uses, root = KeyNames(graph), _uses(graph), root_of(graph)
    interface = graph.interface
    keys = [*(name for name, *_ in interface.inputs or ()), *uses, *(name for name, *_ in interface.outputs or ())]
    keys += [key.name for key in interface.keys]
    return [
        _key_row(key, graph, names, uses.get(key, _Uses()), root)
        for key in dict.fromkeys(keys)
        if not names.reserved(key)
    ]


def _uses(graph: Graph) -> dict[str, _Uses]:
    found: dict[str, _Uses] = {}
    for node in graph.nodes.values():
        if isinstance(node, (Entry, Exit)):
            continue
        path = agent_path(node.id)
        for read in node.contract.reads:
            if not read.implicit:
                use = found.setdefault(read.key, _Uses())
                use.readers[path] = use.readers.get(path, False) or not read.optional
                if read.type != ANY and not read.path:
                    use.read[read.type.text] = None
        for write in node.contract.writes:
            use = found.setdefault(write.key, _Uses())
            use.writers[path] = use.writers.get(path, False) or write.sure
            if write.type != ANY:
                use.written[write.type.text] = None
    return found


def _key_row(key: str, graph: Graph, names: KeyNames, uses: _Uses, root: str) -> KeyRow:
    interface = graph.interface
    given = next((one for one in interface.inputs or () if one[0] == key), None)
    owed = next((one for one in interface.outputs or () if one[0] == key), None)
    declared = next((one for one in interface.keys if one.name == key), None)
    types = [type_of(declared.type)] if declared is not None else []
    types += [one[1] for one in (given, owed) if one is not None]
    known = next((type_.text for type_ in types if type_ != ANY), "")
    default = declared.default if declared is not None and declared.default is not MISSING else MISSING
    name = names.shown(key)
    return KeyRow(
        name,
        key.removesuffix(name).rstrip("/").removeprefix(f"{root}/"),
        known or " | ".join(uses.written or uses.read) or ANY.text,
        None if given is None else "required" if given[2] else "optional",
        None if owed is None else "required" if owed[2] else "optional",
        declared is not None or given is not None or owed is not None,
        declared.merge.name if declared is not None and declared.merge is not None else None,
        declared is not None and declared.persist,
        given[3] if given is not None and given[3] is not MISSING else default,
        declared.doc if declared is not None else "",
        _touches(uses.writers),
        _touches(uses.readers),
    )


def _touches(sure: dict[str, bool]) -> tuple[Touch, ...]:
    return tuple(Touch(path, not certain) for path, certain in sure.items())
