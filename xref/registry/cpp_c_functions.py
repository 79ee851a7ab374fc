"""C functions of the tree, under the name by which ctypes and Cython call them: the C ABI that a crossing goes through.

TVMFuncCall and its siblings to v0.20 (src/runtime/c_runtime_api.cc), TVMFFIFunctionCall and its siblings from v0.21 on
(tvm-ffi, src/ffi/function.cc) have C linkage. Cython also calls inline C++ functions at global scope of a header beside
it (tvm-ffi, cython/tvm_ffi_python_helpers.h).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xref.model import KeyDef
from xref.registry.python_c_functions import REGISTRY

if TYPE_CHECKING:
    from xref.cpp.clang import CXCursor
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

_C_LINKAGE = "c:@F@"
"""How clang's USR of a function begins; only that of a C++ function goes on with its parameters, behind a `#`."""
_HEADERS = (".h", ".hpp")


def on_function(walk: Walk, cursor: CXCursor, function: Declaration) -> None:
    """Record the function that is defined here, if Python can call it by its name."""
    if function.parent is not None or function.linkage != "external" or not function.usr.startswith(_C_LINKAGE):
        return
    file, line, _ = walk.position(cursor)
    facts = walk.facts.get(file)
    has_c_linkage = "#" not in function.usr
    if facts is not None and (has_c_linkage or file.endswith(_HEADERS)):
        note = "C function" if has_c_linkage else "C++ function at global scope"
        facts.key_defs.append(KeyDef(REGISTRY, function.name, "cpp", line, function.id, note=note))
