"""Canaries: when TVM, clang or pyrefly change a form, a registry goes quiet, and answers turn into "nobody" without a
word. Small written inputs of each era are in tests/cases; this is a part of a real tree.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from xref.demo.tree import demo_tree
from xref.graph import ENCLOSES
from xref.index import IndexOptions, run_index
from xref.model import Evidence
from xref.query.language import Options, run
from xref.store import open_index

pytestmark = pytest.mark.tree

PART = ("src/relax/transform/f*", "src/relax/ir/transform.cc", "include/tvm/relax/*", "include/tvm/tirx/*",
        "python/tvm/relax/transform/*", "python/tvm/relax/expr.py",
        "src/relax/op/nn/convolution.*", "python/tvm/relax/op/nn/*", "src/relax/ir/block_builder.cc",
        "include/tvm/s_tir/schedule/*", "src/s_tir/schedule/schedule.cc", "src/s_tir/schedule/concrete_schedule.*",
        "src/s_tir/schedule/primitive.h", "src/s_tir/schedule/primitive/loop_transformation.cc",
        "src/s_tir/schedule/primitive/cache_read_write.cc", "python/tvm/s_tir/schedule/*",
        "src/target/codegen.cc", "src/target/llvm/llvm_module.cc", "src/target/llvm/codegen_llvm.*",
        "python/tvm/driver/*", "python/tvm/tirx/build.py", "python/tvm/tirx/__init__.py",
        "python/tvm/__init__.py")  # fmt: skip
DEFINED = {
    ("ffi", "cpp"): 7, ("type", "cpp"): 200, ("type", "python"): 20, ("field", "cpp"): 500, ("pass", "cpp"): 5,
    ("op", "cpp"): 6, ("op_attr", "cpp"): 24, ("functor", "cpp"): 100, ("inst", "cpp"): 5, ("attr", "cpp"): 15,
}  # fmt: skip
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


@pytest.mark.parametrize(
    ("start", "goal", "most"),
    [
        ("tvm.relax.op.nn.nn.conv2d", "tvm::relax::conv2d", 1),
        ("tvm.relax.transform.transform.FuseTIR", "FusedTIRConstructor::VisitExpr_(const CallNode*)", 6),
        ("tvm.driver.build_module.compile", "tvm::codegen::CodeGenLLVM", 7),
        ("tvm.s_tir.schedule.schedule.Schedule.split", "tvm::s_tir::Split", 2),
        ("tvm.s_tir.schedule.schedule.Schedule.reorder", "tvm::s_tir::Reorder", 2),
        ("tvm.s_tir.schedule.schedule.Schedule.cache_read", "tvm::s_tir::CacheRead", 2),
    ],
)
def test_a_reader_gets_from_python_to_the_code_that_does_the_work(
    db: sqlite3.Connection, start: str, goal: str, most: int
) -> None:
    """The questions that people ask of TVM first, in no more calls than a reader needs."""
    answer = run(db, "path", (start, goal), Options())
    assert answer.path is not None
    assert 0 < len(answer.path.search.hops) <= most
    assert all(
        hop.evidence in Evidence.__members__.values() or hop.evidence == ENCLOSES for hop in answer.path.search.hops
    )


def test_the_operator_leads_to_what_infers_its_type(db: sqlite3.Connection) -> None:
    """conv2d only names its operator, in a helper: the way goes on through the operator's attributes."""
    edges = db.execute(
        "SELECT DISTINCT b.name, c.via FROM calls c JOIN symbols a ON a.id = c.caller_id"
        " JOIN symbols b ON b.id = c.callee_id WHERE a.qualname = 'tvm::relax::conv2d' AND c.via LIKE '%:FInfer%'"
    ).fetchall()
    assert any(name.startswith("Infer") and via.startswith("relax.nn.conv2d:FInfer") for name, via in edges)
    readers = {
        name
        for (name,) in db.execute(
            "SELECT DISTINCT s.qualname FROM key_uses u JOIN symbols s ON s.id = u.in_symbol_id"
            " WHERE u.registry = 'op_attr' AND u.name LIKE '*:FInfer%' AND u.path LIKE '%block_builder.cc'"
        )
    }
    assert any("Normalizer::Infer" in name for name in readers)


def test_fields_read_in_python_are_those_of_their_types(db: sqlite3.Connection) -> None:
    (exact,) = db.execute(
        "SELECT count(*) FROM key_uses WHERE registry = 'field' AND evidence = 'direct' AND status = 'resolved'"
    ).fetchone()
    assert exact >= 200


def test_types_have_parents(db: sqlite3.Connection) -> None:
    parents = dict(db.execute("SELECT name, other FROM key_relations WHERE registry = 'type' AND kind = 'parent'"))
    assert parents["relax.expr.DataflowVar"] == "relax.expr.Var"
    assert len(parents) >= 60
