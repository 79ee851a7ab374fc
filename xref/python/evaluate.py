"""The value of a Python expression of literals, names of such, and operations on them: computed over the syntax tree,
never run. What is not known for certain is no value.

A value is a string, a number, a list, a dictionary, None, or a `Record`: an object of a class of the tree that only
holds what it is made with (a dataclass), whose attributes are computed when they are asked for. An entry of a list or a
dictionary that is not known is the syntax tree that computes it.
"""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Generic, TypeVar

Context = TypeVar("Context")
"""What a subclass needs to know where an expression stands."""

MAX_ROWS = 4000
"""Turns of a loop, or entries of a table."""
_MAX_STEPS = 1_000_000
"""Expressions that one file may have evaluated: nested loops over long tables would never end."""
_MAX_DEPTH = 40
_MAX_LENGTH = 4096
"""Of a string, a list or a table: the file is a stranger's, and a few doublings fill any memory."""
_PLAIN_FORMAT = re.compile(r"([^%]|%[sd])*")
_METHODS: dict[str, Callable[..., Any]] = {
    "items": lambda value: [list(pair) for pair in value.items()],
    "keys": list,
    "values": lambda value: list(value.values()),
    "lower": str.lower,
    "upper": str.upper,
    "replace": str.replace,
    "split": str.split,
    "join": str.join,
    "strip": str.strip,
    "removeprefix": str.removeprefix,
}
_RECEIVERS = (str, dict)
_BUILTINS: dict[str, Callable[..., Any]] = {
    "range": lambda *bounds: list(range(*bounds)[:MAX_ROWS]), "enumerate": lambda rows: list(enumerate(rows)),
    "zip": lambda *rows: list(zip(*rows, strict=False)), "list": list, "tuple": tuple, "sorted": sorted, "str": str,
    "len": len, "int": int,
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b, ast.Is: lambda a, b: a is b,
    ast.IsNot: lambda a, b: a is not b, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


class UnknownError(Exception):
    """The value is not known."""


class Record:
    """An object that only holds what it is made with. `line`: where it is made."""

    def __init__(self, line: int, attribute: Callable[[str], Any], origin: str = "") -> None:
        self.line = line
        self.attribute = attribute
        self.origin = origin
        """Where the record stands, when that is another file: `path:line`."""


class Evaluation(ABC, Generic[Context]):
    """Evaluates expressions; a subclass says what names and attributes stand for."""

    def __init__(self) -> None:
        self._steps = 0

    @abstractmethod
    def named(self, node: ast.Name, known: dict[str, Any], context: Context, depth: int) -> Any:
        """The value of a name that no loop or parameter binds. Raises `UnknownError`."""

    @abstractmethod
    def member(self, node: ast.Attribute, context: Context) -> Any:
        """The value of an attribute of something that has no value itself. Raises `UnknownError`."""

    @abstractmethod
    def made(self, node: ast.Call, known: dict[str, Any], context: Context, depth: int) -> Any:
        """The value of a call of something that is not known here. Raises `UnknownError`."""

    def value(self, node: ast.expr, known: dict[str, Any], context: Context, depth: int = 0) -> Any:
        """The value of `node`. `known`: the values of variables. Raises `UnknownError`."""
        self._steps += 1
        if depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
            raise UnknownError
        evaluate = self._FORMS.get(type(node))
        if evaluate is None:
            raise UnknownError
        return evaluate(self, node, known, context, depth + 1)

    def _constant(self, node: ast.Constant, _known: dict[str, Any], _context: Context, _depth: int) -> Any:
        return node.value

    def _name(self, node: ast.Name, known: dict[str, Any], context: Context, depth: int) -> Any:
        return known[node.id] if node.id in known else self.named(node, known, context, depth)

    def _attribute(self, node: ast.Attribute, known: dict[str, Any], context: Context, depth: int) -> Any:
        if isinstance(node.value, (ast.Name, ast.Subscript)):
            try:
                owner = self.value(node.value, known, context, depth)
            except UnknownError:
                owner = None
            if isinstance(owner, Record):
                return owner.attribute(node.attr)
        return self.member(node, context)

    def _list(
        self, node: ast.List | ast.Tuple | ast.Set, known: dict[str, Any], context: Context, depth: int
    ) -> list[Any]:
        result: list[Any] = []
        for part in node.elts:
            if isinstance(part, ast.Starred):
                rows = self.value(part.value, known, context, depth)
                result += applied(lambda rows=rows: list(rows))  # type: ignore[misc]
            else:
                result.append(self._entry(part, known, context, depth))
        if len(result) > _MAX_LENGTH:
            raise UnknownError
        return result

    def _entry(self, node: ast.expr, known: dict[str, Any], context: Context, depth: int) -> Any:
        try:
            return self.value(node, known, context, depth)
        except UnknownError:
            return node

    def _dictionary(self, node: ast.Dict, known: dict[str, Any], context: Context, depth: int) -> dict[Any, Any]:
        """Keys must be known."""
        result: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                raise UnknownError
            result[_key(self.value(key, known, context, depth))] = self._entry(value, known, context, depth)
        return result

    def _text(self, node: ast.JoinedStr, known: dict[str, Any], context: Context, depth: int) -> str:
        parts = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.value(part.value, known, context, depth)
                if part.format_spec is not None or not isinstance(value, (str, int)):
                    raise UnknownError
                parts.append(str(value))
            else:
                parts.append(str(self.value(part, known, context, depth)))
        return "".join(parts)

    def _operation(self, node: ast.BinOp, known: dict[str, Any], context: Context, depth: int) -> Any:
        if not isinstance(node.op, (ast.Add, ast.Mod)):
            raise UnknownError
        left, right = (self.value(part, known, context, depth) for part in (node.left, node.right))
        if isinstance(node.op, ast.Add):
            return applied(lambda: left + right)
        if not isinstance(left, str) or not _PLAIN_FORMAT.fullmatch(left):
            raise UnknownError
        return applied(lambda: left % (tuple(right) if isinstance(right, list) else right))

    def _subscript(self, node: ast.Subscript, known: dict[str, Any], context: Context, depth: int) -> Any:
        value, at = (self.value(part, known, context, depth) for part in (node.value, node.slice))
        return applied(lambda: value[at])

    def _conditional(self, node: ast.IfExp, known: dict[str, Any], context: Context, depth: int) -> Any:
        chosen = node.body if self._truth(node.test, known, context, depth) else node.orelse
        return self.value(chosen, known, context, depth)

    def _either(self, node: ast.BoolOp, known: dict[str, Any], context: Context, depth: int) -> Any:
        for part in node.values[:-1]:
            value = self.value(part, known, context, depth)
            if not _certain(value):
                raise UnknownError
            if bool(value) != isinstance(node.op, ast.And):
                return value
        return self.value(node.values[-1], known, context, depth)

    def _not(self, node: ast.UnaryOp, known: dict[str, Any], context: Context, depth: int) -> Any:
        if not isinstance(node.op, ast.Not):
            raise UnknownError
        return not self._truth(node.operand, known, context, depth)

    def _compared(self, node: ast.Compare, known: dict[str, Any], context: Context, depth: int) -> bool:
        compare = _COMPARISONS.get(type(node.ops[0]))
        if compare is None or len(node.ops) != 1:
            raise UnknownError
        left, right = (self.value(part, known, context, depth) for part in (node.left, node.comparators[0]))
        if not _certain(left) or not _certain(right):
            raise UnknownError
        return bool(applied(lambda: compare(left, right)))

    def _truth(self, node: ast.expr, known: dict[str, Any], context: Context, depth: int) -> bool:
        value = self.value(node, known, context, depth)
        if not _certain(value):
            raise UnknownError
        return bool(value)

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp, known: dict[str, Any], context: Context, depth: int
    ) -> list[Any]:
        turns = self._turns(node.generators, known, context, depth)
        return [self.value(node.elt, bound, context, depth) for bound in turns]

    def _table(self, node: ast.DictComp, known: dict[str, Any], context: Context, depth: int) -> dict[Any, Any]:
        return {
            _key(self.value(node.key, bound, context, depth)): self.value(node.value, bound, context, depth)
            for bound in self._turns(node.generators, known, context, depth)
        }

    def _turns(
        self, loops: list[ast.comprehension], known: dict[str, Any], context: Context, depth: int
    ) -> Iterator[dict[str, Any]]:
        if not loops:
            yield known
            return
        loop, *rest = loops
        rows = self.value(loop.iter, known, context, depth)
        for row in applied(lambda: list(rows)):
            bound = dict(known)
            bind(loop.target, row, bound)
            if all(self._truth(test, bound, context, depth) for test in loop.ifs):
                yield from self._turns(rest, bound, context, depth)

    def _call(self, node: ast.Call, known: dict[str, Any], context: Context, depth: int) -> Any:
        callee = node.func
        known_here = isinstance(callee, ast.Name) and callee.id in _BUILTINS and callee.id not in known
        method = isinstance(callee, ast.Attribute) and callee.attr in _METHODS
        if node.keywords or not (known_here or method):
            return self.made(node, known, context, depth)
        given = [self.value(part, known, context, depth) for part in node.args]
        if isinstance(callee, ast.Name):
            return applied(lambda: _BUILTINS[callee.id](*given))
        assert isinstance(callee, ast.Attribute)
        owner = self.value(callee.value, known, context, depth)
        if not isinstance(owner, _RECEIVERS):
            raise UnknownError
        return applied(lambda: _METHODS[callee.attr](owner, *given))

    _FORMS: ClassVar[dict[type[ast.expr], Callable[..., Any]]] = {
        ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.List: _list, ast.Tuple: _list,
        ast.Set: _list, ast.Dict: _dictionary, ast.JoinedStr: _text, ast.BinOp: _operation, ast.Subscript: _subscript,
        ast.IfExp: _conditional, ast.BoolOp: _either, ast.UnaryOp: _not, ast.Compare: _compared,
        ast.ListComp: _comprehension, ast.GeneratorExp: _comprehension, ast.DictComp: _table, ast.Call: _call,
    }  # fmt: skip


def applied(operation: Callable[[], Any]) -> Any:
    """What the operation gives. Raises `UnknownError` when it fails, or gives more than anybody writes."""
    try:
        result = operation()
        if isinstance(result, (str, list, dict, tuple)) and len(result) > _MAX_LENGTH:
            raise UnknownError
        return result
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise UnknownError from error


def bind(target: ast.expr, value: Any, bound: dict[str, Any]) -> None:
    """Assign `value` to the names of `target` in `bound`."""
    if isinstance(target, ast.Name):
        bound[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (list, tuple)):
        for part, item in zip(target.elts, value, strict=False):
            bind(part, item, bound)


def _certain(value: Any) -> bool:
    """Whether all of the value is known, down to the last entry: only then can it be compared."""
    if isinstance(value, (list, tuple)):
        return all(map(_certain, value))
    if isinstance(value, dict):
        return all(map(_certain, value.values()))
    return not isinstance(value, (Record, ast.AST))


def _key(value: Any) -> str | int:
    if not isinstance(value, (str, int)):
        raise UnknownError
    return value
