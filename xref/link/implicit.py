"""Names members that the compiler declares (xref/special_members.py) where only the linker sees that they are used."""

from __future__ import annotations

import sqlite3

from xref.link.step import Derived
from xref.model import Id, Lang, Symbol, symbol_id
from xref.special_members import Special, symbol_of


class Implicit:
    """The members of this kind that a step has named."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._named: dict[tuple[Id, Special], Symbol] = {}

    def member(self, class_: Id, special: Special) -> Id:
        """The id of the member of the class."""
        named = self._named.get((class_, special))
        if named is None:
            key, name, qualname, linkage = self._db.execute(
                "SELECT key, name, qualname, linkage FROM symbol WHERE id = ?", (class_,)
            ).fetchone()
            class_symbol = Symbol(key, "class", name, qualname, 0, 0, 0, linkage=linkage)
            named = self._named[class_, special] = symbol_of(class_symbol, class_, special)
        return symbol_id(named.key)

    def store(self, derived: Derived) -> None:
        """Add the symbols that have been named, where nothing else has."""
        derived.externals(Lang.CPP, self._named.values())
