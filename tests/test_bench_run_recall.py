"""The check that CI makes of the README's recall: one that cannot fail would let edges vanish unnoticed."""

from __future__ import annotations

import sqlite3
import sys
from collections import Counter
from importlib import resources
from pathlib import Path
from types import ModuleType

import pytest

from xref.model import XrefError
from xref.store import SCHEMA_VERSION
from xref.verify.recall import Recall

ROOT = Path(__file__).parent.parent


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import run_recall

    return run_recall


def _measured(found: int, binding: int = 0) -> dict[str, Recall]:
    return {"ffi": Recall(observed=1000, binding=binding, evidence=Counter({"registry": found}))}


@pytest.mark.parametrize(
    ("found", "binding", "said"),
    [
        (800, 100, []),
        (791, 109, []),
        (789, 111, ["ffi, in the index: fell from 80.0 to 78.9 % of 1000"]),
        (811, 89, ["ffi, in the index: rose (write that into the README) from 80.0 to 81.1 % of 1000"]),
        (800, 88, ["ffi, with others between: fell from 90.0 to 88.8 % of 1000"]),
    ],
)
def test_more_than_a_point_is_told(bench: ModuleType, found: int, binding: int, said: list[str]) -> None:
    readme = bench.stated("| `ffi`: by key | 1,000 | 80.0 % | 90.0 % |")
    assert list(bench.differences(readme, _measured(found, binding))) == said


def test_a_kind_that_was_not_observed_is_told(bench: ModuleType) -> None:
    readme = bench.stated("| `native`: C++ | 10 | 80.0 % | 90.0 % |")
    assert "no such call was observed" in next(bench.differences(readme, _measured(800)))


def test_the_readme_has_the_numbers(bench: ModuleType) -> None:
    said = bench.stated((ROOT / "README.md").read_text(encoding="utf-8"))
    assert {"python", "ffi", "callback"} <= set(said)
    with pytest.raises(XrefError, match="no table"):
        bench.stated("# xref")


def test_an_index_that_lost_edges_fails(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "xref.db"
    with sqlite3.connect(path) as db:
        db.executescript(resources.files("xref").joinpath("schema.sql").read_text("utf-8"))
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.execute("INSERT INTO run VALUES ('r', 'python x.py', '', '', '', '')")
        db.execute("INSERT INTO observed_call VALUES ('r', 1, 2, 'python', NULL, 0, 0, 1, NULL)")
    readme = tmp_path / "README.md"
    readme.write_text("| `python`: Python | 1 | 0.0 % | 0.0 % |\n")
    monkeypatch.setattr(sys, "argv", ["run_recall", str(path), "--readme", str(readme)])
    assert bench.main() == 0
    readme.write_text("| `python`: Python | 1,007 | 98.3 % | 98.3 % |\n| `ffi`: by key | 198 | 83.3 % | 96.5 % |\n")
    assert bench.main() == 1
    assert "no such call was observed" in capsys.readouterr().err
