"""A timeline must open in the program that it is written for, and keep what runs inside what."""

from __future__ import annotations

import json

import pytest
from test_runfile import small_run

from xref.trace.export import export
from xref.trace.runfile import PassRun, RunFile


@pytest.fixture
def run() -> RunFile:
    """Outer holds A and B; B, which did not end, holds C. The recorder's own time makes A end after Outer's sum."""
    made = small_run()
    made.passes = [
        PassRun(0, 0, 0, 0, "Outer", 0, 1000, 2000, 1),
        PassRun(0, 0, 1, 1, "A", 0, 1100, 1950, 0),
        PassRun(0, 0, 2, 1, "B", 0, 3100, None),
        PassRun(0, 0, 3, 2, "C", 2, 3200, 300, 1),
        PassRun(0, 1, 4, 0, "Other", 0, 50, 10, None),
    ]
    return made


def test_chrome_gets_microseconds_and_a_track_for_each_thread(run: RunFile) -> None:
    events = [event for event in export(run, "chrome")["traceEvents"] if event["ph"] == "X"]
    spans = {event["name"]: (event["tid"], event["ts"], round(event["ts"] + event["dur"], 6)) for event in events}
    assert spans["Other"] == (1, 0.05, 0.06)
    assert spans["Outer"] == (0, 1.0, 3.5)
    assert spans["B"][2] == spans["C"][2] == 3.5
    assert {event["name"]: event["args"] for event in events}["B"] == {"opt_level": 0, "note": "it did not end"}


def test_speedscope_events_are_nested_and_in_order(run: RunFile) -> None:
    made = export(run, "speedscope")
    json.dumps(made)
    frames = [frame["name"] for frame in made["shared"]["frames"]]
    first = made["profiles"][0]
    told = [(event["type"], frames[event["frame"]]) for event in first["events"]]
    assert told == [
        ("O", "Outer"), ("O", "A"), ("C", "A"), ("O", "B"), ("O", "C"), ("C", "C"), ("C", "B"), ("C", "Outer"),
    ]  # fmt: skip
    times = [event["at"] for event in first["events"]]
    assert times == sorted(times)
    assert (first["startValue"], first["endValue"]) == (times[0], times[-1])


@pytest.mark.parametrize("form", ["chrome", "speedscope"])
def test_a_run_without_passes_is_an_empty_timeline(form: str) -> None:
    assert json.loads(json.dumps(export(small_run(), form)))
