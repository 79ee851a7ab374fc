"""Leads a constructor to what runs before its body though nobody wrote a call: initialisers of fields, base classes.

`Field x_{f()};` stands in the class: its calls are facts of the class, and each constructor of the class runs them,
implicit ones too. A constructor that calls no constructor of a base runs the base's default constructor; where the
index knows none (the compiler makes one that nothing names), the base's initialisers and bases are its own.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator

from xref.link.step import Derived, Step, Touched
from xref.model import Evidence, Id

_IMPLICIT_DEFAULT = re.compile(r"@F@\w+#$")
"""Ends the key of a constructor without parameters: of one that the compiler declares there is no signature."""
_CLASSES = "('class', 'struct', 'union')"
Site = tuple[Id, int, int, int]
"""callee, file id, line, column."""


class _Classes:
    def __init__(self, db: sqlite3.Connection) -> None:
        self.initialisers: dict[Id, list[Site]] = defaultdict(list)
        for class_, *site in db.execute(
            "SELECT c.caller_id, c.callee_id, c.file_id, c.line, c.col FROM call c JOIN symbol s ON s.id = c.caller_id"
            f" WHERE s.lang = 'cpp' AND s.kind IN {_CLASSES} AND c.evidence = 'direct' AND c.step = ''"
        ):
            callee, file_id, line, col = site
            self.initialisers[class_].append((callee, file_id, line, col))
        self.bases: dict[Id, list[Id]] = defaultdict(list)
        for source, target in db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'base' ORDER BY 1, 2"):
            self.bases[source].append(target)
        self.constructors: dict[Id, list[Id]] = defaultdict(list)
        self.default: dict[Id, Id] = {}
        self.places: dict[Id, tuple[int, int, int]] = {}
        others: dict[Id, list[Id]] = defaultdict(list)
        for id_, parent, key, signature, file_id, line, col, defined in db.execute(
            "SELECT s.id, s.parent_id, s.key, s.signature, p.file_id, coalesce(nullif(s.line, 0), p.line),"
            " coalesce(nullif(s.col, 0), p.col), s.is_definition OR s.line = 0 FROM symbol s"
            " JOIN symbol p ON p.id = s.parent_id"
            " WHERE s.lang = 'cpp' AND s.kind = 'constructor' AND p.file_id IS NOT NULL ORDER BY s.key"
        ):
            if defined:
                self.constructors[parent].append(id_)
                self.places[id_] = (file_id, line, col)
            if signature.endswith("()") or (not signature and _IMPLICIT_DEFAULT.search(key)):
                self.default.setdefault(parent, id_)
            elif signature and not copies(signature):
                others[parent].append(id_)
        for parent, written in others.items():
            if len(written) == 1:  # its parameters have values: something derives from the class and gives none
                self.default.setdefault(parent, written[0])
        self.made: dict[Id, set[Id]] = defaultdict(set)
        """Constructor -> the classes whose constructors it calls."""
        for caller, made in db.execute(
            "SELECT c.caller_id, t.parent_id FROM call c JOIN symbol s ON s.id = c.caller_id AND s.kind = 'constructor'"
            " JOIN symbol t ON t.id = c.callee_id AND t.kind = 'constructor' WHERE s.lang = 'cpp' AND c.step = ''"
        ):
            self.made[caller].add(made)

    def runs(self, class_: Id, made: set[Id], place: tuple[int, int, int], depth: int = 0) -> Iterator[Site]:
        """What constructing `class_` runs besides what is written in its constructor; `made`: bases called there."""
        yield from self.initialisers.get(class_, ())
        for base in self.bases.get(class_, ()):
            if base in made or depth > len(self.bases):
                continue
            if base in self.default:
                yield (self.default[base], *place)
            elif not self.constructors.get(base):
                yield from self.runs(base, set(), place, depth + 1)


def copies(signature: str) -> bool:
    """Whether it is the signature of a copy or move constructor: `Class(const Class &)`."""
    name, _, parameters = signature.partition("(")
    first = parameters.rstrip(")").removeprefix("const ").rstrip("& ")
    return first.rsplit("::", 1)[-1].partition("<")[0] == name.partition("<")[0]


def _derive(derived: Derived, _touched: Touched | None) -> None:
    classes = _Classes(derived.db)
    for class_, constructors in classes.constructors.items():
        if class_ not in classes.initialisers and class_ not in classes.bases:
            continue
        for constructor in constructors:
            made = classes.made[constructor]
            if class_ in made:  # it delegates to another one, or is a copy
                continue
            sites = dict.fromkeys(classes.runs(class_, made, classes.places[constructor]))
            derived.calls(
                (constructor, callee, Evidence.DIRECT, file_id, line, col, "") for callee, file_id, line, col in sites
            )


STEP = Step("constructions", _derive, compared=True)
