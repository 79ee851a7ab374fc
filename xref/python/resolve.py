"""Says what an expression of one file stands for, by Python's scoping rules and the survey: no types, no guesses."""

from __future__ import annotations

import ast

from xref.python.declarations import FUNCTION_NODES
from xref.python.names import BUILTINS, Target, Tree
from xref.python.walk import LOCAL, Binding, Scope, Walk


class Resolver:
    """Look-ups inside one walked file."""

    def __init__(self, tree: Tree, walk: Walk) -> None:
        self.tree = tree
        self.walk = walk
        self.module = walk.module
        self._globals: dict[str, Target | None] = {}
        self._known: dict[int, Target | None] = {}

    def resolve(self, node: ast.expr, scope: Scope) -> Target | None:
        """What a Name or a chain of attributes stands for; None for a local variable and anything unknown."""
        chain: list[ast.Attribute] = []
        while isinstance(node, ast.Attribute):
            if id(node) in self._known:
                break
            chain.append(node)
            node = node.value
        if isinstance(node, ast.Name):
            target = self.name(node.id, scope) or (self._module_held(node.id, scope) if chain else None)
        elif isinstance(node, ast.Attribute):
            target = self._known[id(node)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
            target = self._super(scope)
        else:
            target = None
        for attribute in reversed(chain):
            target = self.tree.attribute(target, attribute.attr) if target is not None else None
            self._known[id(attribute)] = target
        return target

    def name(self, name: str, scope: Scope) -> Target | None:
        """What the bare `name` stands for in `scope`."""
        binding, owner = self.binding(name, scope)
        if owner is not None and owner.kind != "module":
            return self._bound(binding, name, owner)
        if name not in self._globals:
            target = self.tree.member(self.module, name)
            if name in BUILTINS and (target is None or target.kind == "ffi"):  # a filled module's own code
                target = Target("external", "", f"builtins.{name}")
            self._globals[name] = target
        return self._globals[name]

    def _module_held(self, name: str, scope: Scope) -> Target | None:
        """The module that is all that a local variable is given: `api = _ffi_api`."""
        _, owner = self.binding(name, scope)
        values = owner.stores.get(name, []) if owner is not None else []
        if len(values) != 1 or not isinstance(values[0], (ast.Name, ast.Attribute)) or owner is None:
            return None
        if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(values[0])):
            return None  # of itself
        if isinstance(owner.node, FUNCTION_NODES) and name in parameter_names(owner.node):
            return None
        found = self.resolve(values[0], owner)
        return found if found is not None and found.kind == "module" else None

    def binding(self, name: str, scope: Scope) -> tuple[Binding, Scope | None]:
        """How `name` is bound as seen from `scope`, and by which scope (None: by none of the file)."""
        at: Scope | None = scope
        while at is not None:
            visible = at.kind != "class" or at is scope or at is scope.function()
            if visible and name in at.bindings:
                return at.bindings[name], at
            at = at.parent
        return LOCAL, None

    def _bound(self, binding: Binding, name: str, owner: Scope) -> Target | None:
        kind, first, second = binding
        if kind == "import":
            return self.tree.imported(first, second)
        if kind == "def":
            return Target("member", self.module, first)
        if kind == "self":
            return Target("instance", self.module, first)
        if owner.kind == "class":
            return Target("member", self.module, f"{owner.suffix}.{name}")
        return None

    def _super(self, scope: Scope) -> Target | None:
        """The first base of the class whose method `scope` lies in."""
        at: Scope | None = scope
        while at is not None and at.kind != "class":
            at = at.parent
        if at is None:
            return None
        bases = self.tree.bases(self.module, at.suffix)
        return Target("instance", bases[0].module, bases[0].name) if bases and bases[0].kind == "member" else None


def parameter_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names of a function's parameters, those of lambdas in its defaults among them."""
    return {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
