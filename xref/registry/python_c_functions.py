"""Calls of C functions from Python: `_LIB.TVMFuncCall(...)` through a library that ctypes has loaded (to v0.21).

From v0.21 on the crossing is Cython, whose `cdef extern` blocks name the functions (xref/python/cython_walk.py). Both
use the key of the function's C name, which the C++ definition defines (xref/registry/cpp_c_functions.py).
"""

from __future__ import annotations

import ast

from xref.model import KeyUse
from xref.registry.python_site import PYTHON

REGISTRY = "symbol"
LOADERS = frozenset({"CDLL", "PyDLL"})
"""The classes of `ctypes` that load a shared library."""


def loaded_libraries(tree: ast.Module) -> list[str]:
    """The names that the module binds to a library: `x = ctypes.CDLL(..)`, or the result, or the first part of it, of a
    function of the module that loads one (tvm/_ffi/base.py: `_LIB, _LIB_NAME = _load_lib()`)."""
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and _loads(node)}
    found = []
    for node in tree.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        called = node.value.func
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        if name not in LOADERS and name not in functions:
            continue
        for target in node.targets:
            first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
            if isinstance(first, ast.Name):
                found.append(first.id)
    return found


def _loads(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOADERS
        for node in ast.walk(function)
    )


def c_function_use(name: str, line: int, column: int, within: int) -> KeyUse:
    """A call of the C function `name`. A library may have functions that the tree does not define."""
    return KeyUse(REGISTRY, name, PYTHON, line, column, within, calls=True, optional=True)
