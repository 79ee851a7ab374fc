"""Calls in templates whose callee depends on the template's arguments: overload sets, and members of unknown types.

An overload set is read here, into candidates. Of a member (`x.name(..)`, `T::name(..)`) clang knows the name at most:
such a call is a fact of its own, which the linker leads to the methods of that name (xref/link/dependents.py).
"""

from __future__ import annotations

import re

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, CXType, children, file_location, text
from xref.cpp.members import class_of, methods_in
from xref.cpp.names import Declaration
from xref.cpp.qualifiers import Qualifiers
from xref.cpp.walk import OpenCall
from xref.cpp.written import without_arguments
from xref.model import CALL_OPERATOR, DESTRUCTION, QUALIFIED, Call, Dependent, Evidence, FileFacts, Unresolved

MAX_CANDIDATES = 40
"""An overload set with more candidates in the tree than this is a row in `unresolved`, not forty edges. Others do not
count: how many std::swap there are (44 on TVM main) is up to the headers that stand in front."""
NOT_COMPILED = "in code that did not compile: a header or a type is missing"
_QUALIFIERS = frozenset({kinds.NAMESPACE_REF, kinds.TYPE_REF, kinds.TEMPLATE_REF})
_LAST_NAME = re.compile(r"([A-Za-z_]\w*|(?<!\w)operator\s*(?:\(\s*\)|\[\s*\]|[^\w\s()\[\]]+))\s*$")
_INVOCATION = re.compile(r"\s*[A-Za-z_]\w*\s*(?:\(.*)?", re.DOTALL)
"""What a callee's text looks like where a macro made it: a name, or a name and arguments."""
_MEMBER = re.compile(r"(?:->|\.)\s*(?:template\s+)?~?[A-Za-z_]\w*\s*(?:<.*>)?$", re.DOTALL)
"""How a member ends that is written, not made by a macro: `f()->name`."""
_DESTRUCTOR = re.compile(r"~\s*[A-Za-z_]\w*\s*$")
_MAX_CALLEE = 400
"""Bytes of a callee's text that are looked at."""


def few(candidates: list[Declaration]) -> list[Declaration]:
    """Those outside the tree, and the first `MAX_CANDIDATES` of it."""
    left = [candidate for candidate in candidates if candidate.file][MAX_CANDIDATES:]
    return [candidate for candidate in candidates if candidate not in left] if left else candidates


