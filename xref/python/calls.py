"""The calls of one file, with their evidence, and the call sites that could not be resolved, with the reason.

`direct`: the type checker names the callee, or scoping leads to it. `virtual`: an override below the receiver's class.
`name`: the method that the type checker names, where every class of objects has its own.
What a decorated function's name stands for, and what else the type checker takes for granted, is left to the linker
(`FileContext.hints`, `FileContext.doubtful`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Literal, NamedTuple

from xref.model import Call, Evidence, Id, Unresolved, shorten
from xref.python.context import FileContext
from xref.python.names import Target
from xref.python.pysa import REASONS, Reach, SiteReport
from xref.python.receivers import Receivers, span_of
from xref.python.survey import TRANSPARENT, dotted, is_transparent
from xref.python.walk import Scope

_DECORATED = "for-decorated-target"


class _How(NamedTuple):
    """How what the type checker says of a site is to be taken. `everything`: what lies outside the tree counts too.
    `made`: the class that the receiver was made of, given the one that the type checker knows. `is_doubtful`: it holds
    unless a parser reads the code instead of its being run. `is_hint`: it holds where value flow knows nothing better.
    `is_of_below`: a class is made, which may be one below the one that the type checker names.
    """

    everything: bool
    made: Callable[[str], Target | None]
    is_doubtful: bool = False
    is_hint: bool = False
    is_of_below: bool = False


class CallCollector:
    """Collects the calls of one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._seen: set[Call] = set()
        self._receivers = Receivers(context)
        self._decorated = {id(one.declared.node) for one in context.walk.decorations if not is_transparent(one.node)}
        """Functions and classes with a decorator that may do anything with them."""

    def collect(self) -> None:
        """Add calls and unresolved sites to the file's facts."""
        context = self._context
        sites = {(site.kind, site.span): site for site in context.said.sites}
        for call, scope in context.walk.calls:
            self._explicit(call.func, scope, sites.pop(("call", span_of(call)), None))
        for decoration in context.walk.decorations:
            site = sites.pop((_DECORATED, span_of(decoration.node)), None)
            if dotted(decoration.node) in TRANSPARENT:
                continue  # a mark on the function, for the compiler or the type checker; no call to look for
            if not isinstance(decoration.node, ast.Call):
                self._explicit(decoration.node, decoration.scope, site)
            elif site is not None:
                self._artificial(site)
        for site in sites.values():
            self._artificial(site)

    def _explicit(self, callee: ast.expr, scope: Scope, site: SiteReport | None) -> None:
        context = self._context
        line, column = context.position(callee)
        target = context.resolver.resolve(callee, scope)
        if target is not None and target.kind == "ffi":
            return  # a key: its use is recorded elsewhere, and what a type checker is shown in its place never runs
        is_class = target is not None and context.tree.kind(target) == "class"
        if target and is_class and site and site.constructs and context.is_external(site.constructs):
            site = site._replace(constructs=target.key)  # an enum: the checker names only enum.Enum
        if site is not None and site.constructs and self._by_metaclass(site.constructs, scope.symbol, line, column):
            return
        if site is not None and self._emit(site, scope.symbol, line, column, self._on(callee, scope, site)):
            return
        if target is not None and self._by_name(target, scope.symbol, line, column):
            return
        stored = self._stored_lambda(callee, scope)
        if stored is not None:
            self._add(Call(scope.symbol, stored, Evidence.VALUE, line, column))
            return
        if target is not None and context.tree.kind(target) in ("variable", "field"):
            reason = f"the callee is whatever the variable {target.dotted} holds"
        elif site is None:
            reason = (
                "the type checker did not look at this code"
                if context.report is not None
                else "no types: the name alone does not lead to a definition"
            )
        else:
            reason = REASONS.get(site.reason, site.reason or "the type checker names no callee")
        text = shorten(context.source.text(callee))
        context.facts.unresolved.append(Unresolved(line, column, scope.symbol, text, reason))

    def _stored_lambda(self, callee: ast.expr, scope: Scope) -> Id | None:
        """`f = lambda ...` as the only assignment to f: calling f calls that lambda."""
        if not isinstance(callee, ast.Name):
            return None
        _, owner = self._context.resolver.binding(callee.id, scope)
        values = owner.stores.get(callee.id, []) if owner is not None else []
        if len(values) != 1 or not isinstance(values[0], ast.Lambda):
            return None
        return self._context.walk.lambda_of(values[0]).symbol

    def _by_name(self, target: Target, caller: Id, line: int, column: int) -> bool:
        """A callee found by scoping alone."""
        context = self._context
        if target.kind == "external":
            self._add(Call(caller, context.external_id(target.key), Evidence.DIRECT, line, column))
            return True
        kind = context.tree.kind(target)
        if kind == "class":
            made = context.tree.class_member(target.module, target.name, "__init__")
            target = made if made is not None and context.tree.kind(made) == "method" else target
        elif kind not in ("function", "method"):
            return False
        found = context.target_id(target)
        if found is None:
            return False
        if target.name in context.tree.modules[target.module]["decorated"]:
            self._hint(caller, found, line, column)
        else:
            self._add(Call(caller, found, Evidence.DIRECT, line, column))
        return True

    def _artificial(self, site: SiteReport) -> None:
        """A call that no parentheses show: an operator, a loop, `with`, a property. Only callees in the tree."""
        context = self._context
        line, byte, end_line, end_byte = site.span
        scope = context.scope_at(line, byte)
        parsed = self._is_decorated_scope(scope)
        if site.kind == "property":
            if self._receivers.is_deleted(site.span):
                return  # the type checker names the getter
            row = context.source.rows[end_line - 1][:end_byte]
            name = row[len(row.rstrip(_NAME_BYTES)) :]
            line, byte = end_line, end_byte - len(name)
        how = _How(False, lambda receiver: self._receivers.of(site, receiver), is_doubtful=parsed)
        self._emit(site, scope.symbol, line, context.source.column(line, byte), how)

    def _on(self, callee: ast.expr, scope: Scope, site: SiteReport) -> _How:
        """How what the type checker says of an explicit call is to be taken."""

        def made(receiver: str) -> Target | None:
            target = self._receivers.made(callee.value, scope) if isinstance(callee, ast.Attribute) else None
            return target if target is not None and target.key == receiver else None

        return _How(True, made, is_of_below=bool(site.constructs) and self._receivers.asks_for_class(callee))

    def _by_metaclass(self, constructs: str, caller: Id, line: int, column: int) -> bool:
        """A class whose metaclass has a `__call__` of its own: that runs, and may make an object or not."""
        context = self._context
        module, _, suffix = constructs.removeprefix("py:").partition(":")
        meta = context.tree.metaclass(module, suffix)
        if meta is None or meta.kind != "member":
            return False
        symbol = context.target_id(context.tree.class_member(meta.module, meta.name, "__call__"))
        if symbol is not None:
            self._add(Call(caller, symbol, Evidence.DIRECT, line, column))
        return symbol is not None

    def _is_decorated_scope(self, scope: Scope) -> bool:
        """Whether a decorator was given the function or class that the code stands in, or one around it."""
        at: Scope | None = scope
        while at is not None:
            if id(at.node) in self._decorated:
                return True
            at = at.parent
        return False

    def _emit(self, site: SiteReport, caller: Id, line: int, column: int, how: _How) -> bool:
        """Add the edges of a resolved site; False when it has none."""
        context = self._context
        before = len(self._seen)
        found = False
        for reach in site.targets:
            if how.everything and _is_module_hook(reach.key):
                continue  # it was asked for the callee; what it gave is called
            found = True
            self._reach(reach, caller, line, column, how)
        inside = [reach for reach in site.initializers if not context.is_external(reach.key)]
        makes = any(reach.key.endswith(".__new__") for reach in inside)
        for reach in inside:
            found = True
            if how.is_of_below and self._overriders(reach._replace(receiver=site.constructs)):
                self._call(Call(caller, context.key_id(reach.key), Evidence.NAME, line, column), how)
                continue
            is_up_to_new = makes and not reach.key.endswith(".__new__")  # what it returns decides what is initialized
            self._reach(reach._replace(dispatched=False), caller, line, column, how._replace(is_hint=is_up_to_new))
        if not inside and site.constructs:
            found = True
            if how.everything or not context.is_external(site.constructs):
                self._call(Call(caller, context.key_id(site.constructs), Evidence.DIRECT, line, column), how)
        return found or len(self._seen) > before

    def _reach(self, reach: Reach, caller: Id, line: int, column: int, how: _How) -> None:
        context = self._context
        external = context.is_external(reach.key)
        if self._is_listed(reach.key, "stubs"):
            return  # only a type checker sees it
        overriders = self._overriders(reach) if reach.dispatched else []
        made = how.made(reach.receiver) if reach.dispatched and reach.receiver else None
        if made is not None:
            how = how._replace(is_hint=how.is_hint or self._is_up_to_new(made))
            overriders = []
        if how.everything or not external:
            if reach.dispatched and made is None and self._is_only_named(reach.key):
                self._call(Call(caller, context.key_id(reach.key), Evidence.NAME, line, column), how)
            elif self._is_decorated(reach.key) or how.is_hint:
                self._hint(caller, context.key_id(reach.key), line, column)
            else:
                self._call(Call(caller, context.key_id(reach.key), Evidence.DIRECT, line, column), how)
            if "#" in reach.key:
                context.exact[line, column] = reach.key
        via = (reach.receiver or reach.key).removeprefix("py:").replace(":", ".")
        for override in overriders:
            self._call(Call(caller, context.key_id(override), Evidence.VIRTUAL, line, column, via), how)

    def _overriders(self, reach: Reach) -> list[str]:
        """The methods of the tree that may run instead, on an object of a class below the receiver's."""
        context = self._context
        if context.report is None:
            return []
        if context.is_external(reach.key) and (not reach.receiver or context.is_external(reach.receiver)):
            return []
        found = context.report.overriders(reach.key, reach.receiver)
        return [override for override in found if not context.is_external(override)]

    def _is_up_to_new(self, target: Target) -> bool:
        """Whether a class has a `__new__` of its own, which may give an object of another class."""
        return self._context.tree.class_member(target.module, target.name, "__new__") is not None

    def _is_decorated(self, key: str) -> bool:
        return self._is_listed(key, "decorated")

    def _is_only_named(self, key: str) -> bool:
        """Whether a method says what others are to do, and every class that objects are of has its own."""
        report = self._context.report
        return report is not None and self._is_listed(key, "abstract") and report.is_always_overridden(key)

    def _is_listed(self, key: str, listed: Literal["decorated", "stubs", "abstract"]) -> bool:
        module, _, suffix = key.removeprefix("py:").partition(":")
        table = self._context.tree.modules.get(module)
        return table is not None and suffix in table[listed]

    def _hint(self, caller: Id, callee: Id, line: int, column: int) -> None:
        """The name stands for what a decorator made of the function: the linker's value-flow analysis decides."""
        hints = self._context.hints.setdefault((line, column), [])
        if (caller, callee) not in hints:
            hints.append((caller, callee))

    def _call(self, call: Call, how: _How) -> None:
        if how.is_doubtful:
            calls = self._context.doubtful.setdefault((call.line, call.col), [])
            if call not in calls:
                calls.append(call)
                self._seen.add(call)
        else:
            self._add(call)

    def _add(self, call: Call) -> None:
        if call not in self._seen:
            self._seen.add(call)
            self._context.facts.calls.append(call)


_NAME_BYTES = bytes(range(128, 256)) + b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


def _is_module_hook(key: str) -> bool:
    """Whether it is the `__getattr__` of a module."""
    return key.removeprefix("py:").partition(":")[2] == "__getattr__"
