"""What a range-for runs: begin() and end() of its range, and operator!=, ++ and * of the iterators that they give.

libclang's visitor shows of such a loop the variable, the range and the body. The comparison and the step, which clang
has resolved as any other expression, are parts of the statement beside those. They are read there: at places that a
sample loop must confirm once per process, since no function of libclang leads to them.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import NamedTuple

from xref.cpp import kinds
from xref.cpp.bindings import POINTER
from xref.cpp.clang import RECURSE, CXCursor, Index, children, load, text, visit
from xref.cpp.dependent import NOT_COMPILED, DependentCalls
from xref.cpp.makers import takes
from xref.cpp.members import class_of, methods_named
from xref.model import BY_ARGUMENT, Call, Dependent, Evidence, FileFacts, Unresolved

INVENTED = ("__range", "__begin", "__end")
"""How clang names the variables that it makes of a range-for: nobody wrote them."""
_SAMPLE = """
struct I { int operator*(); I& operator++(); bool operator!=(I); };
struct R { I begin(); I end(); };
void f(R r) { for (R s = r; int i : s) {} }
"""
_WORDS = 16
"""Of the statement, in pointers: the sample's last part, its body, is the tenth in libclang 18."""
_NEAR = 1 << 22
"""Bytes: clang keeps the nodes of a small tree in one piece of memory."""
_BEFORE_BODY = {"init": 7, "condition": 3, "step": 2}
"""How many parts before the body each stands (clang/AST/StmtCXX.h, `CXXForRangeStmt::SubExprs`, so since 2018)."""
_SHOWN = 3
"""The variable, the range and the body."""
_REASON = "dependent on a template parameter: what a range-for runs"
_ITERATOR = "dependent on a template parameter: the iterator of a range-for"


class Parts(NamedTuple):
    """The parts of a range-for that libclang does not show; None for one that there is not: nothing is compared or
    stepped where the range depends on a template parameter."""

    init: CXCursor | None
    condition: CXCursor | None
    step: CXCursor | None


@cache
def _body_place() -> int:
    """At which word of a range-for's statement its body stands; -1 where the sample does not read as expected."""
    with Index().parse("/xref-sample.cc", ["-x", "c++", "-std=c++20"], 0, _SAMPLE) as unit:
        loops: list[CXCursor] = []

        def look(child: CXCursor, _parent: CXCursor, _data: object) -> int:
            if child.kind == kinds.RANGE_FOR:
                loops.append(child)
            return RECURSE

        visit(unit.cursor, look)
        words = _words(loops[0])
        body = children(loops[0])[-1].data1
        place = words.index(body) if body in words else -1
        hidden = [words[place - before] for before in _BEFORE_BODY.values()]
        if place < max(_BEFORE_BODY.values()) or any(not word or abs(word - body) > _NEAR for word in hidden):
            return -1
        library = load()
        parts = _parts(loops[0], place)
        named = [text(library.clang_getCursorSpelling(library.clang_getCursorReferenced(p))) for p in parts[1:] if p]
        return place if named == ["operator!=", "operator++"] else -1


def _words(statement: CXCursor) -> list[int]:
    return list((ctypes.c_size_t * _WORDS).from_address(statement.data1))


def _parts(loop: CXCursor, place: int) -> Parts:
    words = _words(loop)
    found = {}
    for name, before in _BEFORE_BODY.items():
        word = words[place - before]
        kind = kinds.COMPOUND_STATEMENT if name == "init" else kinds.CALL_EXPR  # which one, only clang knows: any of
        found[name] = CXCursor(kind, 0, loop.decl, word, loop.data2) if word else None  # a statement, an expression
    return Parts(**found)


def hidden_parts(loop: CXCursor) -> Parts | None:
    """The parts of a range-for that libclang does not show; None where this libclang keeps them elsewhere."""
    place = _body_place()
    return _parts(loop, place) if place >= 0 else None


class Loops(DependentCalls):
    """The handler of range-for statements."""

    def _range_for(self, cursor: CXCursor, _parent: CXCursor) -> int:
        parts = hidden_parts(cursor)
        if parts is not None and parts.init is not None:
            self.descend(parts.init)
        if parts is not None and parts.condition is not None and parts.step is not None:
            self._hidden_expression(parts.condition)
            self._hidden_expression(parts.step)
            return RECURSE
        file, line, col = self.position(cursor)
        facts, shown = self.facts.get(file), children(cursor)
        if facts is None or len(shown) < _SHOWN:
            return RECURSE
        written = self.source_text(cursor).partition("{")[0].strip()
        if parts is None:
            reason = "the end and the step of a range-for, which this libclang does not show"
        elif not self.in_template():
            reason = NOT_COMPILED
        else:
            reason = self._dependent_range(shown[-2], written, facts, line, col)
        if reason:
            facts.unresolved.append(Unresolved(line, col, self.within(), written, reason))
        return RECURSE

    def _hidden_expression(self, part: CXCursor) -> None:
        """Walk a comparison or a step: the call of an operator, or anything around or instead of one."""
        named = self.library.clang_getCursorReferenced(part)
        if named.kind in kinds.FUNCTION_LIKE and len(children(part)) > 1:  # a conversion of a call has one child
            self.handlers[kinds.CALL_EXPR](part, part)
        else:
            self.descend(part)

    def _dependent_range(self, range_: CXCursor, written: str, facts: FileFacts, line: int, col: int) -> str:
        """Record what is known of a loop over a range that depends on a template parameter; the reason why the rest
        is not, "" where nothing is left."""
        kind = self.library.clang_getCursorType(range_)
        if kind.kind in kinds.ARRAY_TYPES:
            return ""
        if parameter := self.parameter_of_object(range_):
            label = f"{parameter} {text(self.library.clang_getCursorSpelling(range_))}".rstrip()
            for name in ("begin", "end"):
                facts.dependent.append(Dependent(line, col, self.within(), name, "", "", written, label))
            return _ITERATOR
        begins, ends = (methods_named(kind, name) for name in ("begin", "end"))
        if not begins or not ends:
            class_ = self.declarations.of(class_of(kind))
            if class_ is None or class_.kind not in kinds.TYPE_LIKE or not class_.file:
                return _REASON
            for name in ("begin", "end"):
                receiver = f"{class_.qualname}{BY_ARGUMENT}"
                facts.dependent.append(Dependent(line, col, self.within(), name, receiver, "", written))
            return ""
        self._candidates([*begins, *ends], facts, line, col)
        iterator = self.library.clang_getCanonicalType(self.library.clang_getCursorResultType(begins[0]))
        if iterator.kind == POINTER:
            return ""
        operators = [methods_named(iterator, name) for name in ("operator!=", "operator++", "operator*")]
        operators[1] = [step for step in operators[1] if takes(self, step, 0)]  # not that which stands behind
        for found in operators:
            self._candidates(found, facts, line, col)
        return "" if all(operators) else _ITERATOR

    def _candidates(self, methods: list[CXCursor], facts: FileFacts, line: int, col: int) -> None:
        scope = self.scope
        for method in methods:
            candidate = self.declarations.of(method)
            if candidate is not None and scope is not None:
                self.mention(candidate, facts)
                facts.calls.append(Call(scope.id, candidate.id, Evidence.TEMPLATE, line, col))
