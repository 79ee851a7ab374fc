"""References and calls met on a walk, with their roles and evidence; what does not resolve is a row."""

from __future__ import annotations

from xref.cpp import kinds
from xref.cpp.clang import CONTINUE, RECURSE, CXCursor, text
from xref.cpp.names import Declaration
from xref.cpp.walk import OpenCall, Walk
from xref.model import Call, Evidence, FileFacts, Role, Unresolved

_INVENTED = ("__range", "__begin", "__end")
"""Variables that the compiler makes of a range-for: nobody wrote them."""
MAX_CANDIDATES = 40
"""An overload set of more candidates than this is a row in `unresolved`, not forty edges."""


class Calls(Walk):
    """Handlers of reference and expression cursors."""

    def _reference(self, cursor: CXCursor, _parent: CXCursor) -> int:
        target = self.declarations.of(self.library.clang_getCursorReferenced(cursor))
        if target is not None:
            file, line, col = self.position(cursor)
            facts = self.facts.get(file)
            if facts is not None:
                self.mention(target, facts)
                is_member = cursor.kind in (kinds.MEMBER_REF, kinds.VARIABLE_REF)
                role = Role.WRITE if is_member else Role.READ if cursor.kind == kinds.NAMESPACE_REF else Role.TYPE
                self.add_ref(facts, target.id, line, col, role)
        return RECURSE

    def _expression_reference(self, cursor: CXCursor, _parent: CXCursor) -> int:
        role, self.role_of_next = self.role_of_next, Role.READ
        target = self.declarations.of(self.library.clang_getCursorReferenced(cursor))
        if target is None:
            return RECURSE
        if target.linkage == "none" and target.name.startswith(_INVENTED):
            return RECURSE
        file, line, col = self.position(cursor)
        facts = self.facts.get(file)
        if facts is None:
            return RECURSE
        for call in reversed(self.open_calls):
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
        self.add_ref(facts, target.id, line, col, role)
        return RECURSE

    def _overloaded(self, cursor: CXCursor, _parent: CXCursor) -> int:
        file, line, col = self.position(cursor)
        facts = self.facts.get(file)
        if facts is None:
            return RECURSE
        call = self.open_calls[-1] if self.open_calls else None
        is_callee = call is not None and call.callee is None and not call.line
        candidates = []
        for i in range(self.library.clang_getNumOverloadedDecls(cursor)):
            candidate = self.declarations.of(self.library.clang_getOverloadedDecl(cursor, i))
            if candidate is not None and candidate not in candidates:
                candidates.append(candidate)
        for candidate in candidates[:MAX_CANDIDATES]:
            self.mention(candidate, facts)
            self.add_ref(facts, candidate.id, line, col, Role.CALL if is_callee else Role.READ)
        if is_callee and call is not None:
            call.file, call.line, call.col, call.candidates = file, line, col, candidates
        return RECURSE

    def _call(self, cursor: CXCursor, _parent: CXCursor) -> int:
        self.call_expressions += 1
        callee = self.declarations.of(self.library.clang_getCursorReferenced(cursor))
        if callee is not None and callee.is_function:
            self.hooks.on_call(self, cursor, callee)
        call = OpenCall(callee)
        self.open_calls.append(call)
        self.descend(cursor)
        self.open_calls.pop()
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
            via = self._static_type(cursor) if self.library.clang_Cursor_isDynamicCall(cursor) else ""
            self.mention(callee, facts)
            facts.calls.append(Call(scope.id, callee.id, Evidence.DIRECT, call.line, call.col, via))
        return CONTINUE

    def _static_type(self, cursor: CXCursor) -> str:
        """The class that a virtual call's receiver is declared to be; "" when libclang does not say."""
        kind = self.library.clang_Cursor_getReceiverType(cursor)
        pointee = self.library.clang_getPointeeType(kind)
        canonical = self.library.clang_getCanonicalType(pointee if pointee.kind else kind)
        receiver = self.declarations.of(self.library.clang_getTypeDeclaration(canonical))
        return receiver.qualname if receiver is not None else ""

    def _unresolved_call(self, cursor: CXCursor, call: OpenCall, facts: FileFacts) -> None:
        scope = self.scope
        if call.candidates and scope is not None and len(call.candidates) <= MAX_CANDIDATES:
            for candidate in call.candidates:
                facts.calls.append(Call(scope.id, candidate.id, Evidence.TEMPLATE, call.line, call.col))
            return
        name = text(self.library.clang_getCursorSpelling(cursor))
        if len(call.candidates) > MAX_CANDIDATES:
            reason = f"{len(call.candidates)} candidates"
        elif self.in_template():
            reason = "dependent on a template parameter"
        else:
            reason = "in code that did not compile: a header or a type is missing"
        written = self.source_text(cursor) or name
        facts.unresolved.append(Unresolved(call.line, call.col, self.within(), written, reason))

    def _indirect_call(self, cursor: CXCursor, call: OpenCall, callee: Declaration, facts: FileFacts) -> None:
        value = self.variable_values.get(self.library.clang_getCursorReferenced(cursor).decl)
        scope = self.scope
        if value is not None and scope is not None:
            facts.calls.append(Call(scope.id, value.id, Evidence.VALUE, call.line, call.col, callee.name))
            return
        reason = f"through the {callee.symbol_kind} {callee.name}"
        if callee.symbol_kind in ("class", "struct", "typedef", "template_parameter"):
            reason = f"construction of the dependent type {callee.name}"
        written = self.source_text(cursor)
        facts.unresolved.append(Unresolved(call.line, call.col, self.within(), written, reason))

    def _unary(self, cursor: CXCursor, _parent: CXCursor) -> int:
        operator = self.library.clang_getCursorUnaryOperatorKind(cursor)
        if operator in kinds.INCREMENTS:
            self.role_of_next = Role.WRITE
        elif operator == kinds.ADDRESS_OF:
            self.role_of_next = Role.ADDRESS
        return RECURSE

    def _binary(self, cursor: CXCursor, _parent: CXCursor) -> int:
        if self.library.clang_getCursorBinaryOperatorKind(cursor) in kinds.ASSIGNMENTS:
            self.role_of_next = Role.WRITE
        return RECURSE

    def _assignment(self, _cursor: CXCursor, _parent: CXCursor) -> int:
        self.role_of_next = Role.WRITE
        return RECURSE
