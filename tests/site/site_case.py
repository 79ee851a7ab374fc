"""A tree on disk and its index, small enough to be read here: both languages, a key between them, a run, and all that a
hostile tree may hold: names of files and functions with every character that HTML or a URL would read, a docstring that
ends scripts, a file that changed since, one that is gone, one that was not read."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

from xref.model import (
    Call,
    Evidence,
    FileFacts,
    Id,
    Include,
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
)  # fmt: skip
from xref.site.build import build_site
from xref.site.plan import make_plan
from xref.store import IndexBuilder
from xref.trace.folder import run_path
from xref.trace.runfile import PassRun, Process, RunFile, Text, write_run

HOSTILE_PATH = 'src/we ird/<a>&"b" 100%41#x?y=\'.cc'
HOSTILE_DOC = "</script><script>alert('doc')</script>\n<img src=x onerror=alert(1)> \u2028 &amp; \u202e {{ 7 * 7 }}"
KEY = "relax.transform.FuseTIR"
RUN = '20260102-<b>"1"'

FILES = {
    "include/tvm/fuse.h": "#pragma once\nnamespace tvm {\nclass Pass {\n public:\n  int level;\n  void Run();\n};\n"
    "Pass FuseTIR();\n}  // namespace tvm\n",
    "src/relax/fuse_tir.cc": (
        "#include <tvm/fuse.h>\n#define CHECK(x) Helper()\nnamespace tvm {\nvoid Helper() {}\n"
        "/* comment: FuseTIR */\nint Inner(int mod) {\n  /* é ü */ int twice = mod + mod; Helper();\n"
        "  CHECK(twice);\n  return twice;\n}\nPass FuseTIR() {\n  auto pass = [](int m) { return Inner(m); };\n"
        "  return Pass();\n}\nvoid Pass::Run() {}\n"
        'REGISTER() {\n  def("relax.transform.FuseTIR", FuseTIR);\n}\n}  // namespace tvm\n'
    ),
    "python/tvm/relax/transform.py": (
        '"""Passes."""\nfrom . import _ffi_api\n\n\ndef FuseTIR():\n    """Fuse."""\n    return _ffi_api.FuseTIR()\n'
    ),
    "python/tvm/relax/pipeline.py": (
        "from .transform import FuseTIR as fuse\n\n\ndef zero():\n    return [fuse(), fuse()]\n\n\ndef one():\n"
        "    return fuse()\n"
    ),
    "python/tvm/relax/hostile.py": f'def f():\n    """{HOSTILE_DOC}"""\n    return "</script>"\n',
    HOSTILE_PATH: "int odd() { return 1; }\n",
    "src/degraded.cc": "int part() { return 1; }\n",
    "src/failed.cc": "\x00 not C++ \xff\n",
    "src/changed.cc": "int before() { return 1; }\n",
    "src/gone.cc": "int gone() { return 1; }\n",
}
CPP_FILES = [path for path in FILES if not path.endswith(".py")]


def position(path: str, needle: str, nth: int = 1) -> tuple[int, int]:
    """Line and column, as the index counts them, of the nth `needle` in a file: bytes in C++, characters in Python."""
    text = FILES[path]
    at = -1
    for _ in range(nth):
        at = text.index(needle, at + 1)
    begin = text.rfind("\n", 0, at) + 1
    before = text[begin:at]
    return text.count("\n", 0, at) + 1, len(before.encode() if path in CPP_FILES else before) + 1


def _symbol(path: str, kind: str, qualname: str, needle: str, nth: int = 1, lines: int = 1, **more: object) -> Symbol:
    line, col = position(path, needle, nth)
    separator = "::" if path in CPP_FILES else "."
    name = qualname[qualname.rindex("{") :] if qualname.endswith("}") else qualname.rsplit(separator, 1)[-1]
    key = f"{path}:{qualname}:{line}:{col}"
    return Symbol(key, kind, name, qualname, line, col, line + lines - 1, **more)  # type: ignore[arg-type]


def id_of(symbol: Symbol) -> Id:
    """The id that the store gives a symbol."""
    return symbol_id(symbol.key)


CC, H = "src/relax/fuse_tir.cc", "include/tvm/fuse.h"
TRANSFORM, PIPELINE, HOSTILE = (f"python/tvm/relax/{name}.py" for name in ("transform", "pipeline", "hostile"))
PASS = _symbol(H, "class", "tvm::Pass", "Pass {", lines=5)
LEVEL = _symbol(H, "field", "tvm::Pass::level", "level", parent=id_of(PASS))
RUN_METHOD = _symbol(CC, "method", "tvm::Pass::Run", "Run()", signature="void Run()", parent=id_of(PASS))
HELPER = _symbol(CC, "function", "tvm::Helper", "Helper() {", signature="void Helper()")
CHECK = _symbol(CC, "macro", "CHECK", "CHECK")
INNER = _symbol(CC, "function", "tvm::Inner", "Inner(int", lines=5, signature="int Inner(int)")
MOD = _symbol(CC, "parameter", "tvm::Inner::mod", "mod)", parent=id_of(INNER))
CREATOR = _symbol(CC, "function", "tvm::FuseTIR", "FuseTIR() {", lines=4, signature="Pass FuseTIR()",
                  doc="\\brief Fuse.\n    \\return The pass.")  # fmt: skip
LAMBDA = _symbol(CC, "lambda", "tvm::FuseTIR::{lambda: pass}", "[](int", parent=id_of(CREATOR))
INIT = _symbol(CC, "static_init", "tvm::{init: relax.transform.FuseTIR}", "REGISTER()", lines=3)
OUTSIDE = Symbol("usr:std::move", "function", "move", "std::move", 0, 0, 0, is_definition=False)
MODULE = Symbol("py:tvm.relax.transform", "module", "transform", "tvm.relax.transform", 1, 1, 7)
WRAPPER = _symbol(TRANSFORM, "function", "tvm.relax.transform.FuseTIR", "FuseTIR", lines=3, signature="FuseTIR()",
                  doc="Fuse.", parent=id_of(MODULE))  # fmt: skip
PUBLIC = Symbol("alias:tvm.FuseTIR", "alias", "FuseTIR", "tvm.FuseTIR", 1, 24, 1)
ZERO = _symbol(PIPELINE, "function", "tvm.relax.pipeline.zero", "zero", lines=2)
ONE = _symbol(PIPELINE, "function", "tvm.relax.pipeline.one", "one", lines=2)
F = _symbol(HOSTILE, "function", "tvm.relax.hostile.f", "f()", lines=3, doc=HOSTILE_DOC,
            signature="f(x='</script><b>')")  # fmt: skip
ODD = _symbol(HOSTILE_PATH, "function", "</title><b>odd", "odd")
PART = _symbol("src/degraded.cc", "function", "part", "part")
BEFORE = _symbol("src/changed.cc", "function", "before", "before")
GONE = _symbol("src/gone.cc", "function", "gone", "gone")


def _ref(symbol: Symbol, path: str, needle: str, role: Role, nth: int = 1, within: Symbol | None = None) -> Ref:
    line, col = position(path, needle, nth)
    return Ref(id_of(symbol), line, col, role, id_of(within) if within else None)


def _call(caller: Symbol, callee: Symbol, path: str, needle: str, nth: int = 1, evidence: Evidence = Evidence.DIRECT,
          via: str = "") -> Call:  # fmt: skip
    line, col = position(path, needle, nth)
    return Call(id_of(caller), id_of(callee), evidence, line, col, via)


def facts() -> list[FileFacts]:
    """What an indexer would say of `FILES`."""
    cc = FileFacts(CC, Lang.CPP, symbols=[HELPER, CHECK, INNER, MOD, CREATOR, LAMBDA, INIT, RUN_METHOD])
    cc.externals = [OUTSIDE]
    cc.refs = [
        _ref(CHECK, CC, "CHECK", Role.DEFINITION),
        _ref(HELPER, CC, "Helper() {", Role.DEFINITION),
        _ref(INNER, CC, "Inner(int", Role.DEFINITION),
        _ref(MOD, CC, "mod)", Role.DEFINITION),
        _ref(MOD, CC, "mod + ", Role.READ, within=INNER),
        _ref(MOD, CC, "mod;", Role.READ, within=INNER),
        _ref(HELPER, CC, "Helper();", Role.CALL, within=INNER),
        _ref(CHECK, CC, "CHECK(twice)", Role.MACRO, within=INNER),
        _ref(HELPER, CC, "CHECK(twice)", Role.CALL, within=INNER),
        _ref(CREATOR, CC, "FuseTIR() {", Role.DEFINITION),
        _ref(INNER, CC, "Inner(m)", Role.CALL, within=LAMBDA),
        _ref(PASS, CC, "Pass FuseTIR", Role.TYPE),
        _ref(CREATOR, CC, "FuseTIR);", Role.ADDRESS, within=INIT),
        # An implicit constructor: its column stands on a word that is not its name, so nothing may be linked.
        _ref(LEVEL, CC, "return twice", Role.READ, within=INNER),
    ]
    cc.calls = [
        _call(INNER, HELPER, CC, "Helper();"),
        _call(INNER, HELPER, CC, "CHECK(twice)"),
        _call(LAMBDA, INNER, CC, "Inner(m)"),
        _call(INNER, OUTSIDE, CC, "return twice"),
    ]
    cc.includes = [Include(1, H)]
    cc.key_defs = [KeyDef("ffi", KEY, "cpp", position(CC, KEY)[0], id_of(CREATOR)),
                   KeyDef("pass", "FuseTIR", "cpp", position(CC, KEY)[0], id_of(CREATOR))]  # fmt: skip
    cc.unresolved = [Unresolved(9, 3, id_of(INNER), "x->f<T>(</script>)", "dependent on a template parameter")]
    header = FileFacts(H, Lang.CPP, symbols=[PASS, LEVEL])
    header.refs = [_ref(PASS, H, "Pass {", Role.DEFINITION), _ref(LEVEL, H, "level", Role.DEFINITION),
                   _ref(CREATOR, H, "FuseTIR", Role.DECLARATION)]  # fmt: skip
    transform = FileFacts(TRANSFORM, Lang.PYTHON, symbols=[MODULE, WRAPPER])
    transform.refs = [_ref(WRAPPER, TRANSFORM, "FuseTIR", Role.DEFINITION)]
    transform.calls = [_call(WRAPPER, CREATOR, TRANSFORM, "FuseTIR", 2, Evidence.REGISTRY, KEY)]
    line, col = position(TRANSFORM, "FuseTIR", 2)
    transform.key_uses = [KeyUse("ffi", KEY, "python", line, col, id_of(WRAPPER), calls=True)]
    pipeline = FileFacts(PIPELINE, Lang.PYTHON, symbols=[ZERO, ONE, PUBLIC])
    pipeline.refs = [_ref(WRAPPER, PIPELINE, "fuse()", Role.CALL, n, ZERO if n < 3 else ONE) for n in (1, 2, 3)]
    pipeline.calls = [_call(ZERO if n < 3 else ONE, WRAPPER, PIPELINE, "fuse()", n) for n in (1, 2, 3)]
    pipeline.relations = [Relation(id_of(PUBLIC), "alias", id_of(WRAPPER))]
    pipeline.key_uses = [KeyUse("ffi", "gone.</script>", "python", 5, 1, id_of(ZERO))]
    hostile = FileFacts(HOSTILE, Lang.PYTHON, symbols=[F])
    odd = FileFacts(HOSTILE_PATH, Lang.CPP, symbols=[ODD], calls=[_call(ODD, HELPER, HOSTILE_PATH, "return")])
    part = FileFacts("src/degraded.cc", Lang.CPP, Status.DEGRADED, "missing header <cuda.h>", symbols=[PART])
    failed = FileFacts("src/failed.cc", Lang.CPP, Status.FAILED, "the worker process died (SIGSEGV)")
    changed = FileFacts(
        "src/changed.cc", Lang.CPP, symbols=[BEFORE], calls=[_call(BEFORE, HELPER, "src/changed.cc", "1")]
    )
    gone = FileFacts("src/gone.cc", Lang.CPP, symbols=[GONE], calls=[_call(GONE, HELPER, "src/gone.cc", "1")])
    return [cc, header, transform, pipeline, hostile, odd, part, failed, changed, gone]


def make(folder: Path, callers: int = 0) -> Path:
    """Write the tree to `folder`/tree and its index to `folder`/xref.db; the index. `callers` more call `HELPER`."""
    tree, db = folder / "tree", folder / "xref.db"
    for path in FILES:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(_bytes(path))
    many = FileFacts("src/many.cc", Lang.CPP)
    for line in range(1, callers + 1):
        one = Symbol(f"many{line}", "function", f"many{line}", f"tvm::many{line}", line, 6, line)
        many.symbols.append(one)
        many.calls.append(Call(id_of(one), id_of(HELPER), Evidence.DIRECT, line, 16, ""))
    (tree / many.path).write_text("".join(f"void {one.name}() {{ Helper(); }}\n" for one in many.symbols))
    build(db, tree, [*facts(), *([many] if callers else [])])
    (tree / "src/changed.cc").write_text("// a line more\nint after() { return 2; }\n")
    (tree / "src/gone.cc").unlink()
    return db


def _bytes(path: str) -> bytes:
    return FILES[path].encode("latin-1" if path == "src/failed.cc" else "utf-8")


def build(db: Path, tree: Path, every: list[FileFacts]) -> None:
    """Write an index of facts about the files below `tree`."""
    with IndexBuilder(db) as builder:
        for file in every:
            data = (tree / file.path).read_bytes()
            builder.add_file(file.path, file.lang, hashlib.sha256(data).hexdigest(), len(data), 0)
        for file in every:
            builder.add_facts(file)
            builder.set_status(file.path, file.status, file.detail, (tree / file.path).read_bytes().count(b"\n"))
        builder.flush_symbols()
        with builder.writing() as connection:
            connection.execute(
                "UPDATE key_use SET status = ? WHERE name IN (SELECT name FROM key_def)", (UseStatus.RESOLVED,)
            )
        builder.set_meta([
            ("tree", str(tree)), ("project", "tvm"), ("tvm_version", "0.27.dev0"), ("commit", "0123456789abcdef"),
            ("era", "static_init_block"), ("indexed_at", "2026-01-02T03:04:05Z"), ("warnings", '["look <here>"]'),
            ("only", "part of the tree"),
        ])  # fmt: skip
        builder.publish()


def add_run(db: Path) -> None:
    """Add the rows of a recorded run to an index, as joining one would."""
    connection = sqlite3.connect(db)
    with connection:
        connection.execute(
            "INSERT INTO run VALUES (?, 'python <conv>.py', '2026-01-02T03:04:05Z', '0.27', '3.11.7', '')", (RUN,)
        )
        files = dict(connection.execute("SELECT path, id FROM file"))
        connection.executemany("INSERT INTO observed_call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [
            (RUN, id_of(WRAPPER), id_of(CREATOR), "ffi", files[TRANSFORM], 7, 1, 3, 4_500_000),
            (RUN, id_of(ONE), id_of(WRAPPER), "python", files[PIPELINE], 9, 1, 3, None),
            (RUN, id_of(CREATOR), id_of(RUN_METHOD), "native", None, 0, 1, 5, 1_000),
            (RUN, None, id_of(ONE), "python", None, 0, 1, 1, 9_000_000),
        ])  # fmt: skip
        connection.executemany("INSERT INTO pass_run VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [
            (RUN, 0, 0, "Sequential", None, 0, 10_000_000, None),
            (RUN, 1, 1, "FuseTIR", id_of(CREATOR), 2_000_000, 5_000_000, 1),
            (RUN, 2, 1, "<script>", id_of(LAMBDA), 8_000_000, 1_000_000, 0),
        ])  # fmt: skip
        connection.execute("INSERT INTO unmatched_event VALUES (?, 'ffi', 'nobody.knows', 2, 'no such key')", (RUN,))
    connection.close()


def add_texts(db: Path, run_id: str = "plain") -> None:
    """Add a run whose file has the texts of the module before and after its passes."""
    header = {
        "id": run_id, "command": ["x"], "cwd": "/", "started": "2026-01-02T03:04:05Z", "seconds": 1.0,
        "exit": {"code": 0}, "python": {}, "tvm": None, "tvm_ffi": None, "recorded": {}, "notes": [],
    }  # fmt: skip
    texts = [Text(0, "def main():\n    old <b>\n"), Text(1, "def main():\n    new\n    more\n")]
    passes = [PassRun(0, 0, 0, 0, "Sequential", 2, 0, 10, 1, 0, 0), PassRun(0, 0, 1, 1, "FuseTIR", 2, 2, 5, 1, 0, 1)]
    run = RunFile(header, processes=[Process(0, None, 1, "exit", 1.0)], texts=texts, passes=passes)
    write_run(run, run_path(db, run_id))
    connection = sqlite3.connect(db)
    with connection:
        connection.execute("INSERT INTO run VALUES (?, 'x', '2026-01-01T03:04:05Z', '0.27', '3.11.7', '')", (run_id,))
        connection.executemany(
            "INSERT INTO pass_run VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(run_id, row.seq, row.depth, row.name, None, row.start, row.ns, row.changed) for row in passes],
        )
    connection.close()


class Site:
    """A built site: `db` is its index, `folder` the pages."""

    def __init__(self, db: Path, folder: Path) -> None:
        self.db = db
        self.folder = folder
        self.plan = make_plan(db)

    def read(self, url: str) -> str:
        """A page's HTML."""
        return (self.folder / url).read_text(encoding="utf-8")

    def page(self, symbol: Symbol) -> str:
        """The HTML of the page that a symbol stands on."""
        return self.read(self.address(symbol).partition("#")[0])

    def address(self, symbol: Symbol) -> str:
        """The address of a symbol below the site's folder."""
        return self.plan.packing.address[id_of(symbol)]


def make_site(folder: Path) -> Site:
    """The site of this tree, with its run, in `folder`/out."""
    db = make(folder)
    add_run(db)
    build_site(db, folder / "out", 1, lambda *_: None)
    return Site(db, folder / "out")


def make_whole_site(folder: Path) -> Site:
    """The same with every kind of page: a second run with texts, and a list that goes on on a further page."""
    db = make(folder, callers=230)
    add_run(db)
    add_texts(db)
    build_site(db, folder / "out", 1, lambda *_: None)
    return Site(db, folder / "out")
