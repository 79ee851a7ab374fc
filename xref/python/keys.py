"""Shows the registry mechanisms (xref.registry.python_*) the calls and decorators of one file, with names resolved, and
follows FFI functions through the modules that are filled from a namespace.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial

from xref.model import Evidence, Id, KeyDef, KeyUse, Unresolved, shorten, symbol_id
from xref.python.constants import Constants
from xref.python.context import FileContext
from xref.python.coped import Coped
from xref.python.declarations import FUNCTION_NODES, member_key
from xref.python.names import Target
from xref.python.visitors import Visitors
from xref.python.walk import Scope
from xref.registry import (
    python_attrs,
    python_c_functions,
    python_callbacks,
    python_configs,
    python_ffi,
    python_look_ups,
    python_ops,
    python_passes,
    python_pipelines,
    python_schedule,
    python_script,
    python_tables,
    python_targets,
    python_types,
)
from xref.registry.bindings import CALL, CONSTRUCTOR
from xref.registry.python_site import PYTHON, KeyFacts, Site, among

_MECHANISMS = (
    python_ffi.key_facts,
    python_types.key_facts,
    python_passes.key_facts,
    python_look_ups.key_facts,
    python_ops.key_facts,
    python_targets.key_facts,
    python_configs.key_facts,
    python_schedule.key_facts,
    python_script.key_facts,
    python_tables.key_facts,
    python_pipelines.key_facts,
)
_BY_METHOD = (python_configs.method_facts, python_schedule.method_facts, python_attrs.method_facts)
"""Mechanisms that know a method by its name alone: what it is called on has no type here."""
_BY_NAME = {"getattr": False, "hasattr": True}
"""Builtins that take an attribute's name as a string -> whether a missing one is coped with."""


_BY_KEY = frozenset({"the callee is the result of another expression", "the callee's type is unknown"})
"""Reasons of the type checker's (xref/python/pysa.py) for a call that a key resolves after all."""
_MAX_STEPS = 4
"""From a variable to the variable that it was given: more than any real chain."""


