"""`xref doctor`: a user whose index is thin must learn what is missing, how to get it, and what the index lacks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from conftest import FUSE_TIR_CC, build, cpp

from xref import doctor
from xref.cpp import toolchain
from xref.index import IndexOptions, run_index
from xref.model import FileFacts, Lang, Status, Unresolved, XrefError
from xref.shares import Share


def tool(report: doctor.Report, name: str) -> doctor.Tool:
    return next(tool for tool in report.tools if tool.name == name)


def test_this_machine_can_index(small_index: Path) -> None:
    """The tests need what `xref doctor` looks for, so that it must find it here."""
    report = doctor.examine(small_index)
    assert report.exit_code == 0
    assert [tool.name for tool in report.tools if tool.needed and not tool.found] == []
    assert "version" in tool(report, "libclang").found


def test_without_a_cpp_library_indexing_cannot_work(small_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise XrefError("no C++ standard library that libclang can read: `apt install g++`", 5)

    monkeypatch.setattr(toolchain, "find_toolchain", missing)
    report = doctor.examine(small_index)
    assert report.exit_code == 5
    text = "\n".join(doctor.report_lines(report))
    assert "MISSING  C++ library and compiler headers" in text
    assert "`apt install g++`" in text
    assert doctor.report_object(report)["can_index"] is False


def test_missing_programs_come_with_the_line_that_gets_them(small_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    report = doctor.examine(small_index)
    text = "\n".join(doctor.report_lines(report))
    assert "missing  valgrind: records native calls; get it: apt-get install -y valgrind" in text
    assert report.exit_code == 0, "no program on the path is needed to index"


def test_the_system_packages_are_the_list_that_make_installs() -> None:
    packages = [package for package, *_ in doctor.system_packages()]
    assert {"g++", "python3-venv"} <= set(packages)
    assert len(packages) == len(set(packages))


@pytest.mark.parametrize(
    ("test", "there"),
    [("command:sh", True), ("command:no-such-command", False), ("file:/bin/*sh", True), ("file:/no/such/*", False),
     ("module:ensurepip", True), ("module:no_such_module", False)],
)  # fmt: skip
def test_probes(test: str, there: bool) -> None:
    assert bool(doctor._probe(test)) is there


def test_no_index_is_said_with_the_remedy(tmp_path: Path) -> None:
    report = doctor.examine(tmp_path / "none.db")
    assert report.index is None
    assert "run `xref index PATH" in "\n".join(doctor.report_lines(report))
    assert "run `xref index PATH" in doctor.report_object(report)["no_index"]


def test_an_index_tells_its_gaps(small_index: Path) -> None:
    text = "\n".join(doctor.report_lines(doctor.examine(small_index)))
    assert "  tvm_version: 0.27.dev0" in text
    assert "  files: 13 ok" in text
    assert f"    2 cpp: dependent on a template parameter (as {FUSE_TIR_CC}:101)" in text
    assert "    1 ffi: python/tvm/relax/transform/__init__.py:91 relax.gone" in text


def test_reasons_that_differ_in_a_name_or_a_number_are_one(tmp_path: Path) -> None:
    facts = [
        FileFacts(f"{letter}.cc", Lang.CPP, Status.DEGRADED, f"missing header {letter}.h (and {n} more)")
        for n, letter in enumerate("aab", 1)
        if n != 1
    ]
    facts[0].symbols = [cpp("function", "n::f", 1)]
    facts[0].unresolved = [
        Unresolved(1, 1, None, "f_()", "through the field f_"),
        Unresolved(2, 1, None, "g_()", "through the field g_"),
        Unresolved(3, 1, None, "h()", "57 candidates"),
        Unresolved(4, 1, None, "h()", "61 candidates"),
    ]
    build(tmp_path / "x.db", facts)
    state = doctor.examine(tmp_path / "x.db").index
    assert state is not None
    assert sorted((gap.reason, gap.count) for gap in state.unresolved) == [("N candidates", 2), ("through a field", 2)]
    assert {gap.reason for gap in state.gaps} == {"missing header a.h (and 2 more)", "missing header b.h (and 3 more)"}
    assert state.files == {"degraded": 2}


def test_long_lists_of_reasons_are_cut_with_a_count(tmp_path: Path) -> None:
    facts = [FileFacts(f"{n}.cc", Lang.CPP, Status.FAILED, f"reason {chr(97 + n)}") for n in range(12)]
    build(tmp_path / "x.db", facts)
    lines = list(doctor.report_lines(doctor.examine(tmp_path / "x.db")))
    assert "    4 failed for other reasons (--json lists all)" in lines


def test_the_report_is_json(small_index: Path) -> None:
    value = json.loads(json.dumps(doctor.report_object(doctor.examine(small_index))))
    assert (value["schema"], value["can_index"], value["no_index"]) == (1, True, None)
    assert value["index"]["files"] == {"ok": 13}


def test_the_share_of_unresolved_calls_is_told_apart_by_missing_header(tmp_path: Path) -> None:
    """One number for all units hides that nearly all of it is lost with headers that a user can get."""
    root = tmp_path / "tree"
    root.mkdir()
    good = "int Id(int x) { return x; }\nint Twice(int x) { return Id(Id(x)); }\n"
    (root / "good.cc").write_text(good)
    (root / "lost.cc").write_text('#include "absent.h"\nint Here();\nint Lost(Absent a) { return a.Run() + Here(); }\n')
    (root / "odd.cc").write_text("int Odd() { return Unknown(); }\n")
    run_index(IndexOptions(root, tmp_path / "x.db"))
    state = doctor.examine(tmp_path / "x.db").index
    assert state is not None
    assert state.cpp_calls[0] == Share("units without error", 1, 2, 0)
    others = {share.what: (share.units, share.unresolved) for share in state.cpp_calls[1:]}
    assert others == {"missing header absent.h": (1, 1), "other errors": (1, 1)}
    lines = list(doctor.report_lines(doctor.examine(tmp_path / "x.db")))
    assert "    0.00 %, 0 of 2: units without error (1 unit)" in lines
    assert any(line.endswith(": missing header absent.h (1 unit)") for line in lines)
