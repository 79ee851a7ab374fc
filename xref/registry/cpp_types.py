"""Object types in C++: the string that a class holds in `_type_key`, which every era's declaring macro expands to.

TVM_DECLARE_*_OBJECT_INFO (to v0.20) stands beside a hand-written `static constexpr const char* _type_key`;
TVM_FFI_DECLARE_OBJECT_INFO* (v0.21 on) writes that member itself (tvm-ffi, object.h).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xref.cpp.clang import CXCursor, children
from xref.model import KeyDef
from xref.registry.cpp_values import string_of

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

REGISTRY = "type"
MEMBER = "_type_key"


def on_variable(walk: Walk, cursor: CXCursor, variable: Declaration) -> None:
    """Record the type key that this class member holds, if it is one."""
    if variable.name != MEMBER or variable.parent is None:
        return
    file, line, _ = walk.position(cursor)
    facts = walk.facts.get(file)
    if facts is None:
        return
    for child in children(cursor):
        name = string_of(child)
        if name:
            facts.key_defs.append(KeyDef(REGISTRY, name, "cpp", line, variable.parent.id, note=variable.parent.name))
            return
