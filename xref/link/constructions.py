"""Leads a constructor to what runs before its body though nobody wrote a call: for fields and base classes.

`Field x_{f()};` stands in the class: what it calls are facts of the class, and each constructor of the class runs them,
implicit ones too, unless it has an initialiser of its own for that field. A constructor that calls no constructor of a
base runs the base's default constructor; where the index knows none (the compiler makes one that nothing names), the
base's initialisers and bases are its own. A copy or move constructor that is the compiler's, or `= default`, runs those
of the parts and nothing else. What is called of a class without constructors is the class, which then stands for one.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from xref.link.step import Derived, Step, Touched
from xref.model import Evidence, Id, PartUse

_CLASSES = "('class', 'struct', 'union')"
Place = tuple[int, int, int]
"""file id, line, column."""
Site = tuple[Id, int, int, int]
"""callee, file id, line, column."""


class _Constructor(NamedTuple):
    """One that is defined, or that the compiler makes. `copy` is what it does with all parts: COPIES, MOVES, or None
    where it has initialisers for them. `own_bases`: whether it makes the bases that it says nothing of by default."""

    id: Id
    place: Place
    copy: PartUse | None
    own_bases: bool


class _Classes:
    def __init__(self, db: sqlite3.Connection) -> None:
        self.runs: dict[Id, list[tuple[Id, Site]]] = defaultdict(list)
        """Class -> the parts that its constructors make, each with what that calls."""
        self.values: set[Site] = set()
        """Where these name functions as values, and do not call them."""
        self.copies: dict[tuple[Id, str], list[Site]] = defaultdict(list)
        self.sets: dict[Id, set[Id]] = defaultdict(set)
        self.holds: dict[Id, list[Id]] = defaultdict(list)
        self.inherits: dict[Id, set[Id]] = defaultdict(set)
        self.defaulted: set[Id] = set()
        for owner, use, part, *site in db.execute(
            "SELECT DISTINCT owner_id, use, part_id, callee_id, file_id, line, col FROM part ORDER BY 1, 2, 5, 6, 7, 4"
        ):
            callee, file_id, line, col = site
            if use in (PartUse.RUNS, PartUse.GIVES):
                self.runs[owner].append((part, (callee, file_id, line, col)))
                if use == PartUse.GIVES:
                    self.values.add((callee, file_id, line, col))
            elif use in (PartUse.COPIES, PartUse.MOVES):
                self.copies[owner, use].append((callee, file_id, line, col))
            elif use == PartUse.SETS:
                self.sets[owner].add(part)
            elif use == PartUse.HOLDS:
                self.holds[owner].append(part)
            elif use == PartUse.INHERITS:
                self.inherits[owner].add(part)
            else:
                self.defaulted.add(owner)
        self._read_classes(db)
        self._read_constructors(db)

    def _read_classes(self, db: sqlite3.Connection) -> None:
        self.unions: dict[Id, set[Id]] = defaultdict(set)
        """Union -> its fields."""
        for union, field in db.execute(
            "SELECT u.id, f.id FROM symbol u JOIN symbol f ON f.parent_id = u.id AND f.kind = 'field'"
            " WHERE u.lang = 'cpp' AND u.kind = 'union'"
        ):
            self.unions[union].add(field)
        self.bases: dict[Id, list[Id]] = defaultdict(list)
        for source, target in db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'base' ORDER BY 1, 2"):
            self.bases[source].append(target)

    def _read_constructors(self, db: sqlite3.Connection) -> None:
        self.constructors: dict[Id, list[_Constructor]] = defaultdict(list)
        self.default: dict[Id, Id] = {}
        self.declares: set[Id] = set()
        """Classes for which the compiler makes no default constructor."""
        others: dict[Id, list[Id]] = defaultdict(list)
        for id_, name, parent, class_, key, signature, file_id, line, col, defined in db.execute(
            "SELECT s.id, s.name, s.parent_id, p.name, s.key, s.signature, iif(s.line, s.file_id, p.file_id),"
            " iif(s.line, s.line, p.line), iif(s.line, s.col, p.col), s.is_definition OR s.line = 0"
            " FROM symbol s JOIN symbol p ON p.id = s.parent_id"
            " WHERE s.lang = 'cpp' AND s.kind = 'constructor' AND p.file_id IS NOT NULL ORDER BY s.key"
        ):
            copy, is_default = _of_signature(signature) if signature else _of_key(key, name)
            if defined:
                does = copy if not signature or id_ in self.defaulted else None
                made = _Constructor(id_, (file_id, line, col), does, name == class_)
                self.constructors[parent].append(made)
            if signature:
                self.declares.add(parent)
            if is_default:
                self.default.setdefault(parent, id_)
            elif signature and copy is None:
                others[parent].append(id_)
        for parent, written in others.items():
            if len(written) == 1:  # its parameters have values: something derives from the class and gives none
                self.default.setdefault(parent, written[0])
        self.made: dict[Id, set[Id]] = defaultdict(set)
        """Constructor -> the classes whose constructors it calls."""
        for caller, made_class in db.execute(
            "SELECT c.caller_id, t.parent_id FROM call c JOIN symbol s ON s.id = c.caller_id AND s.kind = 'constructor'"
            " JOIN symbol t ON t.id = c.callee_id AND t.kind = 'constructor' WHERE s.lang = 'cpp' AND c.step = ''"
        ):
            self.made[caller].add(made_class)

    def called(self, site: Site) -> tuple[Id, Evidence, int, int, int, str]:
        """The row of a call there, but for the caller."""
        callee, file_id, line, col = site
        return callee, Evidence.VALUE if site in self.values else Evidence.DIRECT, file_id, line, col, ""

    def of_constructor(self, class_: Id, constructor: _Constructor) -> Iterator[Site]:
        """What the constructor runs besides what is written in it."""
        if constructor.copy is not None:
            yield from self.copies.get((class_, constructor.copy), ())
            for anonymous in self.holds.get(class_, ()):
                yield from self.copies.get((anonymous, constructor.copy), ())
            return
        made = self.made[constructor.id]
        if class_ in made:  # it delegates to another one
            return
        yield from self.of_fields(class_, self.sets.get(constructor.id, set()))
        if constructor.own_bases:
            yield from self.of_bases(class_, made, constructor.place)

    def of_fields(self, class_: Id, set_: set[Id]) -> Iterator[Site]:
        """What makes the fields, but for those that are set otherwise: of a union one at most is made."""
        if set_.isdisjoint(self.unions.get(class_, ())):
            yield from (site for part, site in self.runs.get(class_, ()) if part not in set_)
        for anonymous in self.holds.get(class_, ()):
            yield from self.of_fields(anonymous, set_)

    def of_bases(self, class_: Id, made: set[Id], place: Place, depth: int = 0) -> Iterator[Site]:
        """What makes the bases, but for those whose constructors are called."""
        for base in self.bases.get(class_, ()):
            if base in made or depth > len(self.bases):
                continue
            if base in self.default:
                yield (self.default[base], *place)
            elif base not in self.declares:
                yield from self.of_fields(base, set())
                yield from self.of_bases(base, set(), place, depth + 1)


def _of_signature(signature: str) -> tuple[PartUse | None, bool]:
    """Whether a constructor with this signature copies or moves, and whether it takes nothing."""
    if not copies(signature):
        return None, signature.endswith("()")
    return (PartUse.MOVES if "&&" in signature else PartUse.COPIES), False


def _of_key(key: str, name: str) -> tuple[PartUse | None, bool]:
    """The same of a constructor that the compiler declares, by its key: there is no signature."""
    _, found, parameters = key.partition(f"@F@{name}#")
    if not found or not parameters.startswith("&"):
        return None, bool(found) and not parameters
    return (PartUse.MOVES if parameters.startswith("&&") else PartUse.COPIES), False


def copies(signature: str) -> bool:
    """Whether it is the signature of a copy or move constructor: `Class(const Class &)`."""
    name, _, parameters = signature.partition("(")
    first = parameters.rstrip(")").removeprefix("const ").rstrip("& ")
    return first.rsplit("::", 1)[-1].partition("<")[0] == name.partition("<")[0]


def _derive(derived: Derived, _touched: Touched | None) -> None:
    classes = _Classes(derived.db)
    for class_, constructors in classes.constructors.items():
        for constructor in constructors:
            sites = dict.fromkeys(classes.of_constructor(class_, constructor))
            derived.calls((constructor.id, *classes.called(site)) for site in sites)
    for class_, *place in derived.db.execute(
        f"SELECT id, file_id, line, col FROM symbol WHERE lang = 'cpp' AND kind IN {_CLASSES} AND line > 0"
        " AND id IN (SELECT callee_id FROM call WHERE evidence = 'direct' AND step = '') ORDER BY id"
    ).fetchall():
        file_id, line, col = place
        sites = dict.fromkeys(classes.of_bases(class_, classes.inherits.get(class_, set()), (file_id, line, col)))
        derived.calls((class_, *classes.called(site)) for site in sites)


STEP = Step("constructions", _derive, compared=True)
