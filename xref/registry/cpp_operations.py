"""What the evaluator of C++ knows of values: operators, methods of strings and containers, fields of structures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, load, text

Value = Any
"""str, int (bool among them), list (a table or a structure, in order of its fields), a `Closure`, or `UNKNOWN`."""


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()
_LONGEST = 1 << 16
"""Of a string or table, and of a number in bits: what gets longer is UNKNOWN, lest code that doubles a string without
end take all memory."""
ADD = 6
# CXBinaryOperatorKind and CXUnaryOperatorKind (clang-c/Index.h of libclang 18)
BINARY: dict[int, Callable[[Any, Any], Value]] = {
    ADD: lambda a, b: a + b, 7: lambda a, b: a - b, 3: lambda a, b: a * b,
    11: lambda a, b: a < b, 12: lambda a, b: a > b, 13: lambda a, b: a <= b, 14: lambda a, b: a >= b,
    15: lambda a, b: a == b, 16: lambda a, b: a != b,
}  # fmt: skip
COMPOUND_ASSIGN = {23: BINARY[3], 26: BINARY[ADD], 27: BINARY[7]}
STEPS = {1: 1, 3: 1, 2: -1, 4: -1}  # x++, ++x, x--, --x
POSTFIX = (1, 2)
OPERATORS = {
    "operator+": BINARY[ADD], "operator==": BINARY[15], "operator!=": BINARY[16], "operator<": BINARY[11],
}  # fmt: skip
_NPOS = 2**64 - 1
_NOWHERE = 1 << 30
"""Behind the end of every structure."""
STRING_METHODS: dict[str, Callable[..., Value]] = {
    "rfind": lambda s, x, at=None: _position(s.rfind(x) if at is None else s.rfind(x, 0, at + len(x))),
    "find": lambda s, x, at=0: _position(s.find(x, at)),
    "substr": lambda s, at=0, n=_NPOS: s[at:] if n >= len(s) else s[at : at + n],
    "size": len,
    "length": len,
    "empty": lambda s: not s,
    "c_str": lambda s: s,
    "data": lambda s: s,
    "compare": lambda s, x: (s > x) - (s < x),
    "starts_with": lambda s, x: s.startswith(x),
    "ends_with": lambda s, x: s.endswith(x),
}
"""Methods of std::string, std::string_view and tvm::ffi::String."""
APPENDING = frozenset({"push_back", "emplace_back", "insert", "emplace"})
"""Methods of the containers that add a value. What a set or a map does with its order shows nowhere in an index."""
EMPTY: dict[str, Callable[[], Value]] = {
    **dict.fromkeys(("vector", "list", "deque", "set", "unordered_set", "map", "unordered_map", "Array"), list),
    **dict.fromkeys(("basic_string", "string", "String"), str),
}
"""Classes of std and tvm::ffi whose default constructor makes something empty."""


class Closure:
    """A lambda, with the variables that it sees."""

    def __init__(self, cursor: CXCursor, environment: dict[int, Value]) -> None:
        self.cursor, self.environment = cursor, environment


def _position(found: int) -> int:
    return found if found >= 0 else _NPOS


def element(table: Value, at: Value) -> Value:
    """`table[at]`, UNKNOWN where there is none."""
    known = isinstance(table, (list, str)) and isinstance(at, int) and 0 <= at < len(table)
    return table[at] if known else UNKNOWN


def position_of(field: CXCursor) -> int:
    """Which of its structure's fields it is. The instance of a class template shows none of its own."""
    library = load()
    owner = library.clang_getCursorSemanticParent(field)
    template = library.clang_getSpecializedCursorTemplate(owner)
    name = text(library.clang_getCursorSpelling(field))
    for place in (owner, library.clang_getCursorDefinition(template) if template.decl else template):
        parts = children(place) if place.decl else []
        names = [text(library.clang_getCursorSpelling(c)) for c in parts if c.kind == kinds.FIELD]
        if name in names:
            return names.index(name)
    return _NOWHERE


def apply(function: Callable[..., Value] | None, *values: Value) -> Value:
    """What an operation gives; UNKNOWN when a value is, or when it does not take such values."""
    if function is None or any(value is UNKNOWN for value in values):
        return UNKNOWN
    try:
        result = function(*values)
    except (TypeError, ValueError):
        return UNKNOWN
    size = result.bit_length() if isinstance(result, int) else len(result) if isinstance(result, (str, list)) else 0
    return result if size <= _LONGEST else UNKNOWN
