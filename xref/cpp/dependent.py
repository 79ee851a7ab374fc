"""Calls in templates whose callee depends on the template's arguments: overload sets, and members of unknown types.

An overload set is read here, into candidates. Of a member (`x.name(..)`, `T::name(..)`) clang knows the name at most:
such a call is a fact of its own, which the linker leads to the methods of that name (xref/link/dependents.py).
"""

from __future__ import annotations

import re

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, file_location, text
from xref.cpp.holders import Holders
from xref.cpp.names import Declaration
from xref.cpp.walk import OpenCall
from xref.model import CALL_OPERATOR, DESTRUCTION, Call, Dependent, Evidence, FileFacts, Unresolved

MAX_CANDIDATES = 40
"""An overload set with more candidates in the tree than this is a row in `unresolved`, not forty edges. Others do not
count: how many std::swap there are (44 on TVM main) is up to the headers that stand in front."""
NOT_COMPILED = "in code that did not compile: a header or a type is missing"
_QUALIFIERS = frozenset({kinds.NAMESPACE_REF, kinds.TYPE_REF, kinds.TEMPLATE_REF})
_LAST_NAME = re.compile(r"([A-Za-z_]\w*)\s*$")
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


class DependentCalls(Holders):
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
            for candidate in fitting:
                facts.calls.append(Call(scope.id, candidate.id, evidence, call.line, call.col))
            named = [(c, declared) for c, declared in zip(call.candidates, call.declared, strict=True) if c in fitting]
            self.note_candidates(cursor, named, facts, call.line, call.col)
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
            reason = "dependent on a template parameter"
        elif self.library.clang_getCursorType(cursor).kind in kinds.UNKNOWN_TYPES:
            reason = NOT_COMPILED
        else:
            if self.note_through(cursor, facts, call.line, call.col, self.written(cursor)):
                return
            reason = "through an expression that yields a function"
        self._note(cursor, call, facts, reason)

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

    def _class_of_type(self, kind: object) -> str:
        canonical = self.library.clang_getCanonicalType(kind)
        pointee = self.library.clang_getPointeeType(canonical)
        declaration = self.declarations.of(
            self.library.clang_getTypeDeclaration(pointee if pointee.kind else canonical)
        )
        if declaration is None or declaration.kind not in kinds.TYPE_LIKE:
            return ""
        return declaration.qualname

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
        parameter = ""
        if callee is not None and callee.kind in (kinds.MEMBER_REF_EXPR, kinds.DECL_REF_EXPR):
            name = self.written_name(callee)
            if (destroyed := self._qualifier(callee)) and _DESTRUCTOR.search(self.source_text(callee)):
                facts.dependent.append(
                    Dependent(at.line, at.col, self.within(), DESTRUCTION, "", "", self.source_text(call), destroyed)
                )
                return True
            receiver = next((c for c in children(callee) if c.kind in kinds.EXPRESSIONS), None)
            known = self._class_of_type(self.library.clang_getCursorType(receiver)) if receiver is not None else ""
            parameter = self.parameter_of_object(receiver) if receiver is not None else self._qualifier(callee)
            holder = self._holder(receiver, name) if receiver is not None and known else ""
            if holder:
                name, known, parameter = CALL_OPERATOR, "", holder
        else:
            kind = self.library.clang_getCursorType(call)
            known = self._class_of_type(kind) or self._deduced_class(callee)
            name = known.rsplit("::", 1)[-1]
            if made := self.parameter_of(kind) if callee is None or callee.kind not in kinds.EXPRESSIONS else "":
                self.note_construction(made, facts, at.line, at.col, self.written(call))
                return True
            if name:
                self.note_made_in_template(kind, facts, at.line, at.col)
            elif callee is not None and callee.kind in kinds.EXPRESSIONS:  # `Equal<T>()(x, y)`
                known = self._class_of_type(self.library.clang_getCursorType(callee))
                name = CALL_OPERATOR if known else ""
        if not name:
            return False
        written, argument = self.source_text(call), self._class_of_argument(call)
        facts.dependent.append(Dependent(at.line, at.col, self.within(), name, known, argument, written, parameter))
        return True

    def _deduced_class(self, callee: CXCursor | None) -> str:
        """The qualified name of the class template that `Context(this, x)` makes an object of."""
        if callee is None or callee.kind != kinds.TEMPLATE_REF:
            return ""
        class_ = self.declarations.of(self.library.clang_getCursorReferenced(callee))
        return class_.qualname if class_ is not None and class_.kind in kinds.TYPE_LIKE else ""

    def _holder(self, receiver: CXCursor, name: str) -> str:
        """Of `x->name(..)`, where name is a field that holds a function: its template parameter, or the field."""
        field = self.field_named(self.library.clang_getCursorType(receiver), name)
        if field is None:
            return ""
        kind = self.library.clang_getCursorType(field)
        if parameter := self.parameter_of(kind):
            return f"{parameter} {name}"
        declared = self.declarations.of(field)
        return f"@{declared.id} {name}" if declared is not None and self.is_callable(kind) else ""

    def _qualifier(self, callee: CXCursor) -> str:
        """The template parameter `T` of `T::name`; "" for another qualifier, or none."""
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
        found = _LAST_NAME.search(_without_arguments(written))
        return found.group(1) if found else ""

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


def _without_arguments(written: str) -> str:
    """`x.template as<T>` -> `x.template as`."""
    written = written.rstrip()
    if not written.endswith(">"):
        return written
    depth = 0
    for i in range(len(written) - 1, -1, -1):
        depth += (written[i] == ">" and written[i - 1 : i] != "-") - (written[i] == "<")
        if not depth:
            return written[:i]
    return written
