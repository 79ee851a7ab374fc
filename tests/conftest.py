"""A small index with the shape of TVM's FuseTIR: two C++ functions of one name, a pass lambda, a registration in a
static initialiser, the Python wrapper with its public alias, its callers, a virtual method, and unresolved calls.

Names, paths and lines are those of TVM main (src/relax/transform/fuse_tir.cc, python/tvm/relax/transform/transform.py).
"""

from __future__ import annotations

import os
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from xref.cli.verbs import main
from xref.model import (
    Call,
    Evidence,
    FileFacts,
    KeyDef,
    KeyUse,
    Lang,
    Ref,
    Relation,
    Role,
    Status,
    Symbol,
    Unresolved,
    UseStatus,
    symbol_id,
)
from xref.store import IndexBuilder, open_index

pytest_plugins = ("site_fixtures",)
"""In tests/site: a second conftest.py would stand in the way of `from conftest import ...`."""

# A shell that starts the tests in the background ignores Ctrl-C for them; what they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Precompiled headers of small trees must not push those of real ones out of the user's cache.
if "XREF_PCH_CACHE" not in os.environ:
    _PCH_CACHE = tempfile.TemporaryDirectory(prefix="xref-pch-")
    os.environ["XREF_PCH_CACHE"] = _PCH_CACHE.name

Run = Callable[..., tuple[int, str, str]]

FUSE_TIR_CC = "src/relax/transform/fuse_tir.cc"
TRANSFORM_H = "include/tvm/relax/transform.h"
FUNCTOR_H = "include/tvm/relax/expr_functor.h"
TRANSFORM_PY = "python/tvm/relax/transform/transform.py"
KEY = "relax.transform.FuseTIR"


def cpp(kind: str, qualname: str, line: int, signature: str = "", end: int = 0, **more: object) -> Symbol:
    """A C++ symbol whose key tells overloads apart by their signature."""
    tail = qualname.rsplit("::", 1)[1] if "::" in qualname and not qualname.endswith("}") else qualname
    name = qualname[qualname.rindex("{") :] if qualname.endswith("}") else tail
    return Symbol(f"cpp:{qualname}:{signature}", kind, name, qualname, line, 1, end or line, signature, **more)  # type: ignore[arg-type]


def py(kind: str, qualname: str, line: int, signature: str = "", end: int = 0, **more: object) -> Symbol:
    """A Python symbol."""
    return Symbol(
        f"py:{qualname}", kind, qualname.rsplit(".", 1)[-1], qualname, line, 1, end or line, signature, **more
    )  # type: ignore[arg-type]


def id_of(symbol: Symbol) -> int:
    """The id that the store gives a symbol."""
    return symbol_id(symbol.key)


# C++
INNER = cpp("function", "tvm::relax::FuseTIR", 1264, "IRModule FuseTIR(IRModule)", 1267)
CREATOR = cpp("function", "tvm::relax::transform::FuseTIR", 1271, "Pass FuseTIR()", 1286)
DECLARED = CREATOR._replace(line=556, end_line=556, is_definition=False, doc="Fuse relax sub-functions into one TIR.")
LAMBDA = cpp("lambda", "tvm::relax::transform::FuseTIR::{lambda: pass_func}", 1273, parent=id_of(CREATOR))
INIT = cpp("static_init", "tvm::relax::transform::{init: relax.transform.FuseTIR}", 1288, end=1291)
MUTATOR = cpp("class", "tvm::relax::TIRFuseMutator", 1057, "TIRFuseMutator", 1262)
TRANSFORM = cpp(
    "method", "tvm::relax::TIRFuseMutator::Transform", 1060, "IRModule Transform(IRModule)", 1100, parent=id_of(MUTATOR)
)
CONSTRUCTOR = cpp(
    "constructor", "tvm::relax::TIRFuseMutator::TIRFuseMutator", 1059, "TIRFuseMutator(IRModule)", parent=id_of(MUTATOR)
)
FUSED = cpp("class", "tvm::relax::FusedTIRConstructor", 400, "FusedTIRConstructor", 1010)
VISIT_CALL = cpp(
    "method",
    "tvm::relax::FusedTIRConstructor::VisitExpr_",
    480,
    "void VisitExpr_(const CallNode *)",
    560,
    parent=id_of(FUSED),
)
VISIT_TUPLE = cpp(
    "method",
    "tvm::relax::FusedTIRConstructor::VisitExpr_",
    570,
    "void VisitExpr_(const TupleNode *)",
    580,
    parent=id_of(FUSED),
)
ANONYMOUS = cpp(
    "function", "tvm::relax::(anonymous)::CollectBuffers", 90, "int CollectBuffers(const ffi::Array<PrimExpr> &, int)"
)
VISITOR = cpp("class", "tvm::relax::ExprVisitor", 140, "ExprVisitor", 330)
BASE_VISIT = cpp("method", "tvm::relax::ExprVisitor::VisitExpr_", 210, "void VisitExpr_(const CallNode *)")
DISPATCHER = cpp("method", "tvm::relax::ExprVisitor::VisitExpr", 150, "void VisitExpr(const Expr &)")
OUTSIDE = Symbol("usr:std::move", "function", "move", "std::move", 0, 0, 0, is_definition=False)
PARAMETER = cpp("parameter", "tvm::relax::FuseTIR::mod", 1264)

