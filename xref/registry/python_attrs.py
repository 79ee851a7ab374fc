"""Attributes of functions and modules on the Python side, options of targets, and symbols that modules are asked for.

`f.with_attr("global_symbol", ..)`, `f.attrs["global_symbol"]`, `target.attrs.get("mcpu")`, `vm["invoke_stateful"](..)`,
`mod.get_function("x")`: known by the names of methods and of what they are called on, and never dangling.
"""

from __future__ import annotations

import ast

from xref.model import KeyUse
from xref.registry.python_site import PYTHON, KeyFacts, Site, literal

ATTR, SYMBOL, OPTION = "attr", "symbol", "target_option"
METHODS = {"with_attr": ATTR, "without_attr": ATTR, "has_attr": ATTR, "get_function": SYMBOL}
HOLDER = "attrs"
TARGET = "target"


def method_facts(site: Site, facts: KeyFacts) -> None:
    """Add the attribute or symbol that a method is given."""
    registry = METHODS.get(site.name)
    name = site.argument(0)
    if registry is not None:
        _use(site, facts, registry, name)
    elif site.name == "get" and site.call is not None and isinstance(site.call.func, ast.Attribute):
        holder = site.call.func.value
        if isinstance(holder, ast.Attribute) and holder.attr == HOLDER:
            _use(site, facts, *_of_holder(holder, name))


def subscript_facts(site: Site, node: ast.Subscript, facts: KeyFacts) -> None:
    """Add the attribute that `x.attrs["k"]` reads, or the symbol that `module["f"](..)` runs."""
    if isinstance(node.value, ast.Attribute) and node.value.attr == HOLDER:
        _use(site, facts, *_of_holder(node.value, node.slice))
    elif site.called:
        _use(site, facts, SYMBOL, node.slice)


def _of_holder(holder: ast.Attribute, name: ast.expr | None) -> tuple[str, ast.expr | None]:
    owner = holder.value
    last = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    return (OPTION if TARGET in last.lower() else ATTR), name


def _use(site: Site, facts: KeyFacts, registry: str, name: ast.expr | None) -> None:
    text = literal(name)
    if not text or name is None:
        return
    line, column = site.position(name)
    calls = registry == SYMBOL and site.called
    key = f"*:{text}" if registry == OPTION else text
    facts.uses.append(KeyUse(registry, key, PYTHON, line, column, site.within, calls, optional=True))
