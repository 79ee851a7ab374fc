"""What `xref index` reports: counts read back from the index itself, so that they cannot differ from it."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from xref.model import ExitCode
from xref.store import open_index, read_meta

_MORE = re.compile(r" \(and \d+ more\)$|: \d+ of \d+ lines not read$|, first .*$| at line \d+.*$")


@dataclass
class IndexSummary:
    """The outcome of one `xref index`; durations in seconds, everything else counts or lists of names."""

    unchanged: bool
    seconds: float
    tree: dict[str, str] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    degraded: dict[str, int] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)
    symbols: int = 0
    refs: int = 0
    calls: dict[str, int] = field(default_factory=dict)
    unresolved: int = 0
    keys_defined: dict[str, int] = field(default_factory=dict)
    key_uses: dict[str, int] = field(default_factory=dict)
    dangling: list[tuple[str, str, str, int]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    is_update: bool = False
    """Whether an earlier index was brought up to date, instead of a new one made."""
    reread: dict[str, int] = field(default_factory=dict)
    """What was read in this run: C++ units (headers by themselves included), Python and Cython files."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Why C++ that an earlier index knew was read again -> number of units."""

    @property
    def exit_code(self) -> int:
        """0, or 4 when files failed."""
        return ExitCode.FILES_FAILED if self.failed else ExitCode.DONE


def summarize(path: Path, unchanged: bool, seconds: float) -> IndexSummary:
    """The summary of the index at `path`."""
    db = open_index(path)
    try:
        meta = read_meta(db)
        shown = ("tree", "project", "tvm_version", "commit", "era", "indexed_at", "xref", "clang", "pyrefly")
        degraded = Counter(
            _MORE.sub("", detail) for (detail,) in db.execute("SELECT detail FROM file WHERE status = 'degraded'")
        )
        return IndexSummary(
            unchanged,
            seconds,
            {key: meta.get(key, "") for key in shown},
            dict(db.execute("SELECT status, count(*) FROM file GROUP BY status")),
            dict(degraded.most_common()),
            db.execute("SELECT path, detail FROM file WHERE status = 'failed' ORDER BY path").fetchall(),
            db.execute("SELECT count(*) FROM symbol").fetchone()[0],
            db.execute("SELECT count(*) FROM ref").fetchone()[0],
            dict(db.execute("SELECT evidence, count(*) FROM call GROUP BY evidence ORDER BY 2 DESC")),
            db.execute("SELECT count(*) FROM unresolved_call").fetchone()[0],
            dict(db.execute("SELECT registry, count(DISTINCT name) FROM key_def GROUP BY registry ORDER BY 2 DESC")),
            dict(db.execute("SELECT status, count(*) FROM key_use GROUP BY status ORDER BY 2 DESC")),
            db.execute(
                "SELECT registry, name, path, line FROM key_uses WHERE status = 'dangling' ORDER BY 1, 2, 3, 4"
            ).fetchall(),
            json.loads(meta.get("warnings", "[]")),
        )
    finally:
        db.close()
