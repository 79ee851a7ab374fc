"""One file under extraction: what the extractors share, and the one place where symbols outside the file get ids."""

from __future__ import annotations

import ast
from bisect import bisect_right
from dataclasses import dataclass, field

from xref.model import Call, FileFacts, Id, Symbol, symbol_id
from xref.python.declarations import FUNCTION_NODES
from xref.python.kept import Said
from xref.python.names import Target, Tree
from xref.python.plan import PythonFile
from xref.python.pysa import Report
from xref.python.resolve import Resolver
from xref.python.source import Source
from xref.python.walk import Scope, Walk


@dataclass(slots=True)
class FileContext:
    """A parsed and walked file. `report` is None when the type checker did not read it; `said` is then empty."""

    file: PythonFile
    source: Source
    tree: Tree
    walk: Walk
    resolver: Resolver
    report: Report | None
    said: Said
    facts: FileFacts
    exact: dict[tuple[int, int], str] = field(default_factory=dict)
    """Position of a callee's name -> key of the one among several definitions that is called."""
    hints: dict[tuple[int, int], list[tuple[Id, Id]]] = field(default_factory=dict)
    """Position of a call -> callers, with the decorated functions that they name there: what runs is up to the
    decorator, so that the value-flow analysis decides."""
    doubtful: dict[tuple[int, int], list[Call]] = field(default_factory=dict)
    """Position -> calls that no parentheses show, in functions and classes that a decorator is given: it may have their
    source text parsed, instead of having them run."""
    _externals: dict[str, Id] = field(default_factory=dict)
    _spans: list[tuple[tuple[int, int], tuple[int, int], Scope]] = field(default_factory=list)

    def tree_id(self, module: str, suffix: str) -> Id | None:
        """The id of a symbol of the tree, None when the tree has no such symbol."""
        if not self.tree.has(module, suffix):
            return None
        return symbol_id(f"py:{module}:{suffix}" if suffix else f"py:{module}")

    def external_id(self, key: str, kind: str = "function") -> Id:
        """The id of a symbol outside the tree, which the file's facts then list."""
        known = self._externals.get(key)
        if known is None:
            known = self._externals[key] = symbol_id(key)
            module, _, name = key.removeprefix("py:").partition(":")
            qualname = f"{module}.{name}" if name else module
            last = qualname.rpartition(".")[2]
            self.facts.externals.append(Symbol(key, kind if name else "module", last, qualname, 0, 0, 0))
        return known

    def key_id(self, key: str) -> Id:
        """The id of a symbol that the type checker names, in the tree or outside."""
        kind = self.report.types.external.get(key) if self.report else None
        return symbol_id(key) if kind is None else self.external_id(key, kind)

    def is_external(self, key: str) -> bool:
        """Whether a key of the type checker's lies outside the tree."""
        if self.report is None:
            return False
        return key in self.report.types.external and key not in self.report.types.stubs

    def target_id(self, target: Target | None) -> Id | None:
        """The id of a module, member or external that a name stands for."""
        if target is None or target.kind in ("ffi", "instance"):
            return None
        if target.kind == "external":
            return self.external_id(target.key)
        return self.tree_id(target.module, target.name)

    def name_byte(self, node: ast.expr) -> tuple[int, int]:
        """Line and 0-based byte of an expression's own name: `c` in `a.b.c`, the start of anything else."""
        if isinstance(node, ast.Attribute) and node.end_lineno and node.end_col_offset is not None:
            return node.end_lineno, node.end_col_offset - len(node.attr.encode("utf-8", "replace"))
        return node.lineno, node.col_offset

    def position(self, node: ast.expr) -> tuple[int, int]:
        """Line and column, 1-based, of an expression's own name."""
        line, byte = self.name_byte(node)
        return line, self.source.column(line, byte)

    def scope_at(self, line: int, byte: int) -> Scope:
        """The scope whose body holds the position. Decorators, defaults and annotations lie outside the body."""
        if not self._spans:
            self._spans = sorted(
                (_body_span(scope) for scope in self.walk.scopes if scope.kind in ("function", "lambda", "class")),
                key=lambda row: row[0],
            )
        at = bisect_right(self._spans, (line, byte), key=lambda row: row[0]) - 1
        if at < 0:
            return self.walk.root
        scope: Scope | None = self._spans[at][2]
        while scope is not None and scope.parent is not None:
            if scope.kind != "comprehension" and (line, byte) < _body_span(scope)[1]:
                return scope
            scope = scope.parent
        return self.walk.root


def _body_span(scope: Scope) -> tuple[tuple[int, int], tuple[int, int], Scope]:
    node = scope.node
    if isinstance(node, ast.Lambda):
        body: ast.AST = node.body
        return (node.body.lineno, node.body.col_offset), _end(body), scope
    assert isinstance(node, (*FUNCTION_NODES, ast.ClassDef))
    first = node.body[0]
    decorators = getattr(first, "decorator_list", None)
    start = decorators[0] if decorators else first
    return (start.lineno, start.col_offset), _end(node), scope


def _end(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "end_lineno", None) or 0, getattr(node, "end_col_offset", None) or 0
