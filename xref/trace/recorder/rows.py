"""Turns what was counted into the rows of a part file: ids of code objects and handles become numbered names."""

from __future__ import annotations

from .edges import Lines, PythonCalls, is_import_machinery, is_own, is_resumption
from .ffi import CREATED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any

    from .ffi import FfiRow, Names, Origin


def part_rows(calls: PythonCalls, made: list[FfiRow], names: Names) -> Iterator[list[Any]]:
    """All rows but the header: the tables of code and keys, Python calls, callbacks, and the FFI calls in `made`."""
    rows = _Rows(calls, made, names)
    found = [*rows.python(), *rows.callbacks(), *rows.ffi()]
    yield from rows.tables()
    yield from found


class _Rows:
    """Numbers code objects and names of functions, in the order of their first use."""

    def __init__(self, calls: PythonCalls, made: list[FfiRow], names: Names) -> None:
        self._calls, self._made, self._names = calls, made, names
        self._origins = {row.handle: row.origin for row in reversed(made) if row.origin}
        self._entered = self._only_entered()
        self._numbers: dict[int, int] = {}
        self._codes: list[CodeType] = []
        self._keys: dict[tuple[Any, ...], int] = {}

    def _only_entered(self) -> dict[int, CodeType]:
        """Function -> the Python code that its calls began with, where that was always the same."""
        entered: dict[int, set[int]] = {}
        for state in list(self._calls.states):
            for handle, code_id in list(state.callbacks):
                if not _is_left_out(self._calls.codes[code_id]):
                    entered.setdefault(handle, set()).add(code_id)
        return {handle: self._calls.codes[min(found)] for handle, found in entered.items() if len(found) == 1}

    def python(self) -> Iterator[list[Any]]:
        """Python calls, summed up by line."""
        codes, lines = self._calls.codes, Lines()
        left_out = {number for number, code in list(codes.items()) if _is_left_out(code)}
        merged: dict[tuple[int, int, int, int], int] = {}
        for state in list(self._calls.states):
            for (caller, offset, callee, start), count in list(state.calls.items()):
                if caller in left_out or callee in left_out or is_resumption(codes[callee], start):
                    continue
                key = (state.number, caller, lines.of(codes[caller], offset), callee)
                merged[key] = merged.get(key, 0) + count
        for (thread, caller, line, callee), count in merged.items():
            yield ["python", thread, self._code(codes[caller]), line, self._code(codes[callee]), count]

    def callbacks(self) -> Iterator[list[Any]]:
        """Python code that native code entered."""
        for state in list(self._calls.states):
            for (handle, code_id), count in list(state.callbacks.items()):
                code = self._calls.codes[code_id]
                if not _is_left_out(code):
                    yield ["callback", state.number, self._key(handle), self._code(code), count]

    def ffi(self) -> Iterator[list[Any]]:
        """FFI calls and tensors, summed up by site and name."""
        merged: dict[tuple[Any, ...], list[int]] = {}
        for row in self._made:
            if row.code is None or not _is_left_out(row.code):
                key = self._key(row.handle, row.origin, row.reused)
                via = self._key(row.via) if row.via else None
                code = self._code(row.code) if row.code is not None else None
                total = merged.setdefault((row.thread, code, row.line, key, via), [0] * 6)
                for place, number in enumerate((row.calls, row.ns, *row.tensors)):
                    total[place] += number
        for site, (count, ns, *tensors) in merged.items():
            if count:
                yield ["ffi", *site, count, ns]
            if any(tensors):
                yield ["tensor", *site, *tensors]

    def _code(self, code: CodeType) -> int:
        known = self._numbers.get(id(code))
        if known is None:
            known = self._numbers[id(code)] = len(self._codes)
            self._codes.append(code)
        return known

    def _key(self, handle: int, origin: Origin | None = None, reused: bool = False) -> int:
        """The number of the name of `handle`. One that Python code made is the Python function that its calls enter."""
        name: tuple[Any, ...] = self._names.of(handle, self._origins, origin, reused)
        entered = self._entered.get(handle)
        made_here = (origin or self._origins.get(handle, (0, "")))[0] == CREATED
        if name[0] == "returned" and made_here and entered is not None:
            name = ("python", getattr(entered, "co_qualname", entered.co_name), self._code(entered))
        return self._keys.setdefault(name, len(self._keys))

    def tables(self) -> Iterator[list[Any]]:
        """Of code: number, file, qualified name (null before Python 3.11, which does not know it), name, first line. Of
        functions: number, kind, name, and the number of its code when it is a Python function.
        """
        for number, code in enumerate(self._codes):
            qualname = getattr(code, "co_qualname", None)
            yield ["code", number, code.co_filename, qualname, code.co_name, code.co_firstlineno]
        for name, number in self._keys.items():
            yield ["key", number, *name]


def _is_left_out(code: CodeType) -> bool:
    return is_own(code) or is_import_machinery(code)
