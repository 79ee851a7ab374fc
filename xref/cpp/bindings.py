"""What template parameters stand for: the types and arguments that a call writes, and the parameters in scope.

A value is `c<id>` (a class of the tree), `f<id>` (a function or lambda), `p<name>` (a parameter of the template around
the call, or a type within it: `pT::ContainerType`), `@<id>` (what a field or variable holds) or `r<id>/<id>` (what one
of these functions returns). The name of a class template's parameter has `^` before it.
"""

from __future__ import annotations

import re

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, CXType, children, file_location, text, unwrapped
from xref.cpp.names import CLOSURE_PREFIX, Declaration
from xref.cpp.walk import Inputs, Walk

_WRAPPER = r"(?:typename )?(?:std::)?(?:decay|remove_reference|remove_cv|remove_const|remove_cvref)(?:_t)?<"
_PARAMETER = re.compile(
    rf"(?:const |volatile |typename )*(?:{_WRAPPER})*(?:const )?(?:typename )?([A-Za-z_]\w*(?:::[A-Za-z_]\w*)?)"
    r"[>&* ]*(?:::type)?(?: const)?[&* ]*"
)
"""The spelling of a type that is a parameter, or a type within it, but for references, const, and what strips them."""
_MEMBER_TYPE = re.compile(rb"\s*(::\s*[A-Za-z_]\w*)?")
_MAX_ALIASES = 4
_HANDS_ON = ("forward", "move")
_BINDERS = ("bind", "bind_front", "mem_fn")
"""Of the standard library: they make an object that calls the function that they are given."""
_BOUND = frozenset(("_Bind", "_Bind_front", "_Mem_fn", "__bind", "__mem_fn"))
"""How libstdc++ and libc++ name the classes of such objects."""
REFERENCES, POINTER, FUNCTION, MEMBER_POINTER = (103, 104), 101, 111, 117  # CXTypeKind
MAX_ARGUMENTS = 8
"""Of a template or call, more arguments than this are not looked at."""
CALLABLES = frozenset(("function", "Function", "TypedFunction", "PackedFunc", "TypedPackedFunc"))
"""std::function, and TVM's function objects of all releases."""


