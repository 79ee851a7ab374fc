"""Canaries: when TVM, clang or pyrefly change a form, a registry goes quiet, and answers turn into "nobody" without a
word. Small written inputs of each era are in tests/cases; this is a part of a real tree.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from xref.demo.tree import demo_tree
from xref.index import IndexOptions, run_index
from xref.store import open_index

pytestmark = pytest.mark.tree

PART = ("src/relax/transform/f*", "src/relax/ir/transform.cc", "include/tvm/relax/*", "include/tvm/tirx/*",
        "python/tvm/relax/transform/*", "python/tvm/relax/expr.py")  # fmt: skip
DEFINED = {("ffi", "cpp"): 7, ("type", "cpp"): 200, ("type", "python"): 20, ("field", "cpp"): 500, ("pass", "cpp"): 5}
"""Registry and side -> keys that this part of TVM 0.25.dev0 defines at least: what was counted, or a little less."""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path = tmp_path_factory.mktemp("canary") / "x.db"
    run_index(IndexOptions(demo_tree(), path, only=PART))
    connection = open_index(path)
    yield connection
    connection.close()


@pytest.mark.parametrize(("registry", "side"), sorted(DEFINED))
def test_a_registry_of_a_real_tree_is_read(db: sqlite3.Connection, registry: str, side: str) -> None:
    (found,) = db.execute(
        "SELECT count(DISTINCT name) FROM key_defs WHERE registry = ? AND side = ?", (registry, side)
    ).fetchone()
    assert found >= DEFINED[registry, side]


def test_the_uses_of_what_the_part_registers_resolve(db: sqlite3.Connection) -> None:
    """Each Python wrapper of a pass in the part's C++ leads there, by a call with evidence."""
    wrappers = dict(
        db.execute(
            "SELECT a.name, c.via FROM calls c JOIN symbols a ON a.id = c.caller_id"
            " JOIN symbols b ON b.id = c.callee_id"
            " WHERE c.evidence = 'registry' AND a.lang = 'python' AND b.lang = 'cpp'"
        )
    )
    for name in ("FoldConstant", "FuseOps", "FuseTIR"):
        assert wrappers.get(name) == f"relax.transform.{name}"


def test_fields_read_in_python_are_those_of_their_types(db: sqlite3.Connection) -> None:
    (exact,) = db.execute(
        "SELECT count(*) FROM key_uses WHERE registry = 'field' AND evidence = 'direct' AND status = 'resolved'"
    ).fetchone()
    assert exact >= 200


def test_types_have_parents(db: sqlite3.Connection) -> None:
    parents = dict(db.execute("SELECT name, other FROM key_relations WHERE registry = 'type' AND kind = 'parent'"))
    assert parents["relax.expr.DataflowVar"] == "relax.expr.Var"
    assert len(parents) >= 60
