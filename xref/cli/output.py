"""How the verbs write: data to standard output, everything else to standard error, and nothing a terminal would obey.

Names, comments and paths come from the analysed tree, which is not trusted: control characters are escaped before they
are written. JSON is pure ASCII for the same reason.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

import click

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ERRORS = "xref-output"


def _encode(error: UnicodeError) -> tuple[str | bytes, int]:
    """Bytes of file names that are not UTF-8 go out as they are; what the encoding lacks is escaped."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    handler = "surrogateescape" if "\ud800" <= error.object[error.start] <= "\udfff" else "backslashreplace"
    return codecs.lookup_error(handler)(
        UnicodeEncodeError(error.encoding, error.object, error.start, error.start + 1, error.reason)
    )


codecs.register_error(_ERRORS, _encode)


def clean(text: str) -> str:
    """`text` with control characters and text-direction marks written as `\\x1b`."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def write_lines(lines: Iterable[str], *, error: bool = False) -> None:
    """Write lines; a newline within one is part of a file's name, and escaped.

    On a terminal, headings (lines that are not indented) are bold unless NO_COLOR is set.
    """
    stream = sys.stderr if error else sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors=_ERRORS)
    bold = not error and stream.isatty() and not os.environ.get("NO_COLOR")
    for line in lines:
        text = clean(line)
        heading = bold and text and not text[0].isspace()
        stream.write(f"\x1b[1m{text}\x1b[0m\n" if heading else text + "\n")
    stream.flush()


def write_json(value: Any) -> None:
    """Write one JSON object on standard output."""
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=True) + "\n")
    sys.stdout.flush()


class FilePath(click.Path):
    """A path on the command line. An empty one is an unset variable of a script, and never means this folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("it is empty", param, ctx)
        return super().convert(value, param, ctx)


def width() -> int:
    """Columns of an answer: $COLUMNS or the terminal's, 100 when it goes to a file or a program."""
    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        import shutil

        return max(40, shutil.get_terminal_size((100, 24)).columns)
    return 100
