"""Walks one syntax tree once and lists its uses of names, calls, imports, decorators and lambdas, each in its scope.

The walk keeps its own stack: depth of nesting is the input's business, not the interpreter's. A name's bindings are
complete only after the walk, so that looking names up is a second step (xref.python.resolve).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xref.model import Id, Role, symbol_id
from xref.python.declarations import FUNCTION_NODES, Declarations, Declared, member_key
from xref.python.survey import bound_import, import_base

Binding = tuple[str, str, str]
"""("import", module, attribute) | ("def", suffix, "") | ("self", class suffix, "") | ("local", "", "")."""

LOCAL: Binding = ("local", "", "")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MOST_VALUES = 8
"""Of a string that `+=` makes longer, in branches."""
_LEAVES = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop, ast.Constant, ast.Pass)


@dataclass(slots=True)
class Scope:
    """A namespace: "module", "class", "function", "lambda" or "comprehension". `symbol` is what its code is charged to
    (a comprehension's is that of the scope around it), `suffix` and `qual` that symbol's key suffix and qualname.
    """

    kind: str
    suffix: str
    qual: str
    parent: Scope | None
    symbol: Id = 0
    node: ast.AST | None = None
    bindings: dict[str, Binding] = field(default_factory=dict)
    outer_names: set[str] = field(default_factory=set)
    stores: dict[str, list[ast.expr | None]] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)
    """How far the outermost assignment to a name is indented."""

    def bind(self, name: str, binding: Binding) -> None:
        """Note that the scope binds `name`; a definition or an import counts for more than an assignment."""
        if self.bindings.get(name, LOCAL) == LOCAL:
            self.bindings[name] = binding

    def function(self) -> Scope:
        """The innermost scope that is not a comprehension."""
        scope = self
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        return scope


class NameUse(NamedTuple):
    """A Name or an Attribute in a scope, and what is done with it."""

    node: ast.Name | ast.Attribute
    scope: Scope
    role: Role


class Import(NamedTuple):
    """One imported name: `base` is the absolute module; `name` what is taken from it ("" for `import base`)."""

    base: str
    name: str
    bound: str
    node: ast.alias
    statement: ast.stmt
    scope: Scope


class Decoration(NamedTuple):
    """A decorator expression on a function or class, in the scope around it."""

    node: ast.expr
    scope: Scope
    declared: Declared


@dataclass(slots=True)
class Walk:
    """All that one walk collects."""

    module: str
    is_package: bool
    declarations: Declarations
    root: Scope
    names: list[NameUse] = field(default_factory=list)
    calls: list[tuple[ast.Call, Scope]] = field(default_factory=list)
    tables: list[tuple[ast.Dict, Scope]] = field(default_factory=list)
    """Dictionaries as written."""
    subscripts: list[tuple[ast.Subscript, Scope]] = field(default_factory=list)
    """`x["literal"]`."""
    imports: list[Import] = field(default_factory=list)
    decorations: list[Decoration] = field(default_factory=list)
    classes: list[Declared] = field(default_factory=list)
    lambdas: list[Scope] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    _stack: list[tuple[ast.AST, Scope, Role]] = field(default_factory=list)

    def run(self, tree: ast.Module) -> None:
        """Walk `tree`."""
        self.scopes.append(self.root)
        self._push(tree.body, self.root, Role.READ)
        stack = self._stack
        handlers = self._handlers()
        while stack:
            node, scope, role = stack.pop()
            handler = handlers.get(type(node))
            if handler is not None:
                handler(node, scope, role)
            elif not isinstance(node, _LEAVES):
                self._children(node, scope, role if role is Role.ANNOTATION else Role.READ)
        self._number_lambdas()

    def _handlers(self) -> dict[type, Any]:
        return {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Dict: self._dictionary,
            ast.Subscript: self._subscript,
            ast.Assign: self._assign,
            ast.AnnAssign: self._ann_assign,
            ast.AugAssign: self._aug_assign,
            ast.NamedExpr: self._named,
            **dict.fromkeys(FUNCTION_NODES, self._function),
            ast.Lambda: self._lambda,
            ast.ClassDef: self._class,
            **dict.fromkeys(_COMPREHENSIONS, self._comprehension),
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            **dict.fromkeys((ast.Global, ast.Nonlocal), self._global),
            ast.ExceptHandler: self._handler,
            **dict.fromkeys((ast.MatchAs, ast.MatchStar, ast.MatchMapping), self._pattern),
        }

    def lambda_of(self, node: ast.Lambda) -> Scope:
        """The scope of a lambda of the walked tree."""
        return next(scope for scope in self.lambdas if scope.node is node)

    def _push(self, nodes: object, scope: Scope, role: Role) -> None:
        if isinstance(nodes, list):
            self._stack += [(node, scope, role) for node in reversed(nodes) if node is not None]
        elif isinstance(nodes, ast.AST):
            self._stack.append((nodes, scope, role))

    def _children(self, node: ast.AST, scope: Scope, role: Role) -> None:
        for name in reversed(node._fields):
            child = getattr(node, name, None)
            if isinstance(child, list):
                self._stack += [(c, scope, role) for c in reversed(child) if isinstance(c, ast.AST)]
            elif isinstance(child, ast.AST) and not isinstance(child, _LEAVES):
                self._stack.append((child, scope, role))

    def _name(self, node: ast.Name, scope: Scope, role: Role) -> None:
        if not isinstance(node.ctx, ast.Load):
            role = Role.WRITE
            owner = scope
            if isinstance(node.ctx, ast.Store) and node.id not in owner.outer_names:
                owner.bind(node.id, LOCAL)
        self.names.append(NameUse(node, scope, role))

    def _attribute(self, node: ast.Attribute, scope: Scope, role: Role) -> None:
        self.names.append(NameUse(node, scope, role if isinstance(node.ctx, ast.Load) else Role.WRITE))
        self._stack.append((node.value, scope, Role.ANNOTATION if role is Role.ANNOTATION else Role.READ))

    def _call(self, node: ast.Call, scope: Scope, role: Role) -> None:
        self.calls.append((node, scope))
        self._push(node.keywords, scope, Role.READ)
        self._push(node.args, scope, Role.READ)
        self._stack.append((node.func, scope, Role.DECORATOR if role is Role.DECORATOR else Role.CALL))

    def _subscript(self, node: ast.Subscript, scope: Scope, role: Role) -> None:
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str) and role is not Role.ANNOTATION:
            self.subscripts.append((node, scope))
        self._children(node, scope, role if role is Role.ANNOTATION else Role.READ)

    def _dictionary(self, node: ast.Dict, scope: Scope, role: Role) -> None:
        self.tables.append((node, scope))
        self._children(node, scope, role if role is Role.ANNOTATION else Role.READ)

    def _assign(self, node: ast.Assign, scope: Scope, _role: Role) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                scope.stores.setdefault(target.id, []).append(node.value)
                scope.depths[target.id] = min(node.col_offset, scope.depths.get(target.id, node.col_offset))
        self._children(node, scope, Role.READ)

    def _ann_assign(self, node: ast.AnnAssign, scope: Scope, _role: Role) -> None:
        if isinstance(node.target, ast.Name):
            scope.stores.setdefault(node.target.id, []).append(node.value)
        self._push(node.value, scope, Role.READ)
        self._push(node.annotation, scope, Role.ANNOTATION)
        self._push(node.target, scope, Role.READ)

    def _aug_assign(self, node: ast.AugAssign, scope: Scope, _role: Role) -> None:
        """`name += x` in the block of `name = y`, or around it, leaves `y + x`; deeper in, `y` may remain."""
        if isinstance(node.target, ast.Name) and (known := scope.stores.get(node.target.id)):
            sums: list[ast.expr | None] = [
                ast.copy_location(ast.BinOp(value, node.op, node.value), value) if value is not None else None
                for value in known
            ]
            deeper = node.col_offset > scope.depths.get(node.target.id, 0)
            scope.stores[node.target.id] = [*known, *sums][:_MOST_VALUES] if deeper else sums
        self._children(node, scope, Role.READ)

    def _named(self, node: ast.NamedExpr, scope: Scope, _role: Role) -> None:
        scope.function().stores.setdefault(node.target.id, []).append(node.value)
        self._push(node.value, scope, Role.READ)
        self._push(node.target, scope.function(), Role.READ)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, _role: Role) -> None:
        declared = self._declared(node)
        scope.bind(node.name, ("def", declared.suffix, ""))
        self._decorators(node, scope, declared)
        inner = self._enter("function", declared.suffix, declared.qual, scope, node)
        first = self._arguments(node.args, scope, inner)
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
        if first and scope.kind == "class" and not static:
            inner.bindings[first] = ("self", scope.suffix, "")
        self._push(node.returns, scope, Role.ANNOTATION)
        self._push(getattr(node, "type_params", None), inner, Role.ANNOTATION)
        self._push(node.body, inner, Role.READ)

    def _lambda(self, node: ast.Lambda, scope: Scope, _role: Role) -> None:
        inner = self._enter("lambda", "", "", scope, node)
        self.lambdas.append(inner)
        self._arguments(node.args, scope, inner)
        self._push(node.body, inner, Role.READ)

    def _class(self, node: ast.ClassDef, scope: Scope, _role: Role) -> None:
        declared = self._declared(node)
        scope.bind(node.name, ("def", declared.suffix, ""))
        self._decorators(node, scope, declared)
        self.classes.append(declared)
        inner = self._enter("class", declared.suffix, declared.qual, scope, node)
        self._push(node.bases, scope, Role.TYPE)
        self._push(node.keywords, scope, Role.READ)
        self._push(getattr(node, "type_params", None), inner, Role.ANNOTATION)
        self._push(node.body, inner, Role.READ)

    def _declared(self, node: ast.AST) -> Declared:
        return self.declarations.by_node[id(node)]

    def _decorators(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, scope: Scope, declared: Declared
    ) -> None:
        self.decorations += [Decoration(decorator, scope, declared) for decorator in node.decorator_list]
        self._push(node.decorator_list, scope, Role.DECORATOR)

    def _arguments(self, args: ast.arguments, outer: Scope, inner: Scope) -> str:
        """Bind the parameters in `inner`; their defaults and annotations belong to `outer`. The first one's name."""
        positional = [*args.posonlyargs, *args.args]
        everything = [*positional, *args.kwonlyargs, *(a for a in (args.vararg, args.kwarg) if a)]
        for arg in everything:
            inner.bind(arg.arg, LOCAL)
            self._push(arg.annotation, outer, Role.ANNOTATION)
        self._push(args.defaults, outer, Role.READ)
        self._push(args.kw_defaults, outer, Role.READ)
        return positional[0].arg if positional else ""

    def _comprehension(self, node: ast.AST, scope: Scope, _role: Role) -> None:
        inner = self._enter("comprehension", scope.suffix, scope.qual, scope, node)
        for name in ("value", "key", "elt"):
            self._push(getattr(node, name, None), inner, Role.READ)
        generators: list[ast.comprehension] = getattr(node, "generators", [])
        for position, generator in enumerate(generators):
            self._push(generator.ifs, inner, Role.READ)
            self._push(generator.iter, inner if position else scope, Role.READ)
            self._push(generator.target, inner, Role.READ)

    def _enter(self, kind: str, suffix: str, qual: str, parent: Scope, node: ast.AST) -> Scope:
        scope = Scope(kind, suffix, qual, parent, node=node)
        if kind != "lambda":
            scope.symbol = parent.symbol if kind == "comprehension" else symbol_id(member_key(self.module, suffix))
        self.scopes.append(scope)
        return scope

    def _import(self, node: ast.Import, scope: Scope, _role: Role) -> None:
        for alias in node.names:
            name, target = bound_import(alias)
            scope.bind(name, ("import", target, ""))
            self.imports.append(Import(alias.name, "", name, alias, node, scope))

    def _import_from(self, node: ast.ImportFrom, scope: Scope, _role: Role) -> None:
        base = import_base(node, self.module, self.is_package)
        for alias in node.names:
            if alias.name != "*":
                scope.bind(alias.asname or alias.name, ("import", base, alias.name))
            self.imports.append(Import(base, alias.name, alias.asname or alias.name, alias, node, scope))

    def _global(self, node: ast.Global | ast.Nonlocal, scope: Scope, _role: Role) -> None:
        scope.outer_names.update(node.names)
        for name in node.names:
            scope.bindings.pop(name, None)

    def _handler(self, node: ast.ExceptHandler, scope: Scope, _role: Role) -> None:
        if node.name:
            scope.bind(node.name, LOCAL)
            scope.stores.setdefault(node.name, []).append(None)
        self._children(node, scope, Role.READ)

    def _pattern(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping, scope: Scope, _role: Role) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        if name:
            scope.bind(name, LOCAL)
            scope.stores.setdefault(name, []).append(None)
        self._children(node, scope, Role.READ)

    def _number_lambdas(self) -> None:
        """Name lambdas `<lambda>`, `<lambda>#2`, ... within the scope that holds them, in the order of their text."""
        counts: dict[str, int] = {}

        def position(scope: Scope) -> tuple[int, int]:
            node = scope.node
            assert isinstance(node, ast.Lambda)
            return node.lineno, node.col_offset

        for scope in sorted(self.lambdas, key=position):
            outer = scope.parent.function() if scope.parent else self.root
            scope.qual = f"{outer.qual}.<lambda>" if outer.qual else "<lambda>"
            base = f"{outer.suffix}.<lambda>" if outer.suffix else "<lambda>"
            counts[base] = number = counts.get(base, 0) + 1
            scope.suffix = base if number == 1 else f"{base}#{number}"
            scope.symbol = symbol_id(member_key(self.module, scope.suffix))
        for scope in self.scopes:
            if scope.kind == "comprehension" and scope.parent is not None:
                scope.symbol = scope.parent.function().symbol


def walk(module: str, is_package: bool, tree: ast.Module, declarations: Declarations) -> Walk:
    """Walk the tree of `module`; see `Walk`."""
    root = Scope("module", "", "", None, symbol_id(member_key(module, "")), tree)
    result = Walk(module, is_package, declarations, root)
    result.run(tree)
    return result
