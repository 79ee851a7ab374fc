"""What a string in one Python file can be when a loop over a table, or a helper's callers, complete it. Evaluated over
the syntax tree, never run; what is not known for certain is no value.

TVM's Python registers in loops (`for ver, info in VERSIONS.items(): register_tag("qcom/hexagon-" + ver, ..)`) and
through small helpers (`def _register_cuda_tag(name, arch): .. register_tag(name, config)`): each turn of the loop, and
each call of the helper in its file, is one environment in which the string is evaluated.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from xref.python.declarations import FUNCTION_NODES
from xref.python.names import Target, Tree
from xref.python.resolve import Resolver
from xref.python.walk import Scope, Walk
from xref.registry.python_site import Text

_MAX_ENVIRONMENTS = 4000
_MAX_HELPERS = 3
"""Helpers that call helpers."""
_MAX_DEPTH = 40
_MAX_LENGTH = 4096
"""Of a string, a list or a table: the file is a stranger's, and a few doublings fill any memory."""
_PLAIN_FORMAT = re.compile(r"([^%]|%[sd])*")
_METHODS: dict[str, Callable[..., Any]] = {
    "items": lambda value: list(value.items()),
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
    "range": lambda *bounds: list(range(*bounds)[:_MAX_ENVIRONMENTS]), "enumerate": lambda rows: list(enumerate(rows)),
    "zip": lambda *rows: list(zip(*rows, strict=False)), "list": list, "tuple": tuple, "sorted": sorted, "str": str,
    "len": len, "int": int,
}  # fmt: skip


class _UnknownError(Exception):
    pass


class Environment(NamedTuple):
    values: dict[str, Any]
    line: int
    """Of the innermost thing that the environment was made from; 0 for none."""


