"""Walks one unit's syntax tree and yields the facts of the files it owns.

Owned are the unit's own file and the headers it has claimed; everything else is only named. Each scope (class, function,
lambda, static initialiser) and each call is walked by a nested visit, so that whatever is met inside knows its encloser.
Registries look at calls and variables through `Hooks`, before the walk goes down into them.
"""

from __future__ import annotations

import bisect
import ctypes
from collections.abc import Callable, Mapping
from ctypes import POINTER, byref, c_uint, c_void_p
from typing import Protocol

from xref.cpp import kinds
from xref.cpp.clang import CONTINUE, RECURSE, VISITOR, CXCursor, children, file_location, load, text
from xref.cpp.comments import clean_comment
from xref.cpp.names import Declaration, Declarations, Paths
from xref.model import (
    Call,
    Evidence,
    FileFacts,
    Id,
    Include,
    Ref,
    Relation,
    Role,
    Symbol,
    Unresolved,
    shorten,
    symbol_id,
)

_BREAK = 0
_MAX_CANDIDATES = 40
"""An overload set of more candidates than this is a row in `unresolved`, not forty edges."""

Handler = Callable[[CXCursor, CXCursor], int]


class Hooks(Protocol):
    """What looks at the tree for string-keyed registries (xref/registry)."""

    def on_call(self, visitor: Visitor, call: CXCursor, callee: Declaration) -> None: ...

    def on_variable(self, visitor: Visitor, cursor: CXCursor, variable: Declaration) -> None: ...


class _OpenCall:
    __slots__ = ("callee", "candidates", "line", "col", "file")

    def __init__(self, callee: Declaration | None) -> None:
        self.callee = callee
        self.candidates: list[Declaration] = []
        self.file = ""
        self.line = self.col = 0


