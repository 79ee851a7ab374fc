"""What a call gives for the parameters of the template it runs: `x.as<IntImmNode>()`, `array.Map([](..) {..})`.

A template is walked once, as written, so that what it does with its parameters (`T::RuntimeTypeIndex()`, `fmap(x)`) is
a fact of the template. A fact of each call is what it gives for them: a class, a lambda or function, or a parameter of
the template that the call itself stands in. The linker joins both (xref/link/instances.py).
"""

from __future__ import annotations

from xref.cpp import kinds
from xref.cpp.bindings import MAX_ARGUMENTS, Bindings
from xref.cpp.clang import CXCursor, CXType, children, unwrapped
from xref.cpp.makers import MAKERS, constructors
from xref.cpp.names import Declaration
from xref.cpp.walk import Inputs
from xref.model import CALL_OPERATOR, CONSTRUCTION, SAME, Call, Dependent, Evidence, FileFacts, Instance
from xref.special_members import Special

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

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
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
            if candidate.qualname in MAKERS and given and given[0].startswith("p"):
                made, passed = given[0][1:], self.expressions_in(call)[1:]  # the first expression names the maker
                self.note_construction(made, facts, line, col, given=self.given_for(made, passed))
            elif candidate.qualname in MAKERS:
                self._note_made(call, facts, line, col)
            if not candidate.file:
                continue
            names = self._names_of(declared)
            bound = {n: v for n, v in zip(names, given, strict=False) if v}
            for name, value in zip(self._parameter_types(declared, names), arguments, strict=False):
                if name and value and name not in bound:
                    bound[name] = value
            for i in self.callable_positions(declared)[:MAX_ARGUMENTS]:
                if i < len(arguments) and arguments[i].startswith(("f", "p", "r")):
                    bound[f"#{i}"] = arguments[i]
            self._emit(candidate, bound, facts, line, col)

    def note_arguments(
        self, named: CXCursor, name: CXCursor, callee: Declaration, declared: CXCursor, facts: FileFacts, line: int,
        col: int,
    ) -> None:  # fmt: skip
        """Record what `creator = ObjectCreatorDefault<Class>` in a template gives to the function, which runs later."""
        here = self.token(name)
        given = [c for c in children(named) if c.kind == kinds.TYPE_REF and self.token(c) > here]
        names = self._names_of(declared) if given and callee.file else []
        bound: dict[str, str] = {}
        for parameter, reference in zip(names, given, strict=False):
            self._bind(bound, parameter, self._value_of_reference(reference))
        if bound and self.scope is not None:  # not `inside`: the caller runs nothing of it
            written = ",".join(f"{parameter}={value}" for parameter, value in bound.items())
            facts.instances.append(Instance(line, col, self.scope.id, callee.id, written, False))

    def note_construction(
        self, parameter: str, facts: FileFacts, line: int, col: int, written: str = "", given: str = ""
    ) -> None:
        """Record that an object of a template parameter's type is made. `written`: the call, where it is one; `given`:
        what `given_for` says of its arguments."""
        facts.dependent.append(Dependent(line, col, self.within(), CONSTRUCTION + given, "", "", written, parameter))

    def expressions_in(self, call: CXCursor) -> list[CXCursor]:
        """The expressions directly below a call or construction."""
        return [c for c in children(call) if c.kind in kinds.EXPRESSIONS]

    def given_for(self, made: str, arguments: list[CXCursor]) -> str:
        """What a construction of the template parameter is given: the number of arguments, "" where a pack is among
        them; `COPY` or `MOVE` behind it where the one argument is of that type itself."""
        if len(arguments) == 1 and arguments[0].kind == kinds.INIT_LIST_EXPR:
            arguments = self.expressions_in(arguments[0])
        if any(c.kind == kinds.PACK_EXPANSION for c in arguments):
            return ""
        how = self._copies(arguments[0], made) if len(arguments) == 1 else ""
        return f"{len(arguments)}{how}"

    def _copies(self, argument: CXCursor, made: str) -> str:
        """Which constructor makes an object of the template parameter of the argument, where that is one: `*self`."""
        library = self.library
        value = self.handed_on(argument)
        is_named = value.data1 == unwrapped(argument).data1 and value.kind != kinds.CALL_EXPR
        if value.kind == kinds.UNARY_OPERATOR and library.clang_getCursorUnaryOperatorKind(value) == kinds.DEREFERENCE:
            value = next(iter(children(value)), value)
        if self.parameter_of_object(value) != made:
            return ""
        return Special.COPY if is_named else Special.MOVE

    def _note_made(self, call: CXCursor, facts: FileFacts, line: int, col: int) -> None:
        """`using Impl = FunctionObjImpl<F>; make_object<Impl>(..)` in a template calls the constructors of Impl; so
        does `make_unique<With<Context>>(..)`."""
        library, scope = self.library, self.scope
        named = self._explicit_references(call)
        if not named or scope is None:
            return
        if named[0].kind == kinds.TEMPLATE_REF:
            class_ = library.clang_getCursorReferenced(named[0])
            values = [self._value_of_reference(c) if c.kind == kinds.TYPE_REF else "" for c in named[1:]]
        else:
            alias = library.clang_getCursorReferenced(named[0])
            is_alias = alias.kind in (kinds.TYPE_ALIAS, kinds.TYPEDEF)
            kind = library.clang_getTypedefDeclUnderlyingType(alias) if is_alias else library.clang_getCursorType(alias)
            class_ = library.clang_getTypeDeclaration(library.clang_getCanonicalType(kind))
            values = self._arguments_of_type(kind)
        if class_.kind not in kinds.TYPE_LIKE:
            return
        bound = self._class_arguments(class_, values)
        for constructor in constructors(self, class_):
            if constructor.file:
                self.mention(constructor, facts)
                facts.calls.append(Call(scope.id, constructor.id, Evidence.TEMPLATE, line, col))
                self._emit(constructor, bound, facts, line, col)

    def note_made_in_template(self, kind: CXType, facts: FileFacts, line: int, col: int) -> None:
        """Record what `PBinaryExpr<Add, TA, TB>(a, b)` in a template gives for the parameters of the class."""
        class_ = self.library.clang_getTypeDeclaration(kind)
        bound = self._class_arguments(class_, self._arguments_of_type(kind)) if class_.kind in kinds.TYPE_LIKE else {}
        for constructor in constructors(self, class_)[:1] if bound else ():
            if constructor.file:
                self._emit(constructor, bound, facts, line, col)

    def _arguments_of_type(self, kind: CXType) -> list[str]:
        given = (self.library.clang_Type_getTemplateArgumentAsType(kind, i) for i in range(MAX_ARGUMENTS))
        return [self._value_of_type(one) for one in given]

    def _class_arguments(self, class_: CXCursor, values: list[str]) -> dict[str, str]:
        """Bindings of the class's parameters to these values."""
        bound: dict[str, str] = {}
        for name, value in zip(self._names_of(class_), values, strict=False):
            self._bind(bound, f"^{name}", value)
        return bound

    def note_result(self, statement: CXCursor) -> None:
        """Record the function, or the parameter, that a template returns: who is given its result is given that."""
        scope = self.scope
        value = next((c for c in children(statement) if c.kind in kinds.EXPRESSIONS), None)
        if scope is None or value is None or scope.symbol_kind == "lambda" or not self.in_template():
            return
        returned = self._value_of(value)
        file, line, col = self.position(statement)
        if returned.startswith(("f", "p", "r")) and file in self.facts:
            self.facts[file].instances.append(Instance(line, col, scope.id, scope.id, f"~={returned}", False))

    def note_member_type(self, alias: CXCursor, declaration: Declaration) -> None:
        """Record which class `using ContainerType = IntImmNode;` in a class names: templates say `T::ContainerType`."""
        scope = self.scope
        if scope is None or scope.kind not in kinds.TYPE_LIKE:
            return
        value = self._value_of_type(self.library.clang_getTypedefDeclUnderlyingType(alias))
        file, line, col = self.position(alias)
        if value.startswith("c") and file in self.facts:
            self.facts[file].instances.append(Instance(line, col, scope.id, declaration.id, f"@={value}", False))

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
        at = unwrapped(self.handed_on(self.bound_function(argument)), (kinds.UNARY_OPERATOR, *kinds.WRAPPERS))
        if at.kind != kinds.DECL_REF_EXPR:
            return None
        target = self.declarations.of(self.library.clang_getCursorReferenced(at))
        return target if target is not None and target.is_function else None
