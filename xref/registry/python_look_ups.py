"""Look-ups of FFI functions whose name arrives from elsewhere: a parameter, a remote session, a string in generated IR.

`forwarded_look_ups` finds functions that look up what they are given, so that the literal at their call is the use of
the key; `REMOTE` are methods whose implementation looks the name up in another process; `NAMED` are makers of IR that
name the function that generated code will call.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from xref.model import KeyUse
from xref.registry.python_site import PYTHON, KeyFacts, Site, among, is_true, literal, literal_prefix

REGISTRY = "ffi"
_LOOK_UP_NAMES = frozenset({"get_global_func"})
_RPC = ("tvm.rpc.client", "tvm.contrib.rpc.client")
_DISCO = ("tvm.runtime.disco.session", "tvm.runtime.disco")


class Remote(NamedTuple):
    """A method that looks its argument up where it runs: the argument's position and name."""

    position: int
    keyword: str


REMOTE = {
    **{f"{home}.RPCSession.get_function": Remote(0, "name") for home in _RPC},
    **{f"{home}.Session.get_global_func": Remote(0, "name") for home in _DISCO},
}
"""tvm/rpc/client.py (`self._sess.get_function`), tvm/runtime/disco/session.py; by qualified name."""
_OPS = tuple(f"tvm.{name}{inner}" for name in ("tir", "tirx", "s_tir") for inner in ("", ".op", ".script.builder.ir"))
_SCRIPT = ("tvm.script.ir_builder.tir", "tvm.script.ir_builder.tir.ir", "tvm.script.ir_builder.tirx",
           "tvm.script.ir_builder.tirx.ir")  # fmt: skip
_RELAX = ("tvm.relax", "tvm.relax.op", "tvm.relax.op.base", "tvm.relax.expr", "tvm.script.ir_builder.relax",
          "tvm.script.ir_builder.relax.ir", "tvm.relax.script.builder.ir")  # fmt: skip
NAMED = {
    **dict.fromkeys(
        ("call_packed", "call_cpacked", "call_packed_lowered", "call_cpacked_lowered"), (0, _OPS + _SCRIPT + _RELAX)
    ),
    **dict.fromkeys(("call_extern", "call_pure_extern"), (1, _OPS + _SCRIPT)),
    **dict.fromkeys(("call_dps_packed", "call_pure_packed", "call_inplace_packed", "ExternFunc"), (0, _RELAX)),
}
"""Last name -> position of the function's name among the arguments, and the modules that hold it. A name may be that of
a C function or of code made elsewhere: such a use never dangles."""


def forwarded_look_ups(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[str, int, str, bool]]:
    """Parameter, its position (without `self`), prefix, and whether a missing key is coped with, for each look-up in
    the body of `node` whose name is a parameter, or a literal with a parameter behind it."""
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    names = names[1:] if names[:1] in (["self"], ["cls"]) else names
    found = []
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Call) or not inner.args:
            continue
        called = inner.func
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        if name in _LOOK_UP_NAMES and (parameter := _last_name(inner.args[0])) in names:
            optional = any(is_true(word.value) for word in inner.keywords if word.arg == "allow_missing")
            optional = optional or (len(inner.args) > 1 and is_true(inner.args[1]))
            found.append((parameter, names.index(parameter), literal_prefix(inner.args[0]), optional))
    return found


def _last_name(node: ast.expr) -> str:
    """The variable that ends a string: `name`, `"x." + name`, f"x.{name}"."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and literal(node.left) is not None:
        return _last_name(node.right)
    if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[-1], ast.FormattedValue):
        before = node.values[:-1]
        return _last_name(node.values[-1].value) if all(literal(part) is not None for part in before) else ""
    return ""


def key_facts(site: Site, facts: KeyFacts) -> None:
    """Add the names of functions that `site` puts into IR."""
    form = NAMED.get(site.name.rpartition(".")[2])
    if form is None or not among(site.name, {site.name.rpartition(".")[2]: form[1]}):
        return
    argument = site.argument(form[0], "func_name") or site.argument(form[0], "global_symbol")
    for name in site.names(argument) if argument is not None else ():
        if argument is not None and not name.endswith("*"):
            line, column = site.position(argument)
            facts.uses.append(KeyUse(REGISTRY, name, PYTHON, line, column, site.within, calls=False, optional=True))


def passed_on(forwards: list[tuple[str, int, str, bool]], site: Site, facts: KeyFacts) -> None:
    """Add the keys that `site` names by calling a function with `forwards`."""
    for parameter, position, prefix, optional in forwards:
        argument = site.argument(position, parameter)
        for name in site.names(argument) if argument is not None else ():
            assert argument is not None
            line, column = site.position(argument)
            use = KeyUse(REGISTRY, prefix + name, PYTHON, line, column, site.within, site.called, optional)
            facts.uses.append(use)
