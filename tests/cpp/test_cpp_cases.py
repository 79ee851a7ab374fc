"""Every C++ case yields the facts that stand beside it. What fails here is a caller, key or symbol that users lose."""

from __future__ import annotations

from pathlib import Path

import pytest
from cpp_cases import (
    HEADER,
    INCLUDE,
    NO_PCH,
    ROOT,
    SUFFIX,
    Case,
    all_cases,
    build,
    extract,
    plan_case,
    render,
    run_case,
)

from xref.cpp.pch import build_pch
from xref.cpp.plan import CppPlan
from xref.store import open_index

CASES = all_cases()
MAX_CASES = 60


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_facts_are_those_written_down(case: Case) -> None:
    assert run_case(case) == case.expected.read_text("utf-8"), (
        f"review, then rewrite with: python -m tests.cpp.cpp_cases {case.name}"
    )


def test_no_expectation_is_left_of_a_case_that_is_gone() -> None:
    assert {path.name for path in ROOT.glob(f"*{SUFFIX}")} == {case.expected.name for case in CASES}
    assert len(CASES) <= MAX_CASES


def test_every_case_names_its_use() -> None:
    for case in CASES:
        first = (ROOT / case.files[0]).read_text("utf-8")
        everything = first if first.startswith("//") else "".join((ROOT / f).read_text("utf-8") for f in case.files)
        assert everything.startswith("//") or "\n//" in everything, case.name


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_precompiled_header_changes_no_fact(case: Case, tmp_path: Path) -> None:
    """It is what makes indexing TVM take minutes instead of an hour; a fact lost to it would be lost silently.

    One case defines a macro that a precompiled header has already read without it: that unit is parsed once more.
    """
    plan = plan_case(case)
    shared = sorted(p.relative_to(ROOT / INCLUDE).as_posix() for p in (ROOT / INCLUDE).rglob("*.h"))
    with_pch = CppPlan(plan.root, plan.known, plan.arguments, tuple(shared), plan.jobs)
    pch = build_pch(with_pch, tmp_path)
    assert pch.path
    assert not pch.problem
    assert _rendered(case, with_pch, tmp_path / "pch.db", pch) == _rendered(case, plan, tmp_path / "plain.db", NO_PCH)


def _rendered(case: Case, plan: CppPlan, path: Path, pch: object) -> str:
    db = open_index(build(extract(plan, pch), path, plan.known))
    try:
        return render(case, db)
    finally:
        db.close()


def test_a_case_is_read_as_the_tree_would_be() -> None:
    """Headers of a case are claimed by its units, or parsed alone: no test names an owner by hand."""
    case = next(case for case in CASES if case.name == "headers")
    jobs = {job.main: job.owned for job in plan_case(case).jobs}
    assert jobs["headers/src/unit.cc"] == (
        "headers/src/unit.cc",
        "headers/src/claimed.h",
        "headers/src/deep/inner.h",
    )
    assert jobs["headers/src/nobody.h"] == ("headers/src/nobody.h",)
    assert all(not f.endswith(HEADER) or f in {o for owned in jobs.values() for o in owned} for f in case.files)
