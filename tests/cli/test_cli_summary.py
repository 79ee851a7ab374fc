"""What `xref index` prints: a summary that hides no file, and progress that disturbs no pipe."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from conftest import Run, Terminal

from xref.cli import summary as cli_summary
from xref.summary import IndexSummary


def _summary(**changes: object) -> IndexSummary:
    values: dict[str, object] = {
        "unchanged": False,
        "seconds": 12.34,
        "tree": {"tree": "/src/tvm", "project": "tvm", "tvm_version": "0.26.0", "commit": "c7b458e946ab00", "era": "x"},
        "files": {"ok": 1240, "degraded": 3, "failed": 1},
        "degraded": {"missing header cutlass/cutlass.h": 2, "guarded by TVM_X": 1},
        "failed": [("src/a.cc", "worker killed by signal 9")],
        "symbols": 100_000,
        "refs": 1_200_000,
        "calls": {"direct": 250_000, "virtual": 90_000},
        "unresolved": 4143,
        "keys_defined": {"ffi": 2086, "type": 542},
        "key_uses": {"resolved": 1600, "dangling": 1},
        "dangling": [("ffi", "relax.gone", "python/tvm/a.py", 12)],
        "warnings": ["submodules not checked out: 3rdparty/cutlass"],
    }
    return IndexSummary(**(values | changes))  # type: ignore[arg-type]


def test_the_summary_hides_nothing() -> None:
    assert list(cli_summary.summary_lines(_summary(), Path("data/xref.db"))) == [
        "tvm 0.26.0 at /src/tvm",
        "  commit c7b458e946ab, registrations x",
        "  files       1,240 ok, 3 degraded, 1 failed",
        "    2 degraded: missing header cutlass/cutlass.h",
        "    1 degraded: guarded by TVM_X",
        "    failed: src/a.cc: worker killed by signal 9",
        "  symbols     100,000",
        "  references  1,200,000",
        "  calls       250,000 direct, 90,000 virtual; unresolved 4,143",
        "  keys        defined: 2,086 ffi, 542 type",
        "              used: 1,600 resolved, 1 dangling",
        "    dangling: python/tvm/a.py:12  ffi relax.gone",
        "  warning: submodules not checked out: 3rdparty/cutlass",
        "  data/xref.db written in 12.3 s",
    ]


def test_an_unchanged_tree_takes_one_line() -> None:
    lines = list(cli_summary.summary_lines(_summary(unchanged=True, seconds=0.4), Path("x.db")))
    assert lines == ["unchanged: x.db is up to date with /src/tvm (0.4 s)"]


def test_the_summary_as_json_names_its_parts() -> None:
    value = json.loads(json.dumps(cli_summary.summary_object(_summary())))
    assert value["exit_code"] == 4
    assert value["failed"] == [{"path": "src/a.cc", "detail": "worker killed by signal 9"}]
    assert value["dangling"] == [{"registry": "ffi", "name": "relax.gone", "path": "python/tvm/a.py", "line": 12}]


def test_strict_counts_files_read_in_part() -> None:
    degraded = _summary(failed=[])
    assert cli_summary.exit_code(degraded, strict=False) == 0
    assert cli_summary.exit_code(degraded, strict=True) == 4
    assert cli_summary.exit_code(_summary(), strict=False) == 4


def test_index_passes_on_what_was_typed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import xref.index

    seen = []
    monkeypatch.setattr(xref.index, "run_index", lambda options, progress: seen.append(options) or _summary(failed=[]))
    args = ("index", "tree", "--db", "x.db", "-j", "3", "--only", "src/*", "--only", "a.py", "--force")
    code, out, _ = run(*args)
    assert (code, out.splitlines()[0]) == (0, "tvm 0.26.0 at /src/tvm")
    (options,) = seen
    assert (options.path, options.db, options.jobs) == (Path("tree"), Path("x.db"), 3)
    assert (options.only, options.force) == (("src/*", "a.py"), True)
    assert run(*args, "--quiet")[1] == ""
    assert json.loads(run(*args, "--json")[1])["symbols"] == 100_000
    assert run(*args, "--strict")[0] == 4


def test_an_unusable_tree_is_named(run: Run, tmp_path: Path) -> None:
    code, out, err = run("index", str(tmp_path / "no such"), "--db", str(tmp_path / "x.db"))
    assert (code, out) == (5, "")
    assert "no such" in err


def test_progress_is_silent_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with cli_summary.progress_bar(show=True) as progress:
        progress(1, 2, "src/a.cc")
    assert capsys.readouterr() == ("", "")


def test_progress_on_a_terminal_shows_count_and_estimate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with (tmp_path / "err").open("w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", Terminal(stream))
        with cli_summary.progress_bar(show=True) as progress:
            progress(1, 2, "src/[a].cc")
            progress(1, 40, "next phase")
    shown = (tmp_path / "err").read_text(encoding="utf-8")
    assert "1/40" in shown
    assert "left" in shown
