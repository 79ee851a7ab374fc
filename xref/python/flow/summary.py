"""The constraints that one file contributes to the value-flow analysis: plain tuples, stored as they are.

A *code* is a module body, a function, a lambda or a class body; each has nodes (sets of values) numbered from 0. A node
of an enclosing code is written `levels << LEVEL_BITS | number`; -1 is "no value of interest". A position packs line and
column: see `pack`.
"""

from __future__ import annotations

import marshal
import zlib
from typing import Any, NamedTuple

LEVEL_BITS = 20
NODE_MASK = (1 << LEVEL_BITS) - 1
NOTHING = -1
_COLUMN_BITS = 13
_MARSHAL_VERSION = 2

# Operations of constraints; the fields that follow the operation are listed with each.
FUNC = 0  # target, code, defaults ((parameter number, node), ...), form ("", "static", "class", "property", ...)
CLASS = 1  # target, code, bases, keywords ((name, node), ...), position
CONST = 2  # target, constant; (text,) is a string that begins with the text
IMPORT = 3  # target, module, name ("" for the module itself), position
GLOBAL = 4  # target, name: bound by a star import, or builtin
ATTR = 5  # target, object, name, position
SETATTR = 6  # object, name (None: computed), source, position, node of a name that is computed
SUB = 7  # target, object, constant key or None, key node, position
SETSUB = 8  # object, constant key or None, key node, source, position
CALL = 9  # target, callee, positional, keywords, starred, double-starred, position, decoration (0: none)
ITER = 10  # target, object, position, is async
WITH = 11  # target, object, position, is async
OPERATOR = 12  # target, position, names of methods (left's, right's, "text" if right is one, compared), left, right
SUPER = 13  # target, class code's level, first parameter
RAISE = 14  # object, position
NEW = 15  # target, kind, ((constant key or None, node), ...): a container
INSTANCE = 16  # target, class node: an object of the class, or of one below it
AWAIT = 17  # target, object
SLICE = 18  # target, object, first, last (constants or None), nodes of bounds, position
UNPACK = 19  # target, object, index, position: one of the values that an assignment unpacks
NAMED = 20  # target, object, node of the name, position: getattr with a name that is computed
HINT = 21  # position, pairs (id of a caller, id of a function that it names at the call), calls as doubted ones
MATCH = 22  # target, object, name of the attribute at a position of a class pattern
FILTER = 23  # target, source, class nodes, holds, of classes: what of the source an `isinstance` (`issubclass`) leaves
EXPECT = 24  # node, type: where the type is a callable, functions that reach the node are called with what it lists
DELATTR = 25  # object, name ("": the object's only name is deleted), position
KNOWN = 26  # object, name, position: an attribute is read whose value is known from an assignment

FUNCTION_DECORATION = 1
CLASS_DECORATION = 2

PRODUCING = frozenset({FUNC, CLASS, CONST, IMPORT, GLOBAL, ATTR, SUB, CALL, ITER, WITH, OPERATOR, SUPER, NEW, INSTANCE,
                       AWAIT, SLICE, UNPACK, NAMED, MATCH})  # fmt: skip
"""Operations whose first field is the node that receives a value."""

Constraint = tuple[Any, ...]

_PLACE = {CLASS: 5, IMPORT: 4, ATTR: 4, SETATTR: 4, SUB: 5, SETSUB: 5, CALL: 7, ITER: 3, WITH: 3, OPERATOR: 2,
          RAISE: 2, AWAIT: 3, UNPACK: 4, NAMED: 4, HINT: 1, DELATTR: 3, KNOWN: 3,
          SLICE: 6}  # fmt: skip
"""Operation -> which field of its constraints is a position."""


class Parameters(NamedTuple):
    """A function's parameters: `positional` and `keyword_only` as (name, node); `rest` and `words` are the nodes of
    `*args` and `**kwargs`, or -1. `required`: how many of `positional`, the first, have no default."""

    positional: tuple[tuple[str, int], ...]
    keyword_only: tuple[tuple[str, int], ...]
    rest: int
    words: int
    positional_only: int
    required: int


