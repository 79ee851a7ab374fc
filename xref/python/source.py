"""Reads one Python file: bytes to text to syntax tree, with a reason for whatever cannot be read.

Never raises for what a file contains. Columns of `ast` and of the type checker's call report count bytes of UTF-8, the
index counts characters: `Source.column` converts.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from dataclasses import dataclass
from pathlib import Path

from xref.model import Status

_HALF = re.compile(r"\\(?:u|U0000)[dD][89a-fA-F]")
"""Half of a surrogate pair, as an escape in the source."""
_NAME_AFTER_KEYWORD = re.compile(rb"(?:async(?:\s|\\\n)+)?(?:def|class)(?:\s|\\\n)+")


@dataclass(slots=True)
class Source:
    """A file as read. `rows` are its lines as UTF-8 bytes, line 1 first; `tree` is None when it could not be parsed."""

    tree: ast.Module | None
    rows: list[bytes]
    status: Status
    detail: str
    is_plain: bool = False
    """Whether the file is UTF-8 without a byte order mark, with the usual line ends."""

    @property
    def whole(self) -> str:
        """The text of the file."""
        return b"\n".join(self.rows).decode("utf-8")

    @property
    def lines(self) -> int:
        """The file's number of lines."""
        return len(self.rows) - 1 if self.rows and not self.rows[-1] else len(self.rows)

    def column(self, line: int, byte: int) -> int:
        """The 1-based character column of the 0-based byte offset in `line` (1-based)."""
        row = self.rows[line - 1] if 0 < line <= len(self.rows) else b""
        return byte + 1 if row.isascii() else len(row[:byte].decode("utf-8", "replace")) + 1

    def name_position(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> tuple[int, int]:
        """Line (1-based) and byte offset (0-based) of the NAME that `node` defines; `ast` gives only the keyword's."""
        line, start = node.lineno, node.col_offset
        text = self.rows[line - 1][start:]
        for more in range(line, min(line + 8, len(self.rows))):
            match = _NAME_AFTER_KEYWORD.match(text)
            if match and match.end() < len(text):
                before = text[: match.end()]
                skipped = before.count(b"\n")
                return line + skipped, len(before) - before.rfind(b"\n") - 1 if skipped else start + len(before)
            text += b"\n" + self.rows[more]
        return line, start

    def text(self, node: ast.expr) -> str:
        """The first line of `node` as written."""
        row = self.rows[node.lineno - 1]
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return row[node.col_offset : end].decode("utf-8", "replace")


def read_source(path: Path) -> Source:
    """Read and parse `path`. A file that is not in its own encoding is parsed with the bad bytes replaced."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return Source(None, [], Status.FAILED, f"cannot be read: {error.strerror or error}")
    text, trouble = _decode(data)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    rows = text.encode("utf-8", "replace").split(b"\n")
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        return Source(None, rows, Status.FAILED, f"line {line}: a NUL byte")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        return Source(None, rows, Status.FAILED, f"line {error.lineno or 1}: {error.msg}")
    except (RecursionError, MemoryError):
        longest = max(range(len(rows)), key=lambda index: len(rows[index])) + 1
        return Source(None, rows, Status.FAILED, f"nested too deeply for the parser; line {longest} is the longest")
    except ValueError as error:
        return Source(None, rows, Status.FAILED, f"line 1: {error}")
    if _HALF.search(text):
        _write_halves_out(tree)
    is_plain = data.replace(b"\r\n", b"\n") == b"\n".join(rows)
    return Source(tree, rows, Status.DEGRADED if trouble else Status.OK, trouble, is_plain)


def _write_halves_out(tree: ast.Module) -> None:
    """Give texts that hold half of a surrogate pair as they are written: `"\\ud800"` is legal Python, but no UTF-8."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = node.value.encode("utf-8", "backslashreplace").decode("utf-8")


def _decode(data: bytes) -> tuple[str, str]:
    """The text of `data`, and what is wrong with its encoding."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except (SyntaxError, UnicodeDecodeError) as error:
        encoding, trouble = "utf-8", str(error)
    else:
        trouble = ""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return (
            data.decode(encoding, "replace").removeprefix("\ufeff"),
            f"line {line}: byte 0x{data[error.start]:02x} is not {error.encoding}; read with it replaced",
        )
    except LookupError:
        return data.decode("utf-8", "replace"), f"line 1: unknown encoding {encoding}"
    return text.removeprefix("\ufeff"), f"line 1: {trouble}" if trouble else ""
