"""Fields and methods that C++ object types register, in every era: what Python reads as an attribute of an object.

From v0.21 on they are arguments of `ObjectDef<T>().def_ro("name", &T::member)` and its siblings (tvm-ffi,
reflection/registry.h; `OverloadObjectDef`, reflection/overload.h); to v0.20 a class visits them in `VisitAttrs` by
`v->Visit("name", &member)`, and attributes of operators in the body of TVM_DECLARE_ATTRS (`TVM_ATTR_FIELD(member)`,
include/tvm/ir/attrs.h). A class template registers its fields for the class that derives from it (BinaryOpNode<T>).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xref.cpp import kinds
from xref.cpp.clang import CONTINUE, RECURSE, CXCursor, children, load, text, unwrapped, visit
from xref.model import KeyDef, shorten
from xref.registry.cpp_classes import bases, definition, field_named, own_type_key, type_key_of
from xref.registry.cpp_values import argument, function_of, string_of
from xref.registry.types import FIELD, METHOD

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

_REFLECTION = "tvm::ffi::reflection::"


class Form(NamedTuple):
    """A method that registers a member: the registry, and what the key's note begins with."""

    registry: str
    note: str


_MEMBERS = {
    "def_ro": Form(FIELD, "read-only"),
    "def_rw": Form(FIELD, "read-write"),
    "def": Form(METHOD, "method"),
    "def_static": Form(METHOD, "static method"),
    "def_type_attr": Form(METHOD, "type attribute"),
}
FORMS = {
    **{f"{_REFLECTION}{c}::{m}": form for c in ("ObjectDef", "OverloadObjectDef") for m, form in _MEMBERS.items()},
    f"{_REFLECTION}TypeAttrDef::def": Form(METHOD, "type attribute"),
    f"{_REFLECTION}TypeAttrDef::attr": Form(METHOD, "type attribute"),
}
INIT = "__ffi_init__"
"""The method that `.def(refl::init<Args...>())` registers (tvm-ffi, reflection/registry.h, kInitMethodName)."""
INIT_CLASS = "init"
VISITORS = frozenset({"VisitAttrs", "_tvm_VisitAttrs"})
"""Methods that visit the fields of a class, to v0.20 (`_tvm_VisitAttrs` is what TVM_DECLARE_ATTRS opens)."""
REGISTERERS = frozenset({"RegisterReflection", *VISITORS})
"""Methods that a template may have in place of the classes that derive from it."""
_DOC_LIMIT = 200
_FLAGS_CLASS = "AttachFieldFlag"


def on_call(walk: Walk, call: CXCursor, callee: Declaration) -> None:
    """Record the member that this call registers, if it does."""
    if callee.name not in _MEMBERS and callee.name != "attr":
        return
    form = FORMS.get(callee.qualname)
    if form is None:
        return
    library = walk.library
    described = library.clang_getCanonicalType(library.clang_Cursor_getReceiverType(call))
    pointee = library.clang_getPointeeType(described)
    described = pointee if pointee.kind else described
    owner = library.clang_getTypeDeclaration(library.clang_Type_getTemplateArgumentAsType(described, 0))
    key = type_key_of(definition(owner)) if owner.decl else ""
    if key:
        _add(walk, call, key, form)


def on_function(walk: Walk, cursor: CXCursor, function: Declaration) -> None:
    """Record the fields that a class visits in this method, if it is the one that visits them."""
    if function.name not in VISITORS or function.parent is None:
        return
    owner = definition(walk.library.clang_getCursorSemanticParent(cursor))
    key = own_type_key(owner)  # a template without one visits for the classes that derive from it
    if key:
        for call in _registering_calls(cursor):
            _add(walk, call, key, Form(FIELD, "visited"), owner)


def inherited_from_templates(walk: Walk, owner: CXCursor, key: str, file: str, line: int) -> None:
    """Record the fields that templates register for the class `owner`, whose key stands at `file`:`line`."""
    pending = list(bases(owner))
    while pending:
        base = pending.pop()
        template = definition(base)
        if template.kind not in kinds.TEMPLATES:
            continue
        pending += bases(template)
        for method in children(template):
            name = text(walk.library.clang_getCursorSpelling(method))
            if name in REGISTERERS and method.kind in kinds.FUNCTION_LIKE:
                for call in _registering_calls(method):
                    _add(walk, call, key, Form(FIELD, f"of every {_name(walk, template)}"), template, (file, line))


def _name(walk: Walk, cursor: CXCursor) -> str:
    return text(walk.library.clang_getCursorSpelling(cursor))


