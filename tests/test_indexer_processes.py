"""An indexer that is interrupted, killed or met by another one, and workers that die, hang or eat memory."""

from __future__ import annotations

import functools
import json
import os
import signal
import time
from pathlib import Path

import pytest
from command import Ended, end, start_xref, wait_for, workers_of, xref
from indexed import check_intact, indexed_fixture, make_small, rows, states, tree_fixture  # noqa: F401

from xref import extract as extract_module
from xref.cpp.pch import NO_PCH
from xref.cpp.plan import plan_cpp
from xref.cpp.unit import index_unit
from xref.index import IndexOptions, run_index
from xref.summary import IndexSummary
from xref.workers import Workers, out_of_memory

# what interrupts


def _doubling(depth: int) -> str:
    """A header that includes itself twice, `depth` deep: 2**18 includes take about a second, more never end."""
    return f'#if __INCLUDE_LEVEL__ < {depth}\n#include "slow.h"\n#include "slow.h"\n#endif\n'


SLOW_CC = '#include "slow.h"\nint Slow() { return 1; }\n'


@pytest.fixture
def slow(indexed: tuple[Path, Path, bytes]) -> tuple[Path, Path, bytes]:
    """The tree has changed since it was indexed: one of its units now takes for ever."""
    root, _, _ = indexed
    (root / "slow.h").write_text(_doubling(60))
    (root / "slow.cc").write_text(SLOW_CC)
    return indexed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_changes_nothing(slow: tuple[Path, Path, bytes], number: int) -> None:
    root, db, before = slow
    process = start_xref("index", root, "--db", db, "-j", "2", "--force")
    wait_for(lambda: len(workers_of(process.pid)) == 2 and list(db.parent.glob("*.partial")))
    workers = workers_of(process.pid)
    started = time.monotonic()
    ended = end(process, number)
    assert ended.code == 130
    assert time.monotonic() - started < 15
    assert ended.err.splitlines() == ["xref: interrupted: nothing was changed"]
    check_intact(db, before)
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), 10)


def test_a_killed_run_leaves_the_old_index_and_holds_nobody_up(slow: tuple[Path, Path, bytes]) -> None:
    root, db, before = slow
    process = start_xref("index", root, "--db", db, "-j", "1")
    wait_for(lambda: list(db.parent.glob("*.partial")) and workers_of(process.pid))
    assert end(process, signal.SIGKILL).code == -signal.SIGKILL
    assert db.read_bytes() == before
    (root / "slow.cc").unlink()
    (root / "slow.h").unlink()
    assert xref("index", root, "--db", db, "--force").code == 0
    assert os.listdir(db.parent) == [db.name]


def test_two_indexers_do_not_meet(slow: tuple[Path, Path, bytes], tmp_path: Path) -> None:
    root, db, before = slow
    process = start_xref("index", root, "--db", db)
    wait_for(lambda: list(db.parent.glob("*.partial")))
    ended = xref("index", root, "--db", db)
    assert ended.code == 5
    assert f"another indexer (pid {process.pid}) is writing {db}" in ended.err
    assert db.read_bytes() == before
    assert xref("callers", "A", "--db", db).code in (0, 1)
    assert end(process).code == 130
    check_intact(db, before)


# what happens to workers


def _kill_the_workers(root: Path, db: Path, times: int) -> Ended:
    """Index with one process, and kill it `times` times while it is at the slow unit; then that unit is quick."""
    process = start_xref("index", root, "--db", db, "-j", "1", "--json")
    killed: set[int] = set()

    def at_work() -> list[int]:
        assert process.poll() is None
        return [pid for pid in workers_of(process.pid) if pid not in killed and _processor_seconds(pid) > 1.5]

    for left in range(times, 0, -1):
        (pid,) = wait_for(at_work)
        if left == 1:
            (root / "slow.h").write_text("")
        os.kill(pid, signal.SIGKILL)
        killed.add(pid)
    out, err = process.communicate(timeout=120)
    return Ended(process.returncode, out, err)


