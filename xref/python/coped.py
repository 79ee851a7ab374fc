"""Where Python copes with an FFI function that is not there: an exception handler around the use, or a test before it.

Such a use is optional: that nobody registers the key is what the code expects.
"""

from __future__ import annotations

import ast

from xref.python.declarations import FUNCTION_NODES

_ANY = frozenset({"Exception", "BaseException"})
_ATTRIBUTE = _ANY | {"AttributeError"}
_LOOK_UP = _ANY | {"ValueError"}
"""What `get_global_func` raises for a missing name, in every era (tvm/_ffi/registry.py, tvm_ffi/registry.py)."""
_NESTED = (*FUNCTION_NODES, ast.Lambda, ast.ClassDef)


class Coped:
    """Of one module: which expressions stand where a missing name is expected."""

    def __init__(self, root: ast.Module) -> None:
        self._caught: dict[int, frozenset[str]] = {}
        self._tested: dict[int, frozenset[str]] = {}
        for node in ast.walk(root):
            if isinstance(node, ast.Try):
                self._try(node)
            elif isinstance(node, FUNCTION_NODES):
                self._tests(node)

    def attribute(self, node: ast.expr) -> bool:
        """Whether a missing attribute is expected at `node`: in `try`, or after `hasattr` with its name."""
        name = node.attr if isinstance(node, ast.Attribute) else ""
        return bool(self._caught.get(id(node), frozenset()) & _ATTRIBUTE) or name in self._tested.get(id(node), ())

    def look_up(self, node: ast.expr) -> bool:
        """Whether the call `node`, which looks a name up, may fail."""
        return bool(self._caught.get(id(node), frozenset()) & _LOOK_UP)

    def _try(self, node: ast.Try) -> None:
        caught = frozenset(name for handler in node.handlers for name in _names(handler.type))
        pending: list[ast.AST] = [*node.body]
        while pending:
            inner = pending.pop()
            if isinstance(inner, _NESTED):
                continue  # runs later
            if isinstance(inner, (ast.Attribute, ast.Name, ast.Call)):
                self._caught[id(inner)] = self._caught.get(id(inner), frozenset()) | caught
            pending += ast.iter_child_nodes(inner)

    def _tests(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        nodes = list(ast.walk(function))
        names = frozenset(
            node.args[1].value
            for node in nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "hasattr"
            and len(node.args) > 1
            and isinstance(node.args[1], ast.Constant)
            and isinstance(node.args[1].value, str)
        )
        if names:
            self._tested |= {id(node): names for node in nodes if isinstance(node, ast.Attribute)}


def _names(caught: ast.expr | None) -> list[str]:
    """The exceptions that a handler names; all of them when it names none."""
    if caught is None:
        return ["BaseException"]
    parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return [part.id if isinstance(part, ast.Name) else getattr(part, "attr", "") for part in parts]
