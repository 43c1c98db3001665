"""How settled edges travel: to their target in this iteration, round to the header of the loop, or out of it.

A node is *ready* when each of its forward in-edges has settled. A frame is *settled* when all nodes of its iteration are
done or dead; whoever drives this decides then whether it goes round or leaves::

    edges.fire(frame, node, {NEXT}, state)
    edges.next_ready()        # (frame, node, arrivals) of the next node whose in-edges have all settled

Pure counting: no conditions, no records, no values.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

from graphflow.errors import InternalError
from graphflow.ir.nodes import BODY
from graphflow.runtime.frames import Arrival, Frame
from graphflow.runtime.plan import ROOT, Out, Plan, PlanNode
from graphflow.runtime.versions import State

Ready = tuple[Frame, PlanNode, list[Arrival]]


class Propagation:
    """The edges of one run that have settled and not arrived, and the iterations that have.

    Args:
        plan: the compiled program.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._edges: deque[tuple[Frame, Out, Arrival]] = deque()
        self._settled: deque[Frame] = deque()

    def fire(self, frame: Frame, node: PlanNode, labels: Collection[str], state: State) -> None:
        """Settle a node: its out-edges with these labels fire, the others die."""
        for out in node.outs:
            self._send(frame, out, state, fired=out.label in labels)
        self._settle(frame)

    def kill(self, frame: Frame, node: PlanNode, state: State) -> None:
        """Settle a node as dead (a loop as a whole): all its out-edges die and pass on the state."""
        loop = self._plan.loops.get(node.index)
        for out in loop.leaving if loop is not None else node.outs:
            self._send(frame, out, state, fired=False)
        self._settle(frame)

    def iterate(self, frame: Frame, header: PlanNode, state: State) -> None:
        """Start the next iteration of a loop, with fresh counters."""
        frame.begin(self._plan.loops[header.index].members, header.index)
        for out in header.outs:
            if out.label == BODY:
                self._send(frame, out, state, fired=True)
        if frame.unsettled == 0:
            self._settled.append(frame)

    def leave(self, frame: Frame, header: PlanNode, label: str | None, state: State | None) -> None:
        """End a loop: the header's edges with this label fire, leaving edges that have not fired die."""
        outer = frame.parent
        assert outer is not None
        for out in self._plan.loops[header.index].leaving:
            if out.edge in frame.fired:
                continue
            if state is not None and out.label == label and out in header.outs:
                self._send(outer, out, state, fired=True)
                continue
            last = frame.dead.get(out.edge)
            carried = last.state if last is not None else state if state is not None else frame.backs[0].state
            self._send(outer, out, carried, fired=False)
        self._settle(outer)

    def next_ready(self) -> Ready | None:
        """Let edges arrive until a node is ready; None if none is and no edge is under way."""
        while self._edges:
            ready = self._arrive(*self._edges.popleft())
            if ready is not None:
                return ready
        return None

    def next_settled(self) -> Frame | None:
        """Give a frame whose iteration has settled, None if there is none."""
        return self._settled.popleft() if self._settled else None

    def clear(self) -> None:
        """Forget what is under way: nothing starts any more."""
        self._edges.clear()
        self._settled.clear()

    def _send(self, frame: Frame, out: Out, state: State, *, fired: bool) -> None:
        self._edges.append((frame, out, Arrival(out.slot, fired, out.label, state)))

    def _settle(self, frame: Frame) -> None:
        frame.unsettled -= 1
        if frame.loop != ROOT and frame.unsettled == 0:
            self._settled.append(frame)

    def _arrive(self, frame: Frame, out: Out, arrival: Arrival) -> Ready | None:
        target = self._plan.nodes[out.target]
        while out.back or target.loop != frame.loop:
            if out.back and target.index == frame.loop:
                frame.backs.append(arrival)
                return None
            if frame.parent is None:
                raise InternalError(f"edge to `{target.id}` leaves the graph")
            if not arrival.fired:
                frame.dead[out.edge] = arrival
                return None
            frame.fired.add(out.edge)
            frame = frame.parent
        if target.arity <= 1:
            return frame, target, [arrival]
        arrivals = frame.arrivals.setdefault(target.index, [])
        arrivals.append(arrival)
        if len(arrivals) < target.arity:
            return None
        arrivals.sort(key=lambda one: one.slot)
        return frame, target, arrivals
