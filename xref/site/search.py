"""The search's data: names in one script, where their symbols stand in another, details in shards.

Names are sorted, each once; a shard holds the symbols that bear some consecutive names. For questions of several words
`around.js` gives scope, file and parameters of every symbol, so that all are looked through, not the best names alone.
Everything is a classic script, because a page opened from disk may not fetch. The scoring is in
templates/search.js; docs/site.md says why no library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log2

from xref.model import Id
from xref.site import urls
from xref.site.links import Linker
from xref.site.outputs import Output, data
from xref.site.plan import SitePlan

NAMES_PER_SHARD = 192
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def search_files(plan: SitePlan) -> Iterator[Output]:
    """The scripts: `search/names.js`, `search/around.js`, and `search/N.js` for each shard."""
    linker = Linker(plan)
    by_name: dict[str, list[Id]] = {}
    for id_, name in plan.names.items():
        if linker.label(plan.aliases.get(id_)) == name.qualname:
            continue  # what it stands for is shown by this name
        if id_ in plan.packing.address and (name.line > 0 if name.file >= 0 else plan.refs.get(id_, 0) > 0):
            by_name.setdefault(_shown(name.name), []).append(id_)
    names = sorted(by_name)
    scopes = {id_: _scope(linker, id_) for ids in by_name.values() for id_ in ids}
    for ids in by_name.values():
        ids.sort(key=lambda id_: _order(plan, id_))
    weights = "".join(_weight(plan, by_name[name]) for name in names)
    keys = sorted((name, registry) for registry, name in plan.key_pages)
    yield data(
        "search/names.js",
        {
            "per": NAMES_PER_SHARD,
            "names": "\n".join(names),
            "weights": weights,
            "keys": [[name, registry, plan.key_pages[registry, name], plan.key_states.get((registry, name), "")]
                     for name, registry in keys],
            "files": [[file.path, urls.source_url(file.path)] for file in plan.files],
        },
    )  # fmt: skip
    yield data("search/around.js", _around(plan, scopes, [by_name[name] for name in names]))
    for number, first in enumerate(range(0, len(names), NAMES_PER_SHARD)):
        shard = [
            [_detail(plan, scopes[id_], id_) for id_ in by_name[name]]
            for name in names[first : first + NAMES_PER_SHARD]
        ]
        yield data(f"search/{number}.js", shard)


def _around(plan: SitePlan, befores: Mapping[Id, str], symbols: list[list[Id]]) -> dict[str, object]:
    """Of each symbol, in the order of names and of their details: file (-1: none), scope and parameters by number."""
    scopes: dict[str, int] = {"": 0}
    params: dict[str, int] = {"": 0}
    every = [id_ for ids in symbols for id_ in ids]
    return {
        "counts": [len(ids) for ids in symbols],
        "file": [plan.names[id_].file for id_ in every],
        "scope": [scopes.setdefault(_shown(befores[id_]), len(scopes)) for id_ in every],
        "param": [params.setdefault(_shown(plan.parameters.get(id_, "")), len(params)) for id_ in every],
        "scopes": "\n".join(scopes),
        "params": "\n".join(params),
    }


def _scope(linker: Linker, id_: Id) -> str:
    """What stands before a symbol's name where it is shown."""
    name = linker.plan.names[id_]
    label = linker.label(id_)
    return label[: -len(name.name)] if label.endswith(name.name) else name.scope


def _shown(name: str) -> str:
    return name.replace("\n", " ")


def _weight(plan: SitePlan, ids: list[Id]) -> str:
    """One digit for how much a name is used: log2 of its references."""
    most = max(plan.refs.get(id_, 0) for id_ in ids)
    return _DIGITS[min(35, round(2 * log2(most + 1)))]


def _order(plan: SitePlan, id_: Id) -> tuple[object, ...]:
    """Definitions before declarations, what people call before variables, the much used first."""
    name = plan.names[id_]
    minor = name.kind in ("variable", "field", "enumerator", "constructor", "namespace", "typedef", "alias", "lambda")
    return name.file < 0, not name.defined, minor, -plan.refs.get(id_, 0), id_


def _detail(plan: SitePlan, before: str, id_: Id) -> list[object]:
    name = plan.names[id_]
    path = plan.files[name.file].path if name.file >= 0 else ""
    row: list[object] = [name.kind, name.lang, before, path, name.line, plan.packing.address[id_]]
    return [*row, plan.parameters[id_]] if id_ in plan.parameters else row
