"""Identity: a symbol keeps its id when its file changes elsewhere, and its name is the one that Python itself gives."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from python_case import copy_case, index

from xref.model import FileFacts


def test_an_edit_elsewhere_in_a_file_changes_no_id(tmp_path: Path) -> None:
    root = copy_case("calls", tmp_path / "tree")
    before = index(root, tmp_path / "scratch")
    for path in before:
        text = (root / path).read_text("utf-8")
        (root / path).write_text(f"# a comment\n{text}\n\ndef brand_new():\n    return lambda: 1\n", "utf-8")
    after = index(root, tmp_path / "again")
    for path, file in before.items():
        new = {s.key for s in after[path].symbols} - {s.key for s in file.symbols}
        assert {key.rpartition(":")[2] for key in new} == {"brand_new", "brand_new.<lambda>"}
        assert {s.key for s in file.symbols} <= {s.key for s in after[path].symbols}


def test_names_are_those_that_python_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The case is our own code, so that it may be imported: `__module__` plus `__qualname__` without `<locals>`."""
    root = copy_case("calls", tmp_path / "tree")
    facts = index(root, tmp_path / "scratch")
    ours = {(s.qualname, s.line) for file in facts.values() for s in file.symbols if s.kind in _CODE_KINDS}
    monkeypatch.syspath_prepend(str(root / "python"))
    for name in [name for name in sys.modules if name == "pkg" or name.startswith("pkg.")]:
        monkeypatch.delitem(sys.modules, name)
    theirs = set()
    for name in ("pkg.base", "pkg.use"):
        module = importlib.import_module(name)
        theirs |= {(f"{name}.{qualname.replace('<locals>.', '')}", line) for qualname, line in code_objects(module)}
    assert len(theirs) > 15
    assert theirs <= ours


_CODE_KINDS = ("function", "method", "property", "lambda")


def code_objects(module: ModuleType) -> Iterator[tuple[str, int]]:
    """(qualname, line of the def or lambda) of every function compiled for the module."""
    source = inspect.getsource(module)
    lines = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            lines[first] = node.lineno
    pending = [compile(source, module.__name__, "exec")]
    while pending:
        code = pending.pop()
        for inner in code.co_consts:
            if inspect.iscode(inner):
                pending.append(inner)
                if inner.co_flags & inspect.CO_OPTIMIZED and inner.co_name not in _COMPREHENSIONS:
                    yield inner.co_qualname, lines.get(inner.co_firstlineno, inner.co_firstlineno)


_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def test_every_id_that_a_fact_names_is_declared(tmp_path: Path) -> None:
    """An edge to a symbol that no file declares would be a link to nowhere."""
    from xref.model import symbol_id

    for case in ("calls", "ffi_v20", "ffi_new"):
        facts = index(copy_case(case, tmp_path / case), tmp_path / f"scratch-{case}")
        known = {symbol_id(s.key) for file in facts.values() for s in (*file.symbols, *file.externals)}
        assert named(facts) <= known


def named(facts: dict[str, FileFacts]) -> set[int]:
    ids: set[int | None] = set()
    for file in facts.values():
        ids |= {i for call in file.calls for i in (call.caller, call.callee)}
        ids |= {i for ref in file.refs for i in (ref.symbol, ref.within)}
        ids |= {i for relation in file.relations for i in (relation.source, relation.target)}
        ids |= {key.symbol for key in file.key_defs} | {use.within for use in file.key_uses}
        ids |= {site.within for site in file.unresolved} | {s.parent for s in file.symbols}
    return {i for i in ids if i is not None}
