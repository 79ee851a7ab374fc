"""What a site was made from, kept in its folder, so that the next build makes only the pages that differ.

Facts are compared, not times: a file by its content and by sums over the rows that the index holds of it, a symbol by
what pages show of it. What both builds share (xref itself, templates, the runs, the options) must be the same, else all
is made again.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import re
import sqlite3
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import xref
from xref.model import Id
from xref.site.assets import digest, templates_folder
from xref.site.drawable import HUB_CALLERS
from xref.site.facts import lacks_facts
from xref.site.hierarchy import deep, steps
from xref.site.plan import SitePlan
from xref.site.publish import is_whole
from xref.site.sources import SourceFile
from xref.site.walks import walks_folder
from xref.trace.folder import run_files

FILE = ".xref-site-state"
_VERSION = 7
_WORD = re.compile(r"\w+")
_DIGITS = 8
"""Of each of the four marks of a symbol: of its address, of what its neighbours' pages show of it, of all else but who
calls it and whom it calls, of that."""
_PLAIN = 2
"""The version of marshal's format: later ones depend on who else holds a value."""
_PLACE = "line * 131 + col"
_SUMS = {
    "refs": f"(symbol_id % 1000003) * (({_PLACE}) % 1000003) + length(role)",
    "calls": f"(callee_id % 1000003) * (({_PLACE}) % 1000003) + caller_id % 1000003 + length(evidence || via) * 7",
    "unresolved": f"{_PLACE} + length(text) * 7 + length(reason)",
    "key_uses": "line * 131 + length(name) * 7 + length(status)",
    "key_defs": "line * 131 + length(name) * 7 + length(guard) + length(note) * 3 + coalesce(symbol_id, 0) % 1000003",
    "symbols": "line * 131 + end_line + id % 1000003",
}
"""View -> a number of each row; their sum over a file changes when the facts of the file do."""


@dataclass(slots=True)
class SiteState:
    """`maker`: mark of xref's code and the options; `inputs`: of all that a site is made from; `common`: of what every
    page shows; `files`: path -> (mark of its facts, mark of what only its own page shows, mark of how it was read);
    `blocks`: path -> digests of its blocks; `symbols`: code -> four marks; `far`: code -> mark of what its page shows
    of functions two calls away; `outputs`: address -> mark of an `Output` that has one; `keys`: registry -> its names,
    in order; `hubs`: code -> "c" of functions that so many call that drawings do not go through them, "d" of those that
    call so many; `trees`: code -> mark of what is below it at any distance, where some is not directly below it."""

    maker: str = ""
    inputs: str = ""
    common: str = ""
    files: dict[str, list[str]] = field(default_factory=dict)
    blocks: dict[str, str] = field(default_factory=dict)
    symbols: dict[str, str] = field(default_factory=dict)
    far: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    keys: dict[str, list[str]] = field(default_factory=dict)
    hubs: dict[str, str] = field(default_factory=dict)
    trees: dict[str, str] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write the state into a site."""
        kept = (self.files, self.blocks, self.symbols, self.far, self.outputs, self.keys, self.hubs, self.trees)
        parts = [dict(sorted(part.items())) for part in kept]
        data = json.dumps([_VERSION, self.maker, self.inputs, self.common, *parts], separators=(",", ":"))
        (folder / FILE).write_bytes(zlib.compress(data.encode("utf-8", "surrogatepass"), 6))


def load_state(folder: Path) -> SiteState | None:
    """The state of a site, None when it has none that can be read, or lacks any of its files."""
    try:
        version, maker, inputs, common, *parts = json.loads(zlib.decompress((folder / FILE).read_bytes()))
        if version == _VERSION and all(isinstance(part, dict) for part in parts) and is_whole(folder):
            return SiteState(str(maker), str(inputs), str(common), *parts)
    except (OSError, ValueError, TypeError, zlib.error):
        pass
    return None


def maker_of(options: object) -> str:
    """A mark of what makes sites: this code, the templates, the walks, and the options."""
    sources = [*Path(xref.__file__).parent.rglob("*.py"), *templates_folder().iterdir()]
    sources += (walks_folder() or Path()).glob("*.toml")
    content = [(path.name, blake2b(path.read_bytes()).hexdigest()) for path in sorted(sources) if path.is_file()]
    return digest((options, content), 16)


def inputs_of(db: Path, files: Sequence[SourceFile]) -> str:
    """A mark of what a site is made from: the index and the recorded runs, byte for byte, and the tree's files."""
    beside = [path for path in (db.with_name(f"{db.name}-wal"),) if path.is_file()]
    return digest(([_content(path) for path in (db, *beside, *run_files(db))], [tuple(file) for file in files]), 16)


