"""The data of hover cards: what a symbol is, in a few lines, for every symbol that a link can lead to.

A card is found by the code in the link's address. Shards hold codes that hash alike, so that one hover loads one file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from xref.model import Id
from xref.site import urls
from xref.site.assets import script_data
from xref.site.links import Linker
from xref.site.outputs import Output
from xref.site.plan import SitePlan
from xref.site.texts import clean_doc

SHARDS = 192
_SIGNATURE = 240
_DOC = 260
_MACRO_LINES = 8
_KEYS = 3


def shard_of(code: str) -> int:
    """The shard of a symbol's code; templates/code.js computes the same."""
    return int(code[:4], 36) % SHARDS


def card_files(db: sqlite3.Connection, linker: Linker, shards: Sequence[int]) -> Iterator[Output]:
    """The files of some shards: code -> [kind, language, label, signature, doc, place, callers, references, keys]."""
    plan = linker.plan
    wanted: dict[int, list[Id]] = {shard: [] for shard in shards}
    for id_, code in plan.packing.code.items():
        shard = shard_of(code)
        if shard in wanted and id_ in plan.packing.address and id_ not in plan.aliases:
            wanted[shard].append(id_)
    for shard in shards:
        ids = wanted[shard]
        marks = json.dumps(ids)
        keys: dict[Id, list[str]] = {}
        for id_, registry, name in db.execute(
            "SELECT symbol_id, registry, name FROM key_defs WHERE symbol_id IN (SELECT value FROM json_each(?))"
            " ORDER BY 1, 2, 3", (marks,),
        ):  # fmt: skip
            keys.setdefault(id_, []).append(f"{registry} {name}")
        rows = db.execute(
            "SELECT id, signature, doc FROM symbols WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id", (marks,)
        )
        cards = {
            plan.packing.code[id_]: _card(linker, id_, signature, doc, keys.get(id_, []))
            for id_, signature, doc in rows
        }
        name = urls.cards_url(shard)
        yield Output(name, script_data(name, cards))


def _card(linker: Linker, id_: Id, signature: str, doc: str, keys: list[str]) -> list[object]:
    plan = linker.plan
    name = plan.names[id_]
    path = plan.files[name.file].path if name.file >= 0 else ""
    if name.kind == "macro" and path:
        signature = _macro(linker, id_)
    elif signature == name.name:
        signature = ""
    return [
        name.kind, name.lang, linker.label(id_) + plan.parameters.get(id_, ""), _cut(signature, _SIGNATURE),
        _cut(clean_doc(doc, name.lang).partition("\n\n")[0], _DOC), linker.symbol(id_).where,
        plan.callers.get(id_, 0), plan.refs.get(id_, 0), keys[:_KEYS],
    ]  # fmt: skip


def _macro(linker: Linker, id_: Id) -> str:
    """What a macro expands to: the lines of its definition."""
    name = linker.plan.names[id_]
    file = linker.plan.files[name.file]
    rows = [linker.sources.line(file, name.line)]
    while rows[-1].endswith("\\") and len(rows) < _MACRO_LINES:
        rows.append(linker.sources.line(file, name.line + len(rows)))
    return "\n".join(row.removesuffix("\\").rstrip() for row in rows) + (" …" if rows[-1].endswith("\\") else "")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def shard_count(plan: SitePlan) -> int:
    """How many files `card_files` makes for a site."""
    return SHARDS if plan.packing.code else 0
