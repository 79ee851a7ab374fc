"""A run file may be cut off, come from another version, or from somebody with bad intentions: it is refused with a
sentence, and never half believed.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xref.model import XrefError
from xref.trace.runfile import (
    FORMAT,
    Code,
    Key,
    PassRun,
    Process,
    PythonCall,
    RunFile,
    SourceFile,
    read_header,
    read_run,
    write_run,
)

HEADER: dict[str, Any] = {
    "id": "20260101-000000-script", "command": ["python", "script.py"], "cwd": "/home", "seconds": 1.5,
    "started": "2026-01-01T00:00:00Z", "exit": {"code": 0}, "python": {"version": "3.11.7"},
    "tvm": {"version": "0.26.0", "path": "/tvm.py"},
    "tvm_ffi": None, "recorded": {"python": "sys.setprofile", "ffi": "shim", "passes": True}, "notes": [],
}  # fmt: skip


def small_run() -> RunFile:
    """One process, one file, one call."""
    run = RunFile(dict(HEADER))
    run.processes = [Process(0, None, 100, "exit", 1.5)]
    run.files = [SourceFile(0, "/home/script.py", "script.py", None)]
    run.codes = [Code(0, 0, "<module>", "<module>", 1), Code(1, 0, "f", "f", 2)]
    run.keys = [Key(0, "global", "test.nothing")]
    run.python = [PythonCall(0, 0, 0, 5, 1, 3)]
    return run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A whole run file."""
    target = tmp_path / "run"
    write_run(small_run(), target)
    return target


def lines_of(path: Path) -> list[Any]:
    """The values of its lines."""
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def put_lines(path: Path, lines: list[Any]) -> None:
    """Write values as its lines."""
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))


def test_what_was_written_is_read(path: Path) -> None:
    assert read_run(path) == small_run()
    assert read_header(path)["id"] == "20260101-000000-script"


def test_a_file_cut_at_any_byte_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(XrefError, match=r"cut off|no run file|not the header") as raised:
            read_run(path)
        assert raised.value.exit_code == 5
        with pytest.raises(XrefError):  # a list of runs must not show it as whole
            read_header(path)


def test_a_file_cut_between_lines_is_refused(path: Path) -> None:
    lines = lines_of(path)
    for end in range(1, len(lines)):
        put_lines(path, lines[:end])
        with pytest.raises(XrefError, match="cut off"):
            read_run(path)


@pytest.mark.parametrize(
    ("version", "remedy"), [(FORMAT + 1, "upgrade xref"), (0, "record the run again"), ("x", "record")]
)
def test_another_version_of_the_format_names_the_remedy(path: Path, version: object, remedy: str) -> None:
    lines = lines_of(path)
    lines[0]["xref_run"] = version
    put_lines(path, lines)
    for read in (read_run, read_header):
        with pytest.raises(XrefError, match=remedy) as raised:
            read(path)
        assert raised.value.exit_code == 5


def _set(row: int, place: int, value: Any) -> Callable[[list[Any]], None]:
    def change(lines: list[Any]) -> None:
        lines[row][place] = value

    return change


DAMAGES: dict[str, Callable[[list[Any]], None]] = {
    "unknown row": _set(1, 0, "novel"),
    "text for a number": _set(6, 6, "many"),
    "true for a number": _set(6, 6, True),
    "negative": _set(6, 6, -1),
    "beyond 63 bits": _set(6, 6, 1 << 63),
    "code that is not there": _set(6, 3, 9),
    "file that is not there": _set(3, 2, 7),
    "process that is not there": _set(6, 1, 3),
    "numbers out of order": _set(4, 1, 0),
    "kind of key": _set(5, 2, "lucky"),
    "missing part": lambda lines: lines[6].pop(),
    "row too few": lambda lines: lines.pop(6),
    "row after the end": lambda lines: lines.append(["key", 1, "global", "late"]),
    "id that climbs": lambda lines: lines[0].update(id="../../etc/passwd"),
    "id that hides": lambda lines: lines[0].update(id=".hidden"),
    "no id": lambda lines: lines[0].pop("id"),
    "header of another thing": lambda lines: lines[0].pop("xref_run"),
    "command of numbers": lambda lines: lines[0].update(command=[1]),
    "a line that is a number": lambda lines: lines.insert(2, 5),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_malformed_is_refused(path: Path, damage: str) -> None:
    lines = lines_of(path)
    DAMAGES[damage](lines)
    put_lines(path, lines)
    with pytest.raises(XrefError, match="damaged run file") as raised:
        read_run(path)
    assert raised.value.exit_code == 5
    assert str(path) in str(raised.value)


def test_what_is_no_run_file_is_said(tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_text("hello")
    with pytest.raises(XrefError, match="no run file of xref"):
        read_run(path)
    with pytest.raises(XrefError, match="cannot be read"):
        read_run(tmp_path / "none")
    with pytest.raises(XrefError, match="cannot be read"):
        read_run(tmp_path)


def test_a_line_without_end_is_not_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    with gzip.open(path, "wb") as stream:
        for _ in range(64):
            stream.write(b" " * (1 << 20))
    with pytest.raises(XrefError, match="longer than"):
        read_run(path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                             lambda inner: st.lists(inner, max_size=4), max_leaves=8), max_size=4))  # fmt: skip
def test_no_content_of_a_row_raises_anything_else(tmp_path: Path, rows: list[Any]) -> None:
    path = tmp_path / "run"
    put_lines(path, [{"xref_run": FORMAT, **HEADER}, *rows, {"end": len(rows) + 1}])
    try:
        read_run(path)
    except XrefError as error:
        assert error.exit_code == 5  # noqa: PT017


def test_names_of_any_kind_survive(tmp_path: Path) -> None:
    run = small_run()
    names = ["\udcff.py", "</script><script>alert(1)</script>", "\u2028", "a\nb\x1b[31m", "名前", '"\\']
    run.files = [SourceFile(number, f"/{name}", name, None) for number, name in enumerate(names)]
    write_run(run, tmp_path / "run")
    assert read_run(tmp_path / "run") == run


def test_a_file_of_the_first_format_is_still_read(path: Path) -> None:
    """Its passes end at their duration; what it does not tell is unknown."""
    header, *rows = lines_of(path)
    rows.insert(-1, ["pass", 0, 0, 0, 0, "FuseTIR", 2, 10, 20])
    rows[-1] = {"end": len(rows)}
    path.write_bytes(
        gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in [{**header, "xref_run": 1}, *rows]))
    )
    assert read_run(path).passes == [PassRun(0, 0, 0, 0, "FuseTIR", 2, 10, 20, None, None, None)]
