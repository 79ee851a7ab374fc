"""Constructors and destructors that run though nobody writes a call: of fields without an initialiser, of variables."""

from __future__ import annotations

from collections.abc import Mapping

from xref.cpp import kinds
from xref.cpp.bindings import REFERENCES
from xref.cpp.clang import CXCursor, children
from xref.cpp.instances import Instances
from xref.cpp.makers import takes
from xref.cpp.names import Declaration
from xref.cpp.walk import Hooks
from xref.model import Call, Evidence, FileFacts

_INSTANTIABLE = (kinds.CLASS, kinds.STRUCT)


class Lifetimes(Instances):
    """Records the calls at both ends of an object's life."""

    def __init__(
        self,
        root: str,
        known: frozenset[str],
        owned: Mapping[str, FileFacts],
        sources: Mapping[str, bytes],
        hooks: Hooks,
        seen_externals: set[str],
    ) -> None:
        super().__init__(root, known, owned, sources, hooks, seen_externals)
        self._default_constructors: dict[int, Declaration | None] = {}
        self._destructors: dict[int, Declaration | None] = {}

    def note_default_construction(self, field: CXCursor) -> None:
        """A field without an initialiser is made by the default constructor of its class, where somebody wrote one.

        It is a call of the class, which each constructor makes (xref/link/constructions.py).
        """
        library, scope = self.library, self.scope
        class_ = library.clang_getTypeDeclaration(library.clang_getCanonicalType(library.clang_getCursorType(field)))
        if scope is None or class_.kind not in _INSTANTIABLE:
            return
        if class_.decl not in self._default_constructors:
            self._default_constructors[class_.decl] = self._default_constructor_of(class_)
        constructor = self._default_constructors[class_.decl]
        file, line, col = self.position(field)
        facts = self.facts.get(file)
        if facts is not None and constructor is not None:
            self.mention(constructor, facts)
            facts.calls.append(Call(scope.id, constructor.id, Evidence.DIRECT, line, col))
            self._emit(constructor, self._class_bindings(class_), facts, line, col)

    def _default_constructor_of(self, class_: CXCursor) -> Declaration | None:
        library = self.library
        template = library.clang_getSpecializedCursorTemplate(class_)
        for child in children(library.clang_getCursorDefinition(template if template.decl else class_)):
            if child.kind == kinds.CONSTRUCTOR and takes(self, child, 0):
                found = self.declarations.of(child)
                written = found is not None and found.file and not library.clang_CXXMethod_isDefaulted(child)
                return found if written else None
        return None

    def note_destructor(self, variable: CXCursor) -> None:
        """A local variable's destructor is called by the function, where somebody wrote one for its class."""
        library, scope = self.library, self.scope
        kind = library.clang_getCursorType(variable)
        class_ = library.clang_getTypeDeclaration(library.clang_getCanonicalType(kind))
        if scope is None or kind.kind in REFERENCES or class_.kind not in _INSTANTIABLE:
            return
        if class_.decl not in self._destructors:
            self._destructors[class_.decl] = self._destructor_of(class_)
        destructor = self._destructors[class_.decl]
        file, line, col = self.position(variable)
        facts = self.facts.get(file)
        if facts is not None and destructor is not None:
            self.mention(destructor, facts)
            facts.calls.append(Call(scope.id, destructor.id, Evidence.DIRECT, line, col))
            self._emit(destructor, self._class_bindings(class_), facts, line, col)

    def _destructor_of(self, class_: CXCursor) -> Declaration | None:
        template = self.library.clang_getSpecializedCursorTemplate(class_)  # libclang shows an instance without members
        defined = self.library.clang_getCursorDefinition(template if template.decl else class_)
        written = next((c for c in children(defined) if c.kind == kinds.DESTRUCTOR), None)
        found = self.declarations.of(written) if written is not None else None
        return found if found is not None and found.file else None
