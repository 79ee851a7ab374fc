"""The search's data: names in one script that the page loads when the search box is first used, details in shards.

Names are sorted, each once; a shard holds the symbols that bear some consecutive names. Everything is a classic script,
because a page opened from disk may not fetch. The scoring is in templates/xref.js; docs/site.md says why no library.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log2

from xref.model import Id
from xref.site import urls
from xref.site.links import Linker
from xref.site.outputs import Output, data
from xref.site.plan import SitePlan

NAMES_PER_SHARD = 192
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def search_files(plan: SitePlan) -> Iterator[Output]:
    """The scripts: `search/names.js`, and `search/N.js` for each shard."""
    linker = Linker(plan)
    by_name: dict[str, list[Id]] = {}
    for id_, name in plan.names.items():
        if linker.label(plan.aliases.get(id_)) == name.qualname:
            continue  # what it stands for is shown by this name
        if id_ in plan.packing.address and (name.line > 0 if name.file >= 0 else plan.refs.get(id_, 0) > 0):
            by_name.setdefault(_shown(name.name), []).append(id_)
    names = sorted(by_name)
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
    for number, first in enumerate(range(0, len(names), NAMES_PER_SHARD)):
        shard = [
            [_detail(linker, id_) for id_ in sorted(by_name[name], key=lambda id_: _order(plan, id_))]
            for name in names[first : first + NAMES_PER_SHARD]
        ]
        yield data(f"search/{number}.js", shard)


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


def _detail(linker: Linker, id_: Id) -> list[object]:
    plan = linker.plan
    name = plan.names[id_]
    path = plan.files[name.file].path if name.file >= 0 else ""
    label = linker.label(id_)
    scope = label[: -len(name.name)] if label.endswith(name.name) else name.scope
    row: list[object] = [name.kind, name.lang, scope, path, name.line, plan.packing.address[id_]]
    return [*row, plan.parameters[id_]] if id_ in plan.parameters else row
