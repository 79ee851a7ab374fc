"""The pages of the registries: every key with what it runs, who registers it and who uses it; what dangles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xref.model import UseStatus
from xref.site import urls
from xref.site.keys import KEYS_PER_PAGE, Key, registries, registry_words
from xref.site.links import Line, Linker, SymbolLink
from xref.site.outputs import Output, page


class KeyRow(NamedTuple):
    """A key as a table shows it."""

    key: Key
    definitions: list[tuple[str, Line, SymbolLink | None, str, str]]
    uses: list[tuple[str, Line, SymbolLink, str]]


class RegistryCount(NamedTuple):
    """A registry in numbers: keys, registrations by side, keys used by side, keys that dangle.

    A prefix that is completed at run time is no key: it is listed, and counted nowhere.
    """

    registry: str
    words: str
    href: str
    keys: int
    in_cpp: int
    in_python: int
    from_python: int
    from_cpp: int
    dangling: int


def counts(keys: Sequence[Key]) -> list[RegistryCount]:
    """Each registry in numbers."""
    result = []
    for registry, found in registries(keys):
        named = [key for key in found if not key.prefix]
        result.append(RegistryCount(
            registry, registry_words(registry), urls.registry_url(registry), len(named),
            sum(any(at.side == "cpp" for at in key.definitions) for key in named),
            sum(any(at.side == "python" for at in key.definitions) for key in named),
            sum(any(use.side == "python" for use in key.uses) for key in named),
            sum(any(use.side == "cpp" for use in key.uses) for key in named),
            sum(key.trouble == UseStatus.DANGLING for key in named),
        ))  # fmt: skip
    return result


def key_row(linker: Linker, key: Key) -> KeyRow:
    """One key with names and addresses."""
    definitions = [
        (at.side, linker.place(at.path, at.line), None if at.symbol is None else linker.symbol(at.symbol), at.guard,
         at.note)
        for at in key.definitions
    ]  # fmt: skip
    uses = [(use.side, linker.place(use.path, use.line), linker.symbol(use.symbol), use.status) for use in key.uses]
    return KeyRow(key, definitions, list(dict.fromkeys(uses)))  # a macro may look it up several times in one line


def dangling(keys: Sequence[Key]) -> list[Key]:
    """Keys that are used without a fallback and that nothing in the tree registers."""
    return [key for key in keys if key.trouble == UseStatus.DANGLING]


def pages(linker: Linker, keys: Sequence[Key], site: str) -> Iterator[Output]:
    """The index of registries, the dangling keys, and the keys of each registry."""
    lost = dangling(keys)
    index = "keys/index.html"
    yield page(
        index, "keys.html.j2", title="Keys", site=site, root=urls.root_of(index), counts=counts(keys),
        dangling=[key_row(linker, key) for key in lost],
    )  # fmt: skip
    for registry, found in registries(keys):
        last = (len(found) - 1) // KEYS_PER_PAGE + 1
        for number in range(1, last + 1):
            part = found[(number - 1) * KEYS_PER_PAGE : number * KEYS_PER_PAGE]
            url = urls.registry_url(registry, number)
            yield page(
                url, "registry.html.j2", title=f"{registry} keys" + (f", page {number}" if number > 1 else ""),
                site=site, root=urls.root_of(url), registry=registry, words=registry_words(registry),
                rows=[key_row(linker, key) for key in part], number=number,
                total=sum(not key.prefix for key in found), prefixes=sum(key.prefix for key in found),
                pages=[(at, urls.registry_url(registry, at), found[(at - 1) * KEYS_PER_PAGE].name)
                       for at in range(1, last + 1)],
            )  # fmt: skip
