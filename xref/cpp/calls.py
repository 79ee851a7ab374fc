"""References and calls met on a walk, with their roles and evidence; what does not resolve is a row."""

from __future__ import annotations

from xref.cpp import kinds
from xref.cpp.bindings import CALLABLES
from xref.cpp.clang import CONTINUE, RECURSE, CXCursor, children, text, unwrapped
from xref.cpp.dependent import NOT_COMPILED, few
from xref.cpp.loops import INVENTED, Loops
from xref.cpp.makers import constructed, made_by
from xref.cpp.names import Declaration
from xref.cpp.walk import Inputs, OpenCall
from xref.model import CALL_OPERATOR, Call, Evidence, FileFacts, Role, Unresolved

_ROLES = {kinds.MEMBER_REF: Role.WRITE, kinds.VARIABLE_REF: Role.READ, kinds.NAMESPACE_REF: Role.READ}
"""Of references that are no expressions: a constructor's `x_(..)`, a capture; the rest name types."""


class Calls(Loops):
    """Handlers of reference and expression cursors."""

    def __init__(self, inputs: Inputs) -> None:
        super().__init__(inputs)
        self._looked_into: set[int] = set()
        """The iterators of range-for loops whose initialisers have been walked, by libclang's address of each."""

    def _reference(self, cursor: CXCursor, _parent: CXCursor) -> int:
        target = self.declarations.of(self.library.clang_getCursorReferenced(cursor))
        if target is None or (target.symbol_kind == "template_parameter" and not self._is_written(target)):
            return RECURSE
        file, line, col = self.position(cursor)
        facts = self.facts.get(file)
        if facts is not None:
            self.mention(target, facts)
            self.add_ref(facts, target.id, line, col, _ROLES.get(cursor.kind, Role.TYPE))
        return RECURSE

    @staticmethod
    def _is_written(parameter: Declaration) -> bool:
        """Not so what `auto` stands for (`x:auto`), nor the parameters of a variable template, which are unseen."""
        parent = parameter.parent
        return ":" not in parameter.name and parent is not None and parent.kind != kinds.NAMESPACE

    def _capture(self, cursor: CXCursor, parent: CXCursor) -> int:
        """`[x]` reads x; `[y = f(x)]` defines y."""
        variable = self.library.clang_getCursorReferenced(cursor)
        scope = self.scope
        if scope is None or self.token(variable) != self.token(cursor):
            return self._reference(cursor, parent)
        local = self.declarations.define_local(variable, "local", scope, self.position(cursor)[0])
        self.emit_symbol(local, variable, True)
        return RECURSE

    def _expression_reference(self, cursor: CXCursor, _parent: CXCursor) -> int:
        role = self.roles.pop(self.token(cursor), Role.READ) if self.roles else Role.READ
        referenced = self.library.clang_getCursorReferenced(cursor)
        is_new = referenced.kind == kinds.VARIABLE and not self.declarations.is_known(referenced)
        target = self.declarations.of(referenced)
        if target is None or not target.name or target.name.startswith("["):  # the whole of a structured binding
            return RECURSE
        if target.linkage == "none" and target.name.startswith(INVENTED):
            if not target.name.startswith(INVENTED[0]) and referenced.decl not in self._looked_into:
                self._looked_into.add(referenced.decl)
                self.descend(referenced)  # its initialiser calls begin() or end(), on the range, which is shown itself
            return CONTINUE
        if is_new and target.linkage == "none" and self.in_function():
            self.walk_from(referenced, cursor)  # `switch (int v = f(); v)`: libclang shows no initialiser of it
            target = self.declarations.of(referenced) or target
        file, line, col = self.position(cursor)
        facts = self.facts.get(file)
        if facts is None:
            return RECURSE
        call = self._call_named(target)
        scope = self.scope
        if call is not None:
            call.file, call.line, call.col = file, line, col
            role = Role.CALL
        elif target.is_function and self.is_called_in_text(cursor, target.name):
            role = Role.CALL  # its arguments did not compile, so that clang keeps the name and drops the call
            if scope is not None:
                facts.calls.append(Call(scope.id, target.id, Evidence.DIRECT, line, col))
        elif target.is_function:
            role = Role.ADDRESS
            if scope is not None and self.token(cursor) not in self.registered:
                facts.calls.append(Call(scope.id, target.id, Evidence.VALUE, line, col))
        self.mention(target, facts)
        self.add_ref(facts, target.id, line, col, role)
        return RECURSE

    def _call_named(self, target: Declaration) -> OpenCall | None:
        """The open call whose callee `target` names: the same declaration, else one of its name (an instantiation that
        libclang does not lead back to the template that the name means)."""
        waiting = [c for c in reversed(self.open_calls) if c.callee is not None and not c.line]
        for call in waiting:
            if call.callee is target:
                return call
        if target.is_function:
            for call in waiting:
                if call.callee is not None and call.callee.is_function and call.callee.name == target.name:
                    return call
        return None

    def _overloaded(self, cursor: CXCursor, parent: CXCursor) -> int:
        file, line, col = self.position(cursor)
        facts = self.facts.get(file)
        if facts is None:
            return RECURSE
        call = self.open_calls[-1] if self.open_calls else None
        is_callee = call is not None and call.named_at == self.token(cursor)
        candidates: list[Declaration] = []
        cursors: list[CXCursor] = []
        for i in range(self.library.clang_getNumOverloadedDecls(cursor)):
            declared = self.library.clang_getOverloadedDecl(cursor, i)
            candidate = self.declarations.of(declared)
            if candidate is not None and candidate not in candidates:
                candidate.first_parameter = self._first_parameter(declared)
                candidates.append(candidate)
                cursors.append(declared)
        if not self.library.clang_getNumOverloadedDecls(cursor) and not is_callee:
            self._undeclared(cursor, facts, line, col)
        in_text = not is_callee and bool(candidates) and self.is_called_in_text(cursor, candidates[0].name)
        for candidate in few(candidates):
            self.mention(candidate, facts)
            is_value = candidate.is_function and parent.kind in kinds.EXPRESSIONS and not is_callee and not in_text
            role = Role.CALL if is_callee or in_text else Role.ADDRESS if is_value else Role.READ
            self.add_ref(facts, candidate.id, line, col, role)
            if (is_value or in_text) and self.scope is not None:
                evidence = Evidence.VALUE if is_value else self.evidence_of(candidates)
                facts.calls.append(Call(self.scope.id, candidate.id, evidence, line, col))
                self.note_arguments(parent, cursor, candidate, cursors[candidates.index(candidate)], facts, line, col)
        if is_callee and call is not None:
            call.name = text(self.library.clang_getCursorSpelling(cursor))
            call.file, call.line, call.col, call.candidates, call.declared = file, line, col, candidates, cursors
        return RECURSE

    def _undeclared(self, name: CXCursor, facts: FileFacts, line: int, col: int) -> None:
        """The call of a name that nothing declares: clang keeps the name, as an empty overload set, and the arguments,
        outside templates no call expression."""
        self.call_expressions += 1
        called = text(self.library.clang_getCursorSpelling(name))
        facts.unresolved.append(Unresolved(line, col, self.within(), self.written_call(name, called), NOT_COMPILED))

    def _call(self, cursor: CXCursor, _parent: CXCursor) -> int:
        self.call_expressions += 1
        referenced = self.called_function(cursor)
        callee = self.declarations.of(referenced)
        if callee is None:
            callee = self._called_lambda(cursor, referenced)
            if callee is None and referenced.kind in kinds.FUNCTION_LIKE:
                return RECURSE  # a closure's own constructor or conversion: nothing of the tree runs
        call = OpenCall(callee)
        if callee is None:
            call.named_at = self._overloads_of(cursor)
        elif callee.is_function:
            self.hooks.on_call(self, cursor, callee)
            if callee.name in kinds.WRITING_OPERATORS:
                self._assign(children(cursor))
        self.open_calls.append(call)
        self.descend(cursor)
        self.open_calls.pop()
        is_implicit = not call.line
        if is_implicit:
            call.file, call.line, call.col = self.position(cursor)
        facts = self.facts.get(call.file)
        if facts is None:
            return CONTINUE
        if is_implicit and callee is not None and self._calls_a_result(cursor, callee):
            if not self.note_through(cursor, facts, call.line, call.col, self.written(cursor)):
                self._note(cursor, call, facts, f"through the result of {callee.name}")
            return CONTINUE
        if is_implicit and callee is not None and callee.is_function:
            # a constructor, conversion or operator that no token names is used here all the same
            self.add_ref(facts, callee.id, call.line, call.col, Role.CALL)
        scope = self.scope
        if callee is None:
            self._unresolved_call(cursor, call, facts)
        elif not callee.is_function:
            self._indirect_call(cursor, call, callee, facts)
        elif scope is not None:
            self._resolved_call(scope, cursor, referenced, callee, call)
        return CONTINUE

    def _resolved_call(
        self, scope: Declaration, cursor: CXCursor, referenced: CXCursor, callee: Declaration, call: OpenCall
    ) -> None:
        """Record the call of a function that clang names, and what else the call runs."""
        facts = self.facts[call.file]
        via = self._via(cursor, referenced, callee)
        self.mention(callee, facts)
        facts.calls.append(Call(scope.id, callee.id, Evidence.DIRECT, call.line, call.col, via))
        self._constructs(scope, cursor, referenced, callee, call)
        self.note_instance(cursor, referenced, callee, facts, call.line, call.col)
        self.note_given(cursor, referenced, callee, facts, call.line, call.col)
        self.note_defaults(cursor, referenced, facts, call.line, call.col)
        if callee.symbol_kind == "constructor":
            self.note_temporary(referenced, facts, call.line, call.col)
            self.note_inherited(referenced, callee, facts, call.line, call.col)
        if callee.name != CALL_OPERATOR:
            return
        known = self._call_values(self._object_of(cursor), call, facts)
        if not known and callee.parent is not None and callee.parent.name in CALLABLES:
            self.note_through(cursor, facts, call.line, call.col, "")

    def _constructs(
        self, scope: Declaration, cursor: CXCursor, referenced: CXCursor, callee: Declaration, call: OpenCall
    ) -> None:
        """A call of `make_object<T>` is a call of T's constructor too; of one of several, when more than one fits. It
        hands its arguments on as they are, functions among them."""
        made = made_by(self, referenced, callee)
        found = constructed(self, made, cursor, referenced) if made is not None else []
        evidence = Evidence.DIRECT if len(found) == 1 else Evidence.TEMPLATE
        facts = self.facts[call.file]
        for constructor, declared in found:
            self.mention(declared, facts)
            facts.calls.append(Call(scope.id, declared.id, evidence, call.line, call.col))
            if constructor.kind == kinds.CONSTRUCTOR:
                if made is not None and declared.parent is not None:
                    self.note_inheriting(made, declared.parent.id, evidence, facts, call.line, call.col)
                self.note_given(cursor, constructor, declared, facts, call.line, call.col)
                given = self.library.clang_Cursor_getNumArguments(cursor)
                self.note_left_out(constructor, given, evidence, facts, call.line, call.col)

    def _called_lambda(self, call: CXCursor, referenced: CXCursor) -> Declaration | None:
        """The lambda that a call without a known callee runs, or the variable that holds one; None for any other call.

        A lambda that is called where it stands is met here before the walk reaches it; one of a file that this walk
        does not see is told by its variable.
        """
        is_closure = referenced.kind in kinds.FUNCTION_LIKE  # of functions, only a closure's members have no identity
        if is_closure and text(self.library.clang_getCursorSpelling(referenced)) != CALL_OPERATOR:
            return None
        first = next(iter(children(call)), None)
        found = self.find_lambda(first) if first is not None and first.kind in kinds.EXPRESSIONS else None
        if found is not None:
            return self.declare_lambda(found, "")
        return self.declarations.of(self._object_of(call)) if is_closure else None

    def _object_of(self, call: CXCursor) -> CXCursor:
        """What the called object `f` of `f(x)` refers to."""
        first = next((c for c in children(call) if c.kind in kinds.EXPRESSIONS), call)
        result: CXCursor = self.library.clang_getCursorReferenced(first)
        return result

    def _calls_a_result(self, call: CXCursor, callee: Declaration) -> bool:
        """Whether it is `f(x)(y)` with f returning a pointer: libclang names f as the callee of both calls."""
        if callee.symbol_kind not in ("function", "method") or callee.name.startswith("operator"):
            return False
        at = next(iter(children(call)), None)
        while at is not None and at.kind in (kinds.UNEXPOSED_EXPR, kinds.PAREN_EXPR, kinds.UNARY_OPERATOR):
            at = next(iter(children(at)), None)
        return at is not None and at.kind == kinds.CALL_EXPR

    def _call_values(self, variable: CXCursor, call: OpenCall, facts: FileFacts) -> bool:
        """Record a call of each lambda that the variable was given; False when none is known."""
        values = self.variable_values.get(variable.decl) if variable.decl else None
        scope = self.scope
        if not values or scope is None:
            return False
        via = text(self.library.clang_getCursorSpelling(variable))
        facts.calls += [Call(scope.id, v.id, Evidence.VALUE, call.line, call.col, via) for v in values]
        return True

    def _via(self, cursor: CXCursor, referenced: CXCursor, callee: Declaration) -> str:
        """The static type by which the call dispatches: of a virtual call, and of an object that is called by an
        operator of a class above its own (a visitor: xref.link.dispatch)."""
        if self.library.clang_Cursor_isDynamicCall(cursor):
            return self._static_type(cursor)
        is_method = callee.symbol_kind in ("method", "conversion")
        is_virtual = is_method and bool(self.library.clang_CXXMethod_isVirtual(referenced))
        if is_virtual and (object_ := self._object_in_brackets(cursor)):
            return object_
        if callee.parent is None or not callee.name.startswith("operator"):
            return ""
        if not is_virtual and (callee.name != CALL_OPERATOR or not callee.file):
            return ""
        via = self._static_type(cursor)
        named = next(iter(children(cursor)), cursor)
        if is_virtual and named.kind != kinds.MEMBER_REF_EXPR:  # `a.Base::operator()(x)` runs that one alone
            return via
        return via if via != callee.parent.qualname else ""

    def _object_in_brackets(self, call: CXCursor) -> str:
        """The class of the object of `(x.method)(..)`, of which libclang says that it dispatches nowhere; "" for
        others."""
        called = next(iter(children(call)), call)
        member = unwrapped(called)
        if called.kind != kinds.PAREN_EXPR or member.kind != kinds.MEMBER_REF_EXPR:
            return ""
        parts = children(member)
        is_qualified = not parts or any(c.kind == kinds.TYPE_REF for c in parts)
        return "" if is_qualified else self.class_named(self.library.clang_getCursorType(unwrapped(parts[0])))

    def _static_type(self, cursor: CXCursor) -> str:
        """The class that a call's receiver is declared to be; "" when libclang does not say. It gives the receiver's
        type of calls by `.` and `->` alone: of `f(x)` and `a == b`, the object is the first argument."""
        receiver = self.library.clang_Cursor_getReceiverType(cursor)
        if not receiver.kind and self.library.clang_Cursor_getNumArguments(cursor) > 0:
            at = unwrapped(self.library.clang_Cursor_getArgument(cursor, 0))  # to a base class: below the conversion
            receiver = self.library.clang_getCursorType(at)
        return self.class_named(receiver)

    def _indirect_call(self, cursor: CXCursor, call: OpenCall, callee: Declaration, facts: FileFacts) -> None:
        held = self.library.clang_getCursorReferenced(cursor)
        if self._call_values(held, call, facts) or self._object_call(cursor, call, held, facts):
            return
        if self.note_through(cursor, facts, call.line, call.col, self.written(cursor)):
            return
        reason = f"through the {callee.symbol_kind} {callee.name}"
        if callee.symbol_kind == "template_parameter" and callee.name:
            given = self.given_for(callee.name, self.expressions_in(cursor))
            self.note_construction(callee.name, facts, call.line, call.col, given=given)
            return
        if callee.symbol_kind in ("class", "struct", "typedef", "template_parameter"):
            reason = f"construction of the dependent type {callee.name}"
        self._note(cursor, call, facts, reason)

    def _unary(self, cursor: CXCursor, _parent: CXCursor) -> int:
        operator = self.library.clang_getCursorUnaryOperatorKind(cursor)
        if operator in kinds.INCREMENTS:
            self._give_role(children(cursor), Role.WRITE)
        elif operator == kinds.ADDRESS_OF:
            self._give_role(children(cursor), Role.ADDRESS)
        return RECURSE

    def _binary(self, cursor: CXCursor, _parent: CXCursor) -> int:
        if self.library.clang_getCursorBinaryOperatorKind(cursor) in kinds.ASSIGNMENTS:
            self._assign(children(cursor))
        return RECURSE

    def _assignment(self, cursor: CXCursor, _parent: CXCursor) -> int:
        self._give_role(children(cursor), Role.WRITE)
        return RECURSE

    def _assign(self, parts: list[CXCursor]) -> None:
        """`x = value`: x is written; a lambda is called by the variable, as if it were its initialiser."""
        self._give_role(parts, Role.WRITE)
        variable = self.library.clang_getCursorReferenced(parts[0]) if parts else None
        if variable is not None and not variable.decl:
            variable = self.field_of_this(parts[0])
        if variable is not None and variable.decl and variable.kind in (kinds.VARIABLE, kinds.PARAMETER, kinds.FIELD):
            self.give_lambda(parts[-1], variable.decl, text(self.library.clang_getCursorSpelling(variable)))
            if len(parts) > 1:
                self.note_kept(variable, parts[-1])
            if variable.kind == kinds.VARIABLE and len(parts) > 1:
                self.assigned.setdefault(variable.decl, []).append(parts[-1])

    def _give_role(self, parts: list[CXCursor], role: Role) -> None:
        """What the first of `parts` names, through parentheses and subscripts, has this role when the walk meets it."""
        at = parts[0] if parts else None
        while at is not None and at.kind not in (kinds.DECL_REF_EXPR, kinds.MEMBER_REF_EXPR):
            inner = children(at) if at.kind in (kinds.PAREN_EXPR, kinds.UNEXPOSED_EXPR, kinds.SUBSCRIPT) else []
            at = inner[0] if inner else None
        if at is not None:
            self.roles[self.token(at)] = role
