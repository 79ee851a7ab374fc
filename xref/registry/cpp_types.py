"""Object types in C++: their keys, what they inherit from templates, how they are compared.

A class holds its key in `_type_key`, which every era's declaring macro expands to: TVM_DECLARE_*_OBJECT_INFO (to v0.20)
stands beside a hand-written `static constexpr const char* _type_key`; TVM_FFI_DECLARE_OBJECT_INFO* (v0.21 on) writes
that member itself (tvm-ffi, object.h). Types without a class (int, None, ...) are reserved by calls in tvm-ffi's
object.cc. Fields and methods are in `xref.registry.cpp_members`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xref.cpp.clang import CXCursor
from xref.model import KeyDef
from xref.registry.cpp_classes import MEMBER, equality_of, type_key_in
from xref.registry.cpp_members import inherited_from_templates
from xref.registry.cpp_values import argument, string_of
from xref.registry.types import REGISTRY, RESERVED_BELOW_OBJECT

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

RESERVATIONS = {
    "tvm::ffi::TypeTable::ReserveBuiltinTypeIndex": "reserved for a value that is no object",
    "tvm::ffi::TypeTable::ReserveDepthOneObjectTypeIndex": RESERVED_BELOW_OBJECT,
}
"""tvm-ffi, src/ffi/object.cc, the constructor of TypeTable (v0.21 on) -> what the call says of the type."""
NAMES = frozenset(form.rsplit("::", 1)[1] for form in RESERVATIONS)


def on_variable(walk: Walk, cursor: CXCursor, variable: Declaration) -> None:
    """Record the type key that this class member holds, if it is one, and the fields that come from a template."""
    if variable.name != MEMBER or variable.parent is None:
        return
    file, line, _ = walk.position(cursor)
    facts = walk.facts.get(file)
    name = type_key_in(cursor)
    if facts is None or not name:
        return
    owner: CXCursor = walk.library.clang_getCursorSemanticParent(cursor)
    equality = equality_of(owner)
    note = f"{variable.parent.name}; {equality}" if equality else variable.parent.name
    facts.key_defs.append(KeyDef(REGISTRY, name, "cpp", line, variable.parent.id, note=note))
    inherited_from_templates(walk, owner, name, file, line)


def on_call(walk: Walk, call: CXCursor, callee: Declaration) -> None:
    """Record the type that this call reserves, if it does."""
    if callee.name not in NAMES:
        return
    note = RESERVATIONS.get(callee.qualname)
    name = string_of(argument(call, 0)) if note else None
    file, line, _ = walk.position(call)
    facts = walk.facts.get(file)
    if note and name and facts is not None:
        facts.key_defs.append(KeyDef(REGISTRY, name, "cpp", line, note=note))