# Python
MODULE = py("module", "tvm.relax.transform.transform", 1, end=1500)
WRAPPER = py(
    "function",
    "tvm.relax.transform.transform.FuseTIR",
    815,
    "FuseTIR() -> tvm.ir.transform.Pass",
    823,
    doc="Fuse primitive relax function into a larger TIR function if possible\n\nReturns",
)
PUBLIC = py("alias", "tvm.relax.transform.FuseTIR", 48)
BUILDER = py("class", "tvm.relax.block_builder.BlockBuilder", 100, end=400)
EMIT = py(
    "method",
    "tvm.relax.block_builder.BlockBuilder.emit",
    200,
    "emit(self, expr: Expr, name_hint: str = '') -> Var",
    210,
    parent=id_of(BUILDER),
)
PUBLIC_BUILDER = py("alias", "tvm.relax.BlockBuilder", 30)
CALLERS = {
    "python/tvm/relax/pipeline.py": ("tvm.relax.pipeline.zero_pipeline.f_zero_pipeline", 69),
    "python/tvm/relax/backend/cuda/pipeline.py": ("tvm.relax.backend.cuda.pipeline.legalize_passes", 40),
    "python/tvm/relax/backend/rocm/pipeline.py": ("tvm.relax.backend.rocm.pipeline.legalize_passes", 40),
    "python/tvm/relax/backend/gpu_generic/pipeline.py": ("tvm.relax.backend.gpu_generic.pipeline.legalize_passes", 40),
    "python/tvm/relax/backend/cpu_generic/pipeline.py": ("tvm.relax.backend.cpu_generic.pipeline.legalize_passes", 38),
    "python/tvm/relax/backend/adreno/pipeline.py": ("tvm.relax.backend.adreno.pipeline.legalize_passes", 77),
    "python/tvm/s_tir/meta_schedule/relax_integration.py": (
        "tvm.s_tir.meta_schedule.relax_integration.compile_relax._ms_pipeline", 475),
}  # fmt: skip


# sqlite_stat1 of an index of TVM main of 2026-08-22: (table, index, "rows, rows per distinct value")
STATISTICS = [
    ("symbol", "symbol_name", "154261 4"),
    ("symbol", "symbol_qualname", "154261 2"),
    ("symbol", "symbol_parent", "150766 6"),
    ("symbol", "symbol_file", "154261 73 2"),
    ("ref", "ref_symbol", "1005160 7"),
    ("ref", "ref_file", "1005160 475 5"),
    ("call", "call_callee", "366604 16"),
    ("call", "call_caller", "366604 12"),
    ("call", "call_file", "366604 196"),
    ("relation", "relation", "11089 1 1 1"),
    ("relation", "relation_to", "11089 3 3"),
    ("location", "location_symbol", "150137 1"),
    ("location", "location_file", "150137 71"),
    ("key_def", "key_def_name", "3495 1165 2"),
    ("key_def", "key_def_symbol", "3495 1"),
    ("key_def", "key_def_file", "3495 5"),
    ("key_use", "key_use_name", "1901 1901 2"),
    ("key_use", "key_use_in", "1901 1"),
    ("key_use", "key_use_file", "1901 7"),
    ("unresolved_call", "unresolved_file", "9748 14"),
    ("unresolved_call", "unresolved_in", "9748 3"),
    ("include", "include_file", "8486 8"),
    ("include", "include_target", "8486 18"),
    ("file", "sqlite_autoindex_file_1", "3065 1"),
]


