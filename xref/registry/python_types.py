"""Python classes of object types: `@register_object("key")` in all its spellings, and decorators that wrap it.

Without an argument the key is the class's name (tvm/_ffi/registry.py `register_object`, tvm_ffi/registry.py likewise).
A wrapper such as relax.dpl's `register_df_node` is recognised by what it does: it registers its parameter under a
literal prefix plus the parameter's `__name__`.
"""

from __future__ import annotations

import ast

from xref.model import KeyDef
from xref.registry.python_site import PYTHON, KeyFacts, Site, among, literal

REGISTRY = "type"
FORMS = {
    "register_object": (
        "tvm", "tvm._ffi", "tvm._ffi.registry", "tvm.ffi", "tvm.ffi.registry", "tvm_ffi", "tvm_ffi.registry",
        "tvm.runtime", "tvm.runtime.object",
    ),
    "register_node": ("tvm", "tvm._ffi", "tvm._ffi.registry"),
    "c_class": ("tvm_ffi", "tvm_ffi.dataclasses", "tvm_ffi.dataclasses.c_class"),
}  # fmt: skip
_FORM_NAMES = frozenset(FORMS)


def key_facts(site: Site, facts: KeyFacts) -> None:
    """Add the type key that `site` gives to a class."""
    if not among(site.name, FORMS) and not site.wrapper:
        return
    given = site.argument(0, "type_key")
    known = site.texts(given) if given is not None else []
    key = known[0].text if len(known) == 1 else None
    if site.decorated is not None:
        symbol, name = site.decorated
        if key is None and (site.call is None or not site.call.args):
            key = site.wrapper + name
    elif site.call is not None and isinstance(site.argument(0), (ast.Name, ast.Attribute)):
        named = site.argument(0)  # register_object(cls): under the class's own name
        assert named is not None
        found = site.symbol(named)
        if found is None:
            return
        symbol, key = found, site.wrapper + ast.unparse(named).rpartition(".")[2]
    else:
        return
    if key is not None:
        facts.definitions.append(KeyDef(REGISTRY, key, PYTHON, site.line, symbol))
    elif given is not None:
        facts.unreadable.append((given, site.within, f"name of a registered {REGISTRY} key is known only at run time"))


def wrapper_prefix(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The literal prefix of `register_object("prefix" + parameter.__name__)` in the body of `node`, "" without one."""
    parameters = {arg.arg for arg in (*node.args.posonlyargs, *node.args.args)}
    if not parameters or len(node.body) > _LONGEST_WRAPPER:
        return ""
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Call) or len(inner.args) != 1:
            continue
        callee = inner.func
        name = callee.attr if isinstance(callee, ast.Attribute) else callee.id if isinstance(callee, ast.Name) else ""
        if name not in _FORM_NAMES:
            continue
        key = inner.args[0]
        if (
            isinstance(key, ast.BinOp)
            and isinstance(key.right, ast.Attribute)
            and key.right.attr == "__name__"
            and isinstance(key.right.value, ast.Name)
            and key.right.value.id in parameters
        ):
            return literal(key.left) or ""
    return ""


_LONGEST_WRAPPER = 8
"""Statements in the body of a decorator that only wraps another one: keeps the look inside cheap."""
