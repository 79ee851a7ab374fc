"""Functions that construct the class of their first template argument: `make_object<T>(..)` calls T's constructor.

Their bodies forward to `new T(..)` in code that depends on T, which no single parse of the template resolves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, text
from xref.cpp.names import RVALUE_REFERENCE, class_of_base
from xref.special_members import Special

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


def made_by(walk: Walk, referenced: CXCursor, callee: Declaration) -> CXCursor | None:
    """The class of which the call of a maker makes an object; None for other calls."""
    if callee.name not in NAMES or callee.qualname not in MAKERS:
        return None
    library = walk.library
    if (
        library.clang_Cursor_getNumTemplateArguments(referenced) < 1
        or library.clang_Cursor_getTemplateArgumentKind(referenced, 0) != _TYPE_ARGUMENT
    ):
        return None
    kind = library.clang_getCanonicalType(library.clang_Cursor_getTemplateArgumentType(referenced, 0))
    made: CXCursor = library.clang_getTypeDeclaration(kind)
    return made if made.kind in kinds.TYPE_LIKE else None


def constructed(walk: Walk, made: CXCursor, call: CXCursor, referenced: CXCursor) -> list[tuple[CXCursor, Declaration]]:
    """The constructors of the class that the call of a maker may run: those that take as many arguments, inherited ones
    too, else what the compiler declares (with the class). Of a class that is only declared, the class itself."""
    class_ = walk.declarations.of(made)
    if class_ is None:
        return []
    given = walk.library.clang_Cursor_getNumArguments(call)
    found = _taking(walk, made, given)
    if found or not _definition(walk, made).decl:
        return found or [(made, class_)]
    return [(made, walk.declarations.special(class_, _implicit(walk, referenced, made, given)))]


def _definition(walk: Walk, class_: CXCursor) -> CXCursor:
    """Where the members of the class stand: those of an instance, in its template."""
    template = walk.library.clang_getSpecializedCursorTemplate(class_)
    result: CXCursor = walk.library.clang_getCursorDefinition(template if template.decl else class_)
    return result


def _taking(walk: Walk, class_: CXCursor, given: int) -> list[tuple[CXCursor, Declaration]]:
    """The constructors of the class, or those that it inherits, that take so many arguments."""
    inside = children(_definition(walk, class_))
    fitting = [child for child in inside if child.kind == kinds.CONSTRUCTOR and takes(walk, child, given)]
    if not fitting and given and any(child.kind == kinds.USING_DECLARATION for child in inside):
        bases = [class_of_base(child) for child in inside if child.kind == kinds.BASE_SPECIFIER]
        return [pair for base in bases for pair in _taking(walk, base, given)]
    return [(child, d) for child in fitting if (d := walk.declarations.of(child)) is not None]


def _implicit(walk: Walk, maker: CXCursor, class_: CXCursor, given: int) -> Special:
    """Which constructor that nobody wrote makes the object: `make_object<T>(*other)` copies."""
    kind = walk.library.clang_getArgType(walk.library.clang_getCursorType(maker), 0)
    made = walk.library.clang_getTypeDeclaration(
        walk.library.clang_getCanonicalType(walk.library.clang_getPointeeType(kind))
    )
    if given != 1 or made.decl != class_.decl:
        return Special.DEFAULT
    return Special.MOVE if kind.kind == RVALUE_REFERENCE else Special.COPY


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
