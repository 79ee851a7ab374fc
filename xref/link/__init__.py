"""Joins what files say of each other: uses of keys to definitions, calls through keys, virtual calls to overriders.

Works on the rows of a whole index, in steps (`STEPS`, one small module each); each rule is stated at its function. What
a rule cuts is a row in `unresolved`. What a step must keep to: `xref.link.step`.
"""

from __future__ import annotations

import sqlite3

from xref.garbage import paused_collection
from xref.link import (
    attributes,
    bindings,
    callbacks,
    constructions,
    dependents,
    dispatch,
    fields,
    flow,
    keys,
    overriders,
    overrides,
    types,
)
from xref.link.doubts import doubts
from xref.link.step import Derived, Step, Touched

STEPS: tuple[Step, ...] = (
    overrides.STEP,
    types.STEP,
    fields.STEP,
    attributes.STEP,
    keys.STEP,
    bindings.STEP,
    dependents.STEP,
    constructions.STEP,
    overriders.STEP,
    dispatch.STEP,
    callbacks.STEP,
    flow.STEP,
)
"""In this order: a step may read what earlier ones derived."""


def link(db: sqlite3.Connection, touched: Touched | None = None) -> list[str]:
    """Derive everything, or what the `touched` files may have changed; returns what the user should know of the result.

    Afterwards the derived rows are those that a link of a fresh index with the same facts would have made.
    """
    with paused_collection():  # the steps make millions of objects that live to their end
        for step in STEPS:
            derived = Derived(db, step.name)
            if touched is not None and step.scoped:
                step.derive(derived, touched)
            else:
                if touched is not None:
                    (derived.compare if step.compared else derived.clear)()
                step.derive(derived, None)
                derived.finish()
    return doubts(db)
