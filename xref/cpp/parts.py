"""What constructors run for the parts of an object, its fields and base classes, though nobody writes a call.

A class says what its initialisers and the default constructors of its fields run, and what copying and moving its parts
runs; a constructor says which parts it sets itself. The linker joins them (xref/link/constructions.py), since neither
an implicit constructor nor one in another file is walked with the class.
"""

from __future__ import annotations

from collections.abc import Iterator

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, CXType, children, load, text
from xref.cpp.hidden import values_of
from xref.cpp.lifetimes import Lifetimes
from xref.cpp.makers import copies, takes
from xref.cpp.members import class_of
from xref.cpp.names import Declaration, class_of_base
from xref.cpp.walk import Inputs
from xref.model import Call, Evidence, FileFacts, Part, PartUse

_RVALUE_REFERENCE = 104  # CXType_RValueReference
_RECORDS = (kinds.CLASS, kinds.STRUCT, kinds.UNION)
_USES = {Evidence.DIRECT: PartUse.RUNS, Evidence.VALUE: PartUse.GIVES}
_MAX_BASES = 32
"""From a class to the one whose constructor it inherits."""
Run = tuple[Declaration, dict[str, str]]
"""A callee, and what stands for the parameters of its template."""


class Parts(Lifetimes):
    """Records what fields, bases and constructors run."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._by_default: dict[int, list[Run]] = {}
        self._by_copy: dict[tuple[int, bool], list[Declaration]] = {}
        self._initialisers: dict[int, list[tuple[Declaration, CXCursor]]] = {}

    def walk_field(self, field: CXCursor, declared: Declaration, class_: CXCursor) -> None:
        """Walk a field of the class, and record what constructors run for it."""
        scope, (file, line, col) = self.scope, self.position(field)
        facts = self.facts.get(file)
        if scope is None or facts is None:
            self.descend(field)
            return
        first, kind = len(facts.calls), self.library.clang_getCursorType(field)
        if class_.kind != kinds.UNION and not _has_initialiser(field):
            for callee, bound in self.runs_by_default(kind):
                self.mention(callee, facts)
                facts.calls.append(Call(scope.id, callee.id, Evidence.DIRECT, line, col))
                self._emit(callee, bound, facts, line, col)
        self.descend(field)
        facts.parts += [
            Part(scope.id, _USES[call.evidence], declared.id, call.callee, call.line, call.col)
            for call in facts.calls[first:]
            if call.caller == scope.id and call.evidence in _USES
        ]
        self.note_copies(scope, declared, kind, facts, line, col)

    def note_copies(
        self, owner: Declaration, part: Declaration, kind: CXType, facts: FileFacts, line: int, col: int
    ) -> None:
        """Record what an implicit copy or move of `owner` runs for this part of it."""
        for use, moves in ((PartUse.COPIES, False), (PartUse.MOVES, True)):
            for callee in self.copied_by(kind, moves):
                self.mention(callee, facts)
                facts.parts.append(Part(owner.id, use, part.id, callee.id, line, col))

    def note_constructor(self, constructor: CXCursor, declared: Declaration) -> None:
        """Record which fields a constructor sets itself, and whether it is `= default`."""
        facts = self.facts.get(self.position(constructor)[0])
        if facts is None:
            return
        if self.library.clang_CXXMethod_isDefaulted(constructor):
            facts.parts.append(Part(declared.id, PartUse.DEFAULTED, declared.id))
        for child in children(constructor):
            field = self.library.clang_getCursorReferenced(child) if child.kind == kinds.MEMBER_REF else None
            if field is None or not self._matters(field):
                continue
            part = self.declarations.of(field)
            if part is not None:
                facts.parts.append(Part(declared.id, PartUse.SETS, part.id))

    def note_anonymous(self, class_: CXCursor, declared: Declaration) -> None:
        """Record that the class around has the fields of `struct {..};` or `union {..};` in it."""
        scope, facts = self.scope, self.facts.get(self.position(class_)[0])
        if scope is not None and facts is not None and self.library.clang_Cursor_isAnonymousRecordDecl(class_):
            facts.parts.append(Part(scope.id, PartUse.HOLDS, declared.id))

    def note_inherited(self, constructor: CXCursor, callee: Declaration, facts: FileFacts, line: int, col: int) -> None:
        """`using Base::Base`: the call of a base's constructor makes the other parts of the derived class as well,
        which the class itself stands for, as for each constructor that the compiler makes."""
        scope, target = self.scope, callee.parent
        made = self.library.clang_getCursorSemanticParent(constructor)
        for _ in range(_MAX_BASES):
            class_ = self.declarations.of(made)
            if scope is None or class_ is None or target is None or class_.id == target.id or not class_.file:
                return
            bases = [c for c in self._inside(made) if c.kind == kinds.BASE_SPECIFIER]
            base = next((b for b in map(class_of_base, bases) if self._derives(b, target)), None)
            of_base = self.declarations.of(base) if base is not None else None
            if base is None or of_base is None:
                return
            if any(True for part in self._inside(made) for _ in self._runs_of_part(part, without=of_base)):
                self.mention(class_, facts)
                facts.calls.append(Call(scope.id, class_.id, Evidence.DIRECT, line, col))
                facts.parts.append(Part(class_.id, PartUse.INHERITS, of_base.id))
            made = base

    def _derives(self, class_: CXCursor, target: Declaration) -> bool:
        declared = self.declarations.of(class_)
        if declared is None:
            return False
        bases = (class_of_base(c) for c in self._inside(class_) if c.kind == kinds.BASE_SPECIFIER)
        return declared.id == target.id or any(self._derives(base, target) for base in bases)

    # what is run

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

    def runs_by_default(self, kind: CXType) -> list[Run]:
        """What making an object, or an array, of the type without a value calls, as far as somebody wrote it in the
        tree: its default constructor, or what the compiler's runs for its parts."""
        class_ = self._class_of_value(kind)
        if class_ is None:
            return []
        known = self._by_default.get(class_.decl)
        if known is None:
            self._by_default[class_.decl] = []  # it holds itself: this does not compile
            known = self._by_default[class_.decl] = self._find_default(class_)
        return known

    def _find_default(self, class_: CXCursor) -> list[Run]:
        inside = self._inside(class_)
        written = [c for c in inside if c.kind == kinds.CONSTRUCTOR]
        chosen = next((c for c in written if takes(self, c, 0)), None)
        if chosen is None and any(not copies(self, c) for c in written):
            return []
        if chosen is None or self.library.clang_CXXMethod_isDefaulted(chosen):
            runs = [run for part in inside for run in self._runs_of_part(part)]
            if chosen is None or not runs:
                return runs
        declared = self.declarations.of(chosen)
        if declared is None or not declared.file or self.library.clang_CXXMethod_isDeleted(chosen):
            return []
        return [(declared, self._class_bindings(class_))]

    def _runs_of_part(self, part: CXCursor, without: Declaration | None = None) -> Iterator[Run]:
        """What a constructor that says nothing of the part, a child of its class, runs for it."""
        library = self.library
        if part.kind == kinds.FIELD:
            if _has_initialiser(part):
                for callee, at in self.calls_of_initialiser(part):
                    yield callee, self._bindings_of(at, library.clang_getCursorReferenced(at))
            elif library.clang_getCursorSemanticParent(part).kind != kinds.UNION:
                yield from self.runs_by_default(library.clang_getCursorType(part))
        elif part.kind == kinds.BASE_SPECIFIER:
            if without is None or self.declarations.of(class_of_base(part)) is not without:
                yield from self.runs_by_default(library.clang_getCursorType(part))
        elif part.kind in _RECORDS and library.clang_Cursor_isAnonymousRecordDecl(part):
            for inner in children(part):
                yield from self._runs_of_part(inner)

    def _matters(self, field: CXCursor) -> bool:
        """Whether a constructor would make the field, or another one of its union, if it did not set it."""
        if _has_initialiser(field) or self.library.clang_getCursorSemanticParent(field).kind == kinds.UNION:
            return True
        return bool(self.runs_by_default(self.library.clang_getCursorType(field)))

    def copied_by(self, kind: CXType, moves: bool) -> list[Declaration]:
        """The constructors of the tree that copying, or moving, an object or array of the type calls."""
        class_ = self._class_of_value(kind)
        if class_ is None:
            return []
        template = self.library.clang_getSpecializedCursorTemplate(class_)
        of = (template.decl or class_.decl, moves)
        known = self._by_copy.get(of)
        if known is None:
            self._by_copy[of] = []
            known = self._by_copy[of] = self._find_copy(class_, moves)
        return known

    def _find_copy(self, class_: CXCursor, moves: bool) -> list[Declaration]:
        inside = self._inside(class_)
        written = [c for c in inside if c.kind == kinds.CONSTRUCTOR and copies(self, c)]
        moving = [c for c in written if self._moves(c)]
        copying = [c for c in written if c not in moving]
        if moves and not moving and (copying or any(self._keeps_copying(c) for c in inside)):
            moves = False
        chosen = next(iter(moving if moves else copying), None)
        if chosen is None and moving:
            return []  # a class that can be moved alone
        if chosen is None or self.library.clang_CXXMethod_isDefaulted(chosen):
            parts = [c for c in inside if c.kind in (kinds.FIELD, kinds.BASE_SPECIFIER)]
            types = [self.library.clang_getCursorType(c) for c in parts] if class_.kind != kinds.UNION else []
            found = [callee for kind in types for callee in self.copied_by(kind, moves)]
            if chosen is None or not found:
                return found
        declared = self.declarations.of(chosen)
        if declared is None or not declared.file or self.library.clang_CXXMethod_isDeleted(chosen):
            return []
        return [declared]

    def _moves(self, constructor: CXCursor) -> bool:
        kind = self.library.clang_getCursorType(constructor)
        return bool(self.library.clang_getArgType(kind, 0).kind == _RVALUE_REFERENCE)

    def _keeps_copying(self, member: CXCursor) -> bool:
        """Whether a class with this member is moved by its copy constructor: it has a destructor or an assignment of
        its own ([class.copy.ctor])."""
        if member.kind != kinds.METHOD or text(self.library.clang_getCursorSpelling(member)) != "operator=":
            return bool(member.kind == kinds.DESTRUCTOR)
        assigned = class_of(self.library.clang_getArgType(self.library.clang_getCursorType(member), 0))
        return bool(assigned.decl == self.library.clang_getCursorSemanticParent(member).decl)

    def _class_of_value(self, kind: CXType) -> CXCursor | None:
        """The class of the tree of which the type is an object or an array; None for other types."""
        library = self.library
        kind = library.clang_getCanonicalType(kind)
        while kind.kind in kinds.ARRAY_TYPES:
            kind = library.clang_getArrayElementType(kind)
        class_: CXCursor = library.clang_getTypeDeclaration(kind)
        if class_.kind not in _RECORDS:
            return None
        declared = self.declarations.of(class_)
        return class_ if declared is not None and declared.file else None

    def _inside(self, class_: CXCursor) -> list[CXCursor]:
        """What stands in the class; of an instance, in its template, for libclang shows an instance without members."""
        template = self.library.clang_getSpecializedCursorTemplate(class_)
        return children(self.library.clang_getCursorDefinition(template if template.decl else class_))


def _has_initialiser(field: CXCursor) -> bool:
    library = load()
    values = [c for c in children(field) if c.kind in kinds.EXPRESSIONS]
    if library.clang_getCursorType(field).kind in kinds.ARRAY_TYPES:  # its size is an expression, too
        return any(
            c.kind == kinds.INIT_LIST_EXPR or library.clang_getCursorType(c).kind in kinds.ARRAY_TYPES for c in values
        )
    return bool(values)
