"""Leads constructors, assignments and destructors to what they run for fields and bases though nobody wrote a call.

`Field x_{f()};` stands in the class: each constructor of the class runs f, unless it has an initialiser of its own for
that field. A constructor that calls no constructor of a base runs the base's default constructor. What the compiler
declares, or is `= default`, copies, moves or assigns the parts and nothing else. Every destructor that is defined ends
the parts. Members that the compiler declares are symbols without a place (xref/special_members.py), which stand where
their class stands.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from xref.link.step import Derived, Step, Touched
from xref.model import Evidence, Id, PartUse
from xref.special_members import Special, special_of

Place = tuple[int, int, int]
"""file id, line, column."""
Site = tuple[Id, Evidence, int, int, int, str]
"""The row of a call, but for the caller: callee, evidence, file id, line, column, via."""
_RUN = {PartUse.RUNS: Evidence.DIRECT, PartUse.GIVES: Evidence.VALUE, PartUse.MAY_RUN: Evidence.TEMPLATE}
_OF_WHOLE = {
    Special.COPY: PartUse.COPIES,
    Special.MOVE: PartUse.MOVES,
    Special.COPY_ASSIGNMENT: PartUse.ASSIGNS,
    Special.MOVE_ASSIGNMENT: PartUse.MOVE_ASSIGNS,
    Special.DESTRUCTOR: PartUse.ENDS,
}


class _Member(NamedTuple):
    """One that is defined, or that the compiler declares. `whole` is what it does with all parts; None for one that
    makes them by their initialisers. `own_bases`: whether it makes the bases that it says nothing of by default."""

    id: Id
    place: Place
    whole: PartUse | None
    own_bases: bool


class _Classes:
    def __init__(self, db: sqlite3.Connection) -> None:
        self.runs: dict[Id, list[tuple[Id, Site]]] = defaultdict(list)
        """Class -> the parts that its constructors make, each with what that calls."""
        self.whole: dict[tuple[Id, str], list[tuple[Id, Site]]] = defaultdict(list)
        """Class, what is done with all parts -> the parts, each with what that calls."""
        self.sets: dict[Id, set[Id]] = defaultdict(set)
        self.holds: dict[Id, list[Id]] = defaultdict(list)
        self.inherits: dict[Id, set[Id]] = defaultdict(set)
        self.defaulted: set[Id] = set()
        for owner, use, part, callee, file_id, line, col, via in db.execute(
            "SELECT DISTINCT owner_id, use, part_id, callee_id, file_id, line, col, via FROM part"
            " ORDER BY 1, 2, 5, 6, 7, 4, 8"
        ):
            if use in _RUN:
                self.runs[owner].append((part, (callee, _RUN[use], file_id, line, col, via)))
            elif use == PartUse.SETS:
                self.sets[owner].add(part)
            elif use == PartUse.HOLDS:
                self.holds[owner].append(part)
            elif use == PartUse.INHERITS:
                self.inherits[owner].add(part)
            elif use == PartUse.DEFAULTED:
                self.defaulted.add(owner)
            elif use != PartUse.DECLARES:
                self.whole[owner, use].append((part, (callee, Evidence.DIRECT, file_id, line, col, via)))
        self._read_classes(db)
        self._read_members(db)

    def _read_classes(self, db: sqlite3.Connection) -> None:
        self.unions: dict[Id, set[Id]] = defaultdict(set)
        """Union -> its fields."""
        for union, field in db.execute(
            "SELECT u.id, f.id FROM symbol u JOIN symbol f ON f.parent_id = u.id AND f.kind = 'field'"
            " WHERE u.lang = 'cpp' AND u.kind = 'union'"
        ):
            self.unions[union].add(field)
        self.bases: dict[Id, set[Id]] = defaultdict(set)
        for source, target in db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'base'"):
            self.bases[source].add(target)

    def _read_members(self, db: sqlite3.Connection) -> None:
        self.members: dict[Id, list[_Member]] = defaultdict(list)
        for id_, name, parent, class_, kind, key, signature, file_id, line, col, defined in db.execute(
            "SELECT s.id, s.name, s.parent_id, p.name, s.kind, s.key, s.signature, iif(s.line, s.file_id, p.file_id),"
            " iif(s.line, s.line, p.line), iif(s.line, s.col, p.col), s.is_definition OR s.line = 0"
            " FROM symbol s JOIN symbol p ON p.id = s.parent_id"
            " WHERE s.lang = 'cpp' AND (s.kind IN ('constructor', 'destructor') OR s.name = 'operator=')"
            " AND p.file_id IS NOT NULL ORDER BY s.key"
        ):
            if not defined:
                continue
            special = special_of(key)
            if special is None and (kind == "destructor" or id_ in self.defaulted):
                special = Special.DESTRUCTOR if kind == "destructor" else _of_signature(signature, kind)
            whole = _OF_WHOLE.get(special) if special is not None else None
            if whole is not None or kind == "constructor":
                self.members[parent].append(_Member(id_, (file_id, line, col), whole, name == class_))
        self.made: dict[Id, set[Id]] = defaultdict(set)
        """Constructor -> the classes whose constructors it calls."""
        for caller, made_class in db.execute(
            "SELECT c.caller_id, t.parent_id FROM call c JOIN symbol s ON s.id = c.caller_id AND s.kind = 'constructor'"
            " JOIN symbol t ON t.id = c.callee_id AND t.kind = 'constructor' WHERE s.lang = 'cpp' AND c.step = ''"
        ):
            self.made[caller].add(made_class)

    def run_by(self, class_: Id, member: _Member) -> Iterator[Site]:
        """What the member of the class runs besides what is written in it."""
        if member.whole is not None:
            yield from self._with_whole(class_, member.whole, member.place)
            return
        made = self.made[member.id] | self.inherits.get(member.id, set())
        if class_ in made:  # it delegates to another one
            return
        yield from self._of_fields(class_, self.sets.get(member.id, set()))
        if member.own_bases:
            bases = self.bases.get(class_, set())
            for part, site in self.runs.get(class_, ()):
                if part in bases and part not in made:
                    yield _at(site, member.place)

    def _with_whole(self, class_: Id, use: PartUse, place: Place) -> Iterator[Site]:
        bases = self.bases.get(class_, set())
        for part, site in self.whole.get((class_, use), ()):
            yield _at(site, place) if use == PartUse.ENDS and part in bases else site
        for anonymous in self.holds.get(class_, ()):
            yield from (site for _, site in self.whole.get((anonymous, use), ()))

    def _of_fields(self, class_: Id, set_: set[Id]) -> Iterator[Site]:
        """What makes the fields, but for those that are set otherwise: of a union one at most is made."""
        if set_.isdisjoint(self.unions.get(class_, ())):
            bases = self.bases.get(class_, set())
            yield from (site for part, site in self.runs.get(class_, ()) if part not in set_ and part not in bases)
        for anonymous in self.holds.get(class_, ()):
            yield from self._of_fields(anonymous, set_)


def _at(site: Site, place: Place) -> Site:
    """The call, made where the member stands: the base may be named in another file."""
    callee, evidence, *_, via = site
    return callee, evidence, *place, via


def _of_signature(signature: str, kind: str) -> Special | None:
    """Which of the members that the compiler could have declared has this signature; None for a constructor that makes
    its parts by their initialisers."""
    moves = "&&" in signature
    if kind == "method":
        return Special.MOVE_ASSIGNMENT if moves else Special.COPY_ASSIGNMENT
    if not copies(signature):
        return None
    return Special.MOVE if moves else Special.COPY


def copies(signature: str) -> bool:
    """Whether it is the signature of a copy or move constructor: `Class(const Class &)`."""
    name, _, parameters = signature.partition("(")
    first = parameters.rstrip(")").removeprefix("const ").rstrip("& ")
    return first.rsplit("::", 1)[-1].partition("<")[0] == name.partition("<")[0]


def _derive(derived: Derived, _touched: Touched | None) -> None:
    classes = _Classes(derived.db)
    for class_, members in classes.members.items():
        for member in members:
            sites = dict.fromkeys(classes.run_by(class_, member))
            derived.calls((member.id, *site) for site in sites)


STEP = Step("constructions", _derive, compared=True)
