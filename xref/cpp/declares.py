"""Declarations met on a walk: symbols, their relations, lambdas and static initialisers as symbols of their own."""

from __future__ import annotations

import ctypes
import re
from ctypes import POINTER, byref, c_uint, c_void_p

from xref.cpp import kinds
from xref.cpp.clang import CONTINUE, RECURSE, VISITOR, CXCursor, children, text
from xref.cpp.hidden import value_of_binding
from xref.cpp.names import UNNAMED_PARAMETER, Declaration
from xref.cpp.qualifiers import Qualifiers
from xref.cpp.walk import BREAK, Inputs
from xref.model import CALL_OPERATOR, FileFacts, Id, Relation, shorten

STATIC_INIT_PREFIX = "__TVMFFIStaticInitFunc"
"""TVM_FFI_STATIC_INIT_BLOCK() { ... } defines a static function of this name plus a number (tvm-ffi base_details.h)."""
RESERVED_PREFIX = "__"
"""Variables of registering macros (__mk_TVM12 of TVM_REGISTER_GLOBAL) have no name that a reader wrote."""
_RUNNABLE = ("lambda", "class", "struct", "union")
"""What an initialiser may hold besides calls."""
_LAMBDA_TYPE = re.compile(r"(\([^()]*\)::|\w+::)*\(lambda at .*?:\d+:\d+\)")
"""A closure in libclang's words, which name a file of this machine."""
_ANONYMOUS = re.compile(r"\((anonymous|unnamed) (struct|union|class) at .*\)")
"""A class without a name in libclang's words, which name a file of this machine."""
_MAY_BE_DEFAULTED = (kinds.CONSTRUCTOR, kinds.DESTRUCTOR, kinds.METHOD)
_AUTO = re.compile(r"\bauto\b")
_NAMES = re.compile(r"[\w$][\w$.:/+-]*")
"""What a key or a name may look like."""