def _facts() -> list[FileFacts]:
    inner, creator, wrapper = id_of(INNER), id_of(CREATOR), id_of(WRAPPER)
    cc = FileFacts(FUSE_TIR_CC, Lang.CPP, lines=1298)
    cc.symbols = [
        INNER,
        CREATOR,
        LAMBDA,
        INIT,
        MUTATOR,
        TRANSFORM,
        CONSTRUCTOR,
        FUSED,
        VISIT_CALL,
        VISIT_TUPLE,
        ANONYMOUS,
        PARAMETER,
    ]
    cc.externals = [OUTSIDE]
    cc.calls = [
        Call(id_of(LAMBDA), inner, Evidence.DIRECT, 1273, 49),
        Call(inner, id_of(TRANSFORM), Evidence.DIRECT, 1265, 25),
        Call(id_of(TRANSFORM), id_of(CONSTRUCTOR), Evidence.DIRECT, 1062, 20),
        Call(id_of(TRANSFORM), id_of(OUTSIDE), Evidence.DIRECT, 1070, 9),
        Call(id_of(TRANSFORM), id_of(VISIT_TUPLE), Evidence.NAME, 1071, 9),
    ]
    cc.refs = [
        Ref(inner, 1264, 10, Role.DEFINITION, None),
        Ref(inner, 1273, 49, Role.CALL, id_of(LAMBDA)),
        Ref(creator, 1271, 6, Role.DEFINITION, None),
        Ref(creator, 1290, 46, Role.ADDRESS, id_of(INIT)),
        Ref(id_of(VISIT_TUPLE), 900, 9, Role.ADDRESS, id_of(TRANSFORM)),
    ]
    cc.relations = [
        Relation(id_of(VISIT_CALL), "overrides", id_of(BASE_VISIT)),
        Relation(id_of(FUSED), "base", id_of(VISITOR)),
    ]
    cc.key_defs = [KeyDef("ffi", KEY, "cpp", 1290, creator)]
    cc.unresolved = [
        Unresolved(99, 3, id_of(ANONYMOUS), "self->CollectBuffers(x)", "dependent on a template parameter"),
        Unresolved(101, 3, id_of(TRANSFORM), "MyCollectBuffersOf(x)", "dependent on a template parameter"),
    ]
    functor = FileFacts(FUNCTOR_H, Lang.CPP, lines=400)
    functor.symbols = [VISITOR, BASE_VISIT, DISPATCHER]
    functor.calls = [
        Call(id_of(DISPATCHER), id_of(BASE_VISIT), Evidence.DIRECT, 155, 5, "tvm::relax::ExprVisitor"),
        Call(id_of(VISIT_TUPLE), id_of(BASE_VISIT), Evidence.DIRECT, 300, 5),
    ]
    header = FileFacts(TRANSFORM_H, Lang.CPP, lines=700, symbols=[DECLARED])
    header.refs = [Ref(creator, 556, 14, Role.DECLARATION, None)]
    transform = FileFacts(TRANSFORM_PY, Lang.PYTHON, lines=1500, symbols=[MODULE, WRAPPER])
    transform.key_uses = [KeyUse("ffi", KEY, "python", 823, 12, wrapper, calls=True)]
    transform.calls = [Call(wrapper, creator, Evidence.REGISTRY, 823, 12, KEY)]
    package = FileFacts("python/tvm/relax/transform/__init__.py", Lang.PYTHON, lines=100, symbols=[PUBLIC])
    package.relations = [Relation(id_of(PUBLIC), "alias", wrapper)]
    package.key_uses = [
        KeyUse("ffi", "relax.ext.*", "python", 90, 1, None),
        KeyUse("ffi", "relax.gone", "python", 91, 1, None),
    ]
    builder = FileFacts("python/tvm/relax/block_builder.py", Lang.PYTHON, lines=500)
    builder.symbols = [BUILDER, EMIT, PUBLIC_BUILDER]
    builder.relations = [Relation(id_of(PUBLIC_BUILDER), "alias", id_of(BUILDER))]
    builder.key_defs = [KeyDef("ffi", "relax.ext.coreml", "python", 300, id_of(EMIT), "", "override=True")]
    callers = []
    for path, (name, line) in CALLERS.items():
        symbol = py("function", name, line - 10, "legalize_passes(target: Target)", line + 30)
        calls = [Call(id_of(symbol), wrapper, Evidence.DIRECT, line, 17)]
        callers.append(FileFacts(path, Lang.PYTHON, lines=300, symbols=[symbol], calls=calls))
    return [cc, functor, header, transform, package, builder, *callers]


