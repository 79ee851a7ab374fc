"""A header that some units share is precompiled for them: that saves time, and must change nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from same_index import differences

from xref.cpp import shared
from xref.cpp.includes import IncludeScan
from xref.cpp.plan import CppPlan, plan_cpp
from xref.index import IndexOptions, run_index
from xref.summary import IndexSummary

COMMON = "#pragma once\nstruct Base {\n  virtual int run() { return 0; }\n};\n"
SHARED = (
    '#pragma once\n#include <lib/common.h>\n#include "more.h"\n#define TWICE(x) ((x) + (x))\n'
    "struct Middle : Base {\n  int run() override { return helper(1); }\n};\n"
    "template <typename T>\nint each(const T& t) { return t.run() + TWICE(2); }\n"
)
MORE = "#pragma once\ninline int helper(int x) { return x; }\nstatic auto kind() { return 'c'; }\n"
UNIT = (
    '// Of the tree.\n#include <lib/common.h>\n\n#include "../part/shared.h"\n'
    "struct Sub{n} : Middle {{\n  int run() override {{ return Middle::run() + helper({n}) + kind(); }}\n}};\n"
    "int use{n}(Base* b) {{ return b->run() + TWICE({n}) + each(Sub{n}()); }}\n"
)
UNITS = 5


def _tree(root: Path, **files: str) -> Path:
    """Five units with a shared header: the first owns it, the others may have it precompiled."""
    content = {
        "include/lib/common.h": COMMON,
        "src/part/shared.h": SHARED,
        "src/part/more.h": MORE,
        **{f"src/units/u{n}.cc": UNIT.format(n=n) for n in range(UNITS)},
        **{name.replace("__", "."): text for name, text in files.items()},
    }
    for name, text in content.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def _plan(root: Path) -> CppPlan:
    paths = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*.*"))]
    units = [path for path in paths if path.endswith(".cc")]
    return plan_cpp(root, units, [path for path in paths if path.endswith(".h")], [str(root / "include")], [])


def _shared(root: Path) -> dict[str, str]:
    return {job.main: job.shared for job in _plan(root).jobs if job.shared}


@pytest.fixture(name="small")
def small_fixture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Headers of any size count; the folder of what is kept."""
    monkeypatch.setattr(shared, "LEAST_BYTES", 1)
    monkeypatch.setenv("XREF_PCH_CACHE", str(tmp_path / "kept"))
    return tmp_path / "kept"


def _index(root: Path, db: Path) -> IndexSummary:
    return run_index(IndexOptions(root, db))


def _apart(left: Path, right: Path) -> set[str]:
    return differences(left, right).keys() - {"meta"}


def test_units_share_a_header_that_they_begin_with(small: Path, tmp_path: Path) -> None:
    """Not the unit whose facts the header's are, and not one whose #define may change what the header says."""
    late = '#include <lib/common.h>\n#define MODE 1\n#include "../part/shared.h"\nint late() { return helper(MODE); }\n'
    root = _tree(tmp_path / "it", **{"src/units/u9__cc": late})
    assert _shared(root) == {f"src/units/u{n}.cc": "src/part/shared.h" for n in range(1, UNITS)}


def test_a_header_of_few_units_or_little_text_is_not_worth_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = _tree(tmp_path / "it")
    assert not _shared(root)
    monkeypatch.setattr(shared, "LEAST_BYTES", 1)
    monkeypatch.setattr(shared, "LEAST_UNITS", UNITS)
    assert not _shared(root)


def test_the_head_of_a_file_ends_at_any_other_directive(tmp_path: Path) -> None:
    for name in ("a.h", "b.h", "c.h", "d.h"):
        (tmp_path / name).write_text("#pragma once\n")
    (tmp_path / "u.cc").write_text(
        '/* one\n#include "d.h"\n*/\n#include "a.h"  // first\n # include <b.h>\n\n#ifdef X\n#include "c.h"\n#endif\n'
    )
    scan = IncludeScan(tmp_path, frozenset(("a.h", "b.h", "c.h", "d.h", "u.cc")), [str(tmp_path)])
    assert scan.leading("u.cc") == ["a.h", "b.h"]


def test_facts_are_the_same_and_an_edit_is_seen(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = _tree(tmp_path / "it")
    summary = _index(root, tmp_path / "shared.db")
    assert not summary.failed
    assert list(small.rglob("shared/*/*/*.pch"))
    monkeypatch.setattr(shared, "LEAST_BYTES", 1 << 30)
    _index(root, tmp_path / "plain.db")
    assert not _apart(tmp_path / "shared.db", tmp_path / "plain.db")

    monkeypatch.setattr(shared, "LEAST_BYTES", 1)
    for header in ("more.h", "shared.h"):
        path = root / "src/part" / header
        path.write_text(path.read_text() + f"inline int {header[0]}added() {{ return helper(7); }}\n")
        updated = _index(root, tmp_path / "shared.db")
        assert updated.is_update
        assert updated.reread["units"] == UNITS, "every unit that sees the header"
        _index(root, tmp_path / f"fresh-{header}.db")
        assert not _apart(tmp_path / "shared.db", tmp_path / f"fresh-{header}.db")


@pytest.mark.parametrize("line", ['#include "not_there.h"', "int broken( {"])
def test_a_shared_header_with_errors_is_read_at_its_place(
    line: str, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is wrong with it is said of each unit, as if nothing were precompiled; and it is not tried at each edit."""
    root = _tree(tmp_path / "it")
    header = root / "src/part/more.h"
    header.write_text(f"{header.read_text()}{line}\n")
    _index(root, tmp_path / "shared.db")
    assert list(small.rglob("shared/*/*/manifest.json"))
    assert not list(small.rglob("shared/*/*/*.pch"))
    monkeypatch.setattr(shared, "LEAST_BYTES", 1 << 30)
    _index(root, tmp_path / "plain.db")
    assert not _apart(tmp_path / "shared.db", tmp_path / "plain.db")


def test_what_is_shared_goes_with_what_it_adds_to(small: Path, tmp_path: Path) -> None:
    """A folder of the cache would else grow with each edit of a common header."""
    root = _tree(tmp_path / "it")
    _index(root, tmp_path / "x.db")
    for number in range(4):
        with (root / "include/lib/common.h").open("a") as stream:
            stream.write(f"int more{number}();\n")
        _index(root, tmp_path / "x.db")
    assert len(list(small.rglob("shared/*"))) <= 2
