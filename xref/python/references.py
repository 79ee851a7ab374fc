"""The references of one file: each name that leads to a symbol, with what is done to it.

The type checker's index knows most; where it is silent (unreachable code, names it gave up on), scoping and imports
answer. Locals and parameters are not symbols of the index.
"""

from __future__ import annotations

import ast
import re

from xref.model import Id, Ref, Role
from xref.python.context import FileContext
from xref.python.walk import NameUse

_FROM = re.compile(rb"from(?:\s|\\)+")
_CALLING = (Role.CALL, Role.DECORATOR)


def add_references(context: FileContext) -> None:
    """Add the file's references (its definitions are added with the symbols)."""
    defined = {(ref.line, ref.col) for ref in context.facts.refs}
    refs = context.facts.refs
    for use in context.walk.names:
        line, column = context.position(use.node)
        if use.role is Role.WRITE and (line, column) in defined:
            continue
        symbol = _symbol(context, use, line, column)
        if symbol is not None:
            refs.append(Ref(symbol, line, column, use.role, use.scope.symbol))
    _add_imports(context)


def _symbol(context: FileContext, use: NameUse, line: int, column: int) -> Id | None:
    exact = context.exact.get((line, column))
    if exact is not None:
        return context.key_id(exact)
    at = (line, column)
    if at in context.said.occurrences:
        found = context.said.occurrences[at]
        if found is None:
            return None
        module, qual, inside = found
        if not inside:
            key = f"py:{module}:{qual}" if qual else f"py:{module}"
            return context.key_id(key) if use.role in _CALLING and context.is_external(key) else None
        known = context.tree_id(module, qual)
        if known is not None:
            return known
    target = context.resolver.resolve(use.node, use.scope)
    if target is None or (target.kind == "external" and use.role not in _CALLING):
        return None
    return context.target_id(target)


def _add_imports(context: FileContext) -> None:
    refs = context.facts.refs
    starts: set[int] = set()
    for item in context.walk.imports:
        within = item.scope.symbol
        node = item.node
        line, column = node.lineno, context.source.column(node.lineno, node.col_offset)
        if isinstance(item.statement, ast.ImportFrom) and id(item.statement) not in starts:
            starts.add(id(item.statement))
            base = context.tree_id(item.base, "")
            if base is not None:
                refs.append(Ref(base, *_base_position(context, item.statement), Role.IMPORT, within))
        if item.name == "*":
            continue
        target = context.tree.imported(item.base, item.name)
        if target is not None and target.kind in ("module", "member"):
            symbol = context.target_id(target)
            if symbol is not None:
                refs.append(Ref(symbol, line, column, Role.IMPORT, within))


def _base_position(context: FileContext, node: ast.ImportFrom) -> tuple[int, int]:
    row = context.source.rows[node.lineno - 1][node.col_offset :]
    match = _FROM.match(row)
    byte = node.col_offset + (match.end() if match else 0)
    return node.lineno, context.source.column(node.lineno, byte)
