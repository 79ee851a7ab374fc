"""Attribute reads of one file with the classes of their receivers, as the type checker knows them: what may be the
fields of C++ objects. Which of them are is settled by the linker (xref/link/fields.py), which sees all registrations.
"""

from __future__ import annotations

import ast

from xref.model import AttributeRead, Role, symbol_id
from xref.python.context import FileContext
from xref.python.pysa import Span
from xref.python.walk import NameUse


def add_attribute_reads(context: FileContext) -> None:
    """Add each `x.name` that is read and whose receiver is an object; of an unknown class, unless it is called."""
    receivers = context.said.receivers
    called = {id(call.func) for call, _ in context.walk.calls}
    for use in context.walk.names:
        node = use.node
        if not isinstance(node, ast.Attribute) or use.role in (Role.WRITE, Role.ANNOTATION, Role.TYPE):
            continue
        classes = receivers.get(_span(node.value))
        if classes is None and (node.attr.startswith("__") or id(node) in called or _is_known(context, use)):
            continue
        line, column = context.position(node)
        for key in classes or [""]:
            receiver = symbol_id(key) if key else None
            context.facts.attribute_reads.append(AttributeRead(node.attr, receiver, line, column, use.scope.symbol))


def _is_known(context: FileContext, use: NameUse) -> bool:
    """Whether the name leads to a module, a class or what they hold, or to the reader's own attribute."""
    assert isinstance(use.node, ast.Attribute)
    if context.resolver.resolve(use.node, use.scope) is not None:
        return True
    owner = context.resolver.resolve(use.node.value, use.scope)
    return owner is not None and (owner.kind in ("module", "external", "ffi") or context.tree.kind(owner) == "class")


def _span(node: ast.expr) -> Span:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0
