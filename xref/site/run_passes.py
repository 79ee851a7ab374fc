"""The passes of a run: where their bars stand, which only run others, what each took itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from xref.site.links import Linker


class PassRow(NamedTuple):
    """A pass as it ran. `left` and `width` place its bar, in percent of the time from the first pass to the last;
    `parent` is the position of the pass that ran it, -1 for none."""

    seq: int
    depth: int
    name: str
    href: str | None
    start_ns: int
    duration_ns: int
    changed: int | None
    left: float
    width: float
    parent: int


class PassTotal(NamedTuple):
    """All times that a pass of one name ran: in how many the module changed, how long it took with the passes inside it
    (`total_ns`; one inside another of its name counts once) and without them (`own_ns`), the first of them.
    """

    name: str
    href: str | None
    times: int
    changed: int
    total_ns: int
    own_ns: int
    seq: int

    @property
    def container(self) -> bool:
        """Whether it mainly runs other passes: more than half of its time is theirs."""
        return 2 * self.own_ns < self.total_ns


def load_passes(db: sqlite3.Connection, linker: Linker, run: str) -> list[PassRow]:
    """The passes of a run, in the order in which they started."""
    rows = db.execute(
        "SELECT seq, depth, name, symbol_id, start_ns, duration_ns, changed FROM passes_run WHERE run_id = ?"
        " ORDER BY seq",
        (run,),
    ).fetchall()
    times = [(start, duration) for _, _, _, _, start, duration, _ in rows]
    above = parents([row[1] for row in rows])
    bars = places(times, above)
    span = max((left + width for left, width in bars), default=0.0) or 1.0
    return [
        PassRow(seq, depth, name, linker.address(symbol) or linker.key("pass", name), start, duration, changed,
                round(100 * left / span, 3), round(100 * width / span, 3), parent)
        for (seq, depth, name, symbol, start, duration, changed), (left, width), parent
        in zip(rows, bars, above, strict=True)
    ]  # fmt: skip


def parents(depths: Sequence[int]) -> list[int]:
    """The position of the pass around each, -1 for none, from their depths in the order in which they started."""
    found: list[int] = []
    open_: list[int] = []
    for position, depth in enumerate(depths):
        while open_ and depths[open_[-1]] >= depth:
            open_.pop()
        found.append(open_[-1] if open_ else -1)
        open_.append(position)
    return found


def places(times: Sequence[tuple[int, int]], above: Sequence[int]) -> list[tuple[float, float]]:
    """(left, width) of each bar, in nanoseconds from the first start: always inside the bar above.

    Starts are the clock's, while a duration leaves out what the recorder took to compare modules inside the pass
    (xref/trace/recorder/passes.py): drawn as recorded, later passes would stand out of the one around them. So the gaps
    between the passes inside another shrink to what its duration leaves of them.
    """
    inside: dict[int, list[int]] = {}
    for position, parent in enumerate(above):
        inside.setdefault(parent, []).append(position)
    begin = min((start for start, _ in times), default=0)
    bars = [(float(start - begin), float(duration)) for start, duration in times]
    for position in range(len(times)):  # a pass stands behind the one around it
        children = inside.get(position)
        if children:
            _fill(bars, times, position, children)
    return bars


def _fill(bars: list[tuple[float, float]], times: Sequence[tuple[int, int]], parent: int, children: list[int]) -> None:
    left, width = bars[parent]
    gaps, end = [], times[parent][0]
    for child in children:
        start, duration = times[child]
        gaps.append(max(0, start - end))
        end = max(end, start) + duration
    wanted, room = sum(times[child][1] for child in children), times[parent][1]
    scale = width / max(room, wanted, 1)
    gap = max(0.0, min(1.0, (room - wanted) / (sum(gaps) or 1)))
    at = left
    for child, before in zip(children, gaps, strict=True):
        at += before * gap * scale
        bars[child] = at, times[child][1] * scale
        at += times[child][1] * scale


def own_times(passes: Sequence[PassRow]) -> list[int]:
    """Nanoseconds that each pass took without the passes inside it."""
    own = [row.duration_ns for row in passes]
    for row in passes:
        if row.parent >= 0:
            own[row.parent] -= row.duration_ns
    return [max(0, time) for time in own]


def totals(passes: Sequence[PassRow]) -> list[PassTotal]:
    """Passes by name, in the order of their first start."""
    found: dict[str, PassTotal] = {}
    around: list[frozenset[str]] = []
    for row, own in zip(passes, own_times(passes), strict=True):
        names = around[row.parent] | {passes[row.parent].name} if row.parent >= 0 else frozenset()
        around.append(names)
        known = found.get(row.name, PassTotal(row.name, row.href, 0, 0, 0, 0, row.seq))
        found[row.name] = known._replace(
            times=known.times + 1, changed=known.changed + bool(row.changed), own_ns=known.own_ns + own,
            total_ns=known.total_ns + (0 if row.name in names else row.duration_ns),
        )  # fmt: skip
    return list(found.values())
