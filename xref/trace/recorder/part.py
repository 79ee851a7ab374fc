"""Writes what one process recorded: a part file, which `xref trace` later puts together with those of others, and a
log of what must not be lost when the process is killed.

JSON lines, written by hand: the json module of the traced process may be the script's own json.py.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_ESCAPES = {'"': '\\"', "\\": "\\\\"}


def encode(value: Any) -> str:
    """`value` (None, bool, int, float, str, list, tuple or dict) as JSON in ASCII. Lone surrogates, the bytes of file
    names that are not UTF-8, are kept as such.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return '"' + (value if _is_plain(value) else "".join(map(_character, value))) + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(encode(str(key)) + ": " + encode(item) for key, item in value.items()) + "}"
    return "[" + ", ".join([repr(item) if type(item) is int else encode(item) for item in value]) + "]"


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text


def _character(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    code = ord(letter)
    if 32 <= code < 127:
        return letter
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


class Log:
    """A file that rows are appended to at once: what was written stays, whatever happens to the process."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._file = -1

    def forget(self) -> None:
        """Go on in a file of this process's own: for the child of a fork."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def write(self, row: list[Any]) -> None:
        """Append one row; drop it when the folder has gone, as it has for a child that outlives the command."""
        try:
            if self._file < 0:
                path = os.path.join(self._folder, f"log-{os.getpid()}")
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(self._file, (encode(row) + "\n").encode("ascii"))
        except OSError:
            pass


def write_error(folder: str, error: BaseException) -> None:
    """Tell `xref trace` what went wrong, if it is still there."""
    try:
        with open(os.path.join(folder, f"error-{os.getpid()}"), "w", encoding="utf-8") as stream:
            stream.write(f"{type(error).__name__}: {error}")
    except OSError:
        pass


def write_part(folder: str, rows: Iterable[Any]) -> None:
    """Put the rows in the place of this process's earlier part file, whole or not at all."""
    path = os.path.join(folder, f"part-{os.getpid()}")
    with open(path + ".new", "w", encoding="utf-8") as stream:
        stream.writelines(encode(row) + "\n" for row in rows)
    os.replace(path + ".new", path)
