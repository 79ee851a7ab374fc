"""Calls as they are written, where clang keeps only the name of what is called."""

from __future__ import annotations

import re

from xref.model import shorten

_WINDOW = 300
"""Bytes behind a name in which its template arguments, and those of the call, end."""
_OPERATOR = re.compile(r"\boperator\s*[-<>=]+$")
"""Ends in `>`, as arguments do: `operator->`."""


def is_call(source: bytes, offset: int, name: str) -> bool:
    """Whether the name stands at the offset, and is written as a call's: `name(` or `name<..>(`."""
    written = name.encode("utf-8")
    if source[offset : offset + len(written)] != written:
        return False
    rest = source[offset + len(written) : offset + len(written) + _WINDOW].lstrip()
    if rest.startswith(b"<"):
        depth = 0
        for i, byte in enumerate(rest):
            depth += (byte == ord("<")) - (byte == ord(">"))
            if not depth:
                rest = rest[i + 1 :].lstrip()
                break
    return rest.startswith(b"(")


def call_at(source: bytes, offset: int, name: str) -> str:
    """The call that begins with the name at the offset, shortened; `name(..)` where a macro makes it."""
    written = source[offset : offset + _WINDOW].decode("utf-8", "replace")
    if not written.startswith(name):
        return f"{name}(..)"
    depth = 0
    for i, character in enumerate(written):
        depth += (character == "(") - (character == ")")
        if character == ")" and not depth:
            return shorten(written[: i + 1])
    return shorten(written)


def without_arguments(written: str) -> str:
    """`x.template as<T>` -> `x.template as`."""
    written = written.rstrip()
    if not written.endswith(">") or _OPERATOR.search(written):
        return written
    depth = 0
    for i in range(len(written) - 1, -1, -1):
        depth += (written[i] == ">" and written[i - 1 : i] != "-") - (written[i] == "<")
        if not depth:
            return written[:i]
    return written