def _content(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "blake2b").hexdigest()


class Rows(NamedTuple):
    """Sums over the rows of an index: `files` as in `SiteState`, numbers for each symbol, of its rows and of its texts,
    and for each word of a call that could not be resolved."""

    files: dict[str, list[str]]
    symbols: dict[Id, int]
    texts: dict[Id, int]
    spelled: dict[str, int]


def read_rows(db: sqlite3.Connection, files: Sequence[SourceFile]) -> Rows:
    """The sums that need nothing but the index and the tree's files."""
    texts: dict[Id, int] = {
        id_: zlib.crc32(f"{signature}\0{doc}".encode("utf-8", "surrogatepass"))
        for id_, signature, doc in db.execute("SELECT id, signature, doc FROM symbols")
    }
    return Rows(_files(db, files), _rows(db), texts, _spelled(db))


def _spelled(db: sqlite3.Connection) -> dict[str, int]:
    spelled: dict[str, int] = {}
    for row in db.execute("SELECT text, path, line FROM unresolved ORDER BY path, line, text"):
        data = marshal.dumps(row, _PLAIN)
        for word in _WORD.findall(row[0]):
            spelled[word] = zlib.crc32(data, spelled.get(word, 0))
    return spelled


def state_of(db: sqlite3.Connection, plan: SitePlan, rows: Rows, maker: str, inputs: str) -> SiteState:
    """The state of the site that `plan` describes, as far as it is known before anything is made."""
    keys: dict[str, list[str]] = {}
    for registry, name in sorted(plan.key_pages):
        keys.setdefault(registry, []).append(name)
    common, symbols = _common(db, plan), _symbols(plan, rows)
    return SiteState(
        maker, inputs, common, rows.files, symbols=symbols, keys=keys, hubs=hubs_of(plan),
        trees=_trees(plan, symbols),
    )  # fmt: skip


def _trees(plan: SitePlan, marks: Mapping[str, str]) -> dict[str, str]:
    """See `SiteState`; `marks` are those of symbols."""
    code, result = plan.packing.code, dict[str, int]()
    for downs in plan.downs.values():
        for top in deep(downs):
            if top in code:
                found = [
                    (step.depth, marks.get(code.get(step.id, ""), "")[: 2 * _DIGITS] or plan.names[step.id].qualname)
                    for step in steps(downs, top)
                ]
                result[code[top]] = _sum(found, result.get(code[top], 0))
    return {short: f"{mark:08x}" for short, mark in result.items()}


def hubs_of(plan: SitePlan) -> dict[str, str]:
    """See `SiteState`."""
    called = {id_ for id_, count in plan.callers.items() if count > HUB_CALLERS}
    return {
        plan.packing.code[id_]: "c" * (id_ in called) + "d" * (id_ in plan.dispatchers)
        for id_ in called | plan.dispatchers
        if id_ in plan.packing.code
    }


def _common(db: sqlite3.Connection, plan: SitePlan) -> str:
    """What every page depends on: the tree's name, whether there are walks, whether some files lack facts."""
    return digest((plan.title(), str(plan.root), bool(plan.walks), lacks_facts(db)), 16)


def _files(db: sqlite3.Connection, files: Sequence[SourceFile]) -> dict[str, list[str]]:
    facts: dict[str, list[object]] = {file.path: [file[2:]] for file in files}
    read = {file.path: digest((file.status, file.detail, file.state)) for file in files}
    for path, sha in db.execute("SELECT path, sha256 FROM files"):
        if path in facts:
            facts[path].append(sha)
    for view, number in _SUMS.items():
        for path, *sums in db.execute(f"SELECT path, count(*), sum({number}) FROM {view} GROUP BY path"):
            if path in facts:
                facts[path].append(tuple(sums))
    around: dict[str, list[object]] = {path: [] for path in facts}
    for path, line, target in db.execute("SELECT path, line, target_path FROM includes ORDER BY 1, 2, 3"):
        for end, value in ((path, (line, target, target in facts)), (target, (path, line))):
            if end in around:
                around[end].append(value)
    return {path: [digest(facts[path]), digest(around[path]), read[path]] for path in facts}


