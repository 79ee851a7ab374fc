"""The type checker is a guest: it obeys nothing in the tree, and when it is missing or fails, the index goes on."""

from __future__ import annotations

import json
import os
import stat
from importlib.metadata import version
from pathlib import Path

import pytest
from python_case import copy_case, describe, index

from xref.model import FileFacts, Status
from xref.python import PythonPlan, extract_python, plan_python, python_jobs, run_type_checker, typecheck
from xref.python.pysa import Report, Types, span
from xref.python.scip import parse_symbol


def make_plan(root: Path, scratch: Path) -> PythonPlan:
    paths = [path.relative_to(root).as_posix() for path in root.rglob("*.py")]
    return plan_python(root, paths, ["python"], scratch)


def extract(plan: PythonPlan) -> dict[str, FileFacts]:
    return {facts.path: facts for job in python_jobs(plan) for facts in extract_python(job)}


def test_no_configuration_in_the_tree_runs_a_program(tmp_path: Path) -> None:
    """pyrefly runs the interpreter that a found configuration names: a tree could make the indexer run anything."""
    root = copy_case("calls", tmp_path / "tree")
    mark = tmp_path / "ran"
    program = root / "python3"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    hostile = f'python-interpreter-path = "{program}"\nfallback-python-interpreter-name = "{program}"\n'
    script = f'[build-system]\ntype = "custom"\ncommand = ["{program}"]\n'
    for folder in (root, root / "python", root / "python/pkg"):
        (folder / "pyrefly.toml").write_text(hostile + script)
        (folder / "pyproject.toml").write_text(f"[tool.pyrefly]\n{hostile}")
        (folder / "conftest.py").write_text(f"open({str(mark)!r}, 'w')\n")
    (root / "python/pkg/script.py").write_text('# /// script\n# dependencies = ["x"]\n# ///\nprint(1)\n')
    os.symlink(program, root / "python/pkg/python")
    facts = index(root, tmp_path / "scratch")
    assert not mark.exists()
    assert all(file.status is Status.OK for file in facts.values())
    assert "python/pkg/use.py:35:10 pkg.use.use -> pkg.base.Base.run direct" in describe(facts, "calls")


def test_settings_of_the_user_s_environment_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYREFLY_CONFIG", str(tmp_path / "nothing.toml"))
    monkeypatch.setenv("PYREFLY_THREADS", "lots")
    index(copy_case("calls", tmp_path / "tree"), tmp_path / "scratch")


def without_types(tmp_path: Path, reason: str) -> None:
    """What is left when `run_type_checker` says `reason`: all files degraded with it, scoping's calls still there."""
    plan = make_plan(copy_case("calls", tmp_path / "tree"), tmp_path / "scratch")
    assert run_type_checker(plan, jobs=2) == reason
    facts = extract(plan)
    assert {(file.status, file.detail) for file in facts.values()} == {(Status.DEGRADED, reason)}
    calls = describe(facts, "calls")
    assert "python/pkg/use.py:34:12 pkg.use.use -> pkg.base.Base.__init__ direct" in calls
    assert "python/pkg/base.py pkg.base.Derived.step overrides pkg.base.Base.step" in describe(facts, "relations")
    unresolved = describe(facts, "unresolved")
    assert any(line.startswith("python/pkg/use.py:35:10 in pkg.use.use: made.run: no types") for line in unresolved)


def test_a_missing_type_checker_costs_the_types_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typecheck, "_find_program", lambda: "")
    without_types(tmp_path, "no types: pyrefly is not installed (pip install 'pyrefly==1.5.*')")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("kill -SEGV $$", "no types: the type checker was killed by signal 11"),
        ("echo 'thread panicked' >&2; exit 101", "exit code 101 (thread panicked)"),
        ("exit 0", "no types: the type checker wrote no report"),
        ("exec sleep 60", "no types: the type checker did not finish within 1 s"),
    ],
)
def test_a_type_checker_that_fails_costs_the_types_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    program = tmp_path / "pyrefly"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(typecheck, "_find_program", lambda: str(program))
    monkeypatch.setattr(typecheck, "TIMEOUT_S", 1 if "sleep" in script else 60)
    plan = make_plan(copy_case("calls", tmp_path / "tree"), tmp_path / "scratch")
    found = run_type_checker(plan, jobs=1)
    assert reason in found
    assert {file.detail for file in extract(plan).values()} == {found}


def test_another_report_format_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "pyrefly.pysa.json").write_text(json.dumps({"format_version": 2, "modules": {}}))
    trouble = typecheck._format_trouble(tmp_path)
    assert "format 2" in trouble
    assert "install 1.5.*" in trouble


def test_the_pinned_type_checker_is_the_one_that_the_reader_was_written_for() -> None:
    """The report is pyrefly's internal interface: on a new release, read what changed and move pin and reader."""
    assert version("pyrefly").split(".")[:2] == ["1", "5"]


def test_a_cycle_of_overriding_methods_ends(tmp_path: Path) -> None:
    """pyrefly's own stubs hold one."""
    types = Types(
        {}, {}, {}, {}, set(), {}, {"C": ["A"], "A": ["C"]}, {"A.m": "C.m", "C.m": "A.m"}, {"A.m": "A", "C.m": "C"}, {}
    )
    assert Report(tmp_path, types).overriders("A.m", "") == ["C.m"]


def test_locations_and_symbols_of_the_reports_read_as_documented() -> None:
    assert span("3:5-4:1") == (3, 4, 4, 0)
    assert parse_symbol("scip-python python xref 1 `a.b`/C#f().") == ("a.b", "C.f", True)
    assert parse_symbol("scip-python python xref 1 `a.b`/__init__:") == ("a.b", "", True)
    assert parse_symbol("scip-python python xref 1 `a b's`/`é`().") == ("a b's", "é", True)
    assert parse_symbol("scip-python python python-stdlib 3.13 builtins/int#") == ("builtins", "int", False)
    assert parse_symbol("scip-python python xref 1 `a.b`/f().(x)") is None
    assert parse_symbol("local 4") is None