def build(path: Path, facts: list[FileFacts]) -> None:
    """Write an index of `facts` to `path`."""
    with IndexBuilder(path) as builder:
        for number, file in enumerate(facts):
            builder.add_file(file.path, file.lang, f"{number:064x}", 1000, 0)
        for file in facts:
            builder.add_facts(file)
            builder.set_status(file.path, file.status, file.detail, file.lines)
        builder.flush_symbols()
        with builder.writing() as db:
            db.execute("UPDATE key_use SET status = ? WHERE name LIKE '%*'", (UseStatus.WILDCARD,))
            db.execute("UPDATE key_use SET status = ? WHERE name IN (SELECT name FROM key_def)", (UseStatus.RESOLVED,))
        builder.set_meta([("tree", "/src/tvm"), ("tvm_version", "0.27.dev0"), ("indexed_at", "2026-01-02T03:04:05Z")])
        builder.publish()


@pytest.fixture(scope="session")
def small_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path of the small index."""
    path = tmp_path_factory.mktemp("index") / "xref.db"
    build(path, _facts())
    return path


@pytest.fixture
def db(small_index: Path) -> Iterator[sqlite3.Connection]:
    """The small index, read-only."""
    connection = open_index(small_index)
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def index_with_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small index plus two runs: what they saw agrees with the static calls, adds to them, or has no caller."""
    path = tmp_path_factory.mktemp("runs") / "xref.db"
    facts = _facts()
    facts[0].status, facts[0].detail = Status.DEGRADED, "guarded by USE_X"
    build(path, facts)
    caller = symbol_id("py:tvm.relax.pipeline.zero_pipeline.f_zero_pipeline")
    other = symbol_id("py:tvm.relax.backend.cuda.pipeline.legalize_passes")
    with sqlite3.connect(path) as db:
        ids = dict(db.execute("SELECT path, id FROM file"))
        for run in ("tune", "zero"):
            db.execute("INSERT INTO run VALUES (?, 'python x.py', '2026-01-02', '0.26.0', '3.11', '')", (run,))
        rows = [
            ("zero", caller, id_of(WRAPPER), "python", ids["python/tvm/relax/pipeline.py"], 69, 1, 2, 50),
            ("tune", other, id_of(WRAPPER), "python", None, 0, 1, 5, 50),
            ("zero", id_of(WRAPPER), id_of(CREATOR), "ffi", ids[TRANSFORM_PY], 823, 1, 2, 50),
            ("tune", id_of(EMIT), id_of(INNER), "native", None, 0, 1, 7, 50),
            ("tune", None, id_of(VISIT_CALL), "callback", None, 0, 1, 3, 50),
        ]
        db.executemany("INSERT INTO observed_call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.close()
    return path


@pytest.fixture(scope="session")
def index_that_looks_large(small_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small index with the planner's statistics of TVM main, so that a query plan is the one that users get."""
    path = tmp_path_factory.mktemp("large") / "xref.db"
    path.write_bytes(small_index.read_bytes())
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM sqlite_stat1")
        db.executemany("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", STATISTICS)
    db.close()
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, small_index: Path) -> Run:
    """Run `xref ARGS` in this process on the small index: (exit code, stdout, stderr)."""
    monkeypatch.setenv("XREF_DB", str(small_index))
    monkeypatch.delenv("COLUMNS", raising=False)

    def call(*args: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(list(args))
        out = capsys.readouterr()
        return int(end.value.code or 0), out.out, out.err

    return call


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self, stream: object) -> None:
        self._stream = stream

    def isatty(self) -> bool:
        return True

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)
