"""What a string in one Python file can be when a loop over a table, or a helper's callers, complete it. Evaluated over
the syntax tree, never run; what is not known for certain is no value.

TVM's Python registers in loops (`for ver, info in VERSIONS.items(): register_tag("qcom/hexagon-" + ver, ..)`) and
through small helpers (`def _register_cuda_tag(name, arch): .. register_tag(name, config)`): each turn of the loop, and
each call of the helper in its file, is one environment in which the string is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from xref.python.declarations import FUNCTION_NODES
from xref.python.evaluate import MAX_ROWS, Evaluation, Record, UnknownError, bind
from xref.python.names import Target, Tree
from xref.python.resolve import Resolver
from xref.python.tables import read_table
from xref.python.walk import Scope, Walk
from xref.registry.python_site import Text

_MAX_HELPERS = 3
"""Helpers that call helpers."""


class Environment(NamedTuple):
    values: dict[str, Any]
    line: int
    """Of the innermost thing that the environment was made from; 0 for none."""
    origin: str = ""
    """The row of another file's table that the environment was made from."""


class Constants(Evaluation[Scope]):
    """Evaluates strings of one walked file."""

    def __init__(self, tree: Tree, walk: Walk, resolver: Resolver, root: ast.Module) -> None:
        super().__init__()
        self._tree, self._walk, self._resolver, self._root = tree, walk, resolver, root
        self._parents: dict[int, ast.AST] = {}
        self._scopes: dict[int, Scope] = {}

    def texts(self, node: ast.expr, scope: Scope, *, callers: bool = True) -> list[Text]:
        """All strings that `node`, which stands in `scope`, can be; none when one of them is not known. `callers`:
        whether a parameter stands for what the calls in the file give."""
        if isinstance(node, ast.Constant):
            return [Text(node.value, node.lineno)] if isinstance(node.value, str) else []
        scope = self._scope_of(node)
        found: dict[str, Text] = {}
        try:
            for environment in self._environments(node, 0 if callers else _MAX_HELPERS):
                value = self.value(node, environment.values, scope)
                if not isinstance(value, str):
                    return []
                line = environment.line or node.lineno
                found.setdefault(value, Text(value, line, environment.origin))
        except UnknownError:
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
                if count > MAX_ROWS:
                    raise UnknownError
                yield inner

    def _looped(
        self, environment: Environment, loops: list[tuple[ast.expr, ast.expr]], scope: Scope
    ) -> Iterator[Environment]:
        if not loops:
            yield environment
            return
        (target, table), *rest = loops
        try:
            values = list(self.value(table, environment.values, scope))
        except (UnknownError, TypeError):
            yield from self._looped(environment, rest, scope)  # its variables stay unknown
            return
        rows = self._rows(table, scope)
        for position, value in enumerate(values):
            bound = dict(environment.values)
            bind(target, value, bound)
            line = rows[position].lineno if len(rows) == len(values) else environment.line
            origin = _origin(value) or environment.origin
            yield from self._looped(Environment(bound, line, origin), rest, scope)

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
                yield Environment(values, outer.line or call.lineno, outer.origin)
        if own is not None:
            for module, names in self._tree.given.get(own, ()):
                yield Environment(self._handed(function, module, names), 0)
                found = True
        if not found:
            yield Environment({}, 0)

    def _handed(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, module: str, names: list[str]
    ) -> dict[str, Any]:
        """The parameters that a statement of another module gives constants or tables of the tree to."""
        values: dict[str, Any] = {}
        for parameter, name in zip([*function.args.posonlyargs, *function.args.args], names, strict=False):
            try:
                values[parameter.arg] = self._of_module(self._tree.dotted(module, name) if name else None)
            except UnknownError:
                continue
        return values

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
                values[name] = self.value(node, outer, scope)
            except UnknownError:
                continue
        return values

    def _parent(self, node: ast.AST) -> ast.AST | None:
        if not self._parents:
            for outer in ast.walk(self._root):
                for inner in ast.iter_child_nodes(outer):
                    self._parents[id(inner)] = outer
                if isinstance(outer, (*FUNCTION_NODES, ast.ClassDef)):
                    around = self._parents[id(outer)]
                    for decorator in outer.decorator_list:  # evaluated where the function is defined, not in it
                        self._parents[id(decorator)] = around
        known = self._parents.get(id(node))
        return self._parent(node.left) if known is None and isinstance(node, ast.BinOp) else known  # made of `x += y`

    def _scope_of(self, node: ast.AST) -> Scope:
        if not self._scopes:
            self._scopes = {id(scope.node): scope for scope in self._walk.scopes if scope.node is not None}
        at: ast.AST | None = node
        while at is not None:
            if id(at) in self._scopes and at is not node:
                return self._scopes[id(at)]
            at = self._parent(at)
        return self._walk.root

    # expressions: what names stand for

    def named(self, node: ast.Name, known: dict[str, Any], context: Scope, depth: int) -> Any:
        """A variable of the file that is assigned once, or a constant that another module defines."""
        _, owner = self._resolver.binding(node.id, context)
        values = owner.stores.get(node.id, []) if owner is not None else []
        if len(values) == 1 and values[0] is not None and owner is not None:
            return self.value(values[0], known, owner, depth)
        return self.member(node, context)

    def member(self, node: ast.Name | ast.Attribute, context: Scope) -> Any:
        """A constant or a table of the tree, by its name."""
        return self._of_module(self._resolver.resolve(node, context))

    def made(self, _node: ast.Call, _known: dict[str, Any], _context: Scope, _depth: int) -> Any:
        """What other calls give is not known."""
        raise UnknownError

    def _of_module(self, target: Target | None) -> Any:
        if target is None or target.kind != "member":
            raise UnknownError
        table = self._tree.modules[target.module]
        if target.name in table["strings"]:
            return table["strings"][target.name]
        if target.name in table["tables"]:
            return read_table(table["tables"][target.name], table["path"])
        raise UnknownError


def _origin(value: Any) -> str:
    """Where the row that a loop's turn is about stands, when that is another file."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    return next((part.origin for part in parts if isinstance(part, Record)), "")
