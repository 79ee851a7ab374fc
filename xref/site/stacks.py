"""What stood above what in a run, for its flame views: only stacks that ran.

Passes were recorded as they nested. Of calls a run knows pairs, caller and callee: that A called B and B called C does
not say that A -> B -> C ever ran, where others call B too. So what a function calls stands below it only where it has
one caller in the whole run, and so on upwards; what several functions called begins a stack of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from xref.model import Id
from xref.site.run_passes import PassRow


class Edge(NamedTuple):
    """Calls of one pair in a run; `caller` None is outside the index, `ns` None was not measured."""

    caller: Id | None
    callee: Id
    times: int
    ns: int | None


class Frame(NamedTuple):
    """A function at one place of a stack: `parent` is the position of the frame above, -1 for none.

    `ns`: with all inside; for a function whose calls were not measured, the sum of those below it. `callers`: of a
    stack that begins with a function which several called, how many those were; else 0. `elsewhere`: what it calls
    stands in such a stack.
    """

    parent: int
    what: Id
    times: int
    ns: int
    callers: int = 0
    elsewhere: bool = False


def call_stacks(edges: Iterable[Edge]) -> list[Frame]:
    """The stacks of a run's calls, those above before those below, the longest first."""
    below: dict[Id, list[Edge]] = {}
    callers: dict[Id, set[Id | None]] = {}
    every = list(edges)
    for edge in every:
        callers.setdefault(edge.callee, set()).add(edge.caller)
        if edge.caller is not None:
            below.setdefault(edge.caller, []).append(edge)
    starts = _starts(below, callers)
    walk = _Walk(below, starts)
    into: dict[Id, list[Edge]] = {}
    for edge in every:
        into.setdefault(edge.callee, []).append(edge)
    frames: list[Frame] = []
    for frame in sorted(_begins(walk, starts, into), key=lambda frame: (-frame.ns, frame.what, frame.elsewhere)):
        frames.append(frame)
        if not frame.elsewhere:
            walk.add(frames, len(frames) - 1, frame.what)
    return frames


def _begins(walk: _Walk, starts: set[Id], into: dict[Id, list[Edge]]) -> Iterator[Frame]:
    """The frames at the top of the stacks."""
    for start in starts:
        entries = into.get(start, [])
        outside = [edge for edge in entries if edge.caller is None]
        measured = sum(edge.ns or 0 for edge in outside)
        inside = walk.time(start)
        times = sum(edge.times for edge in entries)
        if len(outside) == len(entries):
            if measured or inside:
                yield Frame(-1, start, times, measured or inside)
            continue
        if measured:
            yield Frame(-1, start, sum(edge.times for edge in outside), measured, 0, inside > 0)
        if inside:
            yield Frame(-1, start, times, inside, len({edge.caller for edge in entries}))


def _starts(below: dict[Id, list[Edge]], callers: dict[Id, set[Id | None]]) -> set[Id]:
    """Functions at which a stack begins: those without one caller, and one of each circle of functions that have."""
    above = {id_: next(iter(its)) for id_, its in callers.items() if len(its) == 1}
    starts = {id_ for id_ in {*below, *callers} if above.get(id_) is None}
    settled = set(starts)
    for id_ in sorted({*below, *callers}):
        trail: list[Id] = []
        at: Id | None = id_
        while at is not None and at not in settled and at not in trail:
            trail.append(at)
            at = above.get(at)
        if at is not None and at in trail:
            starts.add(min(trail[trail.index(at) :]))
        settled.update(trail)
    return starts


class _Walk:
    """Goes down from where stacks begin."""

    def __init__(self, below: dict[Id, list[Edge]], starts: set[Id]) -> None:
        self._below = below
        self._starts = starts
        self._known: dict[Id, int] = {}

    def time(self, id_: Id) -> int:
        """Nanoseconds of the measured calls below a function; one that is measured holds what is inside it."""
        order, stack = [], [id_]
        while stack:
            at = stack.pop()
            if at not in self._known:
                order.append(at)
                stack += [edge.callee for edge in self._below.get(at, ()) if edge.callee not in self._starts]
        for at in reversed(order):
            self._known[at] = sum(self._edge(edge) for edge in self._below.get(at, ()))
        return self._known[id_]

    def _edge(self, edge: Edge) -> int:
        if edge.ns is not None:
            return edge.ns
        return 0 if edge.callee in self._starts else self._known.get(edge.callee, 0)

    def add(self, frames: list[Frame], parent: int, id_: Id) -> None:
        """Append what stands below a function to `frames`."""
        pending = [(parent, id_)]
        while pending:
            above, at = pending.pop()
            for edge in sorted(self._below.get(at, ()), key=lambda edge: (-self._edge(edge), edge.callee)):
                ns = self._edge(edge)
                if not ns:
                    continue
                apart = edge.callee in self._starts
                frames.append(Frame(above, edge.callee, edge.times, ns, 0, apart and edge.callee in self._below))
                if not apart:
                    pending.append((len(frames) - 1, edge.callee))


class PassFrame(NamedTuple):
    """All times that a pass of one name ran at one place of a stack of passes."""

    parent: int
    name: str
    times: int
    ns: int
    href: str | None


def pass_stacks(passes: Sequence[PassRow]) -> list[PassFrame]:
    """The stacks of passes; those of one name in the same stack are one frame."""
    frames: list[PassFrame] = []
    known: dict[tuple[int, str], int] = {}
    at: list[int] = []
    for row in passes:
        parent = at[row.parent] if row.parent >= 0 else -1
        position = known.setdefault((parent, row.name), len(frames))
        if position == len(frames):
            frames.append(PassFrame(parent, row.name, 0, 0, row.href))
        old = frames[position]
        frames[position] = old._replace(times=old.times + 1, ns=old.ns + row.duration_ns)
        at.append(position)
    return frames
