"""What the members that the compiler declares in a class run for its parts: the fields, and the base classes.

Making, copying, moving, assigning and destroying an object does the same to its parts. Where a class leaves that to the
compiler, the member that it declares (xref/special_members.py) is told wherever it runs something that somebody wrote.
"""

from __future__ import annotations

from collections.abc import Iterator

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, CXType, children, load, text
from xref.cpp.hidden import values_of
from xref.cpp.instances import Instances
from xref.cpp.makers import copies, takes
from xref.cpp.names import RVALUE_REFERENCE, Declaration
from xref.cpp.walk import Inputs
from xref.special_members import ASSIGNMENTS, MOVES, Special

RECORDS = (kinds.CLASS, kinds.STRUCT, kinds.UNION)
_WITH_MEMBERS = (*RECORDS, kinds.CLASS_TEMPLATE, kinds.PARTIAL_SPECIALIZATION)
Run = tuple[Declaration, dict[str, str]]
"""A callee, and what stands for the parameters of its template."""


class Specials(Instances):
    """Finds which member of a class makes, copies, moves, assigns or destroys its objects."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._special: dict[tuple[int, Special], list[Declaration]] = {}
        self._initialisers: dict[int, list[tuple[Declaration, CXCursor]]] = {}

    def runs(self, kind: CXType, special: Special) -> list[Run]:
        """What doing that to an object, or an array, of the type calls, where somebody in the tree wrote it, if only
        as `= default`, or something that it runs."""
        class_ = self._class_of_value(kind)
        return (
            [(callee, self._class_bindings(class_)) for callee in self.members_for(class_, special)] if class_ else []
        )

    def members_for(self, class_: CXCursor, special: Special) -> list[Declaration]:
        """The same of an object of the class."""
        template = self.library.clang_getSpecializedCursorTemplate(class_)
        of = (template.decl or class_.decl, special)
        known = self._special.get(of)
        if known is None:
            self._special[of] = []  # it holds itself: this does not compile
            known = self._special[of] = self._find(class_, special)
        return known

    def _find(self, class_: CXCursor, special: Special) -> list[Declaration]:
        inside = self.inside(class_)
        chosen = self._choose(inside, special)
        if chosen is None:
            return []
        if isinstance(chosen, Special):
            owner = self.declarations.of(class_)
            does = owner is not None and self._part_runs(class_, inside, chosen)
            return [self.declarations.special(owner, chosen)] if owner is not None and does else []
        declared = self.declarations.of(chosen)
        if declared is None or not declared.file or self.library.clang_CXXMethod_isDeleted(chosen):
            return []
        return [*self._for_parameter(chosen, class_, special), declared]

    def _for_parameter(self, chosen: CXCursor, class_: CXCursor, special: Special) -> list[Declaration]:
        """What makes the parameter of an assignment that takes a value: `operator=(ObjectPtr other)`."""
        if special not in ASSIGNMENTS or self.library.clang_getPointeeType(self._first_type(chosen)).kind:
            return []
        return self.members_for(class_, Special.MOVE if special in MOVES else Special.COPY)

    def _choose(self, inside: list[CXCursor], special: Special) -> CXCursor | Special | None:
        """The member that somebody wrote, or the one that the compiler declares; None where there is none."""
        if special is Special.DESTRUCTOR:
            return next((c for c in inside if c.kind == kinds.DESTRUCTOR), special)
        if special is Special.DEFAULT:
            chosen = next((c for c in inside if c.kind == kinds.CONSTRUCTOR and takes(self, c, 0)), None)
            return chosen or (None if any(self._is_constructor(c) for c in inside) else special)
        written = [c for c in inside if (self._is_assigning(c) if special in ASSIGNMENTS else self._is_copying(c))]
        kinds_of_first = [self._first_type(c).kind for c in written]
        moving = [c for c, kind in zip(written, kinds_of_first, strict=True) if kind == RVALUE_REFERENCE]
        copying = [c for c in written if c not in moving]
        if special in MOVES:
            if moving or copying:
                return (moving or copying)[0]
            return MOVES[special] if any(self._keeps_copying(c) for c in inside) else special
        return copying[0] if copying else None if moving else special  # some can be moved alone

    def _is_constructor(self, member: CXCursor) -> bool:
        """Whether it is a constructor, or a template of such: then the compiler declares none without parameters."""
        if member.kind != kinds.FUNCTION_TEMPLATE:
            return bool(member.kind == kinds.CONSTRUCTOR)
        name = text(self.library.clang_getCursorSpelling(self.library.clang_getCursorSemanticParent(member)))
        return text(self.library.clang_getCursorSpelling(member)).partition("<")[0] == name.partition("<")[0]

    def _is_copying(self, member: CXCursor) -> bool:
        return member.kind == kinds.CONSTRUCTOR and copies(self, member)

    def _is_assigning(self, member: CXCursor) -> bool:
        """Whether it assigns an object of its own class."""
        if member.kind != kinds.METHOD or text(self.library.clang_getCursorSpelling(member)) != "operator=":
            return False
        kind = self._first_type(member)
        pointee = self.library.clang_getPointeeType(kind)
        assigned = self.library.clang_getTypeDeclaration(
            self.library.clang_getCanonicalType(pointee if pointee.kind else kind)
        )
        return bool(assigned.decl == self.library.clang_getCursorSemanticParent(member).decl)

    def _first_type(self, function: CXCursor) -> CXType:
        result: CXType = self.library.clang_getArgType(self.library.clang_getCursorType(function), 0)
        return result

    def _keeps_copying(self, member: CXCursor) -> bool:
        """Whether a class with this member is moved by what copies it ([class.copy.ctor], [class.copy.assign])."""
        return member.kind == kinds.DESTRUCTOR or self._is_assigning(member) or self._is_copying(member)

    def _part_runs(self, class_: CXCursor, inside: list[CXCursor], special: Special) -> bool:
        if special is Special.DEFAULT:
            return any(True for part in inside for _ in self.made_by_default(part))
        if class_.kind == kinds.UNION:
            return False
        return any(self.runs(self.library.clang_getCursorType(part), special) for part in self._parts(inside))

    def _parts(self, inside: list[CXCursor]) -> Iterator[CXCursor]:
        """The fields and bases among what stands in a class, those of `struct {..};` in it too."""
        for part in inside:
            if part.kind in (kinds.FIELD, kinds.BASE_SPECIFIER):
                yield part
            elif part.kind in (kinds.CLASS, kinds.STRUCT) and self.library.clang_Cursor_isAnonymousRecordDecl(part):
                yield from self._parts(children(part))

    def made_by_default(self, part: CXCursor, without: Declaration | None = None) -> Iterator[Run]:
        """What a constructor that says nothing of the part, a child of its class, runs for it."""
        library = self.library
        if part.kind == kinds.FIELD:
            if has_initialiser(part):
                for callee, at in self.calls_of_initialiser(part):
                    yield callee, self._bindings_of(at, library.clang_getCursorReferenced(at))
            elif library.clang_getCursorSemanticParent(part).kind != kinds.UNION:
                yield from self.runs(library.clang_getCursorType(part), Special.DEFAULT)
        elif part.kind == kinds.BASE_SPECIFIER:
            kind = library.clang_getCursorType(part)
            if without is None or self.declarations.of(self._class_of_value(kind) or part) is not without:
                yield from self.runs(kind, Special.DEFAULT)
        elif part.kind in RECORDS and library.clang_Cursor_isAnonymousRecordDecl(part):
            for inner in children(part):
                yield from self.made_by_default(inner)

    def calls_of_initialiser(self, field: CXCursor) -> list[tuple[Declaration, CXCursor]]:
        """The calls in a field's initialiser, each with its cursor."""
        known = self._initialisers.get(field.decl)
        if known is None:
            known = self._initialisers[field.decl] = list(self._calls_in(field))
        return known

    def _calls_in(self, field: CXCursor) -> Iterator[tuple[Declaration, CXCursor]]:
        pending = [c for c in children(field) if c.kind in kinds.EXPRESSIONS]
        for expression in pending:
            values = values_of(expression) if expression.kind == kinds.INIT_LIST_EXPR else None
            inside = children(expression) if values is None else values.listed.cursors()
            inside += [c for left_out in (values.defaults if values is not None else ()) for c in children(left_out)]
            pending += [c for c in inside if c.kind in kinds.EXPRESSIONS and c.kind != kinds.LAMBDA_EXPR]
            if expression.kind == kinds.CALL_EXPR:
                callee = self.declarations.of(self.library.clang_getCursorReferenced(expression))
                if callee is not None and callee.is_function:
                    yield callee, expression

    def _class_of_value(self, kind: CXType) -> CXCursor | None:
        """The class of the tree of which the type is an object or an array, its template where it depends on
        parameters; None for other types."""
        library = self.library
        kind = library.clang_getCanonicalType(kind)
        while kind.kind in kinds.ARRAY_TYPES:
            kind = library.clang_getArrayElementType(kind)
        class_: CXCursor = library.clang_getTypeDeclaration(kind)
        if class_.kind not in _WITH_MEMBERS:
            return None
        declared = self.declarations.of(class_)
        return class_ if declared is not None and declared.file else None

    def inside(self, class_: CXCursor) -> list[CXCursor]:
        """What stands in the class; of an instance, in its template, for libclang shows an instance without members."""
        template = self.library.clang_getSpecializedCursorTemplate(class_)
        return children(self.library.clang_getCursorDefinition(template if template.decl else class_))


def has_initialiser(field: CXCursor) -> bool:
    """Whether the declaration of the field gives it a value."""
    library = load()
    values = [c for c in children(field) if c.kind in kinds.EXPRESSIONS]
    if library.clang_getCursorType(field).kind in kinds.ARRAY_TYPES:  # its size is an expression, too
        return any(
            c.kind == kinds.INIT_LIST_EXPR or library.clang_getCursorType(c).kind in kinds.ARRAY_TYPES for c in values
        )
    return bool(values)