class Constants:
    """Evaluates strings of one walked file."""

    def __init__(self, tree: Tree, walk: Walk, resolver: Resolver, root: ast.Module) -> None:
        self._tree, self._walk, self._resolver, self._root = tree, walk, resolver, root
        self._parents: dict[int, ast.AST] = {}
        self._scopes: dict[int, Scope] = {}

    def texts(self, node: ast.expr, scope: Scope) -> list[Text]:
        """All strings that `node`, which stands in `scope`, can be; none when one of them is not known."""
        if isinstance(node, ast.Constant):
            return [Text(node.value, node.lineno)] if isinstance(node.value, str) else []
        scope = self._scope_of(node)
        found: dict[str, Text] = {}
        try:
            for environment in self._environments(node, 0):
                value = self._value(node, environment.values, scope, 0)
                if not isinstance(value, str):
                    return []
                line = environment.line or node.lineno
                found.setdefault(value, Text(value, line))
        except _UnknownError:
            return []
        return list(found.values())

    # environments

    def _environments(self, node: ast.AST, helpers: int) -> Iterator[Environment]:
        """The variables that loops around `node`, and the callers of its function, give values to."""
        loops: list[tuple[ast.expr, ast.expr]] = []
        at: ast.AST | None = self._parent(node)
        while at is not None and not isinstance(at, (*FUNCTION_NODES, ast.Lambda)):
            if isinstance(at, (ast.For, ast.AsyncFor)):
                loops.append((at.target, at.iter))
            elif isinstance(at, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
                loops += [(g.target, g.iter) for g in reversed(at.generators)]
            at = self._parent(at)
        outer: Iterator[Environment] = iter((Environment({}, 0),))
        if isinstance(at, FUNCTION_NODES) and helpers < _MAX_HELPERS:
            outer = self._calls_of(at, helpers)
        count = 0
        for environment in outer:
            for inner in self._looped(environment, loops[::-1], self._scope_of(node)):
                count += 1
                if count > _MAX_ENVIRONMENTS:
                    raise _UnknownError
                yield inner

    def _looped(
        self, environment: Environment, loops: list[tuple[ast.expr, ast.expr]], scope: Scope
    ) -> Iterator[Environment]:
        if not loops:
            yield environment
            return
        (target, table), *rest = loops
        try:
            values = list(self._value(table, environment.values, scope, 0))
        except (_UnknownError, TypeError):
            yield from self._looped(environment, rest, scope)  # its variables stay unknown
            return
        rows = self._rows(table, scope)
        for position, value in enumerate(values):
            bound = dict(environment.values)
            _bind(target, value, bound)
            line = rows[position].lineno if len(rows) == len(values) else environment.line
            yield from self._looped(Environment(bound, line), rest, scope)

    def _rows(self, table: ast.expr, scope: Scope) -> list[ast.expr]:
        """The written rows of a table, where it is one."""
        if isinstance(table, ast.Call) and isinstance(table.func, ast.Attribute) and table.func.attr == "items":
            table = table.func.value
        if isinstance(table, ast.Name):
            _, owner = self._resolver.binding(table.id, scope)
            values = owner.stores.get(table.id, []) if owner is not None else []
            if len(values) == 1 and values[0] is not None:
                table = values[0]
        if isinstance(table, (ast.List, ast.Tuple, ast.Set)):
            return table.elts
        return [key for key in table.keys if key is not None] if isinstance(table, ast.Dict) else []

    def _calls_of(self, function: ast.FunctionDef | ast.AsyncFunctionDef, helpers: int) -> Iterator[Environment]:
        """An environment for each call of the function in its file; none known: one without the parameters."""
        declared = self._walk.declarations.by_node.get(id(function))
        own = Target("member", self._walk.module, declared.suffix) if declared is not None else None
        found = False
        for call, scope in self._walk.calls:
            name = call.func.id if isinstance(call.func, ast.Name) else ""
            if name != function.name or self._resolver.resolve(call.func, scope) != own:
                continue
            found = True
            for outer in self._environments(call, helpers + 1):
                values = self._arguments(function, call, outer.values, scope)
                yield Environment(values, outer.line or call.lineno)
        if not found:
            yield Environment({}, 0)

    def _arguments(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, outer: dict[str, Any], scope: Scope
    ) -> dict[str, Any]:
        parameters = [*function.args.posonlyargs, *function.args.args]
        given = dict(zip((p.arg for p in parameters), call.args, strict=False))
        defaults = function.args.defaults
        given = dict(zip((p.arg for p in parameters[len(parameters) - len(defaults) :]), defaults, strict=True)) | given
        given |= {word.arg: word.value for word in call.keywords if word.arg}
        values: dict[str, Any] = {}
        for name, node in given.items():
            try:
                values[name] = self._value(node, outer, scope, 0)
            except _UnknownError:
                continue
        return values

    def _parent(self, node: ast.AST) -> ast.AST | None:
        if not self._parents:
            for outer in ast.walk(self._root):
                for inner in ast.iter_child_nodes(outer):
                    self._parents[id(inner)] = outer
        return self._parents.get(id(node))

    def _scope_of(self, node: ast.AST) -> Scope:
        if not self._scopes:
            self._scopes = {id(scope.node): scope for scope in self._walk.scopes if scope.node is not None}
        at: ast.AST | None = node
        while at is not None:
            if id(at) in self._scopes and at is not node:
                return self._scopes[id(at)]
            at = self._parent(at)
        return self._walk.root

    # expressions

    def _value(self, node: ast.expr, known: dict[str, Any], scope: Scope, depth: int) -> Any:
        """The value of an expression of literals, names of such, and operations on them. Raises `_UnknownError`."""
        if depth > _MAX_DEPTH:
            raise _UnknownError
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return known[node.id] if node.id in known else self._named(node, known, scope, depth)
        if isinstance(node, ast.Attribute):
            return self._member(self._resolver.resolve(node, scope))
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self._value(part, known, scope, depth + 1) for part in node.elts]
        if isinstance(node, ast.Dict):
            return self._dictionary(node, known, scope, depth)
        if isinstance(node, ast.JoinedStr):
            return "".join(self._part(part, known, scope, depth) for part in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
            left, right = (self._value(part, known, scope, depth + 1) for part in (node.left, node.right))
            if isinstance(node.op, ast.Add):
                return _applied(lambda: left + right)
            if not isinstance(left, str) or not _PLAIN_FORMAT.fullmatch(left):
                raise _UnknownError
            return _applied(lambda: left % _tuple(right))
        if isinstance(node, ast.Subscript):
            value, at = (self._value(part, known, scope, depth + 1) for part in (node.value, node.slice))
            return _applied(lambda: value[at])
        if isinstance(node, ast.Call) and not node.keywords:
            return self._called(node, known, scope, depth)
        raise _UnknownError

    def _part(self, part: ast.expr, known: dict[str, Any], scope: Scope, depth: int) -> str:
        if isinstance(part, ast.FormattedValue):
            if part.format_spec is not None:
                raise _UnknownError
            value = self._value(part.value, known, scope, depth + 1)
            if not isinstance(value, (str, int)):
                raise _UnknownError
            return str(value)
        return str(self._value(part, known, scope, depth + 1))

    def _dictionary(self, node: ast.Dict, known: dict[str, Any], scope: Scope, depth: int) -> dict[Any, Any]:
        """Keys must be known; a value that is not is the tree that computes it."""
        result: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                raise _UnknownError
            try:
                row = self._value(value, known, scope, depth + 1)
            except _UnknownError:
                row = value
            name = self._value(key, known, scope, depth + 1)
            if not isinstance(name, (str, int)):
                raise _UnknownError
            result[name] = row
        return result

    def _called(self, node: ast.Call, known: dict[str, Any], scope: Scope, depth: int) -> Any:
        given = [self._value(part, known, scope, depth + 1) for part in node.args]
        if isinstance(node.func, ast.Name) and node.func.id in _BUILTINS:
            return _applied(lambda: _BUILTINS[node.func.id](*given))  # type: ignore[attr-defined]
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            owner = self._value(node.func.value, known, scope, depth + 1)
            if isinstance(owner, _RECEIVERS):
                return _applied(lambda: _METHODS[node.func.attr](owner, *given))  # type: ignore[attr-defined]
        raise _UnknownError

    def _named(self, node: ast.Name, known: dict[str, Any], scope: Scope, depth: int) -> Any:
        """A variable of the file that is assigned once, or a constant that another module defines."""
        _, owner = self._resolver.binding(node.id, scope)
        values = owner.stores.get(node.id, []) if owner is not None else []
        if len(values) == 1 and values[0] is not None and owner is not None:
            return self._value(values[0], known, owner, depth + 1)
        return self._member(self._resolver.resolve(node, scope))

    def _member(self, target: Target | None) -> str:
        if target is None or target.kind != "member":
            raise _UnknownError
        text = self._tree.modules[target.module]["strings"].get(target.name)
        if text is None:
            raise _UnknownError
        return text


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _applied(operation: Callable[[], Any]) -> Any:
    try:
        result = operation()
        if isinstance(result, (str, list, dict, tuple)) and len(result) > _MAX_LENGTH:
            raise _UnknownError
        return result
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise _UnknownError from error


def _bind(target: ast.expr, value: Any, bound: dict[str, Any]) -> None:
    if isinstance(target, ast.Name):
        bound[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (list, tuple)):
        for part, item in zip(target.elts, value, strict=False):
            _bind(part, item, bound)
