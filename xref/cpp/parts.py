"""What constructors, assignments and destructors run for the parts of an object though nobody writes a call.

A class says what its initialisers and the default constructors of its parts run, and what copying, moving, assigning
and destroying the parts runs; a constructor says which parts it sets itself. The linker joins them
(xref/link/constructions.py), since neither what the compiler declares nor what stands in another file is walked with
the class.
"""

from __future__ import annotations

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, CXType, children
from xref.cpp.lifetimes import Lifetimes
from xref.cpp.names import Declaration, class_of_base
from xref.cpp.specials import has_initialiser
from xref.model import Call, Evidence, FileFacts, Id, Part, PartUse
from xref.special_members import Special, special_of

_USES = {Evidence.DIRECT: PartUse.RUNS, Evidence.VALUE: PartUse.GIVES, Evidence.TEMPLATE: PartUse.MAY_RUN}
_IMPLICIT = {
    Special.COPY: PartUse.COPIES,
    Special.MOVE: PartUse.MOVES,
    Special.COPY_ASSIGNMENT: PartUse.ASSIGNS,
    Special.MOVE_ASSIGNMENT: PartUse.MOVE_ASSIGNS,
    Special.DESTRUCTOR: PartUse.ENDS,
}
_MAX_BASES = 32
"""From a class to the one whose constructor it inherits."""


class Parts(Lifetimes):
    """Records what fields, bases and constructors run."""

    def walk_field(self, field: CXCursor, declared: Declaration, class_: CXCursor) -> None:
        """Walk a field of the class, and record what constructors run for it."""
        scope, (file, line, col) = self.scope, self.position(field)
        facts = self.facts.get(file)
        if scope is None or facts is None:
            self.descend(field)
            return
        first, kind = len(facts.calls), self.library.clang_getCursorType(field)
        if class_.kind != kinds.UNION and not has_initialiser(field):
            self._note_part_made(declared, kind, facts, line, col)
        self.descend(field)
        facts.parts += [
            Part(scope.id, _USES[call.evidence], declared.id, call.callee, call.line, call.col, call.via)
            for call in facts.calls[first:]
            if call.caller == scope.id
        ]
        facts.calls[first:] = [call for call in facts.calls[first:] if call.caller != scope.id]
        if class_.kind != kinds.UNION:
            self._note_part_done(scope, declared, kind, facts, line, col)

    def note_base(self, derived: Declaration, base: Declaration, specifier: CXCursor, facts: FileFacts) -> None:
        """Record what the members of a class run for its base."""
        kind, (_, line, col) = self.library.clang_getCursorType(specifier), self.position(specifier)
        self._note_part_made(base, kind, facts, line, col)
        self._note_part_done(derived, base, kind, facts, line, col)

    def _note_part_made(self, part: Declaration, kind: CXType, facts: FileFacts, line: int, col: int) -> None:
        scope = self.scope
        for callee, bound in self.runs(kind, Special.DEFAULT) if scope is not None else ():
            assert scope is not None
            self.mention(callee, facts)
            facts.parts.append(Part(scope.id, PartUse.RUNS, part.id, callee.id, line, col))
            self._emit(callee, bound, facts, line, col)

    def _note_part_done(
        self, owner: Declaration, part: Declaration, kind: CXType, facts: FileFacts, line: int, col: int
    ) -> None:
        """Record what a copy, move, assignment or destructor of `owner` that is the compiler's runs for this part, and
        any destructor."""
        for special, use in _IMPLICIT.items():
            for callee, _ in self.runs(kind, special):
                self.mention(callee, facts)
                facts.parts.append(Part(owner.id, use, part.id, callee.id, line, col))

    def note_class(self, class_: CXCursor, declared: Declaration) -> None:
        """Name the constructor that the compiler declares where it runs something: nothing else need name it. The class
        around has the fields of `struct {..};` or `union {..};` in it."""
        facts, scope = self.facts.get(self.position(class_)[0]), self.scope
        if facts is None:
            return
        if self.library.clang_Cursor_isAnonymousRecordDecl(class_):
            if scope is not None:
                facts.parts.append(Part(scope.id, PartUse.HOLDS, declared.id))
            return
        for member in self.members_for(class_, Special.DEFAULT):
            if member.parent is declared and special_of(member.key) is not None:
                self.mention(member, facts)
                facts.parts.append(Part(declared.id, PartUse.DECLARES, declared.id, member.id))

    def note_member(self, member: CXCursor, declared: Declaration) -> None:
        """Record of a constructor which fields it sets itself, and of all whether they are `= default`."""
        facts = self.facts.get(self.position(member)[0])
        if facts is None:
            return
        if self.library.clang_CXXMethod_isDefaulted(member):
            facts.parts.append(Part(declared.id, PartUse.DEFAULTED, declared.id))
        for child in children(member) if declared.symbol_kind == "constructor" else ():
            field = self.library.clang_getCursorReferenced(child) if child.kind == kinds.MEMBER_REF else None
            if field is None or not self._matters(field):
                continue
            part = self.declarations.of(field)
            if part is not None:
                facts.parts.append(Part(declared.id, PartUse.SETS, part.id))

    def note_inherited(self, constructor: CXCursor, callee: Declaration, facts: FileFacts, line: int, col: int) -> None:
        """`using Base::Base`: the call of a base's constructor makes the other parts of the derived class as well,
        by a constructor that the compiler declares."""
        if callee.parent is not None:
            made = self.library.clang_getCursorSemanticParent(constructor)
            self.note_inheriting(made, callee.parent.id, Evidence.DIRECT, facts, line, col)

    def note_inheriting(
        self, made: CXCursor, target: Id, evidence: Evidence, facts: FileFacts, line: int, col: int
    ) -> None:
        """The same where an object of class `made` is made by a constructor of the class `target`, a base of it."""
        scope = self.scope
        for _ in range(_MAX_BASES):
            class_ = self.declarations.of(made)
            if scope is None or class_ is None or class_.id == target or not class_.file:
                return
            bases = [c for c in self.inside(made) if c.kind == kinds.BASE_SPECIFIER]
            base = next((b for b in map(class_of_base, bases) if self._derives(b, target)), None)
            of_base = self.declarations.of(base) if base is not None else None
            if base is None or of_base is None:
                return
            if any(True for part in self.inside(made) for _ in self.made_by_default(part, without=of_base)):
                inheriting = self.declarations.special(class_, Special.INHERITED)
                self.mention(inheriting, facts)
                facts.calls.append(Call(scope.id, inheriting.id, evidence, line, col))
                facts.parts.append(Part(inheriting.id, PartUse.INHERITS, of_base.id))
            made = base

    def _derives(self, class_: CXCursor, target: Id) -> bool:
        declared = self.declarations.of(class_)
        if declared is None:
            return False
        bases = (class_of_base(c) for c in self.inside(class_) if c.kind == kinds.BASE_SPECIFIER)
        return declared.id == target or any(self._derives(base, target) for base in bases)

    def _matters(self, field: CXCursor) -> bool:
        """Whether a constructor would make the field, or another one of its union, if it did not set it."""
        if has_initialiser(field) or self.library.clang_getCursorSemanticParent(field).kind == kinds.UNION:
            return True
        return bool(self.runs(self.library.clang_getCursorType(field), Special.DEFAULT))
