"""Finds the symbols of an index that recorded code and keys stand for.

Code joins by its file and qualified name; the line only chooses among definitions of one name. A file is the same file
when its path below the Python root is: with the same content its lines can be trusted too, else they are no site, and
among namesakes that definition is chosen which is nearest to where its neighbours have moved.
"""

from __future__ import annotations

import re
import sqlite3
from typing import NamedTuple

from xref.model import Id
from xref.trace.runfile import Code, RunFile, SourceFile
from xref.trace.store import sql_text

_COMPREHENSIONS = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"})
_LOCALS = ".<locals>"
_ORDINAL = re.compile(r"#\d+")


class Found(NamedTuple):
    """What a code object stands for. Without `symbol`, `package` and `reason` say what it is and why it has none; with
    one, `file_id` is the index's file, None when its content differs from what ran. `is_call` is false for code that is
    part of another symbol or runs at import: entering it is no call of the symbol.
    """

    symbol: Id | None
    file_id: int | None
    is_call: bool
    name: str
    reason: str


class _File(NamedTuple):
    id: int
    module: str
    sha256: str


class _Candidate(NamedTuple):
    line: int
    end_line: int
    id: Id
    kind: str


OUTSIDE = "outside the tree"
GENERATED = "code made at run time, in no file"


class PythonSymbols:
    """The Python symbols of an index. `same` and `different` count the run's files of the tree by their content."""

    def __init__(self, db: sqlite3.Connection, run: RunFile) -> None:
        self._db = db
        self._run = run
        self._files = self._indexed_files()
        self._matched = [self._match(row) for row in run.files]
        self._tables: dict[int, dict[str, list[_Candidate]]] = {}
        self._shifts: dict[int, list[tuple[int, int]]] = {}
        self.same = self.different = 0
        for row, file in zip(run.files, self._matched, strict=True):
            if file is not None:
                self.same += row.sha256 == file.sha256
                self.different += row.sha256 != file.sha256

    def _indexed_files(self) -> dict[str, _File]:
        """Path below the Python root -> file of the index."""
        rows = self._db.execute(
            "SELECT f.path, f.id, s.qualname, f.sha256 FROM symbol s JOIN file f ON f.id = s.file_id"
            " WHERE s.kind = 'module' AND s.lang = 'python' AND f.path LIKE '%.py'"
        )
        files = {}
        for path, id_, module, digest in rows:
            base = module.replace(".", "/")
            relative = f"{base}/__init__.py" if path.endswith("/__init__.py") or path == "__init__.py" else f"{base}.py"
            if path == relative or path.endswith(f"/{relative}"):
                files[relative] = _File(id_, module, digest)
        return files

    def _match(self, row: SourceFile) -> _File | None:
        file = self._files.get(row.relative) if row.relative is not None else None
        # Any folder may hold a setup.py: a file without a package is the same only when its content is.
        return None if file is not None and "/" not in (row.relative or "") and row.sha256 != file.sha256 else file

    def find(self, code: Code) -> Found:
        """The symbol of `code`."""
        row, file = self._run.files[code.file], self._matched[code.file]
        if file is None:
            if row.path.startswith("<"):
                return Found(None, None, True, row.path, GENERATED)
            return Found(None, None, True, (row.relative or row.path).partition("/")[0], OUTSIDE)
        trusted = row.sha256 == file.sha256
        parts = (code.qualname or code.name).replace(_LOCALS, "").split(".")
        name = ".".join(part for part in parts if part not in _COMPREHENSIONS)
        inside = parts[-1] in _COMPREHENSIONS
        found, reason = self._choose(file, code, "" if name == "<module>" else name, trusted, inside)
        shown = f"{file.module}.{name}" if name not in ("", "<module>") else file.module
        if found is None:
            return Found(None, None, True, shown, reason)
        is_call = not inside and found.kind not in ("module", "class")
        return Found(found.id, file.id if trusted else None, is_call, shown, "")

    def _choose(self, file: _File, code: Code, name: str, trusted: bool, inside: bool) -> tuple[_Candidate | None, str]:
        """The symbol called `name`, or None and why. `inside`: the code is a comprehension in it, not its own."""
        table = self._table(file)
        candidates = table.get(name, [])
        if code.qualname is None and code.name != "<module>":
            # Before Python 3.11 a code object knows only the last part of its name.
            ends = [many for key, many in table.items() if key and (inside or key.rpartition(".")[2] == name)]
            candidates = [one for many in ends for one in many]
        if not candidates:
            return None, "not in the index" if trusted else "not in the index's version of the file"
        if len(candidates) == 1:
            return candidates[0], ""
        if not trusted:
            if inside or code.name == "<lambda>":
                return None, "several of this name, and no line to choose by"
            expected = code.line + self._shift(file, code)
            return min(candidates, key=lambda one: (abs(one.line - expected), one.line)), ""
        if inside:
            around = [one for one in candidates if one.line <= code.line <= one.end_line]
            # The last one to begin is the innermost; none is the module's own comprehension.
            return max(around, default=table[""][0]), ""
        # A definition's line is that of its name, at or below the code's first line, which is the first decorator's.
        below = sorted(one for one in candidates if one.line >= code.line)
        if not below:
            return None, "not in the index"
        if code.name == "<lambda>" and sum(one.line == below[0].line for one in below) > 1:
            return None, "one of several lambdas in one line"
        return below[0], ""

    def _shift(self, file: _File, code: Code) -> int:
        """By how many lines the index's version of the file differs near `code`: as the nearest function that ran and
        whose name is unique.
        """
        shifts = self._shifts.get(code.file)
        if shifts is None:
            shifts = self._shifts[code.file] = []
            table = self._table(file)
            for other in self._run.codes:
                if other.file == code.file and other.qualname is not None:
                    bearing = table.get(other.qualname.replace(_LOCALS, ""), [])
                    if len(bearing) == 1:
                        shifts.append((other.line, bearing[0].line - other.line))
        return min(shifts, key=lambda shift: abs(shift[0] - code.line), default=(0, 0))[1]

    def _table(self, file: _File) -> dict[str, list[_Candidate]]:
        """Name within the module -> what bears it. Second definitions (`#2`) are under the same name as the first."""
        table = self._tables.get(file.id)
        if table is None:
            table = self._tables[file.id] = {}
            prefix = f"py:{file.module}"
            rows = self._db.execute(
                "SELECT id, key, line, end_line, kind FROM symbol WHERE file_id = ? AND lang = 'python'"
                " AND kind IN ('module', 'class', 'function', 'method', 'property', 'lambda')",
                (file.id,),
            )
            for id_, key, line, end_line, kind in rows:
                suffix = key.removeprefix(prefix).removeprefix(":")
                table.setdefault(_ORDINAL.sub("", suffix), []).append(_Candidate(line, end_line, id_, kind))
        return table


class Keys:
    """The keys of an index, by registry."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def find(self, registry: str, name: str) -> tuple[Id | None, str]:
        """What the key runs; or None, and why. Of several definitions those that are always built come first."""
        rows = self._db.execute(
            "SELECT DISTINCT symbol_id, guard <> '' FROM key_defs WHERE registry = ? AND name = ?"
            " ORDER BY guard <> '', symbol_id IS NULL", (registry, sql_text(name)),
        ).fetchall()  # fmt: skip
        if not rows:
            return None, f"no such key in the index (registry {registry})"
        known = [(symbol, guarded) for symbol, guarded in rows if symbol is not None]
        if not known:
            return None, "the index does not know what the key runs"
        best = {symbol for symbol, guarded in known if guarded == known[0][1]}
        if len(best) > 1:
            return None, f"{len(best)} definitions bear this name"
        return best.pop(), ""