def _symbols(plan: SitePlan, rows: Rows) -> dict[str, str]:
    """The marks of symbols: address; names and place; counts, signature, documentation, what spells it; edges."""
    callees = plan.graph.callee_counts
    edges = plan.graph.edge_marks([zlib.crc32(file.path.encode("utf-8", "surrogatepass")) for file in plan.files])
    members = Counter(name.parent for name in plan.names.values())
    nested = sorted(plan.nested.items())
    result = {}
    for id_, address in plan.packing.address.items():
        if id_ in plan.aliases:
            continue
        name = plan.names[id_]
        path = plan.files[name.file].path if name.file >= 0 else ""
        names = (
            name.kind, name.qualname, path, name.line, name.end_line, name.parent, name.defined,
            plan.parameters.get(id_, ""), plan.public.get(id_),
        )  # fmt: skip
        counts = plan.callers.get(id_, 0), callees.get(id_, 0), plan.refs.get(id_, 0)
        sites, wiring = edges.get(id_, (0, 0))
        shown = (
            *counts,
            rows.texts.get(id_, 0),
            rows.spelled.get(name.name),
            id_ in plan.drawn,
            sites,
            members[id_],
            rows.symbols.get(id_),
            [run for run, ids in nested if id_ in ids],
        )
        result[plan.packing.code[id_]] = f"{_sum(address):08x}{_sum(names):08x}{_sum(shown):08x}{_sum(wiring):08x}"
    return result


def _rows(db: sqlite3.Connection) -> dict[Id, int]:
    """A number for each symbol, of what its page shows and neither its name nor a count tells: relations, keys, runs,
    places where there are several."""
    result: dict[Id, int] = {}

    def add(id_: Id | None, row: object) -> None:
        if id_ is not None:
            result[id_] = _sum(row, result.get(id_, 0))

    for one, kind, other in db.execute("SELECT from_id, kind, to_id FROM relations ORDER BY 1, 2, 3"):
        add(one, (kind, other))
        add(other, (one, kind))
    keys: dict[tuple[str, str], int] = {}
    for view in ("key_defs", "key_uses", "key_relations"):
        marks = sorted((*row[:2], _sum(row)) for row in db.execute(f"SELECT registry, name, * FROM {view}"))
        for registry, name, mark in marks:
            keys[registry, name] = _sum(mark, keys.get((registry, name), 0))
    patterns: dict[str, list[tuple[re.Pattern[str], int]]] = {}  # of a name that is completed at run time
    for (registry, name), mark in keys.items():
        if "*" in name:
            patterns.setdefault(registry, []).append((re.compile(translate(name)), mark))
    for id_, registry, name in db.execute("SELECT DISTINCT symbol_id, registry, name FROM key_defs ORDER BY 1, 2, 3"):
        add(id_, keys[registry, name])
        for pattern, mark in patterns.get(registry, ()):
            if pattern.match(name):
                add(id_, mark)
    for id_, *row in db.execute(
        "SELECT symbol_id, count(*), sum(line * 31 + end_line) FROM location GROUP BY symbol_id HAVING count(*) > 1"
    ):
        add(id_, row)
    for caller, callee, *row in db.execute(
        "SELECT caller_id, callee_id, run_id, kind, sum(count), sum(total_ns), min(path), min(line), count(*)"
        " FROM observed_calls GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
    ):
        add(caller, (callee, *row))
        add(callee, (caller, *row))
    for id_, *row in db.execute(
        "SELECT symbol_id, run_id, count(*), sum(duration_ns) FROM passes_run WHERE symbol_id IS NOT NULL"
        " GROUP BY 1, 2 ORDER BY 1, 2"
    ):
        add(id_, row)
    return result


def _sum(value: Any, before: int = 0) -> int:
    """A checksum of plain data: there are 300,000, and a digest of its `repr` takes five times as long."""
    return zlib.crc32(marshal.dumps(value, _PLAIN), before)


def names_changed(old: str | None, new: str) -> bool:
    """Whether two marks of a symbol tell of different names or places."""
    return old is None or old[: 2 * _DIGITS] != new[: 2 * _DIGITS]


def shown_changed(old: str | None, new: str) -> bool:
    """Whether two marks of a symbol tell of anything else than other edges."""
    return old is None or old[: 3 * _DIGITS] != new[: 3 * _DIGITS]


def address_changed(old: str | None, new: str) -> bool:
    """Whether two marks of a symbol tell of different addresses."""
    return old is None or old[:_DIGITS] != new[:_DIGITS]
