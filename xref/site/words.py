"""The full-text search's data: every identifier, comments and strings included, and the files that hold it.

By first letter, so that a question loads one file. Numbers of files are written as differences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from xref.site.assets import script_data
from xref.site.links import Linker
from xref.site.outputs import Output
from xref.site.sources import read_bytes

_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,63}")


def word_files(linker: Linker) -> Iterator[Output]:
    """`words/a.js` and so on: the words, sorted, and the files of each."""
    found: dict[str, list[int]] = {}
    for position, file in enumerate(linker.plan.files):
        data = read_bytes(linker.plan.root, file.path) or b""
        for word in set(_WORD.findall(data)):
            found.setdefault(word.decode("ascii"), []).append(position)
    shards: dict[str, list[str]] = {}
    for word in sorted(found):
        shards.setdefault(word[0].lower(), []).append(word)
    for first in "abcdefghijklmnopqrstuvwxyz_":
        words = shards.get(first, [])
        name = f"words/{first}.js"
        yield Output(name, script_data(name, {
            "words": "\n".join(words), "files": [" ".join(_differences(found[word])) for word in words],
        }))  # fmt: skip


def _differences(numbers: list[int]) -> list[str]:
    return [str(number - before) for before, number in zip([0, *numbers], numbers, strict=False)]
