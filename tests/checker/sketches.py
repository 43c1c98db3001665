"""Structures of pipelines in one line of text, and the programs that they stand for.

::

    Seq[a1(reads topic)->draft; Loop(max=3)[a2(reads draft)->notes; a3(reads draft,notes?)->draft exit]]
    Graph{fn a1(params kind) code(writes draft); a2(reads draft) | START->a1, a1->a2[long], a1->END[default]}

An agent is `a1`, a model agent, or `fn a1`, a function; then come, in any order, `(reads k,j?)` or `(params k,j=)`, `->key`
(`->key:Type`), `(returns x,y)` and `several` (routes), `code(reads k)`, `code(needs k)`, `code(writes k)`, `code(sets k)`
(to True), `code(ends if k)` (escalates), `code(uses k)` (as a mapping), `code(seeds)` (keys that nobody can name), `exit` (the
tool that ends a loop), `says "text"` (more of the instruction), `takes Type`, `tools[...]` and `transfers[...]` (agents).
Code of a model agent is a tool; with `before` or `after` in its place it is a callback, which composites may have too. `Seq`,
`Par`, `Loop(max=3)` and `Custom` hold agents in brackets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(r"""\s*("[^"]*"|'[^']*'|->|[A-Za-z_][\w:]*\??=?|\d+|.)""")
COMPOSITES = {"Seq": "SequentialAgent", "Par": "ParallelAgent", "Loop": "LoopAgent", "Custom": "Custom"}
_ESCAPED = "default"
HEAD = """
from graphflow.agents.callback_context import CallbackContext
from graphflow.tools import ToolContext, exit_loop

class CityTime(TypedDict):
    time_info: str
    city: str

class Budget(TypedDict):
    limit: int

class Custom(BaseAgent):
    async def run(self, ctx):
        for child in self.sub_agents:
            async for event in ctx.run(child):
                yield event

"""


@dataclass
class Code:
    """What a piece of code does to the state, and where it stands."""

    place: str
    does: str
    keys: list[str]


@dataclass
class Node:
    """An agent of a sketch."""

    kind: str
    name: str
    reads: list[str] = field(default_factory=list)
    params: list[str] = field(default_factory=list)
    writes: str = ""
    type: str = ""
    takes: str = ""
    returns: list[str] = field(default_factory=list)
    several: bool = False
    text: str = ""
    exits: bool = False
    bound: str = ""
    code: list[Code] = field(default_factory=list)
    tools: list[Node] = field(default_factory=list)
    transfers: list[Node] = field(default_factory=list)
    parts: list[Node] = field(default_factory=list)
    edges: list[tuple[str, str, str]] = field(default_factory=list)