class Declares(Qualifiers):
    """Handlers of declaration cursors."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._instances_walked: set[Id] = set()
        """Variable templates of which an instance has been walked."""

    def _is_definition(self, cursor: CXCursor) -> bool:
        """`X() = default` defines; clang says so only where it has made the body, since something uses it."""
        if self.library.clang_isCursorDefinition(cursor):
            return True
        return cursor.kind in _MAY_BE_DEFAULTED and bool(self.library.clang_CXXMethod_isDefaulted(cursor))

    def _namespace(self, cursor: CXCursor, _parent: CXCursor) -> int:
        declaration = self.declarations.of(cursor)
        if declaration is not None:
            self.emit_symbol(declaration, cursor, True)
        return RECURSE

    def _plain(self, cursor: CXCursor, parent: CXCursor) -> int:
        declaration = self.declarations.of(cursor)
        if declaration is None or parent.kind == kinds.ALIAS_TEMPLATE:
            return RECURSE
        kind = text(self.library.clang_getTypeSpelling(self.library.clang_getCursorType(cursor)))
        self.emit_symbol(declaration, cursor, True, f"{kind} {declaration.name}" if cursor.kind == kinds.FIELD else "")
        if cursor.kind == kinds.FIELD:
            self._name_lambda(cursor, declaration)
            self.note_initialiser(cursor)
            self.walk_field(cursor, declaration, parent)
            return CONTINUE
        if cursor.kind in (kinds.TYPE_ALIAS, kinds.TYPEDEF):
            self.note_member_type(cursor, declaration)
        return RECURSE

    def _plain_template(self, cursor: CXCursor, _parent: CXCursor) -> int:
        """A concept, or an alias template, whose name stands in the alias inside of it. Its parameters are its own."""
        declaration = self.declarations.of(cursor)
        if declaration is None:
            return RECURSE
        alias = next((c for c in children(cursor) if c.kind == kinds.TYPE_ALIAS), cursor)
        self.emit_symbol(declaration, alias, True)
        self.descend_into(declaration, cursor)
        return CONTINUE

    def _return(self, cursor: CXCursor, _parent: CXCursor) -> int:
        self.note_result(cursor)
        self.note_returned(cursor)
        return RECURSE

    def _switch(self, cursor: CXCursor, _parent: CXCursor) -> int:
        """`switch (f(); x)`: libclang shows nothing of what stands before the semicolon. A variable there is walked
        with the first reference to it."""
        parts = children(cursor)
        condition = self.extent(parts[0])[0] if parts else 0
        start = self.extent(cursor)[0]
        file = self.position(cursor)[0]
        if b";" in self.source_of(file)[start:condition]:
            self.hidden.append((file, start, condition))
        return RECURSE

    def _enum(self, cursor: CXCursor, _parent: CXCursor) -> int:
        declaration = self.declarations.of(cursor)
        if declaration is None:
            return RECURSE
        self.emit_symbol(declaration, cursor, self._is_definition(cursor))
        self.descend_into(declaration, cursor)
        return CONTINUE

    def _class(self, cursor: CXCursor, _parent: CXCursor) -> int:
        declaration = self.declarations.of(cursor)
        if declaration is None:
            return RECURSE
        defines = self._is_definition(cursor)
        display = _ANONYMOUS.sub("", text(self.library.clang_getCursorDisplayName(cursor)))
        if self.emit_symbol(declaration, cursor, defines, display):
            self._specialization(cursor, declaration)
        if defines:
            self.note_class(cursor, declaration)
        self.descend_into(declaration, cursor)
        return CONTINUE

    def _specialization(self, cursor: CXCursor, declaration: Declaration) -> None:
        template = self.library.clang_getSpecializedCursorTemplate(cursor)
        if template.decl:
            primary = self.declarations.of(template)
            facts = self.facts.get(self.position(cursor)[0])
            if primary is not None and primary.id != declaration.id and facts is not None:
                self.mention(primary, facts)
                facts.relations.append(Relation(declaration.id, "specializes", primary.id))

    def _base(self, cursor: CXCursor, parent: CXCursor) -> int:
        derived = self.declarations.of(parent)
        named = self.library.clang_getCursorReferenced(cursor)
        base = self.declarations.of(named)
        facts = self.facts.get(self.position(cursor)[0])
        if named.kind not in kinds.TYPE_LIKE:  # a typedef, or a using-declaration of the class
            kind = self.library.clang_getCanonicalType(self.library.clang_getCursorType(cursor))
            base = self.declarations.of(self.library.clang_getTypeDeclaration(kind)) or base
            if base is None and (member := self.class_written(cursor)) is not None:
                base = self.declarations.of(member)
        if derived is not None and base is not None and facts is not None:
            self.mention(base, facts)
            facts.relations.append(Relation(derived.id, "base", base.id))
            self.note_base(derived, base, cursor, facts)
        return RECURSE

    def _function(self, cursor: CXCursor, _parent: CXCursor) -> int:
        declaration = self.declarations.of(cursor)
        if declaration is None:
            return RECURSE
        defines = self._is_definition(cursor)
        file = self.position(cursor)[0]
        if self._is_static_init(declaration, defines):
            return self._static_init(cursor, declaration.parent, file, "")
        if self.emit_symbol(declaration, cursor, defines, self._signature(cursor, declaration)):
            self._overrides(cursor, declaration, file)
            self._specialization(cursor, declaration)
            if defines:
                self.note_range(declaration, cursor, file)
                self.hooks.on_function(self, cursor, declaration)
        if defines and declaration.symbol_kind == "constructor":
            self.scopes.append(declaration)
            self.note_initialisers(cursor)
            self.scopes.pop()
        if defines and (declaration.symbol_kind == "constructor" or declaration.name == "operator="):
            self.note_member(cursor, declaration)
        has_body = defines and not self.library.clang_CXXMethod_isDefaulted(cursor)
        self.descend_into(declaration, cursor, has_body)
        return CONTINUE

    @staticmethod
    def _is_static_init(declaration: Declaration, defines: bool) -> bool:
        return defines and declaration.linkage == "internal" and declaration.name.startswith(STATIC_INIT_PREFIX)

    def _signature(self, cursor: CXCursor, declaration: Declaration) -> str:
        display = text(self.library.clang_getCursorDisplayName(cursor))
        if UNNAMED_PARAMETER in display:
            display = declaration.name + display.removeprefix(text(self.library.clang_getCursorSpelling(cursor)))
        if self.library.clang_CXXMethod_isConst(cursor):
            display += " const"
        if declaration.symbol_kind in ("constructor", "destructor", "conversion"):
            return display
        result = text(self.library.clang_getTypeSpelling(self.library.clang_getCursorResultType(cursor)))
        return _LAMBDA_TYPE.sub("lambda", f"{result} {display}")

    def _overrides(self, cursor: CXCursor, declaration: Declaration, file: str) -> None:
        if cursor.kind not in (kinds.METHOD, kinds.DESTRUCTOR, kinds.CONVERSION):
            return
        facts = self.facts[file]
        if not self.library.clang_CXXMethod_isVirtual(cursor):
            return
        facts.virtual_methods.append(declaration.id)
        overridden, count = POINTER(CXCursor)(), c_uint()
        self.library.clang_getOverriddenCursors(cursor, byref(overridden), byref(count))
        for i in range(count.value):
            base = self.declarations.of(overridden[i])
            if base is not None:
                self.mention(base, facts)
                facts.relations.append(Relation(declaration.id, "overrides", base.id))
        if overridden:
            self.library.clang_disposeOverriddenCursors(overridden)

    def _variable(self, cursor: CXCursor, _parent: CXCursor) -> int:
        file = self.position(cursor)[0]
        scope = self.scope
        if scope is not None and self.in_function():
            local = self.declarations.define_local(cursor, "local", scope, file)
            if local.name.startswith(RESERVED_PREFIX):  # of a registering macro, in a function that registers
                self.hooks.on_variable(self, cursor, local)
            if local.name and not local.name.startswith("["):  # a structured binding's names come one by one
                self.emit_symbol(local, cursor, True, self._typed(cursor, local))
            self._name_lambda(cursor, local)
            self.note_destructor(cursor)
            made = self.parameter_of(self.library.clang_getCursorType(cursor))
            if made and file in self.facts and not any(c.kind in kinds.EXPRESSIONS for c in children(cursor)):
                _, line, col = self.position(cursor)
                self.note_construction(made, self.facts[file], line, col, given="0")
            return RECURSE
        variable = self.declarations.of(cursor)
        if variable is None:
            return RECURSE
        self.hooks.on_variable(self, cursor, variable)
        macro_made = variable.name.startswith(RESERVED_PREFIX)  # TVM_REGISTER_GLOBAL and its kin: __mk_TVM12
        if not macro_made:
            self.emit_symbol(variable, cursor, self._is_definition(cursor), self._typed(cursor, variable))
            self._name_lambda(cursor, variable)
            self.note_initialiser(cursor)
        return self._static_init(cursor, variable.parent, file, "" if macro_made else variable.name)

    def _unexposed(self, cursor: CXCursor, parent: CXCursor) -> int:
        """What libclang has no kind for, and what has a name: a part of `auto [a, b] = ..`, or a variable template."""
        name = text(self.library.clang_getCursorSpelling(cursor))
        if not name:
            return RECURSE
        scope, file = self.scope, self.position(cursor)[0]
        if name.startswith("["):  # `auto [a, b] = f()`: the parts stand below it, and the value
            if scope is not None:
                self.note_destructor(cursor)
                return RECURSE
            return self._static_init(cursor, self._namespace_of(cursor), file, name)
        if scope is not None and self.in_function():
            if parent.decl and (value := value_of_binding(cursor, parent)) is not None:
                self.walk_from(value, cursor)
            if self.declarations.is_known(cursor):  # at namespace scope the parts stand before it, too
                return RECURSE
            local = self.declarations.define_local(cursor, "local", scope, file)
            self.emit_symbol(local, cursor, True, self._typed(cursor, local))
            return RECURSE
        variable = self.declarations.of(cursor)
        if variable is None:
            return CONTINUE
        is_shown = any(c.kind in kinds.EXPRESSIONS for c in children(cursor))
        if self.emit_symbol(variable, cursor, True, self._typed(cursor, variable)):
            if not is_shown:
                self.hidden.append((file, *self.extent(cursor)))  # of a template, which has a value in instances alone
        elif variable.id in self._instances_walked or not is_shown:
            return CONTINUE
        else:
            self._instances_walked.add(variable.id)  # an instantiation: it stands where its template stands
        return self._static_init(cursor, variable.parent, file, name)

    def _namespace_of(self, cursor: CXCursor) -> Declaration | None:
        return self.declarations.of(self.library.clang_getCursorSemanticParent(cursor))

    def _typed(self, cursor: CXCursor, declaration: Declaration) -> str:
        kind = text(self.library.clang_getTypeSpelling(self.library.clang_getCursorType(cursor)))
        return shorten(_LAMBDA_TYPE.sub("lambda", f"{kind} {declaration.name}"), 200)

    def _name_lambda(self, cursor: CXCursor, variable: Declaration) -> None:
        """`auto f = [..]..`: the lambda is called by its variable, and the variable stands for the lambda."""
        for child in children(cursor):
            self.give_lambda(child, cursor.decl, variable.name, variable.parent)

    def _lambda(self, cursor: CXCursor, _parent: CXCursor) -> int:
        declaration = self.declare_lambda(cursor, "")
        if self.emit_symbol(declaration, cursor, True, self._lambda_signature(cursor)):
            self.note_range(declaration, cursor, self.position(cursor)[0])
        declaration.is_generic = any(_AUTO.search(self._parameter_type(c)) for c in children(cursor))
        self.note_captures(cursor)
        values = self._walk_captures(cursor)
        self.walked += values
        self.descend_into(declaration, cursor)
        del self.walked[len(self.walked) - len(values) :]
        return CONTINUE

    def _walk_captures(self, closure: CXCursor) -> list[tuple[int, int]]:
        """Walk the values of `[x = f()]` where they are computed, in the function around the lambda; where they stand.

        libclang lists the parts of such a value below the lambda, without the value itself; there the walk leaves them
        out. Not so where a macro makes the lambda: nothing tells them from its body then.
        """
        walked = []
        parts = children(closure)
        body = self.extent(parts[-1])[0] if parts else 0
        for child in parts:
            if child.kind == kinds.VARIABLE_REF:
                variable = self.library.clang_getCursorReferenced(child)
                value = self.library.clang_Cursor_getVarDeclInitializer(variable)
                first, last = self.extent(value)
                is_own = self.token(variable) == self.token(child)
                if is_own and value.kind in kinds.EXPRESSIONS and first < last <= body:
                    self.give_lambda(value, variable.decl, text(self.library.clang_getCursorSpelling(variable)))
                    self.walk_from(value, closure)
                    walked.append((first, last))
        return walked

    def _lambda_signature(self, cursor: CXCursor) -> str:
        """The result and the parameters of a lambda, from its call operator; "" of a generic one."""
        library = self.library
        made = library.clang_getTypeDeclaration(library.clang_getCursorType(cursor))
        for method in children(made):
            if method.kind == kinds.METHOD:
                result = text(library.clang_getTypeSpelling(library.clang_getCursorResultType(method)))
                display = text(library.clang_getCursorDisplayName(method)).removeprefix(CALL_OPERATOR)
                return shorten(_LAMBDA_TYPE.sub("lambda", f"{result} {display}"), 200)
        return ""

    def _parameter_type(self, cursor: CXCursor) -> str:
        if cursor.kind != kinds.PARAMETER:
            return ""
        return text(self.library.clang_getTypeSpelling(self.library.clang_getCursorType(cursor)))

    def _static_init(self, cursor: CXCursor, namespace: Declaration | None, file: str, purpose: str) -> int:
        """Code that runs when the library is loaded is a caller of its own, called by what it initialises."""
        facts = self.facts.get(file)
        if facts is None:
            return CONTINUE
        purpose = purpose or self._purpose(cursor)
        declaration = self.declarations.define("static_init", "init", namespace, file, purpose)
        if cursor.kind == kinds.FUNCTION:
            self.declarations.rename(cursor, declaration)
        marks = [len(rows) for rows in (facts.symbols, facts.calls, facts.unresolved, facts.key_uses, facts.key_defs)]
        first_ref = len(facts.refs)
        self.descend_into(declaration, cursor)
        if self._runs_something(facts, declaration.id, *marks):
            self.emit_symbol(declaration, cursor, True)
            self.note_range(declaration, cursor, file)
        else:  # the references stand in the namespace or class
            for i in range(first_ref, len(facts.refs)):
                if facts.refs[i].within == declaration.id:
                    facts.refs[i] = facts.refs[i]._replace(within=self.within())
        return CONTINUE

    @staticmethod
    def _runs_something(
        facts: FileFacts, init: Id, symbols: int, calls: int, unresolved: int, uses: int, keys: int
    ) -> bool:
        """Whether the initialiser itself has facts among those after the marks: a named lambda's are the lambda's."""
        return (
            len(facts.key_defs) > keys
            or any(c.caller == init for c in facts.calls[calls:])
            or any(u.within == init for u in facts.unresolved[unresolved:])
            or any(u.within == init for u in facts.key_uses[uses:])
            or any(s.parent == init and s.kind in _RUNNABLE for s in facts.symbols[symbols:])
        )

    def _purpose(self, cursor: CXCursor) -> str:
        """The first string in the code that may be a name, which is that of what it registers; else the first function
        it calls. What a lambda says names only code that is nothing but a lambda, as the blocks of v0.21 are."""
        return self._first_name(cursor, lambdas=False) or self._first_name(cursor, lambdas=True)

    def _first_name(self, cursor: CXCursor, *, lambdas: bool) -> str:
        found: list[str] = []

        def look(child: CXCursor, _parent: CXCursor, _data: object) -> int:
            if child.kind == kinds.LAMBDA_EXPR and not lambdas:
                return CONTINUE
            if child.kind == kinds.STRING_LITERAL:
                spelled = text(self.library.clang_getCursorSpelling(child)).strip('"')
                if _NAMES.fullmatch(spelled):
                    found.insert(0, spelled)
                    return BREAK
            if child.kind == kinds.CALL_EXPR and not found:
                callee = self.declarations.of(self.library.clang_getCursorReferenced(child))
                if callee is not None and callee.parent is not None:
                    found.append(f"{callee.parent.name}::{callee.name}")
            return RECURSE

        callback = VISITOR(look)
        self.library.clang_visitChildren(cursor, ctypes.cast(callback, c_void_p), None)
        return shorten(found[0], 80) if found else ""

    def _parameter(self, cursor: CXCursor, _parent: CXCursor) -> int:
        scope = self.scope
        if scope is not None and self.in_definition and self.in_definition[-1] and self.in_function():
            file = self.position(cursor)[0]
            parameter = self.declarations.define_local(cursor, "parameter", scope, file)
            if parameter.name:
                self.emit_symbol(parameter, cursor, True, self._typed(cursor, parameter))
        self.name_default(cursor)
        return CONTINUE

    def _template_parameter(self, cursor: CXCursor, _parent: CXCursor) -> int:
        scope = self.scope
        if scope is not None:
            file = self.position(cursor)[0]
            parameter = self.declarations.define_local(cursor, "template_parameter", scope, file)
            self.template_parameters.setdefault(scope.id, set()).add(parameter.name)
            if parameter.name:
                self.emit_symbol(parameter, cursor, True)
        return RECURSE
