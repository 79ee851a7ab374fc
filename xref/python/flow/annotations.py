"""Turns an annotation into constraints: a node with objects of the classes that it names."""

from __future__ import annotations

import ast
from typing import Protocol

from xref.python.flow.code import CodeBuilder
from xref.python.flow.summary import INSTANCE, NEW, NOTHING

_SEQUENCES = frozenset({
    "list", "List", "tuple", "Tuple", "set", "Set", "frozenset", "FrozenSet", "Sequence", "MutableSequence", "Iterable",
    "Iterator", "Collection", "Generator", "Deque", "deque", "Array", "AbstractSet",
})  # fmt: skip
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "DefaultDict", "defaultdict", "Map"})
_OTHERS = frozenset({"Dict", "List"})
"""Names that `typing` has for Python's own containers, and that a class of the tree may bear (tvm_ffi.Dict)."""
_ANY_OF = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar", "InitVar", "Required"})
_DEPTH = 8


class Names(Protocol):
    """What the names in an annotation stand for."""

    def value(self, node: ast.expr | None) -> int:
        """The node with the expression's value."""

    def is_own_class(self, node: ast.expr) -> bool:
        """Whether the expression names a class of the tree."""


def annotated(code: CodeBuilder, node: ast.expr | None, names: Names, depth: int = 0) -> int:
    """A node with objects as the annotation promises; NOTHING when it names no class."""
    if node is None or depth > _DEPTH:
        return NOTHING
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return annotated(code, _parsed(node.value), names, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union(code, [node.left, node.right], names, depth)
    if isinstance(node, ast.Subscript):
        return _parametrised(code, node, names, depth)
    if isinstance(node, (ast.Name, ast.Attribute)):
        if isinstance(node, ast.Name) and node.id in _PLAIN and not _is_other(node, names):
            return NOTHING
        source = names.value(node)
        if source == NOTHING:
            return NOTHING
        target = code.node()
        code.add(INSTANCE, target, source)
        return target
    return NOTHING


def _is_other(node: ast.expr, names: Names) -> bool:
    """Whether a class of the tree bears the name that `typing` has for a container."""
    return _last_name(node) in _OTHERS and names.is_own_class(node)


def limits(node: ast.expr | None, depth: int = 0) -> list[ast.expr] | None:
    """The classes that an annotation allows, as expressions; None when it allows more, or does not read as classes.

    What a class is parametrised with is not looked at: `list[int]` allows lists.
    """
    if node is None or depth > _DEPTH:
        return None
    if isinstance(node, ast.Constant):
        if node.value is None:
            return []
        parsed = _parsed(node.value) if isinstance(node.value, str) else None
        return limits(parsed, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _all_limits([node.left, node.right], depth)
    if isinstance(node, ast.Subscript):
        name = _last_name(node.value)
        if name in ("Optional", "Union"):
            return _all_limits(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice], depth)
        return None
    if isinstance(node, ast.Name) and node.id in _NUMBERS:
        return [node]
    if isinstance(node, (ast.Name, ast.Attribute)):
        last = _last_name(node)
        return [node] if last not in _PLAIN and last not in _SEQUENCES and last not in _MAPPINGS else None
    return None


def _all_limits(parts: list[ast.expr], depth: int) -> list[ast.expr] | None:
    found = [limits(part, depth + 1) for part in parts]
    if any(one is None for one in found):
        return None
    return [one for some in found for one in some or ()]


def _last_name(node: ast.expr) -> str:
    """`c` of `a.b.c`, `c` of `c`; "" of anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _parsed(text: str) -> ast.expr | None:
    if len(text) > _LONGEST:
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


_LONGEST = 200
_NUMBERS = frozenset({"int", "str", "bool", "float", "bytes"})


def callable_type(node: ast.expr) -> list[ast.expr] | None:
    """The types of the parameters that `Callable[[A, B], R]` lists; None for anything else."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple) or len(node.slice.elts) != 2:
        return None
    first = node.slice.elts[0]
    return first.elts if _last_name(node.value) == "Callable" and isinstance(first, ast.List) else None


def expected(node: ast.expr | None, depth: int = 0) -> list[ast.expr]:
    """The parts of an annotation that are callable types, or names that may stand for one."""
    if node is None or depth > _DEPTH:
        return []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*expected(node.left, depth + 1), *expected(node.right, depth + 1)]
    if isinstance(node, ast.Subscript):
        if callable_type(node) is not None:
            return [node]
        name = _last_name(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return [found for part in parts for found in expected(part, depth + 1)] if name in _ANY_OF else []
    if isinstance(node, ast.Name) and node.id not in _PLAIN:
        return [node]
    return []


_PLAIN = frozenset({"int", "str", "bool", "float", "bytes", "object", "Any", "None", "dict", "list", "tuple", "set",
                    "Callable", "List", "Dict", "Tuple", "Set", "complex", "type", "Type"})  # fmt: skip


def _union(code: CodeBuilder, parts: list[ast.expr], names: Names, depth: int) -> int:
    found = [value for part in parts if (value := annotated(code, part, names, depth + 1)) != NOTHING]
    if len(found) < 2:
        return found[0] if found else NOTHING
    target = code.node()
    for value in found:
        code.copy(value, target)
    return target


def _parametrised(code: CodeBuilder, node: ast.Subscript, names: Names, depth: int) -> int:
    name = _last_name(node.value)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name in _ANY_OF:
        return _union(code, parts, names, depth)
    if _is_other(node.value, names):
        return annotated(code, node.value, names, depth + 1)
    if name in _SEQUENCES:
        element = _union(code, parts, names, depth)
    elif name in _MAPPINGS:
        element = annotated(code, parts[1], names, depth + 1) if len(parts) > 1 else NOTHING
    elif name in ("Callable", "Literal", "Type", "type"):
        return NOTHING
    else:
        return annotated(code, node.value, names, depth + 1)
    if element == NOTHING:
        return NOTHING
    target = code.node()
    code.add(NEW, target, "dict" if name in _MAPPINGS else "list", ((None, element),))
    return target
