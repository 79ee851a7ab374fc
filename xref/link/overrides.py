"""What a class template overrides of a base that depends on its parameters, which clang looks at in instances alone.

`template <class T> struct D : B<T> { void v() override; }` overrides `B::v` where that is virtual. It is told as the
language does it, by name, parameters and const; a type that names a template parameter or a member type may be any
type, and a pack any number of them. What derives from an instance (`struct E : D<int>`) clang has told.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from xref.closure import closure
from xref.link.signatures import parameters
from xref.link.step import Derived, Step, Touched
from xref.model import Id

_METHODS = "('method', 'destructor', 'conversion')"
_WORD = re.compile(r"[A-Za-z_]\w*")
_PACK = "..."


class _Method(NamedTuple):
    id: Id
    name: str
    parameters: tuple[str, ...]
    is_const: bool


class _Templates:
    """The classes of which one is a template that derives from another, and what these consist of."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.bases: dict[Id, list[Id]] = defaultdict(list)
        self.specialisations: dict[Id, list[Id]] = defaultdict(list)
        for source, kind, target in db.execute(
            "SELECT from_id, kind, to_id FROM relations WHERE kind IN ('base', 'specializes') ORDER BY 1, 2, 3"
        ):
            if kind == "base":
                self.bases[source].append(target)
            else:
                self.specialisations[target].append(source)
        self._parameters: dict[Id, set[str]] = defaultdict(set)
        for parent, name in db.execute(
            "SELECT parent_id, name FROM symbol WHERE kind = 'template_parameter' AND lang = 'cpp'"
        ):
            self._parameters[parent].add(name)
        self._parents: dict[Id, Id | None] = {}
        self._defined: dict[Id, bool] = {}
        self._load_classes(db)
        self.derived = [
            class_ for class_ in self.bases
            if self.is_template(class_) and any(map(self.is_template, self.bases[class_]))
        ]  # fmt: skip
        self.methods: dict[Id, list[_Method]] = defaultdict(list)
        self._load_members(db)
        self.virtual = {id_ for (id_,) in db.execute("SELECT symbol_id FROM virtual_method")}

    def _load_classes(self, db: sqlite3.Connection) -> None:
        pending = {*self.bases, *(base for bases in self.bases.values() for base in bases), *self.specialisations}
        while pending:
            rows = db.execute(
                "SELECT id, parent_id, is_definition FROM symbol WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(sorted(pending)),),
            ).fetchall()
            for id_, parent, is_definition in rows:
                self._parents[id_], self._defined[id_] = parent, bool(is_definition)
            pending = {parent for _, parent, _ in rows if parent is not None and parent not in self._parents}

    def _load_members(self, db: sqlite3.Connection) -> None:
        above = {class_: [*self.bases.get(class_, ()), *self.specialisations.get(class_, ())]
                 for class_ in (*self.bases, *self.specialisations)}  # fmt: skip
        classes = (json.dumps(sorted(closure(above, self.derived))),)
        for id_, parent, name, signature in db.execute(
            f"SELECT id, parent_id, name, signature FROM symbol WHERE kind IN {_METHODS} AND lang = 'cpp'"
            " AND parent_id IN (SELECT value FROM json_each(?)) ORDER BY key",
            classes,
        ):
            if id_ not in self._parameters:  # a template is not virtual
                called = name if name[0] != "~" else "~"
                is_const = signature.endswith(" const")
                self.methods[parent].append(_Method(id_, called, parameters(name, signature), is_const))
        for parent, name in db.execute(
            "SELECT parent_id, name FROM symbol WHERE kind = 'typedef' AND lang = 'cpp'"
            " AND parent_id IN (SELECT value FROM json_each(?))",
            classes,
        ):
            self._parameters[parent].add(name)

    def _words(self, class_: Id) -> frozenset[str]:
        """The names that stand for some type in the class: its parameters and those of what is around it."""
        found: set[str] = set()
        at: Id | None = class_
        while at is not None:
            found |= self._parameters.get(at, set())
            at = self._parents.get(at)
        return frozenset(found)

    def instances(self, class_: Id) -> list[Id]:
        """What a base that depends on parameters may be: the class and its specialisations."""
        return [class_, *self.specialisations.get(class_, ())]

    def is_template(self, class_: Id) -> bool:
        """Whether it is a template, or stands in one."""
        return bool(self._words(class_))

    def stands_for(self, class_: Id) -> Id | None:
        """The one specialisation of a template that is only declared."""
        found = self.specialisations.get(class_, ())
        return found[0] if len(found) == 1 and not self._defined.get(class_, True) else None

    def overridden(self, class_: Id, method: _Method) -> Iterator[Id]:
        """The virtual methods that the method of the class overrides: on each way up, those of the nearest class."""
        level = [one for base in self.bases[class_] if self.is_template(base) for one in self.instances(base)]
        seen = set(level)
        while level:
            further: list[Id] = []
            for at in level:
                fitting = self._fitting(class_, method, at)
                yield from fitting
                further += [] if fitting else self.bases.get(at, ())
            level = [one for base in further for one in self.instances(base) if one not in seen]
            seen.update(level)

    def _fitting(self, class_: Id, method: _Method, base: Id) -> list[Id]:
        named = [m for m in self.methods.get(base, ()) if m.name == method.name and m.is_const == method.is_const]
        virtual = [m for m in named if m.id in self.virtual]
        same = [m.id for m in virtual if m.parameters == method.parameters]
        return same or [m.id for m in virtual if self._may_be_same(class_, method, base, m)]

    def _may_be_same(self, class_: Id, method: _Method, base: Id, other: _Method) -> bool:
        mine, theirs = list(method.parameters), list(other.parameters)
        has_pack = False
        for types in (mine, theirs):
            if types and types[-1].endswith(_PACK):
                types.pop()
                has_pack = True
        if len(mine) != len(theirs) and not has_pack:
            return False
        words, base_words = self._words(class_), self._words(base)
        return all(
            a == b or _names_any(a, words) or _names_any(b, base_words) for a, b in zip(mine, theirs, strict=False)
        )


def _names_any(written: str, words: frozenset[str]) -> bool:
    return any(word in words for word in _WORD.findall(written))


def _derive(derived: Derived, _touched: Touched | None) -> None:
    templates = _Templates(derived.db)
    done: set[Id] = set()
    for class_ in templates.derived:
        derived.relations(_of_class(templates, class_, done))
    derived.relations(
        (class_, "base", only)
        for class_ in templates.derived
        for base in templates.bases[class_]
        if (only := templates.stands_for(base)) is not None and only != class_
    )


def _of_class(templates: _Templates, class_: Id, done: set[Id]) -> Iterator[tuple[Id, str, Id]]:
    """What the class overrides, after what its bases do: what overrides is virtual, written or not."""
    if class_ in done:
        return
    done.add(class_)
    for base in templates.bases[class_]:
        for one in templates.instances(base):
            if one in templates.derived:
                yield from _of_class(templates, one, done)
    for method in templates.methods[class_]:
        for other in templates.overridden(class_, method):
            templates.virtual.add(method.id)
            yield method.id, "overrides", other


STEP = Step("overrides", _derive)
