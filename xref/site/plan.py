"""What every page needs to know of the whole index, computed once and handed to the worker processes.

A page is made from the plan and from queries about its own symbols; nothing else is shared, so pages can be made in any
order, by any number of processes, or one at a time.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from xref.model import Id, Status
from xref.site import drawable, urls
from xref.site.callgraph import CallGraph, load_graph, load_observed
from xref.site.hierarchy import load_downs
from xref.site.names import CONTAINERS, Name, is_constructor, load_aliases, load_names, load_parameters
from xref.site.packing import Packing, pack
from xref.site.run_nesting import nested_calls
from xref.site.sources import SourceFile, State, examine, tree_root
from xref.site.walks import Walk, load_walks, walked
from xref.store import open_index, read_meta
from xref.tree.find import is_below


class Run(NamedTuple):
    """A recorded compilation."""

    id: str
    command: str
    started: str
    tvm_version: str
    python_version: str
    note: str


@dataclass
class SitePlan:
    """The site as a whole. `files` holds those that have a page, in path order; `files_at` maps a path to its position.

    `callers` and `refs` count, per symbol, distinct calling functions and references other than its own definitions.
    """

    db: Path
    root: Path
    meta: dict[str, str]
    files: list[SourceFile]
    names: dict[Id, Name]
    aliases: dict[Id, Id]
    graph: CallGraph
    observed: dict[tuple[Id, Id], dict[str, int]]
    runs: list[Run]
    packing: Packing
    drawn: frozenset[Id]
    dispatchers: frozenset[Id]
    """Functions with more callees than `drawable.HUB_CALLEES`."""
    callers: dict[Id, int]
    refs: dict[Id, int]
    parameters: dict[Id, str]
    """The parameter types of overloads, to tell them apart."""
    key_pages: dict[tuple[str, str], str]
    """(registry, name) -> the address of the key's row, with its anchor."""
    walks: list[Walk]
    downs: dict[str, dict[Id, list[Id]]]
    """See `hierarchy.load_downs`."""
    key_states: dict[tuple[str, str], str]
    """(registry, name) -> letters of what is known of the key, see `keys.states`."""
    nested: dict[str, frozenset[Id]]
    """Run -> functions whose calls may have run inside one another, see `run_nesting`."""

    @cached_property
    def away(self) -> frozenset[int]:
        """Positions of the files outside the usual scope (`xref index --also`): drawings leave them out at first."""
        return _away(self.meta, self.files)

    @cached_property
    def files_at(self) -> dict[str, int]:
        return {file.path: position for position, file in enumerate(self.files)}

    @cached_property
    def children(self) -> dict[Id, list[Id]]:
        """The symbols inside each symbol, by file and line."""
        result: dict[Id, list[Id]] = {}
        for id_, name in self.names.items():
            if name.parent is not None:
                result.setdefault(name.parent, []).append(id_)
        for inner in result.values():
            inner.sort(key=lambda id_: (self.names[id_].file, self.names[id_].line, id_))
        return result

    @cached_property
    def in_file(self) -> dict[int, list[Id]]:
        """The symbols of each file, in the order of the code; public aliases are not things of their own."""
        result: dict[int, list[Id]] = {}
        for id_, name in self.names.items():
            if name.file >= 0 and id_ not in self.aliases:
                result.setdefault(name.file, []).append(id_)
        for inside in result.values():
            inside.sort(key=lambda id_: (self.names[id_].line, -self.names[id_].end_line, id_))
        return result

    @cached_property
    def public(self) -> dict[Id, list[str]]:
        """The public paths of each symbol, best first: those that users import."""
        result: dict[Id, list[str]] = {}
        for alias, target in self.aliases.items():
            if alias in self.names:
                result.setdefault(target, []).append(self.names[alias].qualname)
        for paths in result.values():
            paths.sort(key=lambda path: (path.count("."), len(path), path))
        return result

    def prepare(self) -> None:
        """Make the tables that most pages need, before the plan is shared."""
        _ = self.files_at, self.children, self.in_file, self.public

    def constructors(self, id_: Id) -> list[Id]:
        """What runs when a class is called."""
        return [inner for inner in self.children.get(id_, ()) if is_constructor(self.names[inner])]

    def title(self) -> str:
        """What the tree is called: "tvm 0.26.dev0"."""
        return " ".join(filter(None, (self.meta.get("project", "") or "tree", self.meta.get("tvm_version", ""))))

    def place(self, path: str | None, line: int) -> str | None:
        """The address of path:line; without line where it is unknown or not certain; None when the file has no page."""
        position = self.files_at.get(path or "", -1)
        if position < 0:
            return None
        return self.place_at(position, line)

    def place_at(self, position: int, line: int) -> str:
        """`place` for a file by position."""
        file = self.files[position]
        url = urls.source_url(file.path)
        certain = file.state is State.SAME and 0 < line <= file.lines
        return f"{url}#L{line}" if certain else url


