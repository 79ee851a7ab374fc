"""Finds the visitors of one file: a handler is a key of the registry `functor`, and an entry that is called on the
visitor itself leads to its handlers, with evidence `dispatch`.
"""

from __future__ import annotations

import ast

from xref.model import Call, Evidence, Id, KeyDef
from xref.python.context import FileContext
from xref.python.declarations import FUNCTION_NODES, Declared
from xref.python.names import Target
from xref.python.walk import Scope
from xref.registry.python_site import PYTHON
from xref.registry.python_visitors import BASES, FUNCTOR, Form, node_type

_MAX_BASES = 20


class Visitors:
    """Looks at the classes of one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context

    def collect(self) -> None:
        """Add the handlers of the file's visitors, and the calls that dispatch to them."""
        for declared in self._context.walk.classes:
            base = self._base(Target("member", self._context.walk.module, declared.suffix))
            if base is not None and isinstance(declared.node, ast.ClassDef):
                self._visitor(declared, declared.node, *base)

    def _base(self, target: Target) -> tuple[str, Form] | None:
        """The class above that dispatches, with its form."""
        tree, pending = self._context.tree, [target]
        for _ in range(_MAX_BASES):
            if not pending:
                return None
            at = pending.pop(0)
            if at.dotted in BASES:
                return at.dotted, BASES[at.dotted]
            if at.kind == "member" and at.module in tree.modules:
                pending += tree.bases(at.module, at.name)
        return None

    def _visitor(self, declared: Declared, node: ast.ClassDef, base: str, form: Form) -> None:
        context = self._context
        handlers: list[Id] = []
        for method in node.body:
            if not isinstance(method, FUNCTION_NODES):
                continue
            found = form.handlers.fullmatch(method.name)
            own = context.walk.declarations.by_node.get(id(method))
            if found is None or own is None:
                continue
            symbol = context.walk.declarations.id_of(own.suffix)
            handlers.append(symbol)
            name = f"{context.walk.module}.{declared.qual}:{self._node(method) or node_type(found.group(1))}"
            note = f"dispatched by {base}"
            context.facts.key_defs.append(KeyDef(FUNCTOR, name, PYTHON, method.lineno, symbol, "", note))
        if not handlers or f"{context.walk.module}.{declared.qual}" == base:
            return
        for call, scope in context.walk.calls:
            if self._enters(call, scope, declared, form):
                line, column = context.position(call.func)
                context.facts.calls += [
                    Call(scope.symbol, handler, Evidence.DISPATCH, line, column, base)
                    for handler in handlers
                    if handler != scope.symbol
                ]

    @staticmethod
    def _node(method: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        """The class that the handler says it takes."""
        arguments = method.args.args[1:2]
        annotation = arguments[0].annotation if arguments else None
        if isinstance(annotation, ast.Attribute):
            return annotation.attr
        return annotation.id if isinstance(annotation, ast.Name) else ""

    @staticmethod
    def _enters(call: ast.Call, scope: Scope, declared: Declared, form: Form) -> bool:
        """Whether it is `self.visit_expr(..)` in a method of the visitor."""
        callee = call.func
        if not isinstance(callee, ast.Attribute) or not form.entries.fullmatch(callee.attr):
            return False
        at: Scope | None = scope
        while at is not None and isinstance(callee.value, ast.Name):
            if callee.value.id in at.bindings:
                return at.bindings[callee.value.id] == ("self", declared.suffix, "")
            at = at.parent
        return False
