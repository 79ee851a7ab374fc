"""Functions that construct the class of their first template argument: `make_object<T>(..)` calls T's constructor.

Their bodies forward to `new T(..)` in code that depends on T, which no single parse of the template resolves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, text

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

MAKERS = frozenset(
    (
        "tvm::runtime::make_object",  # to v0.20
        "tvm::ffi::make_object",  # v0.21 on
        "std::make_unique",
        "std::make_shared",
    )
)
NAMES = frozenset(name.rsplit("::", 1)[1] for name in MAKERS)
_TYPE_ARGUMENT = 1  # CXTemplateArgumentKind_Type


def constructed(
    walk: Walk, call: CXCursor, referenced: CXCursor, callee: Declaration
) -> list[tuple[CXCursor, Declaration]]:
    """The constructors that the call of a maker may run: those that take as many arguments. The class itself stands for
    a constructor that the compiler declares. Empty for other calls, and where the class is not known yet."""
    if callee.name not in NAMES or callee.qualname not in MAKERS:
        return []
    library = walk.library
    if (
        library.clang_Cursor_getNumTemplateArguments(referenced) < 1
        or library.clang_Cursor_getTemplateArgumentKind(referenced, 0) != _TYPE_ARGUMENT
    ):
        return []
    kind = library.clang_getCanonicalType(library.clang_Cursor_getTemplateArgumentType(referenced, 0))
    made = library.clang_getTypeDeclaration(kind)
    class_ = walk.declarations.of(made)
    if class_ is None or class_.kind not in kinds.TYPE_LIKE:
        return []
    given = library.clang_Cursor_getNumArguments(call)
    fitting = [
        child
        for child in children(library.clang_getCursorDefinition(made))
        if child.kind == kinds.CONSTRUCTOR and takes(walk, child, given)
    ]
    found = [(child, d) for child in fitting if (d := walk.declarations.of(child)) is not None]
    return found or [(made, class_)]


def takes(walk: Walk, constructor: CXCursor, given: int) -> bool:
    """Whether the constructor takes `given` arguments; parameters with a value may be left out."""
    parameters = [c for c in children(constructor) if c.kind == kinds.PARAMETER]
    optional = sum(any(c.kind in kinds.EXPRESSIONS for c in children(parameter)) for parameter in parameters)
    return len(parameters) - optional <= given <= len(parameters) and not copies(walk, constructor)


def constructors(walk: Walk, class_: CXCursor) -> list[Declaration]:
    """The constructors that stand in the class, templates among them, but for those that copy or move."""
    name = text(walk.library.clang_getCursorSpelling(class_)).partition("<")[0]
    found = []
    for child in children(walk.library.clang_getCursorDefinition(class_)):
        is_template = child.kind == kinds.FUNCTION_TEMPLATE
        if is_template and text(walk.library.clang_getCursorSpelling(child)).partition("<")[0] != name:
            continue
        if (is_template or child.kind == kinds.CONSTRUCTOR) and not copies(walk, child):
            declared = walk.declarations.of(child)
            found += [declared] if declared is not None else []
    return found


def copies(walk: Walk, constructor: CXCursor) -> bool:
    """Whether it is the copy or move constructor."""
    parameters = [c for c in children(constructor) if c.kind == kinds.PARAMETER]
    if len(parameters) != 1:
        return False
    library = walk.library
    pointee = library.clang_getPointeeType(library.clang_getCursorType(parameters[0]))
    owner = library.clang_getCursorSemanticParent(constructor)
    return bool(pointee.kind) and library.clang_getTypeDeclaration(pointee).decl == owner.decl