def examine_files(db_path: Path, only: Sequence[str] = ()) -> list[SourceFile]:
    """The files that have a page, as they stand now; with `only`, those whose paths match one of these globs.

    Raises as `make_plan` does.
    """
    with closing(open_index(db_path)) as db:
        root = tree_root(read_meta(db)).resolve()
        rows = db.execute(
            "SELECT id, path, lang, sha256, status, detail FROM files WHERE status <> ? ORDER BY path",
            (Status.SKIPPED,),
        )
        return [examine(root, *row) for row in rows if not only or any(fnmatchcase(row[1], glob) for glob in only)]


def make_plan(
    db_path: Path,
    only: Sequence[str] = (),
    files: list[SourceFile] | None = None,
    graph_of: Callable[[], CallGraph] | None = None,
) -> SitePlan:
    """Read the index; with `only`, for a site of the files whose paths match one of these globs, which are `files`.

    `graph_of` gives the call graph where somebody else reads it meanwhile.

    Raises `XrefError`: exit code 3 without a usable index, 5 when its tree is gone."""
    from xref.site.keys import TELLING, key_addresses, states

    with closing(open_index(db_path)) as db:
        meta = read_meta(db)
        root = tree_root(meta)
        files = examine_files(db_path, only) if files is None else files
        if only:
            meta["only"] = " ".join(only)
        positions = {file.path: position for position, file in enumerate(files)}
        names = load_names(db, positions)
        observed = load_observed(db)
        mentions = db.execute("SELECT symbol_id FROM ref WHERE role NOT IN ('definition', 'declaration')").fetchall()
        refs = Counter(chain.from_iterable(mentions))
        keyed = {id_ for (id_,) in db.execute(
            "SELECT DISTINCT symbol_id FROM key_defs WHERE symbol_id IS NOT NULL"
            " AND registry IN (SELECT value FROM json_each(?))", (json.dumps(TELLING),),
        )}  # fmt: skip
        parameters, key_pages, key_states = load_parameters(db, names), key_addresses(db), states(db)
        graph = graph_of() if graph_of is not None else load_graph(db, positions)
        callers = graph.caller_counts()
        _add_constructors(names, callers)
        callees = graph.callee_counts
        edges = {id_: callers.get(id_, 0) + callees.get(id_, 0) for id_ in callers.keys() | callees.keys()}
        aliases = load_aliases(db)
        passes = {
            id_ for (id_,) in db.execute("SELECT DISTINCT symbol_id FROM key_defs WHERE registry = 'pass'") if id_
        }
        walks = load_walks(db, names, aliases, meta)
        away = _away(meta, files)
        near = {id_: name for id_, name in names.items() if name.file not in away} if away else names
        drawn = drawable.choose(near, graph, callers, callees, keyed, passes | set(walked(walks)), observed)
        shown = dict(names)
        if only:  # symbols of the other files keep their names, and have no page
            elsewhere = {id_ for (id_,) in db.execute("SELECT id FROM symbols WHERE path IS NOT NULL")}
            shown = {id_: name for id_, name in names.items() if name.file >= 0 or id_ not in elsewhere}
        packing = pack(
            shown, aliases, lambda position: urls.outline_url(files[position].path), drawn | keyed, edges, refs
        )
        dispatchers = frozenset(id_ for id_, count in callees.items() if count > drawable.HUB_CALLEES)
        return SitePlan(
            db_path.absolute(), root, meta, files, names, aliases, graph, observed, _runs(db), packing, drawn,
            dispatchers, callers, refs, parameters, key_pages, walks, load_downs(db, names), key_states,
            nested_calls(db),
        )  # fmt: skip


def _runs(db: sqlite3.Connection) -> list[Run]:
    rows = db.execute(
        "SELECT id, command, started, tvm_version, python_version, note FROM runs ORDER BY started DESC, id"
    )
    return [Run._make(row) for row in rows]


def _add_constructors(names: dict[Id, Name], callers: dict[Id, int]) -> None:
    """Calling a class runs its constructor: the class counts the callers of both."""
    for id_, name in names.items():
        if is_constructor(name):
            parent = name.parent
            if parent in names and names[parent].kind in CONTAINERS and id_ in callers:
                callers[parent] = callers.get(parent, 0) + callers[id_]


def _away(meta: Mapping[str, str], files: Sequence[SourceFile]) -> frozenset[int]:
    also = tuple(filter(None, meta.get("also", "").split(",")))
    return frozenset(number for number, file in enumerate(files) if is_below(file.path, also)) if also else frozenset()
