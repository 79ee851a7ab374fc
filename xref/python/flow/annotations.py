"""Turns an annotation into constraints: a node with objects of the classes that it names."""

from __future__ import annotations

import ast
from collections.abc import Callable

from xref.python.flow.code import CodeBuilder
from xref.python.flow.summary import INSTANCE, NEW, NOTHING

_SEQUENCES = frozenset({
    "list", "List", "tuple", "Tuple", "set", "Set", "frozenset", "FrozenSet", "Sequence", "MutableSequence", "Iterable",
    "Iterator", "Collection", "Generator", "Deque", "deque", "Array", "AbstractSet",
})  # fmt: skip
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "DefaultDict", "defaultdict", "Map"})
_ANY_OF = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar", "InitVar", "Required"})
_DEPTH = 8


def annotated(code: CodeBuilder, node: ast.expr | None, load: Callable[[ast.expr], int], depth: int = 0) -> int:
    """A node with objects as the annotation promises; NOTHING when it names no class."""
    if node is None or depth > _DEPTH:
        return NOTHING
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if len(node.value) > 200:
            return NOTHING
        try:
            parsed = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return NOTHING
        return annotated(code, parsed, load, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union(code, [node.left, node.right], load, depth)
    if isinstance(node, ast.Subscript):
        return _parametrised(code, node, load, depth)
    if isinstance(node, (ast.Name, ast.Attribute)):
        if isinstance(node, ast.Name) and node.id in _PLAIN:
            return NOTHING
        source = load(node)
        if source == NOTHING:
            return NOTHING
        target = code.node()
        code.add(INSTANCE, target, source)
        return target
    return NOTHING


_PLAIN = frozenset({"int", "str", "bool", "float", "bytes", "object", "Any", "None", "dict", "list", "tuple", "set",
                    "Callable", "List", "Dict", "Tuple", "Set", "complex", "type", "Type"})  # fmt: skip


def _union(code: CodeBuilder, parts: list[ast.expr], load: Callable[[ast.expr], int], depth: int) -> int:
    found = [value for part in parts if (value := annotated(code, part, load, depth + 1)) != NOTHING]
    if len(found) < 2:
        return found[0] if found else NOTHING
    target = code.node()
    for value in found:
        code.copy(value, target)
    return target


def _parametrised(code: CodeBuilder, node: ast.Subscript, load: Callable[[ast.expr], int], depth: int) -> int:
    base = node.value
    name = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name in _ANY_OF:
        return _union(code, parts, load, depth)
    if name in _SEQUENCES:
        element = _union(code, parts, load, depth)
    elif name in _MAPPINGS:
        element = annotated(code, parts[1], load, depth + 1) if len(parts) > 1 else NOTHING
    elif name in ("Callable", "Literal", "Type", "type"):
        return NOTHING
    else:
        return annotated(code, base, load, depth + 1)
    if element == NOTHING:
        return NOTHING
    target = code.node()
    code.add(NEW, target, "dict" if name in _MAPPINGS else "list", ((None, element),))
    return target
