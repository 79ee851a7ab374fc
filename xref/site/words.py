"""The full-text search's data: every identifier, comments and strings included, and the files that hold it.

By first letter, so that a question loads one file. Numbers of files are written as differences.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import accumulate
from pathlib import Path

from xref.site.assets import read_script_data, script_data
from xref.site.links import Linker
from xref.site.outputs import Output
from xref.site.sources import SourceFile, read_bytes

_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,63}")
_FIRST = "abcdefghijklmnopqrstuvwxyz_"


def word_files(linker: Linker) -> Iterator[Output]:
    """`words/a.js` and so on: the words, sorted, and the files of each."""
    found: dict[str, list[int]] = {}
    for position, file in enumerate(linker.plan.files):
        for word in _words(linker, file):
            found.setdefault(word, []).append(position)
    shards: dict[str, list[str]] = {first: [] for first in _FIRST}
    for word in sorted(found):
        shards[word[0].lower()].append(word)
    for first, words in shards.items():
        yield _shard(first, {word: " ".join(_differences(found[word])) for word in words})


def changed_word_files(linker: Linker, old: Path, positions: Collection[int]) -> tuple[list[Output], set[str]]:
    """What differs from the words of the site at `old`, of the same files: those at `positions` have another text. Also
    the addresses of the shards in which nothing does.

    Raises `OSError` or `ValueError` when the old words cannot be read.
    """
    shards = {}
    for first in _FIRST:
        held = read_script_data((old / _url(first)).read_text(encoding="utf-8"))
        shards[first] = dict(zip(held["words"].split("\n"), held["files"], strict=True)) if held["files"] else {}
    differ = set()
    for position in positions:
        now = _words(linker, linker.plan.files[position])
        for first, shard in shards.items():
            before = {word for word, files in shard.items() if position in accumulate(map(int, files.split(" ")))}
            for word in before ^ {word for word in now if word[0].lower() == first}:
                files = [*accumulate(map(int, shard[word].split(" ")))] if word in shard else []
                after = sorted({*files} ^ {position})
                if after:
                    shard[word] = " ".join(_differences(after))
                else:
                    del shard[word]
                differ.add(first)
    made = [_shard(first, dict(sorted(shards[first].items()))) for first in sorted(differ)]
    return made, {_url(first) for first in _FIRST if first not in differ}


def _words(linker: Linker, file: SourceFile) -> set[str]:
    found = set(_WORD.findall(read_bytes(linker.plan.root, file.path) or b""))
    return {word.decode("ascii") for word in found}


def _url(first: str) -> str:
    return f"words/{first}.js"


def _shard(first: str, files: Mapping[str, str]) -> Output:
    name = _url(first)
    return Output(name, script_data(name, {"words": "\n".join(files), "files": [*files.values()]}))


def _differences(numbers: list[int]) -> list[str]:
    return [str(number - before) for before, number in zip([0, *numbers], numbers, strict=False)]
