"""Python classes whose methods C++ calls back: `derived_object`, `@visitor` and `@mutator`, v0.8 to main.

    class PyMeasureCallback:
        _tvm_metadata = {"cls": _PyMeasureCallback, "methods": ["apply"]}

`derived_object` (tvm/meta_schedule/utils.py; tvm/runtime/support.py) hands each method to the constructor of the class
under "cls", in the order of the list, behind "fields". That constructor's parameter `f_apply` becomes the member of the
C++ class that is registered under the same type key (`PyMeasureCallbackNode::f_apply`). A key is
`<class under "cls">:<member>`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from xref.registry.python_site import literal

CALLBACK = "callback"
METADATA = "_tvm_metadata"
_PREFIX = "f_"
"""How the members begin that hold a callback."""
METHOD_OF = " of "
"""In the note of a key: `<method> of <class>`, the class that others derive from."""


class Callback(NamedTuple):
    """`cls` names the registered class; the member `member` of its C++ class holds `method`, named at `line`."""

    cls: ast.expr
    member: str
    method: str
    line: int


def callbacks(node: ast.ClassDef, constructor: Callable[[ast.expr], ast.AST | None]) -> Iterator[Callback]:
    """The callbacks that the class declares. `constructor` gives `__init__` of the class that an expression names."""
    for statement in node.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if not any(isinstance(t, ast.Name) and t.id == METADATA for t in targets):
            continue
        assert isinstance(statement, ast.Assign)
        if not isinstance(statement.value, ast.Dict):
            continue
        parts = {literal(key): value for key, value in zip(statement.value.keys, statement.value.values, strict=True)}
        cls, methods, fields = parts.get("cls"), _elements(parts.get("methods")), _elements(parts.get("fields"))
        if cls is None:
            continue
        function = constructor(cls)
        names = [a.arg for a in function.args.args[1:]] if isinstance(function, ast.FunctionDef) else []
        for at, element in enumerate(methods, start=len(fields)):
            method = literal(element)
            if method:
                given = names[at] if at < len(names) and names[at].startswith(_PREFIX) else ""
                yield Callback(cls, given or _PREFIX + method.strip("_"), method, element.lineno)


def _elements(node: ast.expr | None) -> list[ast.expr]:
    return node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
