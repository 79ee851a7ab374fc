"""Documentation comments as readers see them, and where a definition begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import dedent

from xref.model import Lang

LEAD = 3
"""Lines above the one of its name where a definition may begin."""
_COMMANDS = {"brief": "", "return": "Returns ", "returns": "Returns ", "param": "", "tparam": "", "note": "Note: ",
             "sa": "See ", "see": "See ", "li": "- ", "ref": "", "p": "", "c": "", "file": ""}  # fmt: skip
_COMMAND = re.compile(r"[\\@](" + "|".join(sorted(_COMMANDS, key=len, reverse=True)) + r")\b(?:\[[a-z,]+\])?[ \t]*")


def brief(doc: str, *, whole: bool) -> str:
    """A documentation comment, or its first paragraph where a page is about many symbols."""
    first, _, rest = doc.partition("\n\n")
    return doc if whole or not rest else f"{first} …"


def clean_doc(doc: str, lang: str) -> str:
    """A docstring without common indentation; a C++ comment without any, Doxygen's commands in plain words."""
    if lang == Lang.CPP:
        text = "\n".join(line.strip() for line in doc.splitlines())
        return _COMMAND.sub(lambda match: _COMMANDS[match[1]], text).strip()
    first, _, rest = doc.partition("\n")
    return f"{first.strip()}\n{dedent(rest)}".strip()


def lead(rows: Sequence[str], line: int) -> int:
    """The line where a definition begins whose name is on `line`: a template head, a result type, decorators."""
    start = line
    while start > 1 and line - start < LEAD:
        above = rows[start - 2].strip()
        if not above or above.endswith((";", "{", "}", ":", ",", "*/")) or above.startswith(("#", "//", "*", '"')):
            break
        start -= 1
    return start