class KeyCollector:
    """Collects key definitions and uses of one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._facts = KeyFacts()
        root = context.source.tree
        assert root is not None
        self._constants = Constants(context.tree, context.walk, context.resolver, root)
        self._coped = Coped(root)
        self._called: set[int] = set()
        self._answered: set[tuple[int, int]] = set()
        """Where a call begins whose callee is an FFI function of a known name."""
        self._constructing: set[int] = set()
        self._decorated: dict[int, tuple[Id, str]] = {}
        self._callees: dict[tuple[int, int], list[Id]] = {}
        """Where a call names its callee -> what it calls, as far as the type checker knows."""
        for edge in context.facts.calls:
            if edge.evidence is Evidence.DIRECT:
                self._callees.setdefault((edge.line, edge.col), []).append(edge.callee)
        for call, scope in context.walk.calls:
            self._called.add(id(call.func))
            if isinstance(call.func, ast.Attribute) and call.func.attr == python_ffi.CONSTRUCTOR_METHOD and call.args:
                self._called.add(id(call.args[0]))
                self._constructing.add(id(call.args[0]))
            if isinstance(call.func, ast.Call) and call.args:  # register_func("n")(f) decorates f
                self._decorate(call.func, call.args[0], scope)
        for decoration in context.walk.decorations:
            declared = decoration.declared
            own = context.walk.declarations.id_of(declared.suffix)
            self._decorated[id(decoration.node)] = (own, declared.name)

    def _decorate(self, call: ast.Call, function: ast.expr, scope: Scope) -> None:
        symbol = self._symbol(function, scope) if not isinstance(function, ast.Call) else None
        if symbol is not None:
            name = getattr(function, "attr", getattr(function, "id", "<lambda>"))
            self._decorated[id(call)] = (symbol, name)

    def collect(self) -> None:
        """Add the file's key facts."""
        context = self._context
        for call, scope in context.walk.calls:
            target = context.resolver.resolve(call.func, scope)
            if target is not None:
                self._show(call.func, call, scope, self._alias(target))
            else:
                self._c_function(call, scope)
                if isinstance(call.func, ast.Attribute):
                    site = self._site(call.func.attr, call.func, call, scope)
                    for mechanism in _BY_METHOD:
                        mechanism(site, self._facts)
            self._passed_on(call, scope)
        self._tables()
        for subscript, scope in context.walk.subscripts:
            python_attrs.subscript_facts(self._site("", subscript, None, scope), subscript, self._facts)
        Visitors(context).collect()
        self._callbacks()
        self._pipelines()
        for decoration in context.walk.decorations:
            if not isinstance(decoration.node, ast.Call):
                target = context.resolver.resolve(decoration.node, decoration.scope)
                if target is not None:
                    self._show(decoration.node, None, decoration.scope, target)
        self._attribute_uses()
        self._stored_functions()
        context.facts.key_defs += dict.fromkeys(self._facts.definitions)
        context.facts.key_uses += self._facts.uses
        context.facts.unresolved[:] = [
            row
            for row in context.facts.unresolved
            if (row.line, row.col) not in self._answered or row.reason not in _BY_KEY
        ]
        own = context.tree.modules[context.walk.module]["setters"]
        setters = {context.walk.declarations.id_of(suffix) for suffix in own}
        for node, within, reason in self._facts.unreadable:
            if within in setters:
                continue  # it hands on what its callers give, who are read instead
            line, column = context.position(node)
            text = shorten(context.source.text(node))
            context.facts.unresolved.append(Unresolved(line, column, within, text, reason))

    def _pipelines(self) -> None:
        """Show what is put into the tables of pipelines, and the calls of what stands in them."""
        context = self._context
        root = context.walk.root
        assert context.source.tree is not None
        python_pipelines.table_facts(
            context.source.tree, self._facts, partial(self._dotted, scope=root), partial(self._symbol, scope=root)
        )
        for call, scope in context.walk.calls:
            if isinstance(call.func, ast.Subscript):
                site = self._site("", call.func, call, scope)
                python_pipelines.call_facts(site, self._dotted(call.func.value, scope), self._facts)

    def _callbacks(self) -> None:
        """Record the methods of the file's classes that C++ calls back."""
        context = self._context
        module, root = context.walk.module, context.walk.root
        for declared in context.walk.classes:
            if not isinstance(declared.node, ast.ClassDef):
                continue
            for cls, member, method, line in python_callbacks.callbacks(declared.node, self._constructor):
                target = context.resolver.resolve(cls, root)
                if target is None or target.kind != "member":
                    continue
                own = context.tree.class_member(module, declared.suffix, method)
                symbol = context.target_id(own) if own is not None else None
                note = f"{method}{python_callbacks.METHOD_OF}{module}.{declared.qual}"
                name = f"{target.dotted}:{member}"
                self._facts.definitions.append(KeyDef(python_callbacks.CALLBACK, name, PYTHON, line, symbol, "", note))

    def _constructor(self, cls: ast.expr) -> ast.AST | None:
        """`__init__` of a class of this file."""
        name = f"{cls.id}.__init__" if isinstance(cls, ast.Name) else ""
        declared = self._context.walk.declarations.quals.get(name)
        return declared.node if declared is not None else None

    def _dotted(self, node: ast.expr, scope: Scope) -> str:
        target = self._context.resolver.resolve(node, scope)
        return target.dotted if target is not None else ""

    def _tables(self) -> None:
        """Show the tables of functions: dictionaries that converters of other frameworks' operators stand in."""
        framework = python_tables.framework(self._context.walk.module)
        if not framework:
            return
        for table, scope in self._context.walk.tables:
            symbol, versions = partial(self._symbol, scope=scope), partial(self._versions, scope=scope)
            python_tables.table_facts(framework, table, self._facts, symbol, versions)

    def _versions(self, node: ast.expr, scope: Scope) -> list[tuple[str, Id]]:
        """The methods of a class that convert an operator, each from one version of its framework on."""
        target = self._context.resolver.resolve(node, scope)
        found = self._context.tree.methods(target, python_tables.VERSIONS) if target is not None else {}
        numbers = filter(str.isdecimal, (name.removeprefix(python_tables.VERSIONS) for name in found))
        ids = [(number, self._context.target_id(found[python_tables.VERSIONS + number])) for number in numbers]
        return sorted(((number, id_) for number, id_ in ids if id_ is not None), key=lambda pair: int(pair[0]))

    def _show(self, callee: ast.expr, call: ast.Call | None, scope: Scope, target: Target) -> None:
        if target.kind == "external" and target.name.startswith("builtins."):
            self._attribute_by_name(target.name.removeprefix("builtins."), call, scope)
            return
        if target.kind not in ("member", "external"):
            return
        table = self._context.tree.modules.get(target.module)
        line, column = self._context.position(callee)
        wrapper = table["wrappers"].get(target.name, "") if table is not None else ""
        site = self._site(target.dotted, callee, call, scope, wrapper)
        node = call if call is not None else callee
        if table is not None and target.name in table["setters"]:
            site = replace(site, setter=table["setters"][target.name])
        before = len(self._facts.uses)
        for mechanism in _MECHANISMS:
            mechanism(site, self._facts)
        self._answer(node, self._facts.uses[before:])
        if len(self._facts.uses) == before and among(site.name, python_ffi.GET_FORMS):
            text = shorten(self._context.source.text(node))
            reason = "the name of the FFI function is computed at run time"
            self._context.facts.unresolved.append(Unresolved(line, column, scope.symbol, text, reason))

    def _answer(self, callee: ast.expr, uses: list[KeyUse]) -> None:
        """Note that the call of what `callee` looks up is resolved by the keys of `uses`."""
        named = [use for use in uses if use.registry == python_ffi.REGISTRY and not use.name.endswith("*")]
        if id(callee) in self._called and named:
            self._answered.add((callee.lineno, self._context.source.column(callee.lineno, callee.col_offset)))

    def _site(self, name: str, callee: ast.expr, call: ast.Call | None, scope: Scope, wrapper: str = "") -> Site:
        line, column = self._context.position(callee)
        node = call if call is not None else callee
        return Site(
            name, call, self._decorated.get(id(node)), scope.symbol, id(node) in self._called, line, column,
            self._context.position, lambda expr: self._symbol(expr, scope), lambda expr: self._values(expr, scope),
            wrapper, body=lambda expr: self._body(expr, scope), texts=lambda expr: self._constants.texts(expr, scope),
            own_texts=lambda expr: self._constants.texts(expr, scope, callers=False),
            coped=self._coped.look_up(node),
        )  # fmt: skip

    def _alias(self, target: Target) -> Target:
        """What a module's own name for something stands for when the module runs: `x = y`, also where a type checker is
        shown a function of that name (tvm_ffi/dataclasses/enum.py, `_enum_c_class`)."""
        tree = self._context.tree
        table = tree.modules.get(target.module) if target.kind == "member" else None
        value = table["aliases"].get(target.name) if table is not None else None
        return (tree.dotted(target.module, value) if value else None) or target

    def _values(self, node: ast.expr, scope: Scope, depth: int = 0) -> list[ast.expr]:
        """What the expression may stand for; itself when it is no variable that the file assigns."""
        if isinstance(node, ast.IfExp):
            return [v for branch in (node.body, node.orelse) for v in self._values(branch, scope, depth + 1)]
        if not isinstance(node, ast.Name) or depth > _MAX_STEPS:
            return [node]
        _, owner = self._context.resolver.binding(node.id, scope)
        stored = owner.stores.get(node.id, []) if owner is not None else []
        return [v for value in stored if value is not None for v in self._values(value, scope, depth + 1)] or [node]

    def _c_function(self, call: ast.Call, scope: Scope) -> None:
        """`_LIB.TVMFuncCall(...)`: a function of a library that ctypes has loaded."""
        callee = call.func
        if not isinstance(callee, ast.Attribute):
            return
        library = self._context.resolver.resolve(callee.value, scope)
        table = self._context.tree.modules.get(library.module) if library is not None else None
        if library is not None and library.kind == "member" and table and library.name in table["libraries"]:
            line, column = self._context.position(callee)
            self._facts.uses.append(python_c_functions.c_function_use(callee.attr, line, column, scope.symbol))

    def _passed_on(self, call: ast.Call, scope: Scope) -> None:
        """The literal that is given to a function which looks up what it is given."""
        for callee in self._callees.get(self._context.position(call.func), ()):
            forwards = self._context.tree.forwards.get(callee)
            if forwards:
                python_look_ups.passed_on(forwards, self._site("", call.func, call, scope), self._facts)

    def _body(self, node: ast.expr, scope: Scope) -> ast.AST | None:
        """The function of this file, or the only value of the variable, that the expression names."""
        if not isinstance(node, ast.Name):
            return None
        _, owner = self._context.resolver.binding(node.id, scope)
        values = owner.stores.get(node.id, []) if owner is not None else []
        if len(values) == 1:
            return values[0]
        declared = self._context.walk.declarations.quals.get(node.id)
        return declared.node if declared is not None and isinstance(declared.node, FUNCTION_NODES) else None

    def _symbol(self, node: ast.expr, scope: Scope) -> Id | None:
        if isinstance(node, ast.Lambda):
            return self._context.walk.lambda_of(node).symbol
        if isinstance(node, ast.Call):
            return self._returned(node, scope)
        target = self._context.resolver.resolve(node, scope)
        return self._context.target_id(target) if target is not None and target.kind == "member" else None

    def _returned(self, call: ast.Call, scope: Scope) -> Id | None:
        """The function that a call gives: what the callee makes, if that is all that it returns."""
        maker = self._context.resolver.resolve(call.func, scope)
        table = self._context.tree.modules.get(maker.module) if maker is not None and maker.kind == "member" else None
        if maker is None or table is None or maker.name in table["decorated"]:
            return None
        made = table["returned"].get(maker.name)
        return symbol_id(member_key(maker.module, made)) if made else None

    def _attribute_by_name(self, builtin: str, call: ast.Call | None, scope: Scope) -> None:
        """`getattr(_ffi_api, "name")`, with a computed name `getattr(_ffi_api, prefix + x)`, and `hasattr`."""
        context = self._context
        if builtin not in _BY_NAME or call is None or len(call.args) < 2:
            return
        module = context.resolver.resolve(call.args[0], scope)
        if module is None or module.kind != "module" or module.module not in context.tree.ffi:
            return
        optional = _BY_NAME[builtin] or len(call.args) > 2 or self._coped.attribute(call)
        names = self._site("", call.func, call, scope).names(call.args[1]) or ["*"]
        found = [context.tree.member(module.module, name) for name in names if not name.endswith("*")]
        keys = [target.name for target in found if target is not None and target.kind == "ffi"]
        open_ended = [name for name in names if name.endswith("*")]
        keys += [f"{namespace}.{name}" for name in open_ended for namespace in context.tree.ffi[module.module]]
        line, column = context.position(call.args[1])
        called = id(call) in self._called
        for key in keys:
            use = python_ffi.attribute_use(key, line, column, scope.symbol, called=called, optional=optional)
            self._facts.uses.append(use)
            self._answer(call, [use])

    def _attribute_uses(self) -> None:
        """`_ffi_api.name`, and a bare name that was imported from such a module."""
        context = self._context
        for node, scope, _ in context.walk.names:
            if not isinstance(node.ctx, ast.Load):
                continue
            target = context.resolver.resolve(node, scope)
            if target is not None and target.kind == "ffi":
                line, column = context.position(node)
                called = id(node) in self._called
                binding = CONSTRUCTOR if id(node) in self._constructing else CALL
                optional = self._coped.attribute(node)
                self._facts.uses.append(
                    python_ffi.attribute_use(
                        target.name, line, column, scope.symbol, called=called, optional=optional, binding=binding
                    )
                )
        for item in context.walk.imports:
            if item.name in ("", "*"):
                continue
            target = context.tree.imported(item.base, item.name)
            if target is not None and target.kind == "ffi":
                line = item.node.lineno
                column = context.source.column(line, item.node.col_offset)
                use = python_ffi.attribute_use(target.name, line, column, item.scope.symbol, called=False)
                self._facts.uses.append(use)

    def _stored_functions(self) -> None:
        """`f = get_global_func("n")` or `f = _ffi_api.n`: each `f(...)` runs one of the keys that the name is given."""
        context = self._context
        stored: dict[tuple[int, str], list[tuple[str, bool]]] = {}
        for scope in context.walk.scopes:
            for name, values in scope.stores.items():
                keys = [key for value in values if value is not None for key in self._stored_keys(value, scope)]
                if keys:
                    stored[id(scope), name] = list(dict.fromkeys(keys))
        if not stored:
            return
        for call, scope in context.walk.calls:
            if not isinstance(call.func, ast.Name):
                continue
            _, owner = context.resolver.binding(call.func.id, scope)
            for key, optional in stored.get((id(owner), call.func.id), ()) if owner is not None else ():
                line, column = context.position(call.func)
                use = python_ffi.attribute_use(key, line, column, scope.symbol, called=True, optional=optional)
                self._facts.uses.append(use)
                self._answer(call.func, [use])

    def _stored_keys(self, value: ast.expr, scope: Scope) -> list[tuple[str, bool]]:
        """The keys, or prefixes of keys (`target.build.*`), that the value looks up, and whether there may be none."""
        if isinstance(value, ast.IfExp):
            return self._stored_keys(value.body, scope) + self._stored_keys(value.orelse, scope)
        if isinstance(value, ast.Attribute):
            target = self._context.resolver.resolve(value, scope)
            found = target is not None and target.kind == "ffi"
            return [(target.name, self._coped.attribute(value))] if target is not None and found else []
        if isinstance(value, ast.Call):
            target = self._context.resolver.resolve(value.func, scope)
            if target is not None and among(target.dotted, python_ffi.GET_FORMS) and value.args:
                optional = python_ffi.allows_missing(value) or self._coped.look_up(value)
                return [(name, optional) for name in self._site("", value.func, value, scope).names(value.args[0])]
        return []
