"""How settled edges travel: to their target in this activation, round to the header of the loop, or out of the activation.

A node is *ready* when each of its forward in-edges has settled. A frame is *settled* when all nodes of its iteration or
instance are done or dead; whoever drives this decides then how it goes on::

    edges.fire(frame, node, {NEXT}, state)
    edges.next_ready()        # (frame, node, arrivals) of the next node whose in-edges have all settled

Pure counting: no conditions, no records, no values.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable

from graphflow.errors import InternalError
from graphflow.runtime.frames import Arrival, Frame
from graphflow.runtime.plan import Out, Plan, PlanNode
from graphflow.runtime.versions import State

Ready = tuple[Frame, PlanNode, list[Arrival]]


class Propagation:
    """The edges of one run that have settled and not arrived, and the frames that have settled.

    Args:
        plan: the compiled program.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._edges: deque[tuple[Frame, Out, Arrival]] = deque()
        self._settled: deque[Frame] = deque()
        self._waiting: deque[Ready] = deque()

    @property
    def idle(self) -> bool:
        """Whether nothing is under way."""
        return not self._edges and not self._settled and not self._waiting

    def fire(self, frame: Frame, node: PlanNode, labels: Collection[str], state: State) -> None:
        """Settle a node that was at work: its out-edges with these labels fire, the others die."""
        for out in node.outs:
            self._send(frame, out, state, fired=out.label in labels)
        frame.tokens -= 1
        self.settle(frame)

    def kill(self, frame: Frame, node: PlanNode, state: State) -> None:
        """Settle a node as dead (a loop or a group as a whole): all its out-edges die and pass on the state."""
        scope = self._plan.scopes.get(node.index)
        if scope is not None and scope.kind == "group":
            self.settle(frame)
            self.kill(frame, self._plan.nodes[scope.join], state)
            return
        for out in self._plan.leaving.get(node.index, node.outs):
            self._send(frame, out, state, fired=False)
        self.settle(frame)

    def begin(self, frame: Frame, ways: Iterable[Out], state: State) -> None:
        """Let control into an activation."""
        for out in ways:
            self._send(frame, out, state, fired=True)
        if frame.counters.unsettled == 0:
            self._settled.append(frame)

    def leave(self, frame: Frame, header: PlanNode, label: str | None, state: State) -> None:
        """End a loop: the header's edges with this label fire, leaving edges that have not fired die."""
        outer = frame.parent
        if outer is None:
            raise InternalError("the whole graph is no loop")
        for out in self._plan.leaving[header.index]:
            if out.edge in frame.counters.fired:
                continue
            if out.label == label and out in header.outs:
                self._send(outer, out, state, fired=True)
                continue
            last = frame.counters.dead.get(out.edge)
            self._send(outer, out, last.state if last is not None else state, fired=False)
        outer.tokens -= 1
        self.settle(outer)

    def settle(self, frame: Frame) -> None:
        """Count a node of a frame as done or dead."""
        frame.counters.unsettled -= 1
        if not frame.is_root and frame.counters.unsettled == 0:
            self._settled.append(frame)

    def next_ready(self) -> Ready | None:
        """Let edges arrive until a node is ready; None if none is, or if a frame that has settled goes before it.

        Dead nodes and the ends of loops go before nodes that run, so that what is under way can be told from what is over.
        A ready node keeps one token of those that its in-edges brought.
        """
        while self._edges:
            frame, out, arrival = self._edges.popleft()
            ready = self._arrive(frame, out, arrival) if frame.alive else None
            if ready is None:
                continue
            if not any(one.fired for one in ready[2]):
                return ready
            self._waiting.append(ready)
        while self._waiting and not self._settled:
            ready = self._waiting.popleft()
            if ready[0].alive:
                return ready
        return None

    def next_settled(self) -> Frame | None:
        """Give a frame that has settled, None if there is none."""
        while self._settled:
            frame = self._settled.popleft()
            if frame.alive:
                return frame
        return None

    def clear(self) -> None:
        """Forget what is under way: nothing starts any more."""
        self._edges.clear()
        self._settled.clear()
        self._waiting.clear()

    def _send(self, frame: Frame, out: Out, state: State, *, fired: bool) -> None:
        frame.tokens += fired
        self._edges.append((frame, out, Arrival(out.slot, fired, out.label, state)))

    def _arrive(self, frame: Frame, out: Out, arrival: Arrival) -> Ready | None:
        target = self._plan.nodes[out.target]
        while out.back or target.scope != frame.scope:
            counters = frame.counters
            if out.back and target.index == frame.scope:
                counters.backs.append(arrival)
                return None
            if frame.owner is not None:
                counters.ends.append(arrival)
                return None
            if frame.parent is None:
                raise InternalError(f"edge to `{target.id}` leaves the graph")
            if not arrival.fired:
                counters.dead[out.edge] = arrival
                return None
            counters.fired[out.edge] = arrival.label
            frame.tokens -= 1
            frame = frame.parent
            frame.tokens += 1
        if target.arity <= 1:
            return frame, target, [arrival]
        arrivals = frame.counters.arrivals.setdefault(target.index, [])
        arrivals.append(arrival)
        if len(arrivals) < target.arity:
            return None
        frame.tokens -= max(sum(one.fired for one in arrivals) - 1, 0)
        arrivals.sort(key=lambda one: one.slot)
        return frame, target, arrivals