class Code(NamedTuple):
    """One code. `kind`: module, function, lambda or class. `suffix`: its symbol's, in the module. `outer`: number of
    the enclosing code. `names`: attributes of a module or class -> node. `passes`: numbers of the positional parameters
    that the function may return as they are; `passed_attributes`: likewise (parameter, attribute) of `return p.a`.
    `copies` are pairs (source, target). `cloned`: the function is analysed separately for each call site, because what
    it returns depends on its arguments. `returns`: the node of a return annotation's class, or -1. `declines`: it may
    return `NotImplemented`. `without`: (number of a positional parameter, node of what is returned where that is None).
    Of a `__new__`, `makes_own`: it may return what another `__new__` makes of the class that it is given;
    `gives_constants`: it returns constants alone.
    """

    kind: str
    suffix: str
    outer: int
    nodes: int
    parameters: Parameters
    result: int
    yields: int
    is_async: bool
    names: dict[str, int]
    copies: tuple[tuple[int, int], ...]
    constraints: tuple[Constraint, ...]
    passes: tuple[int, ...]
    passed_attributes: tuple[tuple[int, str], ...]
    cloned: bool
    returns: int
    size: int
    is_decorated: bool
    declines: bool
    without: tuple[tuple[int, int], ...]
    makes_own: bool
    gives_constants: bool


class Summary(NamedTuple):
    """What one file contributes. `stars`: modules imported with `*`; `exports`: a literal `__all__`; `fills`: FFI
    namespaces by the module that they fill; `redirects`: module names made at run time -> module."""

    module: str
    is_package: bool
    is_stub: bool
    codes: tuple[Code, ...]
    stars: tuple[str, ...]
    exports: tuple[str, ...] | None
    fills: tuple[tuple[str, str], ...]
    redirects: dict[str, str]


def at_frames(node: int, frames: tuple[int, ...], more: int = 0) -> int:
    """The graph's node of a constraint's: `frames` are the first nodes of a code's frame and of those around it."""
    return frames[(node >> LEVEL_BITS) + more] + (node & NODE_MASK)


def pack(line: int, column: int) -> int:
    """A position as one number; columns beyond 8191 share one."""
    return line << _COLUMN_BITS | min(column, (1 << _COLUMN_BITS) - 1)


def unpack(position: int) -> tuple[int, int]:
    """Line and column of a packed position."""
    return position >> _COLUMN_BITS, position & ((1 << _COLUMN_BITS) - 1)


def places_of(summary: Summary) -> tuple[Summary, list[int]]:
    """The summary with 0 for every position, and the positions in the order of the constraints."""
    places: list[int] = []
    codes = []
    for code in summary.codes:
        rows = []
        for row in code.constraints:
            at = _PLACE.get(row[0])
            if at is None:
                rows.append(row)
            else:
                places.append(row[at])
                rows.append((*row[:at], 0 if row[at] else None, *row[at + 1 :]))  # 0 is no position, and stays apart
        codes.append(code._replace(constraints=tuple(rows)))
    return summary._replace(codes=tuple(codes)), places


def dump_summary(summary: Summary) -> bytes:
    """The summary as bytes, the same for equal ones: later versions of marshal's format also tell which strings and
    tuples happened to be one object.
    """
    codes = tuple((*code[:4], tuple(code.parameters), *code[5:]) for code in summary.codes)
    plain: Any = (*summary[:3], codes, *summary[4:])
    return zlib.compress(marshal.dumps(plain, _MARSHAL_VERSION), 1)


def load_summary(data: bytes) -> Summary:
    """The summary that `dump_summary` wrote."""
    rows = marshal.loads(zlib.decompress(data))  # noqa: S302  our own bytes
    codes = tuple(Code._make((*row[:4], Parameters._make(row[4]), *row[5:])) for row in rows[3])
    return Summary._make((*rows[:3], codes, *rows[4:]))