def _processor_seconds(pid: int) -> float:
    """What a process has used: past a second and a half it has been started, and is at work on the slow unit."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_unit_whose_worker_was_killed_is_read_again(slow: tuple[Path, Path, bytes]) -> None:
    root, db, _ = slow
    ended = _kill_the_workers(root, db, 1)
    assert ended.code == 0
    assert states(db)["slow.cc"] == (
        "degraded",
        "read on a second try, by itself; before, the worker process died (SIGKILL)",
    )
    assert states(db)["a.cc"] == ("ok", "")
    assert ("Slow",) in rows(db, "SELECT name FROM symbols")
    assert "slow.cc: the worker process died (SIGKILL); tried again file by file" in json.loads(ended.out)["warnings"]


def test_a_unit_that_kills_every_worker_is_failed_and_said(slow: tuple[Path, Path, bytes]) -> None:
    """The header that it was to be read with is not lost with it."""
    root, db, _ = slow
    (root / "kept.h").write_text("inline int Kept() { return 1; }\n")
    (root / "slow.cc").write_text('#include "kept.h"\n' + _doubling(60).replace("slow.h", "slow.cc"))
    (root / "slow.h").unlink()
    ended = _kill_the_workers(root, db, 2)
    assert ended.code == 4
    assert json.loads(ended.out)["failed"] == [{"path": "slow.cc", "detail": "the worker process died (SIGKILL)"}]
    assert states(db)["a.cc"] == ("ok", "")
    assert states(db)["kept.h"][0] == "degraded"
    assert ("Kept",) in rows(db, "SELECT name FROM symbols")


def _run_limited(monkeypatch: pytest.MonkeyPatch, root: Path, db: Path, **limits: float) -> IndexSummary:
    monkeypatch.setattr(extract_module, "Workers", functools.partial(Workers, **limits))
    return run_index(IndexOptions(root, db, jobs=2))


def test_a_unit_that_never_ends_is_stopped(slow: tuple[Path, Path, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    root, db, _ = slow
    summary = _run_limited(monkeypatch, root, db, seconds=3)
    assert summary.failed == [("slow.cc", "stopped after 3 s"), ("slow.h", "stopped after 3 s")]
    assert summary.files["ok"] == 1


def test_a_unit_that_eats_memory_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A macro that doubles itself thirty times; the process ends before the machine swaps."""
    macros = "#define A0 1,\n" + "".join(f"#define A{i + 1} {' '.join([f'A{i}'] * 8)}\n" for i in range(10))
    root = make_small(tmp_path / "tree", b__cc=f"{macros}int x[] = {{ A10 }};\n", c__cc="int C();\n")
    summary = _run_limited(monkeypatch, root, tmp_path / "x.db", memory=1 << 30)
    assert [path for path, _ in summary.failed] == ["b.cc"]
    assert summary.failed[0][1] == out_of_memory(1 << 30)
    assert summary.files["ok"] == 2
    assert f"b.cc: {out_of_memory(1 << 30)}; tried again file by file" in summary.warnings


def test_what_eats_memory_in_the_compiler_itself_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LLVM aborts when there is no memory for a template of a thousand million arguments."""
    text = "template <typename T, T... I>\nstruct S {};\nusing X = __make_integer_seq<S, int, 1000000000>;\nX x;\n"
    root = make_small(tmp_path / "tree", b__cc=text)
    summary = _run_limited(monkeypatch, root, tmp_path / "x.db", memory=1 << 29)
    assert summary.failed == [("b.cc", "out of memory: more than 0.5 GiB; fewer --jobs, or more memory, allow more")]
    assert summary.files["ok"] == 1


def test_a_process_that_has_parsed_before_keeps_nothing_back(tmp_path: Path) -> None:
    """Where few units are parsed the workers are copies of this process: what it has delivered, they have not."""
    root = make_small(tmp_path / "tree", use__cc="int A();\nint twice() { return A() + A(); }\n")
    plan = plan_cpp(root, ["a.cc", "use.cc"], [], [], [])
    for job in plan.jobs:
        assert index_unit(plan, NO_PCH, job).facts
    run_index(IndexOptions(root, tmp_path / "x.db"))
    assert rows(tmp_path / "x.db", "SELECT count(*) FROM calls") == [(2,)]
