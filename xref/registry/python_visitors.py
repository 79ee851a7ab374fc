"""Visitors written in Python: which base classes dispatch on a node's type, by which methods, to which methods.

In the Py* classes C++ calls back a method for each node type (src/relax/ir/py_expr_functor.cc, src/tirx/ir/
py_functor.cc): `visit_expr` leads to `visit_call_`. In Relay (to v0.19) `visit` picks `visit_call` by `isinstance`
(python/tvm/relay/expr_functor.py).
"""

from __future__ import annotations

import re
from typing import NamedTuple

FUNCTOR = "functor"


class Form(NamedTuple):
    """How a visitor class names its entries and its handlers."""

    entries: re.Pattern[str]
    handlers: re.Pattern[str]


_PY = Form(re.compile(r"visit_\w*[a-z]"), re.compile(r"visit_(\w+)_"))
_RELAY = Form(re.compile(r"visit"), re.compile(r"visit_(\w+)"))
BASES = {
    **{
        f"{home}.{name}": _PY
        for home, names in {
            "tvm.relax.expr_functor": ("PyExprVisitor", "PyExprMutator"),
            "tvm.tir.functor": ("PyStmtExprVisitor", "PyStmtExprMutator"),
            "tvm.tirx.functor": ("PyStmtExprVisitor", "PyStmtExprMutator"),
        }.items()
        for name in names
    },
    "tvm.relay.expr_functor.ExprFunctor": _RELAY,
    "tvm.relay.type_functor.TypeFunctor": _RELAY,
    "tvm.relax.expr_functor.ExprFunctor": Form(re.compile(r"visit_expr"), re.compile(r"visit_(\w+)_")),
}
"""Dotted name of a class that others derive visitors from -> its form."""


def node_type(handler: str) -> str:
    """The node's class in a handler's name: `TupleGetItem` of `tuple_getitem`, as far as a name tells."""
    return "".join(part.title() for part in handler.strip("_").split("_"))
