"""What reads ask of the inside of values, and where a model's free text stands in for structure.

::

    # extract = LlmAgent(..., output_key="invoice"), without output_schema
    texts_behind(facts, definition)     # ("s/extract",)

A model agent without `output_schema` writes text; whoever reads it as anything else, or a field of it, reads it unvalidated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphflow.analysis.effects import Definition
from graphflow.analysis.facts import Facts, Use
from graphflow.analysis.kinds import Lack, lacking
from graphflow.contracts.contract import Origin
from graphflow.contracts.parsing import parsed_in
from graphflow.contracts.places import ParameterSearch
from graphflow.ir.glue import Crossing
from graphflow.ir.nodes import Branch, Fork, Join, Task, agent_path
from graphflow.schema import ANY, assignable, type_of


@dataclass(frozen=True, slots=True)
class UnknownPart:
    """A read of a field that is not there.

    Attributes:
        use: the read.
        lack: what lacks the field.
        surely: no type that the key may have has the field.
        writers: the writes that may be read.
        texts: the model agents whose free text it is; empty if it is something else.
    """

    use: Use
    lack: Lack
    surely: bool
    writers: tuple[Definition, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadText:
    """A model's free text that is read as something else, or parsed.

    Attributes:
        use: the read.
        texts: the model agents.
        parsed: where the text is parsed; None if the read itself must fail.
    """

    use: Use
    texts: tuple[str, ...]
    parsed: Origin | None = None


def texts_behind(facts: Facts, definition: Definition) -> tuple[str, ...]:
    """Name the model agents whose free text a write passes on or collects; empty if it writes something else."""
    found: dict[str, None] = {}
    pending, seen = [definition], {definition.index}
    while pending:
        current = pending.pop()
        node = facts.graph.nodes[current.node]
        if isinstance(node, Task) and node.kind == "model" and current.type.hint is str:
            found[agent_path(node.id)] = None
        for key in _sources(facts, current):
            more = [each for each in facts.reaching(node.id, key) if each.index not in seen]
            seen.update(each.index for each in more)
            pending += more
    return tuple(found)


def _sources(facts: Facts, definition: Definition) -> Sequence[str]:
    """Name the keys whose values a write of graphflow's own consists of."""
    match facts.graph.nodes[definition.node]:
        case Task(body=Crossing(keys=keys)) if definition.key in keys:
            return [keys[definition.key]]
        case Join(collect=collect):
            return [part.inner for part in collect if part.outer == definition.key]
        case Fork(group=group) if group is not None and group.over is not None and group.over.item == definition.key:
            return [] if group.over.path else [group.over.key]
        case _:
            return []


def unknown_parts(facts: Facts) -> Iterator[UnknownPart]:
    """Find the reads of fields that are not there.

    A field that only some types lack is left out where absence is coped with, or a condition may have told them apart.
    """
    for use in facts.uses:
        node, read = use.node.id, use.read
        if not read.path or facts.unknown(node, read.key):
            continue
        lacks, others = lacking(facts.key_type(node, read.key), read.path)
        if not lacks or (others and (read.optional or _told_apart(facts, use))):
            continue
        writers = tuple(facts.reaching(node, read.key))
        texts = [name for d in writers for name in texts_behind(facts, d)] if lacks[0].type.hint is str else []
        yield UnknownPart(use, lacks[0], not others, writers, tuple(dict.fromkeys(texts)))


def _told_apart(facts: Facts, use: Use) -> bool:
    """Whether a branch before a read, or the reader itself, asks something about the key: it may have told the types apart."""
    asking = [
        node.id
        for node in facts.graph.nodes.values()
        if isinstance(node, Branch) and any(read.key == use.read.key for read in node.contract.reads)
    ]
    pending, seen = list(asking), set(asking)
    while pending:
        for edge in facts.graph.out(pending.pop()):
            if edge.target not in seen:
                seen.add(edge.target)
                pending.append(edge.target)
    return use.node.id in seen


def texts_as_structure(facts: Facts) -> Iterator[ReadText]:
    """Find the reads that take a model's free text for something else, and the functions that parse it themselves."""
    held = _may_hold_text(facts)
    for use in facts.uses:
        node, read = use.node.id, use.read
        if read.key not in held:
            continue
        declared = facts.keys.get(read.key)
        typed = declared is not None and type_of(declared.type) != ANY
        if read.path or facts.unknown(node, read.key) or (typed and read.type != ANY):
            continue
        texts = [(d, texts_behind(facts, d)) for d in facts.reaching(node, read.key)]
        wrong = [n for d, names in texts if names and not assignable(facts.types.seen(d), read.type) for n in names]
        if wrong:
            yield ReadText(use, tuple(dict.fromkeys(wrong)))
            continue
        names = [name for d, names in texts if facts.types.seen(d).hint is str for name in names]
        parsed = _parsed(facts, use) if names else None
        if parsed is not None:
            yield ReadText(use, tuple(dict.fromkeys(names)), parsed)


def _may_hold_text(facts: Facts) -> frozenset[str]:
    """Name the keys that a model's free text may be in: those that such agents write, and those that graphflow carries to."""
    text, carried = set(), set()
    for node in facts.graph.nodes.values():
        match node:
            case Task(kind="model"):
                text |= {write.key for write in node.contract.writes if write.type.hint is str}
            case Task(kind="glue") | Join() | Fork():
                carried |= {write.key for write in node.contract.writes}
            case _:
                pass
    return frozenset(text | carried) if text else frozenset()


def _parsed(facts: Facts, use: Use) -> Origin | None:
    """Where the function that reads a key parses it."""
    declaration = facts.graph.declarations.get(agent_path(use.node.id))
    origin = use.read.origin
    name = origin.name if isinstance(origin, ParameterSearch) else facts.local(use.read.key)
    for func in declaration.notes.functions if declaration is not None else ():
        place = parsed_in(func).get(name)
        if place is not None:
            return place
    return None
