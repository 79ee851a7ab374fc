"""Leads a call in a template, whose callee depends on the template's arguments, to the methods that it may be.

Candidates are the methods of that name, or the constructors: those of the receiver's class and its bases where clang
knows the class, else those of all classes, of the tree first. A template in a .cc file is instantiated in that file
alone, with classes of headers or of its own. Where candidates take the class that the first argument has, the others
do not count. Overriders follow from the methods that they override (xref/link/overriders.py).
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from typing import NamedTuple

from xref.link.by_argument import Function, FunctionsOf
from xref.link.implicit import Implicit
from xref.link.instances import derive_instances
from xref.link.signatures import first_class
from xref.link.step import Derived, Step, Touched
from xref.model import BY_ARGUMENT, CALL_OPERATOR, CONSTRUCTION, DESTRUCTION, METHOD_POINTER, QUALIFIED, Evidence, Id
from xref.special_members import Special

MAX_CANDIDATES = 600
"""More candidates than this make no edges: a row in `unresolved` says so. TVM has 508 classes with a
`RuntimeTypeIndex()`, each of which `ObjectRef::as<T>` may call."""
REASON = "dependent on a template parameter"
_THROUGH = (CALL_OPERATOR, METHOD_POINTER, DESTRUCTION)
"""Besides constructors, of a parameter or holder: what has no methods of a name to fall back on."""
_OF_ITERATORS = ("operator!=", "operator++", "operator*")
_ITERATOR = "dependent on a template parameter: the iterator of a range-for"
_NAME_OF_TYPE = re.compile(r"(?:const )?(?:\w+::)*(\w+)(?:<.*>)?(?:::(\w+))?[& ]*")
_HEADERS = (".h", ".hpp", ".hh", ".cuh", ".inc")


class _Method(NamedTuple):
    id: Id
    parent: Id
    signature: str
    path: str
    overrides: tuple[Id, ...] = ()


class _Classes:
    """Methods by name, and what a class inherits."""

    def __init__(self, db: sqlite3.Connection, implicit: Implicit) -> None:
        self._db = db
        self._implicit = implicit
        overridden: dict[Id, list[Id]] = defaultdict(list)
        for source, target in db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'overrides'"):
            overridden[source].append(target)
        self.methods: dict[str, list[_Method]] = defaultdict(list)
        for name, id_, parent, signature, path in db.execute(
            "SELECT s.name, s.id, s.parent_id, s.signature, coalesce(f.path, '') FROM symbol s"
            " LEFT JOIN file f ON f.id = s.file_id WHERE s.lang = 'cpp' AND s.kind IN ('method', 'constructor')"
            f" AND (s.name IN (SELECT name FROM dependent_call) OR s.name IN {_OF_ITERATORS})"
            " AND s.parent_id IS NOT NULL ORDER BY s.key"
        ):
            self.methods[name].append(_Method(id_, parent, signature, path, tuple(overridden.get(id_, ()))))
        self._functions = FunctionsOf(db)
        self._bases: dict[Id, list[Id]] = defaultdict(list)
        for source, target in db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'base'"):
            self._bases[source].append(target)
        self._template_parameters = {
            name for (name,) in db.execute("SELECT DISTINCT name FROM symbol WHERE kind = 'template_parameter'")
        }
        self._ids: dict[str, list[Id]] = defaultdict(list)
        self._in_tree: set[str] = set()
        for id_, qualname, file_id in db.execute(
            "SELECT id, qualname, file_id FROM symbol WHERE kind IN ('class', 'struct', 'union') AND lang = 'cpp'"
        ):
            self._ids[qualname].append(id_)
            if file_id is not None:
                self._in_tree.add(qualname)

    def kind_of(self, holder: str) -> str:
        """What holds a function, in words."""
        if holder[0] == "@":
            row = self._db.execute("SELECT kind FROM symbol WHERE id = ?", (int(holder[1:]),)).fetchone()
            return row[0] if row is not None else "variable"
        return "result of" if holder[0] == "~" else "parameter"

    def above(self, qualname: str) -> set[Id]:
        """The classes of that name and all their bases."""
        found = list(self._ids.get(qualname, ()))
        for class_ in found:
            found += [base for base in self._bases.get(class_, ()) if base not in found]
        return set(found)

    def candidates(self, name: str, receiver: str, argument: str, path: str) -> list[_Method]:
        """The methods that the call may be, or the constructor that the compiler declares."""
        methods = self.methods.get(name, [])
        if receiver.endswith(QUALIFIED):
            methods = self._inherited(methods, receiver.removesuffix(QUALIFIED))
        elif receiver and name == receiver.rsplit("::", 1)[-1]:
            classes = self._ids.get(receiver, [])
            methods = [m for m in methods if m.parent in classes] or [
                _Method(self._implicit.member(c, Special.DEFAULT), c, "", "") for c in classes
            ]
        else:
            above = self.above(receiver) if receiver else set()
            own = [m for m in methods if m.parent in above]
            if own or (receiver and receiver not in self._in_tree):
                overridden = {other for m in own for other in m.overrides}
                methods = [m for m in own if m.id not in overridden]
            else:
                methods = [m for m in methods if not m.overrides]
                methods = [m for m in methods if m.path] or methods
        if not path.endswith(_HEADERS):
            methods = [m for m in methods if not m.path or m.path == path or m.path.endswith(_HEADERS)]
        if argument:
            word = argument.rsplit("::", 1)[-1]
            taking = [m for m in methods if self._may_take(m.signature, word)]
            methods = taking or methods
        return methods

    def _inherited(self, methods: list[_Method], qualname: str) -> list[_Method]:
        """Those that the class of that name has, each specialisation for itself, or inherits from the nearest base."""
        found: dict[_Method, None] = {}
        for class_ in self._ids.get(qualname, ()):
            level, seen = [class_], {class_}
            while level:
                if here := [m for m in methods if m.parent in level]:
                    found.update(dict.fromkeys(here))
                    break
                level = [base for at in level for base in self._bases.get(at, ()) if base not in seen]
                seen.update(level)
        return list(found)

    def taking(self, qualname: str, name: str) -> list[Function]:
        """The functions that a range-for over an object of the class runs, which has no member of that name."""
        found = (
            function for class_ in self._ids.get(qualname, ()) for function in self._functions.called(name, class_)
        )
        return list(dict.fromkeys(found))

    def of_iterator(self, result: str, qualname: str) -> list[_Method] | None:
        """What a range-for over an object of the class runs of the iterator that a function returns: nothing of a
        pointer; None where the index does not tell."""
        if result.endswith("*"):
            return []
        named = _NAME_OF_TYPE.fullmatch(result)
        name = "::".join(filter(None, named.groups())) if named else ""
        around = qualname
        while around and name:
            around = around.rpartition("::")[0]
            if (iterator := f"{around}::{name}".removeprefix("::")) in self._in_tree:
                found = [self._inherited(self.methods[operator], iterator) for operator in _OF_ITERATORS]
                return [m for methods in found for m in methods if "(int)" not in m.signature] if all(found) else None
        return None

    def _may_take(self, signature: str, word: str) -> bool:
        """Whether the first parameter is of the class `word`, or of a type that only an instantiation knows."""
        first = first_class(signature)
        return first == word or (first in self._template_parameters)


def _derive(derived: Derived, _touched: Touched | None) -> None:
    rows = derived.db.execute(
        "SELECT d.file_id, f.path, d.line, d.col, d.in_symbol_id, d.name, d.receiver, d.argument, d.text, d.parameter"
        " FROM dependent_call d JOIN file f ON f.id = d.file_id"
    ).fetchall()
    if not rows:
        return
    implicit = Implicit(derived.db)
    classes = _Classes(derived.db, implicit)
    known = {row[:4] for row in derive_instances(derived, implicit)}
    for file_id, path, line, col, within, name, receiver, argument, text, parameter in rows:
        if parameter and ((file_id, line, col, within) in known or name in _THROUGH or name.startswith(CONSTRUCTION)):
            if (file_id, line, col, within) not in known and text:
                holder, _, label = parameter.partition(" ")
                what = classes.kind_of(holder)
                derived.unresolved([(file_id, line, col, within, text, f"through the {what} {label or holder}")])
            continue
        if receiver.endswith(BY_ARGUMENT):
            _range(derived, classes, receiver.removesuffix(BY_ARGUMENT), (file_id, line, col), within, name, text)
            continue
        methods = classes.candidates(name, receiver, argument, path)
        if not methods or within is None or len(methods) > MAX_CANDIDATES:
            reason = f"{REASON}: {len(methods)} methods named {name}" if methods else REASON
            derived.unresolved([(file_id, line, col, within, text, reason)])
            continue
        via = receiver or name
        derived.calls((within, m.id, Evidence.TEMPLATE, file_id, line, col, via) for m in methods)
    implicit.store(derived)


def _range(
    derived: Derived, classes: _Classes, class_: str, place: tuple[int, int, int], within: Id | None, name: str,
    text: str,
) -> None:  # fmt: skip
    """What a range-for runs over an object of the class, which has no begin() or end()."""
    functions = classes.taking(class_, name)
    if within is None or not functions:
        if name == "end" and not classes.taking(class_, "begin"):  # said of begin
            return
        derived.unresolved([(*place, within, text, f"{REASON}: {name}() of a range-for")])
        return
    found = [function.id for function in functions]
    for function in functions if name == "begin" else ():
        methods = classes.of_iterator(function.result, class_)
        if methods is None:
            derived.unresolved([(*place, within, text, _ITERATOR)])
        found += [method.id for method in methods or ()]
    derived.calls((within, id_, Evidence.TEMPLATE, *place, class_) for id_ in dict.fromkeys(found))


STEP = Step("dependents", _derive, compared=True)
