"""The comparison with plain parses: one that explains every difference away would find no fault of the index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from xref.cpp.pch import NO_PCH
from xref.cpp.plan import plan_cpp
from xref.cpp.unit import index_unit
from xref.model import Lang
from xref.store import IndexBuilder, open_index

SOURCE = """#define TWICE(x) ((x) + (x))
struct Box {
  Box(int size);
  operator int() const;
  int* begin();
  int* end();
};
int Area(const Box& box);
int Run(Box box) {
  auto twice = [](int value) { return TWICE(value); };
  int sum = TWICE(Area(3));
  for (int item : box) sum += twice(item);
  return sum + box;
}
"""


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "bench"))
    import plain_parse

    return plain_parse


@pytest.fixture
def index(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    (tmp_path / "a.cc").write_text(SOURCE)
    plan = plan_cpp(tmp_path, ["a.cc"], [], [], ["-std=c++17", "-ferror-limit=0"])
    with IndexBuilder(tmp_path / "x.db") as builder:
        builder.add_file("a.cc", Lang.CPP, "", 0, 0)
        for facts in index_unit(plan, NO_PCH, plan.jobs[0]).facts:
            builder.add_facts(facts)
            builder.set_status(facts.path, facts.status, facts.detail, facts.lines)
        builder.flush_symbols()
        builder.set_meta([("tree", str(tmp_path)), ("flags", "-std=c++17 -ferror-limit=0")])
        builder.publish()
    with closing(open_index(tmp_path / "x.db")) as db:
        yield db


def test_a_good_index_has_no_unexplained_difference(
    bench: ModuleType, index: sqlite3.Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.compare(index, ["a.cc"]) == 0
    out = capsys.readouterr().out
    assert bench.UNEXPLAINED not in out
    assert "what a range-for runs" in out
    assert "1 units" in out


@pytest.mark.parametrize(
    ("loss", "line"),
    [
        ("DELETE FROM call WHERE callee_id = (SELECT id FROM symbol WHERE name = 'Area')", "calls of the plain only"),
        ("DELETE FROM ref WHERE line = 10 AND role = 'read'", "references of the plain only"),
        ("UPDATE ref SET col = col + 1 WHERE line = 11 AND role = 'call'", "references of the index only"),
        ("UPDATE call SET line = line - 1", "calls of the index only"),
    ],
)
def test_a_fact_that_is_lost_or_wrong_is_found(
    bench: ModuleType,
    index: sqlite3.Connection,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    loss: str,
    line: str,
) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        db.execute(loss)
        db.commit()
    assert bench.compare(index, ["a.cc"]) == 1
    assert f"\t{line}\t" in capsys.readouterr().out


def test_units_with_missing_headers_are_among_those_drawn(bench: ModuleType, tmp_path: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE files(path, lang, status, detail)")
        rows = [
            (f"src/{i:02}.cc", "cpp", "degraded" if i < 5 else "ok", "missing header x.h" if i < 5 else "")
            for i in range(30)
        ]
        db.executemany("INSERT INTO files VALUES (?, ?, ?, ?)", rows)
        drawn = bench.draw(db, 10, 3, seed=7)
        assert drawn == bench.draw(db, 10, 3, seed=7) != bench.draw(db, 10, 3, seed=8)
        assert len(drawn) == 10
        assert sum(path < "src/05.cc" for path in drawn) == 3
