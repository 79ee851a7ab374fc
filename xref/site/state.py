"""What a site was made from, kept in its folder, so that the next build makes only the pages that differ.

Facts are compared, not times: a file by its content and by sums over the rows that the index holds of it, a symbol by
what pages show of it. What both builds share (xref itself, templates, the runs, the options) must be the same, else all
is made again.
"""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import xref.site
from xref.model import Id
from xref.site.assets import digest, templates_folder
from xref.site.plan import SitePlan
from xref.site.walks import walks_folder

FILE = ".xref-site-state"
_WORD = re.compile(r"\w+")
_ADDRESS, _NAMES = 5, 6
"""Digits of the three marks of a symbol: of its address, of what its neighbours' pages show of it, of all else."""
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
    """`files`: path -> (mark of its facts, mark of what only its own page shows); `symbols`: code -> three marks;
    `far`: code -> mark of what its page shows of functions two calls away."""

    common: str = ""
    files: dict[str, list[str]] = field(default_factory=dict)
    symbols: dict[str, str] = field(default_factory=dict)
    far: dict[str, str] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write the state into a site."""
        data = json.dumps([2, self.common, self.files, self.symbols, sorted(self.far.items())], separators=(",", ":"))
        (folder / FILE).write_bytes(zlib.compress(data.encode("utf-8", "surrogatepass"), 6))


def load_state(folder: Path) -> SiteState | None:
    """The state of a site, None when it has none that can be read."""
    try:
        version, common, files, symbols, far = json.loads(zlib.decompress((folder / FILE).read_bytes()))
        if version == 2 and isinstance(files, dict) and isinstance(symbols, dict):
            return SiteState(str(common), files, symbols, dict(far))
    except (OSError, ValueError, TypeError, zlib.error):
        pass
    return None


def state_of(db: sqlite3.Connection, plan: SitePlan, options: str) -> SiteState:
    """The state of the site that `plan` describes; `options` are those that every page depends on."""
    return SiteState(_common(plan, options), _files(db, plan), _symbols(db, plan))


def _common(plan: SitePlan, options: str) -> str:
    """What every page depends on: the code, the templates, the tree's name, the runs."""
    sources = [*Path(xref.site.__file__).parent.glob("*.py"), *templates_folder().iterdir()]
    sources += (walks_folder() or Path()).glob("*.toml")
    content = [(path.name, blake2b(path.read_bytes()).hexdigest()) for path in sorted(sources) if path.is_file()]
    observed = sorted((*pair, *sorted(counts.items())) for pair, counts in plan.observed.items())
    keys = sorted(plan.key_pages.items())
    return digest((options, content, keys, plan.title(), str(plan.root), plan.runs, observed, bool(plan.walks)), 16)


def _files(db: sqlite3.Connection, plan: SitePlan) -> dict[str, list[str]]:
    facts: dict[str, list[object]] = {file.path: [file[2:]] for file in plan.files}
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
    return {path: [digest(facts[path]), digest(around[path])] for path in facts}


def _symbols(db: sqlite3.Connection, plan: SitePlan) -> dict[str, str]:
    """A symbol's mark: its address, then its names, counts, place, signature, documentation, what spells it."""
    spelled = Counter(word for (text,) in db.execute("SELECT text FROM unresolved") for word in _WORD.findall(text))
    callees = plan.graph.callee_counts()
    texts: dict[Id, int] = {
        id_: zlib.crc32(f"{signature}\0{doc}".encode("utf-8", "surrogatepass"))
        for id_, signature, doc in db.execute("SELECT id, signature, doc FROM symbols")
    }
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
        shown = (*counts, texts.get(id_, 0), spelled[name.name], id_ in plan.drawn)
        result[plan.packing.code[id_]] = digest(address, _ADDRESS) + digest(names, _NAMES) + digest(shown)
    return result


def names_changed(old: str | None, new: str) -> bool:
    """Whether two marks of a symbol tell of different names or places."""
    return old is None or old[: _ADDRESS + _NAMES] != new[: _ADDRESS + _NAMES]


def address_changed(old: str | None, new: str) -> bool:
    """Whether two marks of a symbol tell of different addresses."""
    return old is None or old[:_ADDRESS] != new[:_ADDRESS]
