"""Tensor intrinsics on the Python side: `TensorIntrin.register(NAME, desc, impl)` and who asks for them.

The names stand in constants of modules (tvm/tir/tensor_intrin, tvm/s_tir/tensor_intrin from v0.24 on).
"""

from __future__ import annotations

import ast

from xref.model import KeyDef, KeyUse
from xref.registry.python_site import PYTHON, KeyFacts, Site, among

INTRIN = "intrin"
_HOMES = tuple(
    f"tvm.{dialect}{module}.TensorIntrin" for dialect in ("tir", "tirx", "s_tir") for module in ("", ".function")
)
REGISTER_FORMS = {"register": _HOMES}
GET_FORMS = {"get": _HOMES}
TENSORIZE = "tensorize"
"""The schedule's method, whose second argument is the name of an intrinsic."""
IMPLEMENTATION = 2
"""Index of the argument of `register` that is the implementation; the one before it describes what it replaces."""


def key_facts(site: Site, facts: KeyFacts) -> None:
    """Add the intrinsic that `site` registers or gets."""
    if among(site.name, REGISTER_FORMS):
        name = site.argument(0, "name")
        texts = site.texts(name) if name is not None else []
        begins = {site.prefix(value) for value in site.values(name)} if name is not None and not texts else set()
        if name is not None and not texts and not all(begins):
            facts.unreadable.append((name, site.within, "the name of the intrinsic is known only at run time"))
        given = site.argument(IMPLEMENTATION, "impl")
        starred = next((a.value for a in site.call.args if isinstance(a, ast.Starred)), None) if site.call else None
        given = given if given is not None else starred
        note = ""
        if isinstance(given, ast.Call):
            given, note = given.func, f"what {ast.unparse(given)} returns"[:120]
        symbol = site.symbol(given) if given is not None else None
        facts.definitions += [KeyDef(INTRIN, text, PYTHON, line, symbol, "", note) for text, line, _ in texts]
        if name is not None:
            computed = f"the name is computed: {ast.unparse(name)}"
            prefixes = [f"{begin}*" for begin in sorted(begins) if begin]
            facts.definitions += [KeyDef(INTRIN, one, PYTHON, site.line, symbol, "", computed) for one in prefixes]
    elif among(site.name, GET_FORMS):
        _use(site, facts, site.argument(0, "name"))


def method_facts(site: Site, facts: KeyFacts) -> None:
    """Add the intrinsic that `sch.tensorize(block, NAME)` asks for."""
    if site.name == TENSORIZE:
        _use(site, facts, site.argument(1, "tensor_intrin"))


def _use(site: Site, facts: KeyFacts, name: ast.expr | None) -> None:
    if name is None:
        return
    line, column = site.position(name)
    facts.uses += [KeyUse(INTRIN, text, PYTHON, line, column, site.within) for text, *_ in site.texts(name)]
