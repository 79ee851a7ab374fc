"""Passes written in Python: `@module_pass(opt_level=0, name="P")` and its siblings.

The pass's name is `name=`, else the decorated function's or class's own (tvm/ir/transform.py `module_pass`:
`name if name else pass_func.__name__`; in older eras the same).
"""

from __future__ import annotations

from xref.model import KeyDef
from xref.registry.python_site import PYTHON, KeyFacts, Site, among, literal

REGISTRY = "pass"
_IR = ("tvm.ir.transform", "tvm.transform")
_RELAX = ("tvm.relax.transform", "tvm.relax.transform.transform")
_RELAY = ("tvm.relay.transform", "tvm.relay.transform.transform")
_TIR = tuple(f"tvm.{name}.transform{inner}" for name in ("tir", "tirx", "s_tir") for inner in ("", ".function_pass"))

FORMS = {
    "module_pass": _IR,
    "function_pass": (*_RELAX, *_RELAY),
    "dataflowblock_pass": _RELAX,
    "prim_func_pass": _TIR,
}


def key_facts(site: Site, facts: KeyFacts) -> None:
    """Add the pass that `site` makes of a function or class."""
    if not among(site.name, FORMS):
        return
    name = literal(site.argument(2, "name"))
    if site.decorated is not None:
        symbol, own = site.decorated
    else:
        function = site.argument(0, "pass_func")
        found = site.symbol(function) if function is not None else None
        if found is None or function is None:
            return
        symbol, own = found, getattr(function, "attr", getattr(function, "id", ""))
    facts.definitions.append(KeyDef(REGISTRY, name or own, PYTHON, site.line, symbol))