def _registering_calls(method: CXCursor) -> list[CXCursor]:
    """The calls in a method whose first argument is a string and whose second is the address of something."""
    found: list[CXCursor] = []

    def look(child: CXCursor, _parent: CXCursor, _data: object) -> int:
        if child.kind == kinds.CALL_EXPR and string_of(argument(child, 0)) is not None:
            second = argument(child, 1)
            if second is not None and _takes_address(second):
                found.append(child)
        return RECURSE if child.kind != kinds.LAMBDA_EXPR else CONTINUE

    visit(method, look)
    return found


def _takes_address(cursor: CXCursor) -> bool:
    """Whether it is `&x`, converted to a pointer to a base or not; where an `operator&` is in scope, a dependent one is
    a call of that."""
    cursor = unwrapped(cursor)
    if cursor.kind == kinds.UNARY_OPERATOR:
        return True
    named = (at for part in children(cursor) for at in children(part)) if cursor.kind == kinds.CALL_EXPR else ()
    return any(c.kind == kinds.OVERLOADED_REF and text(load().clang_getCursorSpelling(c)) == "operator&" for c in named)


def _add(
    walk: Walk, call: CXCursor, key: str, form: Form, owner: CXCursor | None = None,
    place: tuple[str, int] | None = None,
) -> None:  # fmt: skip
    """Add the member of type `key` that the call registers. `owner`: where to look for a field that the code names in
    a dependent way; `place`: file and line to give instead of the call's own."""
    first = argument(call, 0)
    name = string_of(first)
    file, line, col = walk.position(first if first is not None else call)
    if place is not None and file != place[0]:
        file, line = place
    facts = walk.facts.get(file)
    if facts is None:
        return
    if name is None and form.registry == METHOD and first is not None and _type_name(walk, first) == INIT_CLASS:
        name = INIT
    if name is None or name.endswith("*"):
        walk.note_unreadable(file, line, col, call, f"name of a registered {form.registry} is not a constant")
        return
    note = "; ".join([form.note, *_extras(walk, call)])
    if form.registry == FIELD:
        target = _member(walk, argument(call, 1), owner, name)
    else:
        found = function_of(walk, argument(call, 1), f"{key}.{name}") if name != INIT else None
        target = found.target if found is not None else None
        if found is not None and target is not None:
            walk.registered.add(found.named_at)
    if target is not None:
        walk.mention(target, facts)
    facts.key_defs.append(
        KeyDef(form.registry, f"{key}.{name}", "cpp", line, target.id if target is not None else None, note=note)
    )


def _member(walk: Walk, cursor: CXCursor | None, owner: CXCursor | None, name: str) -> Declaration | None:
    """The field whose address the expression takes; in dependent code, the field of that name in `owner`."""
    at, written = cursor, name
    while at is not None:
        if at.kind in (kinds.DECL_REF_EXPR, kinds.MEMBER_REF_EXPR):
            referenced = walk.library.clang_getCursorReferenced(at)
            if referenced.kind in (kinds.FIELD, kinds.VARIABLE):
                return walk.declarations.of(referenced)
            written = _name(walk, at) or written
        at = next((c for c in children(at) if c.kind in kinds.EXPRESSIONS), None)
    found = field_named(owner, written) if owner is not None else None
    return walk.declarations.of(found) if found is not None else None


def _extras(walk: Walk, call: CXCursor) -> list[str]:
    """What follows the member in the call, in words: flags of structural equality, and the documentation."""
    words: list[str] = []
    for index in range(1, max(walk.library.clang_Cursor_getNumArguments(call), 0)):
        cursor = argument(call, index)
        if cursor is None:
            continue
        if index > 1 and (documented := string_of(cursor)):
            words.append(shorten(documented, _DOC_LIMIT))
        elif flag := _flag(walk, cursor):
            words.append(f"structural equality: {flag.removeprefix('SEqHash')}")
    return words


def _flag(walk: Walk, cursor: CXCursor) -> str:
    """The name of the factory of AttachFieldFlag that the argument calls, "" for any other argument."""
    at: CXCursor | None = cursor
    while at is not None:
        if at.kind == kinds.CALL_EXPR:
            callee = walk.declarations.of(walk.library.clang_getCursorReferenced(at))
            if callee is not None and callee.parent is not None and callee.parent.name == _FLAGS_CLASS:
                return callee.name if callee.symbol_kind == "method" else ""
        at = next((c for c in children(at) if c.kind in kinds.EXPRESSIONS), None)
    return ""


def _type_name(walk: Walk, cursor: CXCursor) -> str:
    """The name of the class whose object the expression is."""
    declared = walk.library.clang_getTypeDeclaration(
        walk.library.clang_getCanonicalType(walk.library.clang_getCursorType(cursor))
    )
    return _name(walk, declared) if declared.decl else ""
