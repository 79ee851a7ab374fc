"""Operators on the Python side: attributes set from Python, look-ups, registrations.

All setters end in `register_op_attr(op, key, value)` (tvm/ir/op.py, v0.7 to main) or take the same road by
`RegisterOpLowerIntrinsic`. TVM has dozens of them (register_legalize, register_gradient; in Relay register_compute,
register_strategy, register_alter_op_layout, ...), so a setter is known by what it does: it hands its parameters on to
a known one. `setter` reads that from a function's body; `attribute` of `BASE` needs nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from xref.model import Id, KeyDef, KeyUse
from xref.registry.python_site import PYTHON, KeyFacts, Setter, Site, among, literal

OP, ATTRIBUTE = "op", "op_attr"
_IR = ("tvm.ir", "tvm.ir.op", "tvm.target.intrin", "tvm.target", "tvm.tir.op", "tvm.tir", "tvm.tirx.op", "tvm.tirx")
BASE: dict[str, Setter] = {"register_op_attr": (0, "", 1, 2)}
"""Functions that set an attribute, by their last name."""
LOWERING = {"register_intrin_lowering": _IR}
LOWERING_ATTRIBUTE = "FLowerIntrinsic"
"""`register_intrin_lowering(op, target, f=f)` sets "<target>.FLowerIntrinsic" (src/ir/op.cc)."""
GET_FORMS = {"get": ("tvm.ir.Op", "tvm.ir.op.Op")}
REGISTER_FORMS = {"RegisterOp": ("tvm.ir._ffi_api",), "register_op": ("tvm.ir", "tvm.ir.op")}
CALL_FORMS = {"call_intrin": ("tvm.tir", "tvm.tir.op", "tvm.tirx", "tvm.tirx.op")}
MATCH_FORMS = {"is_op": ("tvm.relax.dpl", "tvm.relax.dpl.pattern", "tvm.relay.dataflow_pattern")}
_LONGEST_SETTER = 12


def setter(node: ast.FunctionDef | ast.AsyncFunctionDef, strings: Mapping[str, str]) -> Setter | None:
    """How the function sets an attribute of an operator: a call of a `BASE` function with its own parameters.

    `strings`: the constants of the module.
    """
    if len(node.body) > _LONGEST_SETTER:
        return None
    parameters = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args)]
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Call) or len(inner.args) < 2:
            continue
        callee = inner.func
        name = callee.attr if isinstance(callee, ast.Attribute) else callee.id if isinstance(callee, ast.Name) else ""
        if name.lstrip("_") not in BASE or not isinstance(inner.args[0], ast.Name):
            continue
        operator, key = inner.args[0].id, inner.args[1]
        if operator not in parameters:
            continue
        attribute = literal(key) or (strings.get(key.id, "") if isinstance(key, ast.Name) else "")
        by_parameter = parameters.index(key.id) if isinstance(key, ast.Name) and key.id in parameters else -1
        if not attribute and by_parameter < 0:
            continue
        value = inner.args[2] if len(inner.args) > 2 else None
        named = value.id if isinstance(value, ast.Name) else ""
        at = parameters.index(named) if named in parameters else -1
        return parameters.index(operator), attribute, by_parameter, at
    return None


def key_facts(site: Site, facts: KeyFacts) -> None:
    """Add what `site` sets, registers or looks up."""
    if site.setter is not None:
        _set(site, facts, site.setter)
    elif among(site.name, LOWERING):
        _lower(site, facts)
    elif among(site.name, GET_FORMS):
        _use(site, facts, site.argument(0, "name"), calls=False)
    elif among(site.name, REGISTER_FORMS):
        name = site.argument(0, "op_name")
        for text, line, _ in site.texts(name) if name is not None else ():
            facts.definitions.append(KeyDef(OP, text, PYTHON, line))
    elif among(site.name, CALL_FORMS):
        _use(site, facts, site.argument(1, "func_name"), calls=True)
    elif among(site.name, MATCH_FORMS):
        _use(site, facts, site.argument(0, "op_name"), calls=False)


def _set(site: Site, facts: KeyFacts, how: Setter) -> None:
    operator, attribute, by_parameter, value = how
    name, key = (
        site.argument(operator, "op_name"),
        site.argument(by_parameter, "attr_key") if by_parameter >= 0 else None,
    )
    if name is None:
        return
    names = site.texts(name)
    keys = [attribute] if attribute else [text.text for text in site.texts(key)] if key is not None else []
    if not names or not keys:
        facts.unreadable.append(
            (name, site.within, "the operator or the attribute that is set is known only at run time")
        )
        return
    symbol, note = _value(site, value)
    for text, line, origin in names:
        said = f"for the row at {origin}" if origin and not note else note
        for one in keys:
            facts.definitions.append(KeyDef(ATTRIBUTE, f"{text}:{one}", PYTHON, line, symbol, "", said))


def _value(site: Site, index: int) -> tuple[Id | None, str]:
    """What the attribute holds: the decorated function, or the argument. What a call returns is only known where that
    is a function which the callee makes: the callee itself is not what the key runs.
    """
    if site.decorated is not None:
        return site.decorated[0], ""
    given = site.argument(index) if index >= 0 else None
    if given is None:
        return None, ""
    if isinstance(given, ast.Call):
        return site.symbol(given), f"what {ast.unparse(given)} returns"[:120]
    return site.symbol(given), ""


def _lower(site: Site, facts: KeyFacts) -> None:
    name, target = site.argument(0, "op_name"), site.argument(1, "target")
    if name is None or target is None:
        return
    function = site.argument(2, "f")
    symbol = (
        site.decorated[0] if site.decorated is not None else site.symbol(function) if function is not None else None
    )
    for text, line, _ in site.texts(name):
        for kind, *_ in site.texts(target):
            key = f"{text}:{kind}.{LOWERING_ATTRIBUTE}"
            facts.definitions.append(KeyDef(ATTRIBUTE, key, PYTHON, line, symbol))


def _use(site: Site, facts: KeyFacts, name: ast.expr | None, *, calls: bool) -> None:
    text = literal(name)
    if text is None or name is None:
        return
    line, column = site.position(name)
    optional = calls and "." not in text
    facts.uses.append(KeyUse(OP, text, PYTHON, line, column, site.within, calls, optional))