class DependentCalls(Qualifiers):
    """What is known of a call that clang does not resolve."""

    def _overloads_of(self, call: CXCursor) -> int:
        """The token at which a dependent call names its overload set; 0 when it names none: `x.f(g)` names only `g`."""
        inner = children(call)
        named = [c for c in inner[:1] if c.kind in kinds.EXPRESSIONS]
        named += [c for c in inner[1:] if self._is_operator(c)]
        while named:
            at = named.pop()
            if at.kind == kinds.OVERLOADED_REF:
                return self.token(at)
            parts = children(at)
            own = next((c for c in parts if c.kind == kinds.OVERLOADED_REF), None)
            if (
                own is not None and at.kind == kinds.MEMBER_REF_EXPR
            ):  # `x->name<T>`: the receiver stands before the name
                return self.token(own)
            if at.kind != kinds.CALL_EXPR:
                below = [c for c in parts if c.kind not in _QUALIFIERS][:1]  # `std::` of std::forward<T>(x)
                named += [c for c in below if c.kind in kinds.EXPRESSIONS or c.kind == kinds.OVERLOADED_REF]
        return 0

    def _is_operator(self, cursor: CXCursor) -> bool:
        """Whether the cursor names the operator function of `a + b`, which stands between its operands."""
        return cursor.kind == kinds.DECL_REF_EXPR and any(
            c.kind == kinds.OVERLOADED_REF and text(self.library.clang_getCursorSpelling(c)).startswith("operator")
            for c in children(cursor)
        )

    def _unresolved_call(self, cursor: CXCursor, call: OpenCall, facts: FileFacts) -> None:
        scope = self.scope
        are_few = len(few(call.candidates)) == len(call.candidates)
        if call.candidates and scope is not None and are_few:
            fitting = self._that_take(cursor, call.candidates)
            evidence = self.evidence_of(fitting)
            named = [(c, declared) for c, declared in zip(call.candidates, call.declared, strict=True) if c in fitting]
            qualifier = self._qualifier_of_methods(cursor, [declared for _, declared in named])
            for candidate in fitting:
                facts.calls.append(Call(scope.id, candidate.id, evidence, call.line, call.col, qualifier))
            self.note_candidates(cursor, named, facts, call.line, call.col)
            given = self.library.clang_Cursor_getNumArguments(cursor)
            for _, declared in named if given >= 0 else ():
                self.note_left_out(declared, given, evidence, facts, call.line, call.col)
            return
        if not are_few:
            reason = f"{len(call.candidates)} candidates"
        elif self.in_template():
            if self.calls_method_pointer(cursor) and self.note_through(
                cursor, facts, call.line, call.col, self.written(cursor)
            ):
                return
            if self._member_call(cursor, call, facts):
                return
            if self.note_through(cursor, facts, call.line, call.col, self.written(cursor)):
                return
            reason = "dependent on a template parameter"
        elif self.library.clang_getCursorType(cursor).kind in kinds.UNKNOWN_TYPES:
            reason = NOT_COMPILED
        else:
            if self.note_through(cursor, facts, call.line, call.col, self.written(cursor)):
                return
            reason = "through an expression that yields a function"
        self._note(cursor, call, facts, reason)

    def _qualifier_of_methods(self, call: CXCursor, candidates: list[CXCursor]) -> str:
        """The class that a call of virtual methods names (`Base::run(t)`), with `::`, so that they are not dispatched;
        "" for other calls."""
        if not any(self.library.clang_CXXMethod_isVirtual(c) for c in candidates):
            return ""
        callee = next(iter(children(call)), None)
        qualifier = self.qualifier(callee) if callee is not None else None
        class_ = self._qualname(qualifier.class_) if qualifier is not None and qualifier.class_ is not None else ""
        return f"{class_}{QUALIFIED}" if class_ else ""

    def evidence_of(self, candidates: list[Declaration]) -> Evidence:
        """Why these may be called, of which clang has chosen none: in a template what it is given decides; elsewhere an
        argument did not compile, so that the name tells, and of several functions of one name none is sure."""
        if self.in_template():
            return Evidence.TEMPLATE
        return Evidence.DIRECT if len(candidates) == 1 else Evidence.NAME

    def _note(self, cursor: CXCursor, call: OpenCall, facts: FileFacts, reason: str) -> None:
        written = self.written(cursor)
        if call.name not in written:  # a macro makes the call
            written = f"{call.name}(..)"
        facts.unresolved.append(Unresolved(call.line, call.col, self.within(), written, reason))

    def written(self, cursor: CXCursor) -> str:
        """A call's text, or at least its name."""
        return self.source_text(cursor) or text(self.library.clang_getCursorSpelling(cursor))

    def _that_take(self, call: CXCursor, candidates: list[Declaration]) -> list[Declaration]:
        """Of an overload set, those whose first parameter names the class of the first argument, where any does."""
        known = self._class_of_argument(call)
        fitting = [c for c in candidates if c.first_parameter == known] if known else []
        return fitting or candidates

    def _first_parameter(self, function: CXCursor) -> str:
        kind = self.library.clang_getCursorType(function)
        if self.library.clang_getNumArgTypes(kind) < 1:
            return ""
        return self._class_of_type(self.library.clang_getArgType(kind, 0))

    def _class_of_argument(self, call: CXCursor) -> str:
        """The qualified name of the class that the first argument points to, refers to or is; "" when unknown."""
        if self.library.clang_Cursor_getNumArguments(call) < 1:
            return ""
        kind = self.library.clang_getCursorType(self.library.clang_Cursor_getArgument(call, 0))
        return self._class_of_type(kind)

    def _class_of_type(self, kind: CXType) -> str:
        return self._qualname(self._class_pointed_to(kind))

    def _class_pointed_to(self, kind: CXType) -> CXCursor:
        canonical = self.library.clang_getCanonicalType(kind)
        pointee = self.library.clang_getPointeeType(canonical)
        return class_of(pointee if pointee.kind else canonical)

    def _qualname(self, class_: CXCursor) -> str:
        """The class's qualified name; "" for what is no class."""
        declaration = self.declarations.of(class_)
        return declaration.qualname if declaration is not None and declaration.kind in kinds.TYPE_LIKE else ""

    def _is_outside(self, class_: CXCursor) -> bool:
        declaration = self.declarations.of(class_)
        return declaration is not None and not declaration.file

    def _object_call(self, call: CXCursor, at: OpenCall, variable: CXCursor, facts: FileFacts) -> bool:
        """Record `x(..)` in a template, where x's class is known: a call of its operator(); False for others."""
        if not self.in_template():
            return False
        kind = self.library.clang_getCursorType(variable)
        parameter = self.captured.get(variable.decl) or self.parameter_of(kind)
        known = self._class_of_type(kind)
        if not parameter and (not known or self.library.clang_getPointeeType(kind).kind):
            return False
        written, argument = self.source_text(call), self._class_of_argument(call)
        label = f"{parameter} {text(self.library.clang_getCursorSpelling(variable))}" if parameter else ""
        facts.dependent.append(
            Dependent(at.line, at.col, self.within(), CALL_OPERATOR, known, argument, written, label)
        )
        return True

    def _member_call(self, call: CXCursor, at: OpenCall, facts: FileFacts) -> bool:
        """Record `x.name(..)`, `T::name(..)` or `Class<T>(..)`; False when the call has another form."""
        callee = next(iter(children(call)), None)
        known = parameter = ""
        if callee is not None and callee.kind in (kinds.MEMBER_REF_EXPR, kinds.DECL_REF_EXPR):
            name = self.written_name(callee)
            if (destroyed := self._destroyed(callee)) and _DESTRUCTOR.search(self.source_text(callee)):
                facts.dependent.append(
                    Dependent(at.line, at.col, self.within(), DESTRUCTION, "", "", self.source_text(call), destroyed)
                )
                return True
            qualifier = self.qualifier(callee)
            if qualifier is not None and qualifier.class_ is not None:
                return self._qualified_call(call, at, name, qualifier.class_, facts)
            receiver = next((c for c in children(callee) if c.kind in kinds.EXPRESSIONS), None)
            if qualifier is not None or receiver is None:
                parameter = qualifier.parameter if qualifier is not None else ""
            else:
                class_ = self._class_pointed_to(self.library.clang_getCursorType(receiver))
                known = self._qualname(class_)
                parameter = self.parameter_of_object(receiver)
                if holder := self._holder(receiver, name) if known else "":
                    name, known, parameter = CALL_OPERATOR, "", holder
                elif known and self._is_outside(class_) and self._outside(methods_in(class_, name), facts, at):
                    return True
        else:
            kind = self.library.clang_getCursorType(call)
            known = self._class_of_type(kind) or self._deduced_class(callee)
            name = known.rsplit("::", 1)[-1]
            if made := self.parameter_of(kind) if callee is None or callee.kind not in kinds.EXPRESSIONS else "":
                given = self.given_for(made, self.expressions_in(call))
                self.note_construction(made, facts, at.line, at.col, self.written(call), given)
                return True
            if name:
                self.note_made_in_template(kind, facts, at.line, at.col)
            elif callee is not None and callee.kind in kinds.EXPRESSIONS:  # `Equal<T>()(x, y)`
                class_ = self._class_pointed_to(self.library.clang_getCursorType(callee))
                known = self._qualname(class_)
                name = CALL_OPERATOR if known else ""
                if known and self._is_outside(class_) and self._outside(methods_in(class_, name), facts, at):
                    return True
        if not name:
            return False
        self._note_dependent(call, at, facts, name, known, parameter)
        return True

    def _note_dependent(
        self, call: CXCursor, at: OpenCall, facts: FileFacts, name: str, receiver: str, parameter: str
    ) -> None:
        written, argument = self.source_text(call), self._class_of_argument(call)
        facts.dependent.append(Dependent(at.line, at.col, self.within(), name, receiver, argument, written, parameter))

    def _deduced_class(self, callee: CXCursor | None) -> str:
        """The qualified name of the class template that `Context(this, x)` makes an object of."""
        if callee is None or callee.kind != kinds.TEMPLATE_REF:
            return ""
        class_ = self.declarations.of(self.library.clang_getCursorReferenced(callee))
        return class_.qualname if class_ is not None and class_.kind in kinds.TYPE_LIKE else ""

    def _holder(self, receiver: CXCursor, name: str) -> str:
        """Of `x->name(..)`, where name is a field that holds a function: its template parameter, or the field."""
        field = self.field_named(self.library.clang_getCursorType(receiver), name)
        return self._held_by(field, name) if field is not None else ""

    def _held_by(self, field: CXCursor, name: str) -> str:
        """The template parameter that the field's type is, or the field, where it holds a function; else ""."""
        kind = self.library.clang_getCursorType(field)
        if parameter := self.parameter_of(kind):
            return f"{parameter} {name}"
        declared = self.declarations.of(field)
        return f"@{declared.id} {name}" if declared is not None and self.is_callable(kind) else ""

    def _qualified_call(self, call: CXCursor, at: OpenCall, name: str, class_: CXCursor, facts: FileFacts) -> bool:
        """Record `Class::name(..)`, which runs the class's own method, or the one that it inherits."""
        declared = self.declarations.of(class_)
        if declared is None or not name:
            return False
        if not declared.file and self._outside(methods_in(class_, name), facts, at):
            return True
        field = self.field_in(class_, name)
        holder = self._held_by(field, name) if field is not None else ""
        if holder:
            self._note_dependent(call, at, facts, CALL_OPERATOR, "", holder)
        else:
            self._note_dependent(call, at, facts, name, f"{declared.qualname}{QUALIFIED}", "")
        return True

    def _outside(self, methods: list[CXCursor], facts: FileFacts, at: OpenCall) -> bool:
        """Record a call of one of these methods of a class outside the tree; False when there are none."""
        scope = self.scope
        found = [d for d in map(self.declarations.of, methods) if d is not None]
        if scope is None:
            return False
        for method in found:
            self.mention(method, facts)
            facts.calls.append(Call(scope.id, method.id, Evidence.TEMPLATE, at.line, at.col))
        return bool(found)

    def _destroyed(self, callee: CXCursor) -> str:
        """The template parameter `T` of `p->~T`; "" for anything else."""
        named = [c for c in children(callee) if c.kind == kinds.TYPE_REF]
        referenced = self.library.clang_getCursorReferenced(named[0]) if named else None
        if referenced is None or referenced.kind != kinds.TEMPLATE_TYPE_PARAMETER:
            return ""
        return text(self.library.clang_getCursorSpelling(referenced))

    def written_name(self, callee: CXCursor) -> str:
        """The member's name as written: libclang has no spelling for what is not looked up yet."""
        extent = self.library.clang_getCursorExtent(callee)
        start = file_location(self.library.clang_getRangeStart(extent))
        end = file_location(self.library.clang_getRangeEnd(extent))
        source = self._sources.get(self.paths.relative(start[0]))
        if source is None or start[0] != end[0] or not start[3] < end[3] < start[3] + _MAX_CALLEE:
            return ""
        written = source[start[3] : end[3]].decode("utf-8", "replace")
        if (
            _INVOCATION.fullmatch(written)
            and not _MEMBER.search(written)
            and any(c.kind in kinds.EXPRESSIONS for c in children(callee))
        ):
            return self._name_in_macro(callee, written, source)
        found = _LAST_NAME.search(without_arguments(written))
        return re.sub(r"\s", "", found.group(1)) if found else ""

    def _name_in_macro(self, callee: CXCursor, invocation: str, source: bytes) -> str:
        """The member of `self` in a macro's `self->VisitExpr_(..)`; "" unless the definition names one member only.

        Of code that a macro makes libclang tells the invocation's place alone (clang_getSpellingLocation too). The
        macro must be defined in the same file.
        """
        receiver = next(c for c in children(callee) if c.kind in kinds.EXPRESSIONS)
        name = text(self.library.clang_getCursorSpelling(receiver)) or "this"
        macro = invocation.partition("(")[0].strip()
        pattern = rf"^[ \t]*#[ \t]*define[ \t]+{macro}\b((?:[^\\\n]|\\.|\\\n)*)"
        define = re.search(pattern, source.decode("utf-8", "replace"), re.MULTILINE)
        body = define.group(1) if define else ""
        member = rf"(?<![\w.>]){re.escape(name)}\s*(?:->|\.)\s*(?:template\s+)?([A-Za-z_]\w*)"
        members = set(re.findall(member, body))
        return members.pop() if len(members) == 1 else ""
