"""Statements that libclang knows of and shows nothing of, above all what clang made of values in braces.

`D d[2] = {1, f()}` constructs two objects of D. libclang shows the list as it is written, `1` and `f()`; what they are
converted to stands in another list, which leads to the written one. libclang's visitor would walk it if it led nowhere:
hence the visitor is given a copy of the few words of which a list consists, without that pointer. Into such a copy any
statement can be put of which the address is known, and comes out as a cursor of its proper kind. The places of the
words must be confirmed by a sample once per process, since no function of libclang tells them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from xref.cpp import kinds
from xref.cpp.clang import RECURSE, CXCursor, Index, children, load, text, visit

_SAMPLE = """
struct D { D(int = 1); };
struct A { D d; int field = 2; };
void f() { A list = {3}; D filled[3] = {4}; }
"""
_WORDS = 8
"""Of a list (clang/AST/Expr.h, `InitListExpr`), in pointers."""
_FIRST, _END, _WRITTEN, _FILLER = 2, 3, 6, 7
"""The first of a list's values and the one behind the last, the written list, and what makes the rest of an array."""
_FIELD_OF_DEFAULT = 2
"""Where in the value of a field that a list leaves out the field stands (clang/AST/ExprCXX.h, `CXXDefaultInitExpr`)."""
_TAGS = 7
"""The bits of a pointer that hold other things."""
_IS_MADE = 4
"""The bit beside the pointer to the written list that tells the other one."""
_NEAR = 1 << 22
"""Bytes: clang keeps the nodes of a small tree in one piece of memory."""
_MAX_CAPTURES = 1000
_WORD = ctypes.sizeof(ctypes.c_size_t)


class _Layout(NamedTuple):
    """A list's words, and by which number clang tells the value of a field that a list leaves out."""

    words: tuple[int, ...]
    default: int


class Listed:
    """Statements below a cursor that libclang's visitor can be given. The cursor lives as long as this does."""

    def __init__(self, words: Sequence[int], statements: Sequence[int], like: CXCursor) -> None:
        self._statements = (ctypes.c_size_t * len(statements))(*statements)
        first = ctypes.addressof(self._statements)
        self._words = (ctypes.c_size_t * _WORDS)(*words)
        self._words[_FIRST], self._words[_END] = first, first + len(statements) * _WORD
        self._words[_WRITTEN] = _IS_MADE
        self._words[_FILLER] = 0
        self.cursor = CXCursor(kinds.INIT_LIST_EXPR, 0, like.decl, ctypes.addressof(self._words), like.data2)

    def cursors(self) -> list[CXCursor]:
        """Those of the statements."""
        return children(self.cursor)


def words_at(address: int, count: int) -> list[int]:
    """The first words of what clang has at an address."""
    return list((ctypes.c_size_t * count).from_address(address))


@cache
def _layout() -> _Layout | None:
    """What is true of lists in this libclang; None where the sample does not read as expected."""
    with Index().parse("/xref-sample.cc", ["-x", "c++", "-std=c++17"], 0, _SAMPLE) as unit:
        lists: list[CXCursor] = []

        def look(child: CXCursor, _parent: CXCursor, _data: object) -> int:
            if child.kind == kinds.INIT_LIST_EXPR:
                lists.append(child)
            return RECURSE

        visit(unit.cursor, look)
        words = [words_at(one.data1, _WORDS) for one in lists]
        made = [_values(one) for one in words]
        is_near = all(
            abs((word & ~_TAGS) - one.data1) < _NEAR
            for one, its, values in zip(lists, words, made, strict=True)
            for word in (its[_FIRST], its[_END], its[_WRITTEN], *values)
        )
        if [len(values) for values in made] != [2, 2] or not is_near or not all(_is_made(one) for one in words):
            return None
        in_struct, in_array = (
            Listed(its, values, one).cursors() for one, its, values in zip(lists, words, made, strict=True)
        )
        library = load()
        named = [
            text(library.clang_getCursorSpelling(library.clang_getCursorReferenced(c)))
            for c in (in_struct[0], *in_array)
        ]
        default = made[0][1]
        field = _field_of(default, lists[0])
        if named != ["D", "D", "D"] or text(library.clang_getCursorSpelling(field)) != "field":
            return None
        return _Layout(tuple(words[0]), _class_of(default))


