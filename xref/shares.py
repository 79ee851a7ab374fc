"""How much of the C++ calls is unresolved: in parses that met no error, and in the others by the header they lack."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass

from xref.records import PCH

NO_ERROR, OTHER_ERRORS = "units without error", "other errors"


@dataclass(slots=True)
class Share:
    """`unresolved` of the `calls` (call expressions of the source) in `units` parses; `what` they have in common: no
    error, the header that is missing, or other errors."""

    what: str
    units: int = 0
    calls: int = 0
    unresolved: int = 0

    @property
    def percent(self) -> float:
        """The share that is unresolved; 0 where there is no call."""
        return 100 * self.unresolved / self.calls if self.calls else 0.0


def cpp_shares(db: sqlite3.Connection) -> list[Share]:
    """The parses without error first, then the others, those that lose most first. A parse has an error where a file
    whose facts it gave is not `ok`; calls in bodies that several rows tell of count once."""
    states = dict(db.execute("SELECT path, iif(status = 'ok', '', detail) FROM file WHERE lang = 'cpp'"))
    unresolved = Counter(
        path
        for (path,) in db.execute(
            "SELECT f.path FROM unresolved_call u JOIN file f ON f.id = u.file_id WHERE f.lang = 'cpp'"
            " GROUP BY u.file_id, u.line, u.col"
        )
    )
    found: dict[str, Share] = {}
    for (record,) in db.execute("SELECT record FROM unit"):
        unit = json.loads(record)
        if unit["origin"] == PCH:
            continue
        details = [states[path] for path in unit["delivered"] if states.get(path)]
        lost = next((detail for detail in details if detail.startswith("missing header ")), "")
        what = lost.partition(" (and ")[0] or (OTHER_ERRORS if details else NO_ERROR)
        share = found.setdefault(what, Share(what))
        share.units += 1
        share.calls += unit["call_expressions"]
        share.unresolved += sum(unresolved[path] for path in unit["delivered"])
    return sorted(found.values(), key=lambda share: (share.what != NO_ERROR, -share.unresolved, share.what))
