"""Whether the answers of value flow still hold after files were read again: they do when the constraints of these files
are what they were but for places, in the same order, and the type checker's calls at these places too.

What was derived of such a file comes back at the new places. A comment, a blank line, another layout need no new
solution; anything else that the constraints show does.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from itertools import pairwise

from xref.link.step import CallRow, Derived, Touched, UnresolvedRow
from xref.model import Evidence
from xref.python.flow.summary import load_summary, pack, places_of, unpack

Moves = dict[int, int]
"""Where a place was -> where it is now, both packed."""


class _Unmoved(Moves):
    def __missing__(self, place: int) -> int:
        return place


def keep_answers(derived: Derived, touched: Touched) -> bool:
    """Put back what was derived of the touched Python files; False, and nothing done, when it may not hold."""
    db = derived.db
    if not db.execute("SELECT count(*) FROM sqlite_temp_master WHERE name = 'gone_flow'").fetchone()[0]:
        return False  # nobody kept what these files had
    calls: list[CallRow] = []
    unresolved: list[UnresolvedRow] = []
    for (file,) in db.execute("SELECT id FROM file WHERE lang = 'python'").fetchall():
        if file not in touched.files:
            continue
        moves = _moves(db, file)
        if moves is None or not _calls_alike(db, file, moves):
            return False
        try:
            for caller, callee, evidence, line, column, via in db.execute(
                "SELECT caller_id, callee_id, evidence, line, col, via FROM temp.gone_call"
                " WHERE file_id = ? AND step = ?",
                (file, derived.step),
            ):
                calls.append((caller, callee, Evidence(evidence), file, *_moved(moves, line, column), via))
            for line, column, within, text, reason in db.execute(
                "SELECT line, col, in_symbol_id, text, reason FROM temp.gone_unresolved WHERE file_id = ? AND step = ?",
                (file, derived.step),
            ):
                unresolved.append((file, *_moved(moves, line, column), within, text, reason))
        except KeyError:  # a place that the constraints do not name
            return False
    derived.calls(calls)
    derived.unresolved(unresolved)
    return True


def _moves(db: sqlite3.Connection, file: int) -> Moves | None:
    """How the places of a file's constraints have moved; None when it is not only they that have changed."""
    before = db.execute("SELECT summary FROM temp.gone_flow WHERE file_id = ?", (file,)).fetchone()
    now = db.execute("SELECT summary FROM flow WHERE file_id = ?", (file,)).fetchone()
    if before is None or now is None:
        return Moves() if before is now else None
    if before == now:
        return _Unmoved()
    old, was = places_of(load_summary(before[0]))
    new, are = places_of(load_summary(now[0]))
    if old != new:
        return None
    moves = Moves()
    for place, moved in zip(was, are, strict=True):
        if moves.setdefault(place, moved) != moved:
            return None
    in_order = [moves[place] for place in sorted(moves)]
    is_same_order = all(a < b for a, b in pairwise(in_order))
    return moves if is_same_order else None


def _calls_alike(db: sqlite3.Connection, file: int, moves: Moves) -> bool:
    """Whether the calls that are facts of the file are those of before, at the places that the constraints name: the
    solver asks for no others.
    """
    ask = "SELECT caller_id, callee_id, line, col FROM {} WHERE file_id = ? AND step = '' AND evidence <> 'virtual'"
    before = _packed(db.execute(ask.format("temp.gone_call"), (file,)))
    now = _packed(db.execute(ask.format("call"), (file,)))
    if isinstance(moves, _Unmoved):
        return Counter(before) == Counter(now)
    places = set(moves.values())
    was = Counter((caller, callee, moves[at]) for caller, callee, at in before if at in moves)
    return was == Counter(row for row in now if row[2] in places)


def _packed(rows: sqlite3.Cursor) -> list[tuple[int, int, int]]:
    return [(caller, callee, pack(line, column)) for caller, callee, line, column in rows]


def _moved(moves: Moves, line: int, column: int) -> tuple[int, int]:
    return unpack(moves[pack(line, column)])
