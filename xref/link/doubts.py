"""Says when a linked index looks wrong as a whole, so that a tree that was read badly does not pass for an odd one."""

from __future__ import annotations

import sqlite3

MAX_DANGLING_SHARE = 0.1
"""More dangling uses than this mean that registrations were not read, not that the code is wrong: 1 % on whole trees
from v0.14 to main."""


def doubts(db: sqlite3.Connection) -> list[str]:
    """A rename upstream, or headers that are missing, must not pass for a tree whose keys nobody registers."""
    uses, dangling = db.execute(
        "SELECT count(*), count(CASE WHEN status = 'dangling' THEN 1 END) FROM key_use"
    ).fetchone()
    if not uses or dangling <= uses * MAX_DANGLING_SHARE:
        return []
    lost = db.execute(
        "SELECT count(*) FROM file WHERE status = 'degraded' AND detail LIKE 'missing header%' AND lang = 'cpp'"
    ).fetchone()[0]
    why = (
        f"{lost} C++ files miss a header, and their registrations are lost with it: get the submodules"
        if lost
        else "the registrations may have a form that this xref does not know, or their files are not in the index"
    )
    return [f"{dangling} of {uses} uses of keys dangle ({why})"]
