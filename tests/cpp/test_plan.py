"""What goes into the precompiled header: it decides how long indexing takes, and which edits have everything read."""

from __future__ import annotations

from pathlib import Path

from xref.cpp.pch import build_pch
from xref.cpp.plan import plan_cpp
from xref.cpp.toolchain import find_toolchain
from xref.cpp.unit import index_unit

UNITS = 5


def _tree(root: Path) -> Path:
    """Five units that see <random> by way of a private header, and one of them a header that no library has."""
    (root / "src").mkdir()
    (root / "src" / "draw.h").write_text("#pragma once\n#include <random>\n#include <windows.h>\n#include <nosuch>\n")
    for n in range(UNITS):
        (root / "src" / f"u{n}.cc").write_text(f'#include "draw.h"\nint Draw{n}() {{ return {n}; }}\n')
    (root / "src" / "alone.cc").write_text("#include <future>\nint Alone() { return 1; }\n")
    return root


def test_standard_headers_that_private_headers_bring_are_precompiled(tmp_path: Path) -> None:
    """Else each unit reads them again, which was most of the time of fifty units of TVM. Headers of the tree that come
    this way are not: an edit of one would have every unit parsed again."""
    root = _tree(tmp_path)
    units = [f"src/u{n}.cc" for n in range(UNITS)] + ["src/alone.cc"]
    plan = plan_cpp(root, units, ["src/draw.h"], [], [])
    assert set(plan.pch_headers) == {"random", "nosuch"}
    kept = plan_cpp(root, units, ["src/draw.h"], [], [], old_pch=("random", "nosuch"))
    assert kept.pch_headers == ("random", "nosuch")


def test_a_standard_header_that_is_not_there_costs_no_other_unit_anything(tmp_path: Path) -> None:
    """A library may be older than the code; only who includes the header lacks it."""
    root = _tree(tmp_path)
    (tmp_path / "pch").mkdir()
    plan = plan_cpp(
        root, [f"src/u{n}.cc" for n in range(UNITS)] + ["src/alone.cc"], ["src/draw.h"], [], find_toolchain().arguments
    )
    pch = build_pch(plan, tmp_path / "pch")
    assert pch.path
    assert not pch.missing
    assert any(name.endswith("/random") for name in pch.seen)
    unit = next(job for job in plan.jobs if job.main == "src/alone.cc")
    assert [facts.status for facts in index_unit(plan, pch, unit).facts] == ["ok"]
