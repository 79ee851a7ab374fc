"""Writes the passes of a run as a timeline for other programs: Chrome's trace format (chrome://tracing, Perfetto) or
speedscope's (speedscope.app, "evented" profiles).

Calls are counted, not timed one by one, so they are on no timeline. Sources: the Trace Event Format document of the
Chromium project; speedscope's file-format-schema.json.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from xref.trace.runfile import PassRun, RunFile

FORMATS = ("chrome", "speedscope")
Object = dict[str, Any]


class Span(NamedTuple):
    """A pass on the timeline, in nanoseconds since the recorder of its process started."""

    row: PassRun
    start: int
    end: int
    ended: bool


def export(run: RunFile, form: str) -> Object:
    """The object to write as JSON; `form` is one of `FORMATS`."""
    return _chrome(run) if form == "chrome" else _speedscope(run)


def spans(run: RunFile) -> dict[tuple[int, int], list[Span]]:
    """The passes of each (process, thread), a pass before those that it runs. Each holds what runs inside it: durations
    leave out the recorder's own time, so one inside may end later than its parent's own sum says. A pass that did not
    end lasts as long as what it ran.
    """
    found: dict[tuple[int, int], list[Span]] = {}
    for row in sorted(run.passes, key=lambda row: (row.process, row.thread, row.start, row.seq)):
        rows = found.setdefault((row.process, row.thread), [])
        rows.append(Span(row, row.start, row.start + (row.ns or 0), row.ns is not None))
    for rows in found.values():
        open_: list[int] = []
        for place, span in enumerate(rows):
            while open_ and rows[open_[-1]].row.depth >= span.row.depth:
                open_.pop()
            open_.append(place)
            for outer in open_[:-1]:
                rows[outer] = rows[outer]._replace(end=max(rows[outer].end, span.end))
    return found


def _chrome(run: RunFile) -> Object:
    events: list[Object] = []
    for process in run.processes:
        name = {"name": f"{run.id}, process {process.pid}"}
        events.append({"ph": "M", "name": "process_name", "pid": process.number, "tid": 0, "args": name})
    for (process_number, thread), rows in spans(run).items():
        events += [
            {"ph": "X", "cat": "pass", "name": span.row.name, "pid": process_number, "tid": thread,
             "ts": span.start / 1000, "dur": (span.end - span.start) / 1000, "args": _details(span)}
            for span in rows
        ]  # fmt: skip
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": {"run": run.id, "tvm": run.tvm_version}}


def _details(span: Span) -> Object:
    details: Object = {"opt_level": span.row.opt_level}
    if span.row.changed is not None:
        details["changed the module"] = bool(span.row.changed)
    if not span.ended:
        details["note"] = "it did not end"
    return details


def _speedscope(run: RunFile) -> Object:
    frames: dict[str, int] = {}
    profiles = []
    for (process, thread), rows in spans(run).items():
        events = list(_evented(rows, frames))
        start, end = (events[0]["at"], events[-1]["at"]) if events else (0, 0)
        profiles.append(
            {"type": "evented", "name": f"process {process}, thread {thread}", "unit": "nanoseconds",
             "startValue": start, "endValue": end, "events": events}
        )  # fmt: skip
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": f"passes of {run.id}, TVM {run.tvm_version}",
        "exporter": "xref",
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": name} for name in frames]},
        "profiles": profiles,
    }


def _evented(rows: list[Span], frames: dict[str, int]) -> Iterator[Object]:
    """Openings and closings, nested and in order of time."""
    open_: list[Span] = []
    now = 0
    for span in rows:
        while open_ and open_[-1].row.depth >= span.row.depth:
            now = max(now, open_[-1].end)
            yield {"type": "C", "frame": frames[open_.pop().row.name], "at": now}
        now = max(now, span.start)
        yield {"type": "O", "frame": frames.setdefault(span.row.name, len(frames)), "at": now}
        open_.append(span)
    while open_:
        now = max(now, open_[-1].end)
        yield {"type": "C", "frame": frames[open_.pop().row.name], "at": now}
