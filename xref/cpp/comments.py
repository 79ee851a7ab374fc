"""Documentation comments as text: markers and decoration removed, doxygen's commands left as they are."""

from __future__ import annotations

import re

_LINE_MARK = re.compile(r"^\s*(?:/{2,}[!<]*|\*+(?!/))\s?")
_OPEN, _CLOSE = re.compile(r"^\s*/\*+[!<]*"), re.compile(r"\s*\*+/\s*$")
MAX_LENGTH = 4000
"""Characters of a comment that are kept."""


def clean_comment(raw: str) -> str:
    """The text of a `/** */`, `/*! */`, `///` or `//!` comment, without markers; "" for none."""
    if not raw:
        return ""
    lines = _CLOSE.sub("", _OPEN.sub("", raw)).splitlines()
    stripped = [_LINE_MARK.sub("", line).rstrip() for line in lines]
    return "\n".join(stripped).strip()[:MAX_LENGTH]
