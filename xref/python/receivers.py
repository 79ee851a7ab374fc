"""What is known of the object that an expression stands for beyond its type: that a constructor made it, so that it is
of just that class and no override of a class below runs; or that its class is looked up at run time (`type(x)`).
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cached_property

from xref.python.context import FileContext
from xref.python.declarations import FUNCTION_NODES
from xref.python.names import Target
from xref.python.pysa import SiteReport, Span
from xref.python.resolve import parameter_names
from xref.python.walk import LOCAL, Scope

_OPERANDS = (b".", b"(")
"""What behind a name makes it part of a longer operand."""


class Receivers:
    """Answers for one file."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._known: dict[tuple[int, str], Target | None] = {}

    def made(self, node: ast.expr, scope: Scope) -> Target | None:
        """The class of the tree that the value was made of: `C()`, or a variable that is never given anything else."""
        if isinstance(node, ast.Call):
            target = self._context.resolver.resolve(node.func, scope)
            return target if target is not None and self._context.tree.kind(target) == "class" else None
        if not isinstance(node, ast.Name):
            return None
        binding, owner = self._context.resolver.binding(node.id, scope)
        if owner is None or binding != LOCAL or owner.kind not in ("function", "module"):
            return None
        key = (id(owner), node.id)
        if key not in self._known:
            self._known[key] = None  # while it is being found out: `x = x()`
            self._known[key] = self._given(node.id, owner)
        return self._known[key]

    def _given(self, name: str, owner: Scope) -> Target | None:
        values = owner.stores.get(name, [])
        if not values or len(values) != self._stores[id(owner), name] or name in self._declared_elsewhere:
            return None
        if isinstance(owner.node, FUNCTION_NODES) and name in parameter_names(owner.node):
            return None
        found = {self.made(value, owner) if isinstance(value, ast.Call) else None for value in values}
        return found.pop() if len(found) == 1 else None

    @cached_property
    def _stores(self) -> Counter[tuple[int, str]]:
        """How many places give a name of a scope a value: loops, `with` and unpacking give it what they please."""
        return Counter(
            (id(use.scope), use.node.id)
            for use in self._context.walk.names
            if isinstance(use.node, ast.Name) and isinstance(use.node.ctx, ast.Store)
        )

    @cached_property
    def _declared_elsewhere(self) -> frozenset[str]:
        """The names that some scope says are of a scope around it."""
        return frozenset(name for scope in self._context.walk.scopes for name in scope.outer_names)

    def asks_for_class(self, callee: ast.expr) -> bool:
        """Whether it is `x.__class__` or `type(x)`, so that a class below the one that is known may be meant."""
        if isinstance(callee, ast.Call):
            return isinstance(callee.func, ast.Name) and callee.func.id == "type" and len(callee.args) == 1
        return isinstance(callee, ast.Attribute) and callee.attr == "__class__"

    # receivers of what no parentheses show

    def of(self, site: SiteReport, receiver: str) -> Target | None:
        """The class that the object at a site was made of, of which the type checker says that it is a `receiver`."""
        target = self._at(site)
        return target if target is not None and target.key == receiver else None

    def _at(self, site: SiteReport) -> Target | None:
        if site.kind == "property":
            found = self._attributes.get(site.span)
            return self.made(*found) if found is not None else None
        if site.kind.startswith(("for-", "with-", "async-")):
            whole = self._operands.get(site.span[:2], {}).get(site.span[2:])
            return self.made(*whole) if whole is not None else None
        if self._first.get(site.span[:2]) != site.span[2:]:
            return None  # `a + 1` in `a + 1 + 2`
        for end, found in self._operands.get(site.span[:2], {}).items():
            if end < site.span[2:] and not self._goes_on(end, site.kind):
                return self.made(*found)
        return None

    def _goes_on(self, end: tuple[int, int], kind: str) -> bool:
        rest = self._context.source.rows[end[0] - 1][end[1] :].lstrip()
        return rest.startswith(_OPERANDS) or (rest.startswith(b"[") and "item" not in kind and "subscript" not in kind)

    @cached_property
    def _attributes(self) -> dict[Span, tuple[ast.expr, Scope]]:
        """Span of an attribute -> what it is looked up on."""
        return {
            span_of(use.node): (use.node.value, use.scope)
            for use in self._context.walk.names
            if isinstance(use.node, ast.Attribute)
        }

    def is_deleted(self, span: Span) -> bool:
        """Whether a `del` statement names the attribute that stands there."""
        return span in self._deleted

    @cached_property
    def _deleted(self) -> frozenset[Span]:
        names = (use.node for use in self._context.walk.names)
        return frozenset(span_of(node) for node in names if isinstance(node.ctx, ast.Del))

    @cached_property
    def _operands(self) -> dict[tuple[int, int], dict[tuple[int, int], tuple[ast.expr, Scope]]]:
        """Where a name or call starts -> where it ends -> itself."""
        found: dict[tuple[int, int], dict[tuple[int, int], tuple[ast.expr, Scope]]] = {}
        names = ((use.node, use.scope) for use in self._context.walk.names if isinstance(use.node, ast.Name))
        for node, scope in (*names, *self._context.walk.calls):
            span = span_of(node)
            found.setdefault(span[:2], {})[span[2:]] = (node, scope)
        return found

    @cached_property
    def _first(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Where operators start -> where the shortest of them ends."""
        found: dict[tuple[int, int], tuple[int, int]] = {}
        for site in self._context.said.sites:
            if site.kind not in ("call", "property") and not site.kind.startswith(("for-", "with-", "async-")):
                start, end = site.span[:2], site.span[2:]
                found[start] = min(end, found.get(start, end))
        return found


def span_of(node: ast.expr) -> Span:
    """Where the expression stands, as the type checker says it."""
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0
