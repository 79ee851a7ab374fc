"""FFI functions on the Python side: modules filled from a namespace, look-ups by name, registrations.

How a namespace becomes names, in every era (tvm/_ffi/registry.py `_init_api` of v0.18, tvm_ffi/registry.py
`init_ffi_api` of tvm-ffi): a leading "tvm." is stripped, and every function "<namespace>.<attribute>" whose attribute
holds no dot becomes an attribute of the target module.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from xref.model import KeyDef, KeyUse
from xref.registry.bindings import CALL
from xref.registry.python_site import PYTHON, KeyFacts, Site, among, is_true, literal

REGISTRY = "ffi"
_OLD = ("tvm", "tvm._ffi", "tvm._ffi.registry")  # to v0.20
_V21 = ("tvm.ffi", "tvm.ffi.registry")
_NEW = ("tvm_ffi", "tvm_ffi.registry")  # v0.22 on
_ALL = (*_OLD, *_V21, *_NEW)

INIT_FORMS = {"_init_api": (*_OLD, *_V21), "init_ffi_api": (*_NEW, *_V21)}
_FILLS = ("namespace", "target_module_name")
"""The parameters of the `INIT_FORMS`."""
GET_FORMS = {"get_global_func": _ALL}
CYTHON_GET_FORMS = frozenset({"get_global_func", "_get_global_func"})
"""The binding's own look-up, by its name in its own module (tvm-ffi, cython/function.pxi)."""
REGISTER_FORMS = {"register_func": (*_OLD, *_V21), "register_global_func": ("tvm", *_NEW, *_V21)}
CANDIDATES = "|"
"""Joins the names that an attribute may stand for, where its module is filled from several namespaces."""
CONSTRUCTOR_METHOD = "__init_handle_by_constructor__"
"""The method of tvm.runtime.Object that calls the FFI function passed as its first argument."""


def namespace_target(name: str, call: ast.Call, module: str, strings: Mapping[str, str]) -> tuple[str, str] | None:
    """The module that a call fills and the namespace that it is filled from; None when `name` is no such function.

    `name` is the callee's dotted name, `module` the module of the call (`__name__`), `strings` its variables that hold
    a literal. Without a second argument the namespace is also the module.
    """
    if not among(name, INIT_FORMS):
        return None
    given = dict(zip(_FILLS, call.args, strict=False)) | {word.arg: word.value for word in call.keywords if word.arg}
    namespace = _text(given.get("namespace"), module, strings)
    target = _text(given["target_module_name"], module, strings) if "target_module_name" in given else namespace
    return (target, namespace.removeprefix("tvm.")) if namespace and target else None


def _text(node: ast.expr | None, module: str, strings: Mapping[str, str]) -> str | None:
    if isinstance(node, ast.Name):
        return module if node.id == "__name__" else strings.get(node.id)
    return literal(node)


def key_facts(site: Site, facts: KeyFacts) -> None:
    """Add what `site` registers or looks up."""
    if among(site.name, GET_FORMS):
        _look_up(site, facts)
    elif among(site.name, REGISTER_FORMS):
        _register(site, facts)


def _look_up(site: Site, facts: KeyFacts) -> None:
    argument = site.argument(0, "name")
    if argument is None:
        return
    optional = site.coped or is_true(site.argument(1, "allow_missing"))
    line, column = site.position(argument)
    for name in site.names(argument):
        binding = CALL if site.called else ""
        facts.uses.append(KeyUse(REGISTRY, name, PYTHON, line, column, site.within, site.called, optional, binding))


def _register(site: Site, facts: KeyFacts) -> None:
    """`register_func("n", f)`, `@register_func("n")`, `register_func("n")(f)`; without a name it is the function's."""
    first, function = site.argument(0, "func_name"), site.argument(1, "f")
    names = site.texts(first) if first is not None else []
    by_itself = site.decorated is None and function is None and first is not None and not names
    if by_itself and first is not None and site.symbol(first) is not None:
        facts.definitions.append(
            KeyDef(REGISTRY, ast.unparse(first).rpartition(".")[2], PYTHON, site.line, site.symbol(first))
        )
        return
    if site.decorated is not None:
        symbol = site.decorated[0]
    elif function is not None:
        symbol = site.symbol(function) or site.within
    else:
        return
    if first is None:
        if site.decorated is not None:
            facts.definitions.append(KeyDef(REGISTRY, site.decorated[1], PYTHON, site.line, symbol))
        return
    is_here = len(names) == 1 and first is not None and bool(site.own_texts(first))
    for name in names:
        line = site.line if is_here else name.line  # else a loop's row, or the call of a helper
        facts.definitions.append(KeyDef(REGISTRY, name.text, PYTHON, line, symbol))
    if names:
        return
    prefixes = [prefix for prefix in map(site.prefix, site.values(first)) if prefix]
    note = f"the name is computed: {ast.unparse(first)}"
    for prefix in dict.fromkeys(prefixes):
        facts.definitions.append(KeyDef(REGISTRY, f"{prefix}*", PYTHON, site.line, symbol, "", note))
    if not prefixes:
        facts.unreadable.append((first, site.within, f"name of a registered {REGISTRY} key is known only at run time"))


def allows_missing(call: ast.Call) -> bool:
    """Whether a call of a `GET_FORMS` function says that there may be no such key."""
    given = next((word.value for word in call.keywords if word.arg == "allow_missing"), None)
    return is_true(given if given is not None else call.args[1] if len(call.args) > 1 else None)


def attribute_use(
    name: str, line: int, column: int, within: int, *, called: bool, optional: bool = False, binding: str = CALL
) -> KeyUse:
    """A use of an FFI function through a module that is filled from its namespace, or from several (`a.f|b.f`)."""
    first, several, _ = name.partition(CANDIDATES)
    return KeyUse(
        REGISTRY, first, PYTHON, line, column, within, called, optional, binding if called else "",
        name if several else "",
    )  # fmt: skip