class Bindings(Walk):
    """Reads what stands for template parameters."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._bound_classes: dict[int, dict[str, str]] = {}
        self._parameter_names: dict[int, list[str]] = {}
        self._positions: dict[int, list[int]] = {}
        """By function: which of its parameters can be called."""
        self.captured: dict[int, str] = {}
        """The template parameter that the type of an init-capture (`[f = std::forward<F>(f)]`) is, by its address."""

    def parameter_of(self, kind: CXType) -> str:
        """The template parameter in scope that the type is, or a type within it (`T::ContainerType`), through
        references, pointers, const and aliases; "" for others."""
        if not self.in_template():
            return ""
        for _ in range(_MAX_ALIASES):
            found = _PARAMETER.fullmatch(text(self.library.clang_getTypeSpelling(kind)))
            if found and self._is_in_scope(found.group(1).partition("::")[0]):
                return found.group(1)
            alias = self.library.clang_getTypeDeclaration(self._pointed_to(kind))
            if alias.kind not in (kinds.TYPE_ALIAS, kinds.TYPEDEF):
                break
            kind = self.library.clang_getTypedefDeclUnderlyingType(alias)
        return ""

    def _pointed_to(self, kind: CXType) -> CXType:
        while kind.kind in REFERENCES or kind.kind == POINTER:
            kind = self.library.clang_getPointeeType(kind)
        return kind

    def class_named(self, kind: CXType) -> str:
        """The qualified name of the class that the type is, or points or refers to; "" for others."""
        # canonical first: an alias of a pointer (the result of TVM's `ObjectRef::operator->`) has no pointee itself
        declared = self.library.clang_getCanonicalType(kind)
        pointee = self.library.clang_getPointeeType(declared)
        owner = self.declarations.of(self.library.clang_getTypeDeclaration(pointee if pointee.kind else declared))
        return owner.qualname if owner is not None else ""

    def parameter_of_object(self, expression: CXCursor) -> str:
        """The template parameter that the expression's type is; also that of a captured value."""
        library = self.library
        expression = unwrapped(expression)
        if expression.kind == kinds.DECL_REF_EXPR:
            referenced = library.clang_getCursorReferenced(expression)
            if referenced.decl in self.captured:
                return self.captured[referenced.decl]
        return self.parameter_of(library.clang_getCursorType(expression))

    def callable_positions(self, function: CXCursor) -> list[int]:
        """Which of the function's parameters can be called, by their types."""
        positions = self._positions.get(function.decl)
        if positions is None:
            kind = self.library.clang_getCursorType(function)
            count = max(0, self.library.clang_getNumArgTypes(kind))
            positions = [i for i in range(count) if self.is_callable(self.library.clang_getArgType(kind, i))]
            self._positions[function.decl] = positions
        return positions

    def is_callable(self, kind: CXType) -> bool:
        """Whether the type is a pointer to a function or method, std::function, or one of TVM's function objects."""
        kind = self.library.clang_getCanonicalType(kind)
        while kind.kind in REFERENCES:
            kind = self.library.clang_getPointeeType(kind)
        if kind.kind in (POINTER, MEMBER_POINTER):
            return bool(self.library.clang_getPointeeType(kind).kind == FUNCTION)
        declared = self.library.clang_getTypeDeclaration(kind)
        return bool(declared.decl) and text(self.library.clang_getCursorSpelling(declared)) in CALLABLES

    def note_captures(self, closure: CXCursor) -> None:
        """Remember of a lambda's init-captures which parameter their type is: libclang shows `auto`.

        The parts of an initialiser stand beside the capture, not below it.
        """
        if not self.in_template():
            return
        capture = 0
        for child in children(closure):
            if child.kind == kinds.VARIABLE_REF:
                variable = self.library.clang_getCursorReferenced(child)
                capture = variable.decl if self.token(variable) == self.token(child) else 0
            elif capture and child.kind == kinds.DECL_REF_EXPR and capture not in self.captured:
                parameter = self.parameter_of_object(child)
                if parameter:
                    self.captured[capture] = parameter

    def _is_in_scope(self, name: str) -> bool:
        return any(name in names for scope in self.scopes for names in self._names_around(scope))

    def _names_around(self, scope: Declaration) -> list[set[str]]:
        found = []
        at: Declaration | None = scope
        while at is not None:
            found.append(self.template_parameters.get(at.id, set()))
            at = at.parent
        return found

    def _class_bindings(self, class_: CXCursor) -> dict[str, str]:
        """What an instantiated class, and those around it, were given."""
        known = self._bound_classes.get(class_.decl)
        if known is not None:
            return known
        library = self.library
        bound: dict[str, str] = {}
        self._bound_classes[class_.decl] = bound
        if class_.kind not in kinds.TYPE_LIKE:
            return bound
        template: CXCursor = library.clang_getSpecializedCursorTemplate(class_)
        if template.decl and class_.kind != kinds.PARTIAL_SPECIALIZATION:
            kind = library.clang_getCursorType(class_)
            names = self._names_of(template)
            if template.kind == kinds.PARTIAL_SPECIALIZATION:
                names = self._pattern_names(template, names)
            for i, name in enumerate(names[:MAX_ARGUMENTS]):
                if name:
                    value = self._value_of_type(library.clang_Type_getTemplateArgumentAsType(kind, i))
                    self._bind(bound, f"^{name}", value)
        bound.update(self._class_bindings(library.clang_getCursorSemanticParent(class_)))
        return bound

    def _pattern_names(self, specialization: CXCursor, names: list[str]) -> list[str]:
        """For each argument of the primary template, the parameter of the partial specialisation that it is, or ""."""
        library = self.library
        kind = library.clang_getCursorType(specialization)
        spelled = (
            text(library.clang_getTypeSpelling(library.clang_Type_getTemplateArgumentAsType(kind, i)))
            for i in range(MAX_ARGUMENTS)
        )
        return [word if word in names else "" for word in spelled]

    @staticmethod
    def _bind(bound: dict[str, str], name: str, value: str) -> None:
        if name and value:
            bound[name] = value

    def _names_of(self, template: CXCursor) -> list[str]:
        """The names of a template's own parameters, in order."""
        known = self._parameter_names.get(template.decl)
        if known is None:
            known = self._parameter_names[template.decl] = [
                text(self.library.clang_getCursorSpelling(c))
                for c in children(template)
                if c.kind in kinds.TEMPLATE_PARAMETERS
            ]
        return known

    def _parameter_types(self, function: CXCursor, names: list[str]) -> list[str]:
        """For each parameter of the function template, the template parameter that its type is, or ""."""
        kind = self.library.clang_getCursorType(function)
        result = []
        for i in range(min(self.library.clang_getNumArgTypes(kind), MAX_ARGUMENTS)):
            spelled = text(self.library.clang_getTypeSpelling(self.library.clang_getArgType(kind, i)))
            found = _PARAMETER.fullmatch(spelled)
            result.append(found.group(1) if found and found.group(1) in names else "")
        return result

    def _explicit(self, call: CXCursor) -> list[str]:
        """The values of the written template arguments, up to the first that is a template's instance itself."""
        values = []
        for reference in self._explicit_references(call):
            if reference.kind != kinds.TYPE_REF:
                break
            values.append(self._value_of_reference(reference))
        return values

    def _explicit_references(self, call: CXCursor) -> list[CXCursor]:
        """What stands for types among the template arguments that the call writes."""
        callee = next(iter(children(call)), None)
        while callee is not None and callee.kind in (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR):
            callee = next(iter(children(callee)), None)
        if callee is None or callee.kind not in (kinds.MEMBER_REF_EXPR, kinds.DECL_REF_EXPR):
            return []
        parts = children(callee)
        name = next((c for c in parts if c.kind == kinds.OVERLOADED_REF), callee)  # what is before it qualifies it
        here = self.token(name)
        return [c for c in parts if c.kind in (kinds.TYPE_REF, kinds.TEMPLATE_REF) and self.token(c) > here]

    def _value_of_reference(self, reference: CXCursor) -> str:
        named = self.library.clang_getCursorReferenced(reference)
        if named.kind == kinds.TEMPLATE_TYPE_PARAMETER:
            return f"p{text(self.library.clang_getCursorSpelling(named))}{self._member_type(reference)}"
        return self._value_of_type(self.library.clang_getCursorType(named))

    def _member_type(self, reference: CXCursor) -> str:
        """`::Name` where a template argument is `typename T::Name`: libclang shows the T of it alone."""
        handle, _, _, offset = file_location(self.library.clang_getCursorLocation(reference))
        source = self.source_of(self.paths.relative(handle))
        word = text(self.library.clang_getCursorSpelling(reference)).encode()
        if source[offset : offset + len(word)] != word:
            return ""
        found = _MEMBER_TYPE.match(source, offset + len(word))
        return found.group(1).decode().replace(" ", "") if found is not None and found.group(1) else ""

    def _value_of_type(self, kind: CXType) -> str:
        """`c`.. for a class of the tree, `f`.. for a lambda's closure, "f" for some function, `p`.. for a parameter."""
        library = self.library
        if not kind.kind:
            return ""
        while kind.kind in REFERENCES:
            kind = library.clang_getPointeeType(kind)
        if parameter := self.parameter_of(kind):
            return f"p{parameter}"
        kind = library.clang_getCanonicalType(kind)
        if kind.kind in (POINTER, MEMBER_POINTER):
            return "f" if library.clang_getPointeeType(kind).kind == FUNCTION else ""
        if kind.kind == FUNCTION:
            return "f"
        made = library.clang_getTypeDeclaration(kind)
        if not made.decl or made.kind not in kinds.TYPE_LIKE:
            return ""
        if made.kind == kinds.CLASS and text(library.clang_getCursorSpelling(made)).startswith(CLOSURE_PREFIX):
            closure = self.declarations.lambda_at(library.clang_getCursorLocation(made).offset)
            return f"f{closure.id}" if closure is not None else ""
        class_ = self.declarations.of(made)
        if class_ is not None and class_.name in _BOUND:
            return "f"
        return f"c{class_.id}" if class_ is not None and class_.file and class_.kind in kinds.TYPE_LIKE else ""

    def _arguments(self, call: CXCursor) -> list[CXCursor]:
        library = self.library
        count = library.clang_Cursor_getNumArguments(call)
        return [library.clang_Cursor_getArgument(call, i) for i in range(min(count, MAX_ARGUMENTS))]

    def _value_of(self, argument: CXCursor) -> str:
        """What an argument in a template is, through `std::forward` and `std::move`."""
        argument = self.bound_function(self.handed_on(argument))
        if found := self.find_lambda(argument):
            return f"f{self.declare_lambda(found, '').id}"
        if argument.kind == kinds.DECL_REF_EXPR:
            referenced = self.library.clang_getCursorReferenced(argument)
            values = self.variable_values.get(referenced.decl)
            if values:
                return f"f{values[0].id}"
            target = self.declarations.of(referenced)
            if target is not None and target.is_function:
                return f"f{target.id}"
        if argument.kind == kinds.CALL_EXPR and (makers := self._makers_of_functions(argument)):
            return f"r{'/'.join(makers)}"
        if parameter := self.parameter_of_object(argument):
            return f"p{parameter}"
        return self._value_of_type(self.library.clang_getCursorType(argument))

    def _makers_of_functions(self, call: CXCursor) -> list[str]:
        """The ids of the functions of the tree that the call may run, of those whose result may be a function."""
        library = self.library
        at = next(iter(children(call)), None)
        named: list[CXCursor] = []
        while at is not None and not named:
            parts = children(at)
            sets = [c for c in (at, *parts) if c.kind == kinds.OVERLOADED_REF]
            named = [
                library.clang_getOverloadedDecl(c, i)
                for c in sets
                for i in range(library.clang_getNumOverloadedDecls(c))
            ]
            at = parts[0] if at.kind in (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR) and len(parts) == 1 else None
        found = [self.declarations.of(c) for c in named[:MAX_ARGUMENTS] if self._may_make_function(c)]
        return [str(d.id) for d in found if d is not None and d.file and d.is_function]

    def _may_make_function(self, declared: CXCursor) -> bool:
        result = self.library.clang_getCursorResultType(declared)
        written = text(self.library.clang_getTypeSpelling(result))
        found = _PARAMETER.fullmatch(written)
        is_parameter = found is not None and found.group(1) in self._names_of(declared)
        return written in ("auto", "decltype(auto)") or is_parameter or self.is_callable(result)

    def bound_function(self, expression: CXCursor) -> CXCursor:
        """The function that `std::bind(&Class::method, this, ..)` or `std::mem_fn(&Class::method)` makes callable."""
        at = self.handed_on(expression)
        while at.kind == kinds.CALL_EXPR and len(inner := children(at)) == 1:
            at = self.handed_on(inner[0])  # what copies or converts it
        if at.kind != kinds.CALL_EXPR:
            return expression
        named = self.library.clang_getCursorReferenced(at)
        if text(self.library.clang_getCursorSpelling(named)) not in _BINDERS:
            return expression
        function = self.handed_on(children(at)[1])
        if function.kind == kinds.UNARY_OPERATOR and len(inner := children(function)) == 1:
            function = inner[0]
        return function

    def handed_on(self, expression: CXCursor) -> CXCursor:
        """What `std::forward<T>(x)` and `std::move(x)` hand on, through parentheses."""
        while True:
            inner = children(expression)
            if expression.kind == kinds.CALL_EXPR and len(inner) == 2 and self._names_wrapper(inner[0]):
                expression = inner[1]
            elif expression.kind in (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR) and len(inner) == 1:
                expression = inner[0]
            else:
                return expression

    def _names_wrapper(self, callee: CXCursor) -> bool:
        named = [callee, *children(callee)]
        return any(text(self.library.clang_getCursorSpelling(c)) in _HANDS_ON for c in named)
