"""What the type checker said of each file, as the index keeps it; and whether a file may be read again with it.

That is so after an edit that only moves the words of the file (`xref.python.moves`): whatever other files say of it,
and it of them, is what it was. Any other edit has the whole of Python read again.
"""

from __future__ import annotations

import marshal
import sqlite3
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from xref.python.moves import Moves, words_moved
from xref.python.plan import PythonFile, PythonPlan
from xref.python.pysa import Reach, Report, SiteReport, Span, Types
from xref.python.scratch import KEPT, SAID, TROUBLE, save_plan, save_survey
from xref.python.source import read_source
from xref.python.survey import ModuleTable, survey_module

Occurrences = dict[tuple[int, int], tuple[str, str, bool] | None]

_MODULE = (1, 1)
"""Where the type checker names the module, whatever stands there."""
MOST_FILES = 40
"""More files than this are read anew, by several processes, sooner than it is seen what has moved in them."""
_SUFFIXES = (".py", ".pyi")


class Said(NamedTuple):
    """What the type checker says of one file: see `Report.sites`, `Report.receivers` and `Scip.occurrences`."""

    sites: list[SiteReport]
    receivers: dict[Span, list[str]]
    occurrences: Occurrences


class KeptReport(Report):
    """Says of files what is kept of them."""

    def __init__(self, scratch: Path, types: Types, said: dict[str, Said]) -> None:
        super().__init__(scratch, types)
        self._said = said

    def knows(self, path: str) -> bool:
        """Whether anything is kept of `path`."""
        return path in self._said

    def said(self, path: str) -> Said:
        """What is kept of `path`."""
        return self._said[path]


def dump_said(text: str, said: Said) -> bytes:
    """The text of a file and what was said of it, as bytes."""
    sites = [(site.kind, site.span, [tuple(reach) for reach in site.targets],
              [tuple(reach) for reach in site.initializers], site.constructs, site.reason)
             for site in said.sites]  # fmt: skip
    plain: Any = text.encode("utf-8", "surrogatepass"), sites, said.receivers, said.occurrences
    return zlib.compress(marshal.dumps(plain), 1)


def load_said(data: bytes) -> tuple[str, Said]:
    """What `dump_said` wrote."""
    text, sites, receivers, occurrences = marshal.loads(zlib.decompress(data))  # noqa: S302  our own bytes
    said = [
        SiteReport(
            kind, span, [Reach(*reach) for reach in targets], [Reach(*reach) for reach in made], constructs, reason
        )
        for kind, span, targets, made, constructs, reason in sites
    ]
    return text.decode("utf-8", "surrogatepass"), Said(said, receivers, occurrences)


def keep_report(db: sqlite3.Connection, scratch: Path) -> None:
    """Store what the reading of the whole tree left in `scratch`, in the place of what there was."""
    db.execute("DELETE FROM kept_tree")
    if (scratch / KEPT).exists():
        db.execute("INSERT INTO kept_tree VALUES (?)", ((scratch / KEPT).read_bytes(),))


def narrowed(db: sqlite3.Connection, plan: PythonPlan, changed: Iterable[str]) -> PythonPlan | None:
    """The plan of the changed Python files alone, with all that their extraction needs in the plan's scratch folder.

    None when more must be read. `changed` are the paths of all files that came, went or are others since `db` was made.
    """
    known = {path for (path,) in db.execute("SELECT path FROM file WHERE lang = 'python' AND status <> 'skipped'")}
    files = {file.path: file for file in plan.files}
    others = {path for path in changed if path.endswith(_SUFFIXES)}
    if known != files.keys() or not others <= known or len(others) > MOST_FILES:
        return None
    row = db.execute("SELECT value FROM kept_tree").fetchone()
    if row is None:
        return None
    survey, failed, types = marshal.loads(zlib.decompress(row[0]))  # noqa: S302  our own bytes
    said: dict[str, Said] = {}
    for path in sorted(others):
        kept = db.execute(
            "SELECT k.said FROM kept_python k JOIN file f ON f.id = k.file_id WHERE f.path = ?", (path,)
        ).fetchone()
        moved = _reread(plan.root, files[path], kept[0], survey) if kept is not None else None
        if moved is None:
            return None
        said[path] = moved
    narrow = PythonPlan(plan.root, tuple(files[path] for path in sorted(said)), plan.search_paths, plan.scratch)
    save_plan(narrow)
    save_survey(plan.scratch, survey, failed)
    (plan.scratch / TROUBLE).write_text("", "utf-8")
    (plan.scratch / SAID).write_bytes(marshal.dumps((types, {path: dump_said("", one) for path, one in said.items()})))
    return narrow


def _reread(root: Path, file: PythonFile, kept: bytes, survey: dict[str, ModuleTable]) -> Said | None:
    """What the type checker would say of a file whose words have only moved; None when it is not so."""
    before, said = load_said(kept)
    source = read_source(root / file.path)
    moves = words_moved(before, source.whole) if source.tree is not None and source.is_plain else None
    if moves is None:
        return None
    table = survey.get(file.module)
    if table is not None and table["path"] == file.path:
        again = survey_module(file.path, file.module, file.is_package, source)
        if {**again, "at": {}} != table:
            return None
    try:
        return _moved(said, *moves)
    except KeyError:  # a place outside the words of the file: nobody knows where it has gone
        return None


def _moved(said: Said, characters: Moves, in_bytes: Moves) -> Said:
    def span(old: Span) -> Span:
        return *in_bytes.start(old[:2]), *in_bytes.end(old[2:])

    occurrences: Occurrences = {}
    for place, symbol in said.occurrences.items():
        if place == _MODULE:
            occurrences[place] = symbol
        else:
            line, column = characters.start((place[0], place[1] - 1))
            occurrences[line, column + 1] = symbol
    sites = [site._replace(span=span(site.span)) for site in said.sites]
    return Said(sites, {span(where): keys for where, keys in said.receivers.items()}, occurrences)


def load_kept(scratch: Path) -> KeptReport | None:
    """The report that `narrowed` left in `scratch`; None when there is none."""
    path = scratch / SAID
    if not path.exists():
        return None
    types, said = marshal.loads(path.read_bytes())  # noqa: S302  our own file
    return KeptReport(scratch, Types(*types), {file: load_said(data)[1] for file, data in said.items()})