class Sketch:
    """Reads one sketch by recursive descent."""

    def __init__(self, text: str) -> None:
        self._tokens = [token for token in _TOKEN.findall(text) if token.strip()]
        self._at = 0
        self._count = 0

    @property
    def root(self) -> Node:
        """The outermost agent."""
        node = self._agent()
        assert self._at == len(self._tokens), f"not read: {self._tokens[self._at :]}"
        return node

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> str:
        token = self._next()
        assert token == (wanted or token or "more"), f"expected {wanted or 'more'}, found {self._tokens[self._at :]}"
        self._at += 1
        return token

    def _if(self, wanted: str) -> bool:
        if self._next() == wanted:
            self._at += 1
            return True
        return False

    def _named(self, kind: str) -> Node:
        self._count += 1
        return Node(kind, f"{kind.lower()}_{self._count}")

    def _agent(self) -> Node:
        word = self._take()
        if word in COMPOSITES:
            node = self._named(word)
            if self._if("("):
                self._take("max=")
                node.bound = self._take()
                self._take(")")
        elif word == "Graph":
            return self._graph()
        elif word in ("fn", "JoinNode", "Remote"):
            node = Node("fn" if word != "Remote" else "Remote", self._take())
        else:
            node = Node("model", word.strip('"'))
        self._clauses(node)
        if node.kind in COMPOSITES:
            node.parts = self._list()
        return node

    def _list(self) -> list[Node]:
        self._take("[")
        found = [self._agent()]
        while self._if(";"):
            found.append(self._agent())
        self._take("]")
        return found

    def _clauses(self, node: Node) -> None:
        while True:
            word = self._next()
            if word == "(":
                self._take()
                into = self._take()
                getattr(node, into).extend(self._keys())
            elif word == "->":
                self._take()
                node.writes, _, node.type = self._take().partition(":")
                node.type = node.type or (self._take() if not node.writes else "")
            elif word in ("code", "before", "after"):
                self._take()
                self._take("(")
                does = self._take() + (" if" if self._if("if") else "")
                node.code.append(Code(word, does, self._keys()))
            elif word == "exit":
                self._take()
                node.exits = True
            elif word == "several":
                self._take()
                node.several = True
            elif word == "takes":
                self._take()
                node.takes = self._take()
            elif word == "says":
                self._take()
                node.text += " " + self._take()[1:-1]
            elif word in ("tools", "transfers"):
                self._take()
                getattr(node, word).extend(self._list())
            else:
                return

    def _keys(self) -> list[str]:
        keys = []
        while not self._if(")"):
            if not self._if(","):
                keys.append(self._take())
        return keys

    def _graph(self) -> Node:
        node = self._named("Graph")
        self._take("{")
        node.parts.append(self._agent())
        while self._if(";"):
            node.parts.append(self._agent())
        self._take("|")
        node.edges.append(self._edge())
        while self._if(","):
            node.edges.append(self._edge())
        self._take("}")
        return node

    def _edge(self) -> tuple[str, str, str]:
        source = self._take()
        self._take("->")
        target, label = self._take(), ""
        if self._if("["):
            label = self._take()
            self._take("]")
        return source, target, label


def program_of(text: str, given: str = "") -> str:
    """Write the program that a sketch stands for.

    Args:
        text: the sketch.
        given: keys that the application gives, with commas between; what else is given is then nothing.
    """
    lines: list[str] = []
    root = _written(Sketch(text).root, lines)
    inputs = ", ".join(f'"{name}": Any' for name in given.split(",") if name)
    ending = f", inputs={{{inputs}}}" if given else ""
    more = "from graphflow.tools.agent_tool import AgentTool\n" if any("AgentTool(" in line for line in lines) else ""
    return HEAD + more + "\n".join([*lines, f"flow = Flow({root}{ending})"]) + "\n"


def _written(node: Node, lines: list[str], routes: list[str] | None = None) -> str:
    """Write the lines that make an agent, and give its variable."""
    parts = [] if node.kind == "Graph" else [_written(part, lines) for part in node.parts]
    arguments = [f"name={node.name!r}"]
    variable = _variable(node)
    if node.kind == "fn":
        lines += _function(node, routes or [])
        return variable
    if node.kind == "Graph":
        return _workflow(node, lines)
    if node.kind in COMPOSITES:
        arguments.append(f"sub_agents=[{', '.join(parts)}]")
        arguments += [f"max_iterations={node.bound}"] if node.bound else []
        if node.kind == "Custom" and node.code:
            lines += _custom(node)
        arguments += _callbacks(node, lines)
        kind = f"Custom_{variable}" if node.kind == "Custom" and node.code else COMPOSITES[node.kind]
        lines.append(f"{variable} = {kind}({', '.join(arguments)})")
        return variable
    return _model(node, variable, arguments, lines)


def _variable(node: Node) -> str:
    return re.sub(r"\W", "_", node.name)