class Visitor:
    """One walk. `owned` are tree-relative paths; `seen_externals` is shared by the walks of one process."""

    def __init__(
        self,
        root: str,
        known: frozenset[str],
        owned: Mapping[str, FileFacts],
        sources: Mapping[str, bytes],
        hooks: Hooks,
        seen_externals: set[str],
    ) -> None:
        self._library = load()
        self.paths = Paths(root, known)
        self.declarations = Declarations(self.paths)
        self.facts = owned
        self._sources = sources
        self._hooks = hooks
        self._seen_externals = seen_externals
        self._emitted: set[tuple[str, Id, int, int]] = set()
        self._mentioned: dict[Id, Declaration] = {}
        self.scopes: list[Declaration] = []
        self._definition_depth: list[bool] = []
        self._open_calls: list[_OpenCall] = []
        self._role_of_next = Role.READ
        self._access: dict[str, str] = {}
        self.lambdas: dict[int, Declaration] = {}
        self.variable_values: dict[int, Declaration] = {}
        self.registered: set[Id] = set()
        """Functions given to a registry: the registering code does not call them."""
        self.consumed: set[int] = set()
        """Tokens of calls that a registry has read as part of a longer chain."""
        self._function_ranges: dict[str, list[tuple[int, int, Id]]] = {}
        self._macro_refs: list[tuple[str, Id, int, int]] = []
        self.call_expressions = 0
        self._failure: BaseException | None = None
        self._handlers: dict[int, Handler] = {
            **dict.fromkeys(kinds.TYPE_LIKE, self._class),
            **dict.fromkeys(kinds.FUNCTION_LIKE, self._function),
            **dict.fromkeys(
                (kinds.TYPE_REF, kinds.TEMPLATE_REF, kinds.NAMESPACE_REF, kinds.MEMBER_REF, kinds.VARIABLE_REF),
                self._reference,
            ),
            **dict.fromkeys((kinds.TYPEDEF, kinds.TYPE_ALIAS, kinds.ALIAS_TEMPLATE, kinds.CONCEPT), self._plain),
            **dict.fromkeys((kinds.FIELD, kinds.ENUMERATOR), self._plain),
            **dict.fromkeys(
                (
                    kinds.TEMPLATE_TYPE_PARAMETER,
                    kinds.TEMPLATE_VALUE_PARAMETER,
                    kinds.TEMPLATE_TEMPLATE_PARAMETER,
                ),
                self._template_parameter,
            ),
            kinds.ENUM: self._enum,
            kinds.NAMESPACE: self._namespace,
            kinds.VARIABLE: self._variable,
            kinds.PARAMETER: self._parameter,
            kinds.LAMBDA_EXPR: self._lambda,
            kinds.BASE_SPECIFIER: self._base,
            kinds.OVERLOADED_REF: self._overloaded,
            kinds.DECL_REF_EXPR: self._expression_reference,
            kinds.MEMBER_REF_EXPR: self._expression_reference,
            kinds.CALL_EXPR: self._call,
            kinds.UNARY_OPERATOR: self._unary,
            kinds.BINARY_OPERATOR: self._binary,
            kinds.COMPOUND_ASSIGNMENT: self._assignment,
            kinds.MACRO_DEFINITION: self._macro_definition,
            kinds.MACRO_EXPANSION: self._macro_expansion,
            kinds.INCLUSION: self._inclusion,
        }
        self._callback = VISITOR(self._visit)
        self._callback_pointer = ctypes.cast(self._callback, c_void_p)

    # the walk

    def walk(self, root: CXCursor) -> None:
        """Visit the whole unit. Exceptions of handlers propagate."""
        self._descend(root)
        if self._failure is not None:
            raise self._failure
        self._place_macro_references()
        declared = {symbol for _, symbol, _, _ in self._emitted}
        some_file = next(iter(self.facts.values()))
        while self._mentioned:
            id_, declaration = self._mentioned.popitem()
            if id_ not in declared:  # what the compiler declares by itself: implicit constructors, assignments
                declared.add(id_)
                self._name_only(declaration, self.facts.get(declaration.file, some_file))

    def _visit(self, cursor: CXCursor, parent: CXCursor, _data: object) -> int:
        try:
            handler = self._handlers.get(cursor.kind)
            if parent.kind == kinds.TRANSLATION_UNIT and (
                self.position(cursor)[0] not in self.facts or self._is_instantiation(cursor)
            ):
                return CONTINUE
            return RECURSE if handler is None else handler(cursor, parent)
        except BaseException as error:  # ctypes would print and drop it
            self._failure = self._failure or error
            return _BREAK

    def _is_instantiation(self, cursor: CXCursor) -> bool:
        """Clang lists the functions that it instantiates beside the unit's own top-level declarations."""
        if cursor.kind not in kinds.FUNCTION_LIKE:
            return False
        if self._library.clang_getCursorLexicalParent(cursor).kind not in (kinds.TRANSLATION_UNIT, *kinds.TRANSPARENT):
            return True
        template = self._library.clang_getSpecializedCursorTemplate(cursor)
        return bool(template.decl) and template.kind < 70 and self.token(template) == self.token(cursor)

    def _descend(self, cursor: CXCursor) -> None:
        self._library.clang_visitChildren(cursor, self._callback_pointer, None)

    def _descend_into(self, scope: Declaration, cursor: CXCursor, is_definition: bool = True) -> None:
        self.scopes.append(scope)
        self._definition_depth.append(is_definition)
        calls, self._open_calls = self._open_calls, []
        self._descend(cursor)
        self._open_calls = calls
        self._definition_depth.pop()
        self.scopes.pop()

    # positions and output

    def position(self, cursor: CXCursor) -> tuple[str, int, int]:
        """(tree-relative file or "", line, column) of the cursor's token, or of the macro invocation that made it."""
        handle, line, column, _ = file_location(self._library.clang_getCursorLocation(cursor))
        return self.paths.relative(handle), line, column

    def token(self, cursor: CXCursor) -> int:
        """libclang's own encoding of the cursor's location: tells tokens of one macro expansion apart."""
        offset: int = self._library.clang_getCursorLocation(cursor).offset
        return offset

    @property
    def scope(self) -> Declaration | None:
        """The innermost enclosing symbol."""
        return self.scopes[-1] if self.scopes else None

    def _within(self) -> Id | None:
        return self.scopes[-1].id if self.scopes else None

    def _end_line(self, cursor: CXCursor) -> int:
        extent = self._library.clang_getCursorExtent(cursor)
        return file_location(self._library.clang_getRangeEnd(extent))[1]

    def source_text(self, cursor: CXCursor) -> str:
        """The cursor's text as written, shortened; "" when it spans files."""
        extent = self._library.clang_getCursorExtent(cursor)
        start = file_location(self._library.clang_getRangeStart(extent))
        end = file_location(self._library.clang_getRangeEnd(extent))
        source = self._sources.get(self.paths.relative(start[0]))
        if source is None or start[0] != end[0]:
            return ""
        return shorten(source[start[3] : min(end[3], start[3] + 400)].decode("utf-8", "replace"))

    def note_unreadable(self, file: str, line: int, col: int, cursor: CXCursor, reason: str) -> None:
        """Record what a registry could not read, with the code as written."""
        self.facts[file].unresolved.append(Unresolved(line, col, self._within(), self.source_text(cursor), reason))

    def emit_symbol(self, declaration: Declaration, cursor: CXCursor, is_definition: bool, signature: str = "") -> bool:
        """Store the symbol and the reference that its name is; False when its file is not owned or it is known."""
        file, line, col = self.position(cursor)
        facts = self.facts.get(file)
        if facts is None:
            return False
        mark = (file, declaration.id, line, col)
        if mark in self._emitted:
            return False
        self._emitted.add(mark)
        local = declaration.symbol_kind in ("parameter", "local", "template_parameter")
        comment = "" if local else text(self._library.clang_Cursor_getRawCommentText(cursor))
        parent = declaration.parent
        facts.symbols.append(
            Symbol(
                declaration.key,
                declaration.symbol_kind,
                declaration.name,
                declaration.qualname,
                line,
                col,
                self._end_line(cursor),
                signature,
                clean_comment(comment),
                parent.id if parent is not None else None,
                is_definition,
                declaration.linkage,
                kinds.ACCESS.get(self._library.clang_getCXXAccessSpecifier(cursor), "") if not local else "",
            )
        )
        role = Role.DEFINITION if is_definition else Role.DECLARATION
        self._addRef(facts, declaration.id, line, col, role)
        return True

    def _addRef(self, facts: FileFacts, symbol: Id, line: int, col: int, role: Role) -> None:
        facts.refs.append(Ref(symbol, line, col, role, self._within()))

    def mention(self, declaration: Declaration, facts: FileFacts) -> None:
        """Name a symbol that this walk may not declare, once per process (of an owned file: once, after the walk)."""
        if declaration.file in self.facts or declaration.linkage == "none":
            self._mentioned[declaration.id] = declaration
            return
        if declaration.key in self._seen_externals:
            return
        self._seen_externals.add(declaration.key)
        self._name_only(declaration, facts)

    def _name_only(self, declaration: Declaration, facts: FileFacts) -> None:
        parent = declaration.parent
        while parent is not None and parent.kind != kinds.NAMESPACE:
            self.mention(parent, facts)
            parent = parent.parent
        facts.externals.append(
            Symbol(
                declaration.key,
                declaration.symbol_kind,
                declaration.name,
                declaration.qualname,
                0,
                0,
                0,
                parent=declaration.parent.id if declaration.parent is not None else None,
                is_definition=False,
                linkage=declaration.linkage,
                path=declaration.file,
            )
        )

    # declarations

    def _is_definition(self, cursor: CXCursor) -> bool:
        return bool(self._library.clang_isCursorDefinition(cursor))

    def _namespace(self, cursor: CXCursor, _parent: CXCursor) -> int:
        declaration = self.declarations.of(cursor)
        if declaration is not None:
            self.emit_symbol(declaration, cursor, True)
        return RECURSE

    def _plain(self, cursor: CXCursor, _parent: CXCursor) -> int:
        declaration = self.declarations.of(cursor)
        if declaration is None:
            return RECURSE
        kind = text(self._library.clang_getTypeSpelling(self._library.clang_getCursorType(cursor)))
        self.emit_symbol(declaration, cursor, True, f"{kind} {declaration.name}" if cursor.kind == kinds.FIELD else "")
        return RECURSE

    def _enum(self, cursor: CXCursor, _parent: CXCursor) -> int:
        declaration = self.declarations.of(cursor)
        if declaration is None:
            return RECURSE
        self.emit_symbol(declaration, cursor, self._is_definition(cursor))
        self._descend_into(declaration, cursor)
        return CONTINUE

    def _class(self, cursor: CXCursor, _parent: CXCursor) -> int:
        declaration = self.declarations.of(cursor)
        if declaration is None:
            return RECURSE
        defines = self._is_definition(cursor)
        display = text(self._library.clang_getCursorDisplayName(cursor))
        if self.emit_symbol(declaration, cursor, defines, display):
            self._specialization(cursor, declaration)
        self._descend_into(declaration, cursor)
        return CONTINUE

    def _specialization(self, cursor: CXCursor, declaration: Declaration) -> None:
        template = self._library.clang_getSpecializedCursorTemplate(cursor)
        if template.kind < 70 and template.decl:
            primary = self.declarations.of(template)
            facts = self.facts.get(self.position(cursor)[0])
            if primary is not None and primary.id != declaration.id and facts is not None:
                self.mention(primary, facts)
                facts.relations.append(Relation(declaration.id, "specializes", primary.id))

    def _base(self, cursor: CXCursor, parent: CXCursor) -> int:
        derived = self.declarations.of(parent)
        base = self.declarations.of(self._library.clang_getCursorReferenced(cursor))
        facts = self.facts.get(self.position(cursor)[0])
        if derived is not None and base is not None and facts is not None:
            if base.symbol_kind == "typedef":
                kind = self._library.clang_getCanonicalType(self._library.clang_getCursorType(cursor))
                base = self.declarations.of(self._library.clang_getTypeDeclaration(kind)) or base
            self.mention(base, facts)
            facts.relations.append(Relation(derived.id, "base", base.id))
        return RECURSE

    def _function(self, cursor: CXCursor, _parent: CXCursor) -> int:
        declaration = self.declarations.of(cursor)
        if declaration is None:
            return RECURSE
        defines = self._is_definition(cursor)
        file = self.position(cursor)[0]
        if self._hooks_static_init(declaration, defines):
            return self._static_init(cursor, declaration.parent, file, "")
        if self.emit_symbol(declaration, cursor, defines, self._signature(cursor, declaration)):
            self._overrides(cursor, declaration, file)
            self._specialization(cursor, declaration)
            if defines:
                extent = self._library.clang_getCursorExtent(cursor)
                start = file_location(self._library.clang_getRangeStart(extent))
                end = file_location(self._library.clang_getRangeEnd(extent))
                self._function_ranges.setdefault(file, []).append((start[3], end[3], declaration.id))
        self._descend_into(declaration, cursor, defines)
        return CONTINUE

    @staticmethod
    def _hooks_static_init(declaration: Declaration, defines: bool) -> bool:
        # TVM_FFI_STATIC_INIT_BLOCK() { ... }: a static function whose name ends in __COUNTER__ (tvm-ffi base_details.h)
        return defines and declaration.linkage == "internal" and declaration.name.startswith("__TVMFFIStaticInitFunc")

    def _signature(self, cursor: CXCursor, declaration: Declaration) -> str:
        display = text(self._library.clang_getCursorDisplayName(cursor))
        if self._library.clang_CXXMethod_isConst(cursor):
            display += " const"
        if declaration.symbol_kind in ("constructor", "destructor", "conversion"):
            return display
        result = text(self._library.clang_getTypeSpelling(self._library.clang_getCursorResultType(cursor)))
        return f"{result} {display}"

    def _overrides(self, cursor: CXCursor, declaration: Declaration, file: str) -> None:
        if cursor.kind not in (kinds.METHOD, kinds.DESTRUCTOR, kinds.CONVERSION):
            return
        facts = self.facts[file]
        overridden, count = POINTER(CXCursor)(), c_uint()
        self._library.clang_getOverriddenCursors(cursor, byref(overridden), byref(count))
        for i in range(count.value):
            base = self.declarations.of(overridden[i])
            if base is not None:
                self.mention(base, facts)
                facts.relations.append(Relation(declaration.id, "overrides", base.id))
        if overridden:
            self._library.clang_disposeOverriddenCursors(overridden)

    def _in_function(self) -> bool:
        scope = self.scope
        return scope is not None and (scope.is_function or scope.symbol_kind == "static_init")

    def _variable(self, cursor: CXCursor, _parent: CXCursor) -> int:
        file = self.position(cursor)[0]
        scope = self.scope
        if scope is not None and self._in_function():
            local = self.declarations.define_local(cursor, "local", scope, file)
            self.emit_symbol(local, cursor, True, self._typed(cursor, local))
            self._name_lambda(cursor, local)
            return RECURSE
        variable = self.declarations.of(cursor)
        if variable is None:
            return RECURSE
        self._hooks.on_variable(self, cursor, variable)
        macro_made = variable.name.startswith("__")  # TVM_REGISTER_GLOBAL and its kin: __mk_TVM12
        if not macro_made:
            self.emit_symbol(variable, cursor, self._is_definition(cursor), self._typed(cursor, variable))
            self._name_lambda(cursor, variable)
        if scope is not None:
            return RECURSE
        return self._static_init(cursor, variable.parent, file, "" if macro_made else variable.name)

    def _typed(self, cursor: CXCursor, declaration: Declaration) -> str:
        kind = text(self._library.clang_getTypeSpelling(self._library.clang_getCursorType(cursor)))
        return shorten(f"{kind} {declaration.name}", 200)

    def _name_lambda(self, cursor: CXCursor, variable: Declaration) -> None:
        """`auto f = [..]..`: the lambda is called by its variable, and the variable stands for the lambda."""
        for child in children(cursor):
            found = self.find_lambda(child)
            if found is not None:
                self.variable_values[cursor.decl] = self.declare_lambda(found, variable.name)

    def find_lambda(self, cursor: CXCursor) -> CXCursor | None:
        """The lambda that the expression is, through casts and conversions; None for any other expression."""
        while cursor.kind != kinds.LAMBDA_EXPR:
            if cursor.kind not in (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR, kinds.CALL_EXPR, kinds.FUNCTIONAL_CAST,
                                   kinds.STATIC_CAST, kinds.INIT_LIST_EXPR):  # fmt: skip
                return None
            if cursor.kind == kinds.CALL_EXPR:
                callee = self.declarations.of(self._library.clang_getCursorReferenced(cursor))
                if callee is not None and callee.symbol_kind not in ("constructor", "conversion"):
                    return None
            inner = [c for c in children(cursor) if c.kind in kinds.EXPRESSIONS]
            if len(inner) != 1:
                return None
            cursor = inner[0]
        return cursor

    def declare_lambda(self, cursor: CXCursor, purpose: str) -> Declaration:
        """The symbol of a lambda, made now if the walk has not reached it yet."""
        token = self.token(cursor)
        known = self.lambdas.get(token)
        if known is None:
            file = self.position(cursor)[0]
            known = self.lambdas[token] = self.declarations.define("lambda", "lambda", self.scope, file, purpose)
        return known

    def _lambda(self, cursor: CXCursor, _parent: CXCursor) -> int:
        declaration = self.declare_lambda(cursor, "")
        self.emit_symbol(declaration, cursor, True)
        declaration.is_generic = any("auto" in self._parameter_type(c) for c in children(cursor))
        self._descend_into(declaration, cursor)
        return CONTINUE

    def _parameter_type(self, cursor: CXCursor) -> str:
        if cursor.kind != kinds.PARAMETER:
            return ""
        return text(self._library.clang_getTypeSpelling(self._library.clang_getCursorType(cursor)))

    def _static_init(self, cursor: CXCursor, namespace: Declaration | None, file: str, purpose: str) -> int:
        """Code that runs when the library is loaded is a caller of its own, called by what it initialises."""
        facts = self.facts.get(file)
        if facts is None:
            return CONTINUE
        purpose = purpose or self._first_literal(cursor)
        declaration = self.declarations.define("static_init", "init", namespace, file, purpose)
        first_ref = len(facts.refs)
        before = len(facts.calls) + len(facts.unresolved) + len(facts.key_defs) + len(facts.key_uses)
        self._descend_into(declaration, cursor)
        if len(facts.calls) + len(facts.unresolved) + len(facts.key_defs) + len(facts.key_uses) > before:
            self.emit_symbol(declaration, cursor, True)
        else:  # nothing runs there: the references stand at namespace scope
            for i in range(first_ref, len(facts.refs)):
                if facts.refs[i].within == declaration.id:
                    facts.refs[i] = facts.refs[i]._replace(within=None)
        return CONTINUE

    def _first_literal(self, cursor: CXCursor) -> str:
        """The first string in the code, which names what it registers; else the first function it calls."""
        found: list[str] = []

        def look(child: CXCursor, _parent: CXCursor, _data: object) -> int:
            if child.kind == kinds.STRING_LITERAL:
                found.insert(0, text(self._library.clang_getCursorSpelling(child)).strip('"'))
                return _BREAK
            if child.kind == kinds.CALL_EXPR and not found:
                callee = self.declarations.of(self._library.clang_getCursorReferenced(child))
                if callee is not None and callee.parent is not None:
                    found.append(f"{callee.parent.name}::{callee.name}")
            return RECURSE

        callback = VISITOR(look)
        self._library.clang_visitChildren(cursor, ctypes.cast(callback, c_void_p), None)
        return shorten(found[0], 80) if found else ""

    def _parameter(self, cursor: CXCursor, _parent: CXCursor) -> int:
        scope = self.scope
        if scope is not None and self._definition_depth and self._definition_depth[-1] and self._in_function():
            file = self.position(cursor)[0]
            parameter = self.declarations.define_local(cursor, "parameter", scope, file)
            if parameter.name:
                self.emit_symbol(parameter, cursor, True, self._typed(cursor, parameter))
        return RECURSE

    def _template_parameter(self, cursor: CXCursor, _parent: CXCursor) -> int:
        scope = self.scope
        if scope is not None:
            file = self.position(cursor)[0]
            parameter = self.declarations.define_local(cursor, "template_parameter", scope, file)
            if parameter.name:
                self.emit_symbol(parameter, cursor, True)
        return RECURSE

    # references and calls

    def _reference(self, cursor: CXCursor, _parent: CXCursor) -> int:
        target = self.declarations.of(self._library.clang_getCursorReferenced(cursor))
        if target is not None:
            file, line, col = self.position(cursor)
            facts = self.facts.get(file)
            if facts is not None:
                self.mention(target, facts)
                is_member = cursor.kind in (kinds.MEMBER_REF, kinds.VARIABLE_REF)
                role = Role.WRITE if is_member else Role.READ if cursor.kind == kinds.NAMESPACE_REF else Role.TYPE
                self._addRef(facts, target.id, line, col, role)
        return RECURSE

    def _expression_reference(self, cursor: CXCursor, _parent: CXCursor) -> int:
        role, self._role_of_next = self._role_of_next, Role.READ
        target = self.declarations.of(self._library.clang_getCursorReferenced(cursor))
        if target is None:
            return RECURSE
        file, line, col = self.position(cursor)
        facts = self.facts.get(file)
        if facts is None:
            return RECURSE
        for call in reversed(self._open_calls):
            if call.callee is target and not call.line:
                call.file, call.line, call.col = file, line, col
                role = Role.CALL
                break
        else:
            if target.is_function:
                role = Role.ADDRESS
                scope = self.scope
                if scope is not None and target.id not in self.registered:
                    facts.calls.append(Call(scope.id, target.id, Evidence.VALUE, line, col))
        self.mention(target, facts)
        self._addRef(facts, target.id, line, col, role)
        return RECURSE

    def _overloaded(self, cursor: CXCursor, _parent: CXCursor) -> int:
        file, line, col = self.position(cursor)
        facts = self.facts.get(file)
        if facts is None:
            return RECURSE
        call = self._open_calls[-1] if self._open_calls else None
        is_callee = call is not None and call.callee is None and not call.line
        candidates = []
        for i in range(self._library.clang_getNumOverloadedDecls(cursor)):
            candidate = self.declarations.of(self._library.clang_getOverloadedDecl(cursor, i))
            if candidate is not None and candidate not in candidates:
                candidates.append(candidate)
        for candidate in candidates[:_MAX_CANDIDATES]:
            self.mention(candidate, facts)
            self._addRef(facts, candidate.id, line, col, Role.CALL if is_callee else Role.READ)
        if is_callee and call is not None:
            call.file, call.line, call.col, call.candidates = file, line, col, candidates
        return RECURSE

    def _call(self, cursor: CXCursor, _parent: CXCursor) -> int:
        self.call_expressions += 1
        callee = self.declarations.of(self._library.clang_getCursorReferenced(cursor))
        if callee is not None and callee.is_function:
            self._hooks.on_call(self, cursor, callee)
        call = _OpenCall(callee)
        self._open_calls.append(call)
        self._descend(cursor)
        self._open_calls.pop()
        if not call.line:
            call.file, call.line, call.col = self.position(cursor)
        facts = self.facts.get(call.file)
        if facts is None:
            return CONTINUE
        scope = self.scope
        if callee is None:
            self._unresolved_call(cursor, call, facts)
        elif not callee.is_function:
            self._indirect_call(cursor, call, callee, facts)
        elif scope is not None:
            via = self._static_type(cursor) if self._library.clang_Cursor_isDynamicCall(cursor) else ""
            self.mention(callee, facts)
            facts.calls.append(Call(scope.id, callee.id, Evidence.DIRECT, call.line, call.col, via))
        return CONTINUE

    def _static_type(self, cursor: CXCursor) -> str:
        """The class that a virtual call's receiver is declared to be; "" when libclang does not say."""
        kind = self._library.clang_Cursor_getReceiverType(cursor)
        pointee = self._library.clang_getPointeeType(kind)
        receiver = self.declarations.of(self._library.clang_getTypeDeclaration(pointee if pointee.kind else kind))
        return receiver.qualname if receiver is not None else ""

    def _unresolved_call(self, cursor: CXCursor, call: _OpenCall, facts: FileFacts) -> None:
        scope = self.scope
        if call.candidates and scope is not None and len(call.candidates) <= _MAX_CANDIDATES:
            for candidate in call.candidates:
                facts.calls.append(Call(scope.id, candidate.id, Evidence.TEMPLATE, call.line, call.col))
            return
        name = text(self._library.clang_getCursorSpelling(cursor))
        if len(call.candidates) > _MAX_CANDIDATES:
            reason = f"{len(call.candidates)} candidates"
        elif self._in_template():
            reason = "dependent on a template parameter"
        else:
            reason = "in code that did not compile: a header or a type is missing"
        written = self.source_text(cursor) or name
        facts.unresolved.append(Unresolved(call.line, call.col, self._within(), written, reason))

    def _in_template(self) -> bool:
        """Whether the code is a template's, or a generic lambda's."""
        for scope in reversed(self.scopes):
            at: Declaration | None = scope
            while at is not None:
                if at.kind in kinds.TEMPLATES or at.is_generic:
                    return True
                at = at.parent
        return False

    def _indirect_call(self, cursor: CXCursor, call: _OpenCall, callee: Declaration, facts: FileFacts) -> None:
        value = self.variable_values.get(self._library.clang_getCursorReferenced(cursor).decl)
        scope = self.scope
        if value is not None and scope is not None:
            facts.calls.append(Call(scope.id, value.id, Evidence.VALUE, call.line, call.col, callee.name))
            return
        reason = f"through the {callee.symbol_kind} {callee.name}"
        if callee.symbol_kind in ("class", "struct", "typedef", "template_parameter"):
            reason = f"construction of the dependent type {callee.name}"
        written = self.source_text(cursor)
        facts.unresolved.append(Unresolved(call.line, call.col, self._within(), written, reason))

    def _unary(self, cursor: CXCursor, _parent: CXCursor) -> int:
        operator = self._library.clang_getCursorUnaryOperatorKind(cursor)
        if operator in kinds.INCREMENTS:
            self._role_of_next = Role.WRITE
        elif operator == kinds.ADDRESS_OF:
            self._role_of_next = Role.ADDRESS
        return RECURSE

    def _binary(self, cursor: CXCursor, _parent: CXCursor) -> int:
        if self._library.clang_getCursorBinaryOperatorKind(cursor) in kinds.ASSIGNMENTS:
            self._role_of_next = Role.WRITE
        return RECURSE

    def _assignment(self, _cursor: CXCursor, _parent: CXCursor) -> int:
        self._role_of_next = Role.WRITE
        return RECURSE

    # the preprocessor

    def _macro_id(self, cursor: CXCursor) -> tuple[str, str, str]:
        """(key, name, tree-relative file or "") of the macro that `cursor` defines."""
        name = text(self._library.clang_getCursorSpelling(cursor))
        file = self.position(cursor)[0]
        return f"cpp-macro:{file}:{name}", name, file

    def _macro_definition(self, cursor: CXCursor, _parent: CXCursor) -> int:
        key, name, file = self._macro_id(cursor)
        _, line, col = self.position(cursor)
        facts = self.facts[file]
        facts.symbols.append(Symbol(key, "macro", name, name, line, col, self._end_line(cursor)))
        facts.refs.append(Ref(symbol_id(key), line, col, Role.DEFINITION, None))
        return CONTINUE

    def _macro_expansion(self, cursor: CXCursor, _parent: CXCursor) -> int:
        definition = self._library.clang_getCursorReferenced(cursor)
        if definition.kind != kinds.MACRO_DEFINITION:
            return CONTINUE
        key, name, macro_file = self._macro_id(definition)
        handle, line, col, offset = file_location(self._library.clang_getCursorLocation(cursor))
        file = self.paths.relative(handle)
        if macro_file not in self.facts and key not in self._seen_externals:
            self._seen_externals.add(key)
            self.facts[file].externals.append(
                Symbol(key, "macro", name, name, 0, 0, 0, is_definition=False, path=macro_file)
            )
        self._macro_refs.append((file, symbol_id(key), offset, len(self.facts[file].refs)))
        self.facts[file].refs.append(Ref(symbol_id(key), line, col, Role.MACRO, None))
        return CONTINUE

    def _place_macro_references(self) -> None:
        """Macro uses come before the tree is walked; say now in which function each of them stands."""
        for ranges in self._function_ranges.values():
            ranges.sort()
        starts = {file: [r[0] for r in ranges] for file, ranges in self._function_ranges.items()}
        by_start: dict[str, dict[int, Id]] = {}
        for file, _, offset, _ in self._macro_refs:
            ranges = self._function_ranges.get(file, [])
            i = bisect.bisect_right(starts.get(file, []), offset) - 1
            while i >= 0 and ranges[i][1] < offset and i > len(ranges) - 400:
                i -= 1
            if i >= 0 and ranges[i][0] <= offset <= ranges[i][1]:
                by_start.setdefault(file, {})[offset] = ranges[i][2]
        for file, symbol, offset, index in self._macro_refs:
            within = by_start.get(file, {}).get(offset)
            refs = self.facts[file].refs
            if within is not None and index < len(refs) and refs[index].symbol == symbol:
                refs[index] = refs[index]._replace(within=within)

    def _inclusion(self, cursor: CXCursor, _parent: CXCursor) -> int:
        file, line, _ = self.position(cursor)
        handle = self._library.clang_getIncludedFile(cursor)
        target = self.paths.relative(handle) if handle else ""
        self.facts[file].includes.append(Include(line, target))
        return CONTINUE

