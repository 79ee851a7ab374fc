"""What a call gives for the parameters of the template it runs: `x.as<IntImmNode>()`, `array.Map([](..) {..})`.

A template is walked once, as written, so that what it does with its parameters (`T::RuntimeTypeIndex()`, `fmap(x)`) is
a fact of the template. A fact of each call is what it gives for them: a class, a lambda or function, or a parameter of
the template that the call itself stands in. The linker joins both (xref/link/instances.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from xref.cpp import kinds
from xref.cpp.bindings import MAX_ARGUMENTS, Bindings
from xref.cpp.clang import CXCursor, children
from xref.cpp.makers import MAKERS, constructors
from xref.cpp.names import CALL_OPERATOR, Declaration
from xref.cpp.walk import Hooks
from xref.model import CONSTRUCTION, SAME, Call, Dependent, Evidence, FileFacts, Instance

_TYPE_ARGUMENT = 1  # CXTemplateArgumentKind_Type
_FUNCTOR_PARAMETERS = ("_Hash", "_Pred", "_Compare")
"""How libstdc++ and libc++ name the parameters of containers that are given functors."""
_KEYED = frozenset((
    "at", "contains", "count", "emplace", "emplace_hint", "equal_range", "erase", "extract", "find", "insert",
    "insert_or_assign", "lower_bound", "merge", "operator[]", "try_emplace", "upper_bound",
))  # fmt: skip
"""Members of associative containers that hash or compare keys (C++17, [associative.reqmts], [unord.req])."""


class Instances(Bindings):
    """Records what each call gives for template parameters, and the functors that a standard container is given."""

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
        self._bound_functions: dict[int, dict[str, str]] = {}
        self._functors: dict[int, list[Declaration]] = {}

    def note_instance(
        self, call: CXCursor, referenced: CXCursor, callee: Declaration, facts: FileFacts, line: int, col: int
    ) -> None:
        """Record what a resolved call gives for the parameters of its callee and the callee's class."""
        if not callee.file:
            self._note_functors(referenced, callee, facts, line, col)
            return
        bound = self._bound_functions.get(referenced.decl)
        if bound is None:
            bound = self._bound_functions[referenced.decl] = self._bindings_of(call, referenced)
        if any(value == "f" for value in bound.values()):
            bound = self._with_functions(call, referenced, bound)
        self._emit(callee, bound, facts, line, col)

    def _note_functors(self, referenced: CXCursor, callee: Declaration, facts: FileFacts, line: int, col: int) -> None:
        """`std::unordered_map<K, V, StructuralHash>::find` runs the call operators of the tree's functors."""
        scope = self.scope
        if scope is None or (
            callee.parent is not None and callee.symbol_kind == "method" and callee.name not in _KEYED
        ):
            return
        functors = self._functors.get(referenced.decl)
        if functors is None:
            functors = self._functors[referenced.decl] = self._call_operators(referenced)
        for functor in functors:
            self.mention(functor, facts)
            facts.calls.append(Call(scope.id, functor.id, Evidence.TEMPLATE, line, col, callee.qualname))

    def _call_operators(self, referenced: CXCursor) -> list[Declaration]:
        """The call operators of the classes that a member of a standard container is given as functors."""
        library = self.library
        class_ = library.clang_getCursorSemanticParent(referenced)
        template = library.clang_getSpecializedCursorTemplate(class_) if class_.kind in kinds.TYPE_LIKE else class_
        if class_.kind not in kinds.TYPE_LIKE or not template.decl:
            return []
        found = []
        for i, name in enumerate(self._names_of(template)[:MAX_ARGUMENTS]):
            if name not in _FUNCTOR_PARAMETERS:
                continue
            kind = library.clang_Type_getTemplateArgumentAsType(library.clang_getCursorType(class_), i)
            functor = library.clang_getTypeDeclaration(library.clang_getCanonicalType(kind))
            for member in children(library.clang_getCursorDefinition(functor)) if functor.decl else ():
                operator = self.declarations.of(member) if member.kind == kinds.METHOD else None
                if operator is not None and operator.name == CALL_OPERATOR and operator.file:
                    found.append(operator)
        return found

    def note_candidates(
        self, call: CXCursor, candidates: list[tuple[Declaration, CXCursor]], facts: FileFacts, line: int, col: int
    ) -> None:
        """Record what a call of an overload set gives to each candidate."""
        given = self._explicit(call)
        arguments = [self._value_of(a) for a in self._arguments(call)]
        for candidate, declared in candidates:
            if not candidate.file:
                continue
            names = self._names_of(declared)
            bound = {n: v for n, v in zip(names, given, strict=False) if v}
            if candidate.qualname in MAKERS and given and given[0].startswith("p"):
                self.note_construction(given[0][1:], facts, line, col)
            elif candidate.qualname in MAKERS:
                self._note_made(call, facts, line, col)
            for name, value in zip(self._parameter_types(declared, names), arguments, strict=False):
                if name and value and name not in bound:
                    bound[name] = value
            self._emit(candidate, bound, facts, line, col)

    def note_construction(self, parameter: str, facts: FileFacts, line: int, col: int) -> None:
        """Record that an object of a template parameter's type is made."""
        facts.dependent.append(Dependent(line, col, self.within(), CONSTRUCTION, "", "", "", parameter))

    def _note_made(self, call: CXCursor, facts: FileFacts, line: int, col: int) -> None:
        """`using Impl = FunctionObjImpl<F>; make_object<Impl>(..)` in a template calls the constructors of Impl."""
        library, scope = self.library, self.scope
        named = next((c for c in self._explicit_references(call) if c.kind == kinds.TYPE_REF), None)
        if named is None or scope is None:
            return
        alias = library.clang_getCursorReferenced(named)
        is_alias = alias.kind in (kinds.TYPE_ALIAS, kinds.TYPEDEF)
        kind = library.clang_getTypedefDeclUnderlyingType(alias) if is_alias else library.clang_getCursorType(alias)
        class_ = library.clang_getTypeDeclaration(library.clang_getCanonicalType(kind))
        if class_.kind not in kinds.TYPE_LIKE:
            return
        bound: dict[str, str] = {}
        for i, name in enumerate(self._names_of(class_)[:MAX_ARGUMENTS]):
            value = self._value_of_type(library.clang_Type_getTemplateArgumentAsType(kind, i))
            self._bind(bound, f"^{name}", value)
        for constructor in constructors(self, class_):
            if constructor.file:
                self.mention(constructor, facts)
                facts.calls.append(Call(scope.id, constructor.id, Evidence.TEMPLATE, line, col))
                self._emit(constructor, bound, facts, line, col)

    def _emit(self, callee: Declaration, bound: dict[str, str], facts: FileFacts, line: int, col: int) -> None:
        scope = self.scope
        if scope is None:
            return
        inside = self.in_template()
        if bound:
            written = ",".join(f"{name}={value}" for name, value in bound.items())
        elif inside and callee.parent is not None and callee.parent.kind in kinds.TEMPLATES:
            written = SAME
        else:
            return
        facts.instances.append(Instance(line, col, scope.id, callee.id, written, inside))

    def _bindings_of(self, call: CXCursor, referenced: CXCursor) -> dict[str, str]:
        library = self.library
        bound = dict(self._class_bindings(library.clang_getCursorSemanticParent(referenced)))
        template: CXCursor = library.clang_getSpecializedCursorTemplate(referenced)
        if not template.decl:
            return bound
        names = self._names_of(template)
        if not names:
            return bound
        if referenced.kind == kinds.FUNCTION:
            for i in range(min(library.clang_Cursor_getNumTemplateArguments(referenced), len(names), MAX_ARGUMENTS)):
                if library.clang_Cursor_getTemplateArgumentKind(referenced, i) == _TYPE_ARGUMENT:
                    kind = library.clang_Cursor_getTemplateArgumentType(referenced, i)
                    self._bind(bound, names[i], self._value_of_type(kind))
        else:  # libclang tells the arguments of functions alone
            for name, value in zip(names, self._explicit(call), strict=False):
                self._bind(bound, name, value)
            made = library.clang_getCursorType(referenced)
            for i, name in enumerate(self._parameter_types(template, names)):
                if name and name not in bound:
                    self._bind(bound, name, self._value_of_type(library.clang_getArgType(made, i)))
        return bound

    def _with_functions(self, call: CXCursor, referenced: CXCursor, bound: dict[str, str]) -> dict[str, str]:
        """`bound`, where a parameter that is a pointer to function is the function that this call names."""
        template = self.library.clang_getSpecializedCursorTemplate(referenced)
        named = {name: value for name, value in bound.items() if value != "f"}
        if not template.decl:
            return named
        names = self._parameter_types(template, self._names_of(template))
        for name, argument in zip(names, self._arguments(call), strict=False):
            if name and bound.get(name) == "f" and (function := self._function_named(argument)):
                named[name] = f"f{function.id}"
        return named

    def _function_named(self, argument: CXCursor) -> Declaration | None:
        at = self.handed_on(argument)
        while (
            at.kind in (kinds.UNARY_OPERATOR, kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR)
            and len(inner := children(at)) == 1
        ):
            at = inner[0]
        if at.kind != kinds.DECL_REF_EXPR:
            return None
        target = self.declarations.of(self.library.clang_getCursorReferenced(at))
        return target if target is not None and target.is_function else None
