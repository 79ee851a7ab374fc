"""Says when a linked index looks wrong as a whole, so that a tree that was read badly does not pass for an odd one.

A rename upstream shows as a registry that is suddenly empty, or as uses that nobody defines. What is normal was
measured on whole trees from v0.14 to main.
"""

from __future__ import annotations

import sqlite3

MAX_DANGLING_SHARE = 0.1
"""More dangling uses than this mean that registrations were not read, not that the code is wrong: 1 % on whole trees
from v0.14 to main."""
MAX_DANGLING_OF_A_REGISTRY = 0.03
"""The same for the uses of one registry in one language, 0 to 0.6 % on whole trees, where there are `MIN_USES`."""
MIN_USES = 200
WHOLE_TREE = 400
"""C++ files that were read: a TVM has 1,100 to 1,900, a part of one fewer."""
TVM_HEADER = "include/tvm/ir/expr.h"
"""A file that every TVM has, and no project built on it."""
EXPECTED = {"ffi": 1000, "type": 250, "field": 500, "pass": 80, "op": 200, "pass_config": 15, "target_kind": 8}
"""Keys that any whole TVM from v0.14 on defines in C++, far below what was counted: 2,170 to 3,130 functions, 520 to
900 types, 1,000 fields, 130 passes, 600 operators, 35 options, 14 kinds."""


def doubts(db: sqlite3.Connection) -> list[str]:
    """What makes the index doubtful as a whole, for people to read; nothing for a part of a tree."""
    uses, dangling = db.execute(
        "SELECT count(*), count(CASE WHEN status = 'dangling' THEN 1 END) FROM key_use"
    ).fetchone()
    if uses and dangling > uses * MAX_DANGLING_SHARE:
        return [f"{dangling} of {uses} uses of keys dangle ({_why(db)})"]
    read, is_tvm = db.execute(
        "SELECT count(*), count(CASE WHEN path = ? THEN 1 END) FROM file"
        " WHERE lang = 'cpp' AND status IN ('ok', 'degraded')",
        (TVM_HEADER,),
    ).fetchone()
    return [*_empty(db), *_quiet(db)] if is_tvm and read >= WHOLE_TREE else []


def _why(db: sqlite3.Connection) -> str:
    (lost,) = db.execute(
        "SELECT count(*) FROM file WHERE status = 'degraded' AND detail LIKE 'missing header%' AND lang = 'cpp'"
    ).fetchone()
    if lost:
        return f"{lost} C++ files miss a header, and their registrations are lost with it: get the submodules"
    return "the registrations may have a form that this xref does not know, or their files are not in the index"


def _empty(db: sqlite3.Connection) -> list[str]:
    """The registries that every TVM fills and this index does not."""
    found = dict(db.execute("SELECT registry, count(DISTINCT name) FROM key_def WHERE side = 'cpp' GROUP BY registry"))
    return [
        f"{found.get(registry, 0)} {registry} keys are defined in C++, where a TVM has more than {least} ({_why(db)})"
        for registry, least in EXPECTED.items()
        if found.get(registry, 0) < least
    ]


def _quiet(db: sqlite3.Connection) -> list[str]:
    """The registries of which far more uses dangle than in any TVM that was measured."""
    rows = db.execute(
        "SELECT registry, side, count(*), count(CASE WHEN status = 'dangling' THEN 1 END) FROM key_use"
        " WHERE registry = 'ffi' GROUP BY registry, side ORDER BY 1, 2"
    )
    return [
        f"{dangling} of {uses} uses of {registry} keys in {side} dangle ({_why(db)})"
        for registry, side, uses, dangling in rows
        if uses >= MIN_USES and dangling > uses * MAX_DANGLING_OF_A_REGISTRY
    ]
