"""Derives uses of attribute names from reads of the constants that hold them: `annotations.count(attr::unroll)`.

Functions that take an attribute's name are known (xref/registry/cpp_attrs.py); annotations of loops and blocks are
maps, comparisons and helpers of all kinds, for which the constant is enough to say what they mean.
"""

from __future__ import annotations

from xref.link.step import Derived, Step, Touched
from xref.model import Evidence
from xref.registry.cpp_attrs import ATTR


def _derive(derived: Derived, _touched: Touched | None) -> None:
    rows = derived.db.execute(
        "SELECT DISTINCT k.registry, k.name, 'cpp', r.file_id, r.line, r.col, r.in_symbol_id FROM key_def k"
        " JOIN ref r ON r.symbol_id = k.symbol_id AND r.role = 'read'"
        " WHERE k.registry = ? AND NOT EXISTS (SELECT 1 FROM key_use u"
        "   WHERE u.registry = k.registry AND u.name = k.name AND u.file_id = r.file_id AND u.line = r.line)"
        " ORDER BY 2, 4, 5, 6",
        (ATTR,),
    ).fetchall()
    derived.key_uses((*row, Evidence.DIRECT) for row in rows)


STEP = Step("attributes", _derive)