def _model(node: Node, variable: str, arguments: list[str], lines: list[str]) -> str:
    text = " ".join(["Work on", *(f"{{{key}}}" for key in node.reads)]) + "." + node.text
    arguments += ['model="gemini-2.5-flash"', 'description="One step of the work."', f"instruction={text!r}"]
    arguments += [f"output_key={node.writes!r}"] if node.writes else []
    arguments += [f"output_schema={node.type}"] if node.type else []
    arguments += [f"input_schema={node.takes}"] if node.takes else []
    tools = [f"AgentTool({_written(tool, lines)})" for tool in node.tools] + ["exit_loop"] * node.exits
    inner = [_written(part, lines) for part in node.transfers]
    for index, code in enumerate(each for each in node.code if each.place == "code"):
        tools.append(f"{variable}_tool_{index}")
        lines += [
            f"def {tools[-1]}(tool_context: ToolContext) -> str:",
            *_body(code, "tool_context"),
            "    return 'done'",
        ]
    arguments += [f"tools=[{', '.join(tools)}]"] if tools else []
    arguments += [f"sub_agents=[{', '.join(inner)}]"] if inner else []
    arguments += _callbacks(node, lines)
    lines.append(f"{variable} = LlmAgent({', '.join(arguments)})")
    return variable


def _callbacks(node: Node, lines: list[str]) -> list[str]:
    found = []
    for place in ("before", "after"):
        codes = [code for code in node.code if code.place == place]
        if codes:
            name = f"{_variable(node)}_{place}"
            lines.append(f"def {name}(callback_context: CallbackContext) -> None:")
            for code in codes:
                lines += _body(code, "callback_context")
            found.append(f"{place}_agent_callback={name}")
    return found


def _custom(node: Node) -> list[str]:
    return [
        f"class Custom_{node.name}(BaseAgent):",
        "    async def run(self, ctx):",
        "        for child in self.sub_agents:",
        "            async for event in ctx.run(child):",
        "                yield event",
        *("    " + line for code in node.code for line in _body(code, "ctx")),
    ]


def _function(node: Node, routes: list[str]) -> list[str]:
    parameters = [name if not name.endswith("=") else f'{name}""' for name in node.params]
    known = ", ".join(repr(route) for route in node.returns or routes if route != _ESCAPED)
    answer = f"Literal[{known}]" if known and _ESCAPED not in routes else "str"
    answer = node.type or (f"list[{answer}]" if node.several else answer)
    lines = ["@agent", f"def {node.name}({', '.join(['ctx: Context', *parameters])}) -> {answer}:"]
    for code in node.code:
        lines += _body(code, "ctx")
    if node.writes:
        lines += _body(Code("code", "writes", [node.writes]), "ctx")
    return [*lines, "    return ctx.message"]


def _body(code: Code, context: str) -> list[str]:
    """The statements of a piece of code."""
    state = f"{context}.state"
    forms = {
        "reads": '    print({state}.get("{key}"))',
        "needs": '    print({state}["{key}"])',
        "writes": '    {state}["{key}"] = "some " + "text"',
        "sets": '    {state}["{key}"] = True',
        "ends if": '    if {state}.get("{key}"): {context}.actions.escalate = True',
        "uses": '    print({state}["{key}"].get("status"))',
        "seeds": "    for name, value in vars(ToolContext).items(): {state}[name] = value",
    }
    keys = code.keys or [""]
    return [forms[code.does].format(state=state, key=key, context=context) for key in keys]


def _workflow(node: Node, lines: list[str]) -> str:
    chosen: dict[str, dict[str, list[str]]] = {}
    plain = []
    for source, target, label in node.edges:
        if label:
            chosen.setdefault(source, {}).setdefault(label, []).append(target)
        else:
            plain.append(f"({source}, {target})")
    for part in node.parts:
        _written(part, lines, list(chosen.get(part.name, {})))
    for source, routes in chosen.items():
        cases = [
            f"{'DEFAULT_ROUTE' if label == _ESCAPED else repr(label)}: {_group(to)}" for label, to in routes.items()
        ]
        plain.append(f"({source}, {{{', '.join(cases)}}})")
    lines.append(f"{node.name} = Workflow({node.name!r}, [{', '.join(plain)}])")
    return node.name


def _group(targets: list[str]) -> str:
    return targets[0] if len(targets) == 1 else f"({', '.join(targets)})"