def _is_made(words: Sequence[int]) -> bool:
    return words[_WRITTEN] & _TAGS == _IS_MADE


def _values(words: Sequence[int]) -> list[int]:
    """The addresses of a list's values, of that for the rest of an array too."""
    size = words[_END] - words[_FIRST]
    if not 0 <= size < _NEAR:
        return []
    filler = words[_FILLER]  # of a union, the field that is set, which has a tag
    return words_at(words[_FIRST], size // _WORD) + ([filler] if filler and not filler & _TAGS else [])


def _class_of(statement: int) -> int:
    """clang's number for the kind of a statement."""
    return ctypes.c_ubyte.from_address(statement).value


def _field_of(default: int, like: CXCursor) -> CXCursor:
    return CXCursor(kinds.FIELD, 0, words_at(default, _FIELD_OF_DEFAULT + 1)[_FIELD_OF_DEFAULT], 0, like.data2)


_CAPTURES = 4
"""Where in a lambda the values of its captures stand, and behind them its body (clang/AST/ExprCXX.h, `LambdaExpr`)."""
_COUNT_SHIFT, _COUNT_MASK = 32, 0xFFFF
"""Where in its first word their number is."""


def captured_by(closure: CXCursor, body: CXCursor) -> list[CXCursor] | None:
    """What computes the captures of a lambda, where it stands; None where this libclang keeps it elsewhere, which the
    place of the body tells."""
    layout = _layout()
    count = words_at(closure.data1, 1)[0] >> _COUNT_SHIFT & _COUNT_MASK
    words = words_at(closure.data1, _CAPTURES + count + 1) if count < _MAX_CAPTURES else [0]
    if layout is None or words[-1] != body.data1:
        return None
    return Listed(layout.words, [word for word in words[_CAPTURES:-1] if word], closure).cursors()


_BINDS, _BOUND = 7, 8
"""Where in a structured binding's name the whole stands, and behind it what it names (clang/AST/DeclCXX.h,
`BindingDecl`)."""


def value_of_binding(binding: CXCursor, whole: CXCursor) -> CXCursor | None:
    """The call of `get<I>` that a name of a structured binding stands for, where its type is tuple-like; else None.

    The place is sure where the whole stands before it.
    """
    layout, library = _layout(), load()
    words = words_at(binding.decl, _BOUND + 1)
    if layout is None or words[_BINDS] != whole.decl or not words[_BOUND]:
        return None
    (named,) = Listed(layout.words, [words[_BOUND]], binding).cursors()
    holder = library.clang_getCursorReferenced(named)
    if named.kind != kinds.DECL_REF_EXPR or holder.kind != kinds.VARIABLE:
        return None
    value: CXCursor = library.clang_Cursor_getVarDeclInitializer(holder)
    return value if value.kind in kinds.EXPRESSIONS else None


class Values(NamedTuple):
    """What clang made of a list in braces: the statements, and the fields whose initialisers run since it has no value
    for them."""

    listed: Listed
    defaults: list[CXCursor]


def can_read_lists() -> bool:
    """Whether this libclang keeps lists as the sample says."""
    return _layout() is not None


def values_of(list_: CXCursor) -> Values | None:
    """What clang made of the list; None where it is shown as it is, in templates and where something did not compile,
    or cannot be read."""
    layout = _layout()
    words = words_at(list_.data1, _WORDS) if layout is not None else []
    if layout is None or not _is_made(words):
        return None
    values = [value for value in _values(words) if value]
    defaults = [_field_of(value, list_) for value in values if _class_of(value) == layout.default]
    return Values(Listed(words, values, list_), defaults)
