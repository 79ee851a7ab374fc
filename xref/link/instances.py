"""Leads a call of a template to what the template runs of the caller's arguments, and the template to what it is given.

`x.as<IntImmNode>()` runs `IntImmNode::RuntimeTypeIndex()`: what a template does with its parameters (table
`dependent_call`) is followed through the templates that it calls (table `instance`), and where a call gives a class for
the parameter, the caller has an edge to that class's method (`template`, via the template). A template that calls a
parameter (`fmap(x)`) has an edge to every lambda and function that it is given somewhere (`value`, via the parameter).
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from xref.link.by_argument import RANGE, FunctionsOf
from xref.link.constructions import copies
from xref.link.implicit import Implicit
from xref.link.signatures import parameters
from xref.link.step import CallRow, Derived
from xref.model import CALL_OPERATOR, CONSTRUCTION, DESTRUCTION, METHOD_POINTER, SAME, Evidence, Id
from xref.special_members import MARK, Special

MAX_VALUES = 4000
"""A parameter that is given more functions than this makes no edges: a row in `unresolved` says so. TVM registers 2,500
functions, which `tvm::ffi::details::unpack_call` calls."""
MAX_PATH = 2
"""Member types within member types (`T::ContainerType::Base`): a template that calls itself with `typename T::Next`
would make ever longer ones."""
RESULT = "~"
"""Stands for what a function returns."""

Use = tuple[str, str]
"""What a template does with a parameter: the member's name, the parameter's."""


Place = tuple[Id | None, str]
"""A parameter of a template or class; `#i` of a function; `@` of what a field, variable or member type is."""


class _Row(NamedTuple):
    caller: Id
    callee: Id
    bindings: str
    file_id: int
    line: int
    col: int


class _Program:
    """The templates of the tree, what they do with their parameters, and what those are given."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.parent: dict[Id, Id | None] = {}
        self.kind: dict[Id, str] = {}
        for id_, kind, parent in db.execute(
            "SELECT id, kind, parent_id FROM symbol WHERE lang = 'cpp'"
            " AND kind IN ('lambda', 'function', 'method', 'constructor', 'destructor', 'conversion')"
        ):
            self.parent[id_], self.kind[id_] = parent, kind
        self.uses: dict[Id, set[Use]] = defaultdict(set)
        """Function -> what it, and what it calls, does with the function's parameters."""
        for within, name, parameter in db.execute(
            "SELECT DISTINCT in_symbol_id, name, parameter FROM dependent_call WHERE parameter <> ''"
        ):
            if within is not None and parameter[0] not in "#@~":
                self.uses[self.root(within)].add((name, parameter.partition(" ")[0]))
        self.inside = [
            _Row(*row) for row in db.execute(
                "SELECT caller_id, callee_id, bindings, file_id, line, col FROM instance WHERE inside"
                " ORDER BY caller_id, callee_id, bindings, file_id, line, col"
            )
        ]  # fmt: skip
        self._close()

    def root(self, function: Id) -> Id:
        """The function around a lambda."""
        while self.kind.get(function) == "lambda":
            around = self.parent[function]
            if around is None or around not in self.kind:
                return function
            function = around
        return function

    def _close(self) -> None:
        """What a template hands on to another, it does itself."""
        callers: dict[Id, list[_Row]] = defaultdict(list)
        for row in self.inside:
            callers[row.callee].append(row)
        pending = list(self.uses)
        while pending:
            callee = pending.pop()
            for row in callers.get(callee, ()):
                mine = self.uses[self.root(row.caller)]
                before = len(mine)
                mine.update(self._handed_on(row))
                if len(mine) > before:
                    pending.append(self.root(row.caller))

    def _handed_on(self, row: _Row) -> Iterator[Use]:
        given = bindings(row.bindings)
        for name, parameter in tuple(self.uses[row.callee]):
            if given is None:
                yield name, parameter
                continue
            head, within, path = parameter.partition("::")
            if (value := value_of(given, head)).startswith("p"):
                handed = f"{value[1:]}{within}{path}"
                if handed.count("::") <= MAX_PATH:
                    yield name, handed


@lru_cache(maxsize=1 << 14)
def bindings(written: str) -> dict[str, str] | None:
    """The bindings of a row; None where parameters stand for themselves."""
    return None if written == SAME else dict(part.split("=", 1) for part in written.split(","))


def value_of(given: dict[str, str], parameter: str) -> str:
    """What is given for a parameter of the function, or of its class; "" for nothing that is known."""
    return given.get(parameter) or given.get(f"^{parameter}", "")


class _Methods:
    """Methods of classes by name and what member types are, inherited ones included."""

    def __init__(self, db: sqlite3.Connection, names: Iterable[str], implicit: Implicit) -> None:
        self._functions = FunctionsOf(db)
        self._implicit = implicit
        self._own: dict[tuple[Id, str], list[Id]] = defaultdict(list)
        marks = ",".join("?" * len(wanted := sorted(set(names))))
        for id_, parent, name in db.execute(
            "SELECT id, parent_id, name FROM symbol WHERE kind = 'method' AND lang = 'cpp' AND parent_id IS NOT NULL"
            f" AND name IN ({marks}) ORDER BY key",
            wanted,
        ):
            self._own[parent, name].append(id_)
        for id_, parent in db.execute(
            "SELECT id, parent_id FROM symbol WHERE kind = 'destructor' AND lang = 'cpp' AND parent_id IS NOT NULL"
            " ORDER BY key"
        ):
            self._own[parent, DESTRUCTION].append(id_)
        self._constructors: dict[Id, list[tuple[Id, int]]] = defaultdict(list)
        """Those of a class that copy nothing, each with the most arguments that it takes."""
        self._copying: dict[Id, list[tuple[Id, Special]]] = defaultdict(list)
        for id_, parent, name, signature in db.execute(
            "SELECT id, parent_id, name, signature FROM symbol WHERE kind = 'constructor' AND lang = 'cpp'"
            f" AND parent_id IS NOT NULL AND key NOT LIKE '%{MARK}%' ORDER BY key"
        ):
            if copies(signature):
                self._copying[parent].append((id_, Special.MOVE if "&&" in signature else Special.COPY))
            else:
                taken = parameters(name, signature)
                has_any = bool(taken) and taken[-1].endswith("...")
                self._constructors[parent].append((id_, MAX_VALUES if has_any else len(taken)))
        self._bases: dict[Id, list[Id]] = defaultdict(list)
        for derived, base in db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'base' ORDER BY 1, 2"):
            self._bases[derived].append(base)
        self._types: dict[tuple[Id, str], Id] = {
            (parent, name): int(written.removeprefix("@=c"))
            for parent, name, written in db.execute(
                "SELECT i.caller_id, s.name, max(i.bindings) FROM instance i JOIN symbol s ON s.id = i.callee_id"
                " WHERE s.kind = 'typedef' GROUP BY 1, 2"
            )
        }

    def within(self, class_: Id, path: str) -> Id | None:
        """What the member type of that path (`ContainerType`, "" for the class itself) of the class is."""
        at: Id | None = class_
        for name in filter(None, path.split("::")):
            level, found = [at], None
            for above in level:
                found = self._types.get((above, name)) if above is not None else None
                if found is not None:
                    break
                level += [b for b in self._bases.get(above or 0, ()) if b not in level]
            at = found
        return at

    def named(self, class_: Id, name: str) -> list[Id]:
        """The class's methods of that name; when it has none, the nearest base's. Of constructors, those that copy
        nothing, else what the compiler declares. Functions where a loop over it runs these."""
        if name.startswith(CONSTRUCTION):
            return self._constructors_of(class_, name.removeprefix(CONSTRUCTION))
        level, seen = [class_], {class_}
        while level:
            if found := [method for at in level for method in self._own.get((at, name), ())]:
                return found
            level = [base for at in level for base in self._bases.get(at, ()) if base not in seen]
            seen.update(level)
        return [function.id for function in self._functions.called(name, class_)] if name in RANGE else []

    def _constructors_of(self, class_: Id, given: str) -> list[Id]:
        """Those that may be given this many arguments ("" for any number): which values may be left out, signatures do
        not say. What is given may be an object of the class, behind the number."""
        count, mark, how = given.partition(Special.DEFAULT)
        if mark:
            special = Special(mark + how)
            written = self._copying.get(class_, [])
            fitting = [id_ for id_, does in written if does in (special, Special.COPY)]
            return fitting[-1:] if fitting else [] if written else [self._implicit.member(class_, special)]
        declared = self._constructors.get(class_, [])
        if not declared and class_ not in self._copying and count in ("", "0"):
            return [self._implicit.member(class_, Special.DEFAULT)]
        if count == "0" and (default := [id_ for id_, most in declared if not most]):
            return default
        return [id_ for id_, most in declared if not count or most >= int(count)]


def derive_instances(derived: Derived, implicit: Implicit) -> set[tuple[int, int, int, Id]]:
    """Add the edges; returns the dependent calls (file id, line, column, function) whose parameter is known."""
    db = derived.db
    program = _Program(db)
    methods = _Methods(db, {name for uses in program.uses.values() for name, _ in uses} | {CALL_OPERATOR}, implicit)
    derived.calls(dict.fromkeys(_of_callers(db, program, methods)))
    return _of_parameters(derived, program, methods)


def _of_callers(db: sqlite3.Connection, program: _Program, methods: _Methods) -> Iterator[CallRow]:
    """Each call that gives a class for a parameter runs what the template does with it."""
    used = json.dumps(sorted(function for function, uses in program.uses.items() if uses))
    names = dict(db.execute("SELECT id, qualname FROM symbol WHERE id IN (SELECT value FROM json_each(?))", (used,)))
    runs: dict[tuple[Id, str], tuple[Id, ...]] = {}
    for caller, callee, written, file_id, line, col in db.execute(
        "SELECT caller_id, callee_id, bindings, file_id, line, col FROM instance"
        " WHERE callee_id IN (SELECT value FROM json_each(?)) AND bindings LIKE '%=c%'",
        (used,),
    ):
        run = runs.get((callee, written))
        if run is None:
            run = runs[callee, written] = tuple(_run_with(program.uses[callee], bindings(written) or {}, methods))
        via = names.get(callee, "")
        for method in run:
            if method != caller:
                yield caller, method, Evidence.TEMPLATE, file_id, line, col, via


def _run_with(uses: Iterable[Use], given: dict[str, str], methods: _Methods) -> Iterator[Id]:
    """The methods that a template runs of the classes that a call gives for its parameters."""
    for name, parameter in uses:
        head, _, path = parameter.partition("::")
        value = value_of(given, head)
        if value.startswith("c") and (class_ := methods.within(int(value[1:]), path)) is not None:
            yield from methods.named(class_, name)


def _of_parameters(derived: Derived, program: _Program, methods: _Methods) -> set[tuple[int, int, int, Id]]:
    """Each template that calls a parameter, or a member of it, calls what it is given anywhere."""
    given = _given(derived.db, program, methods)
    known: set[tuple[int, int, int, Id]] = set()
    for within, name, parameter, file_id, line, col, text in derived.db.execute(
        "SELECT in_symbol_id, name, parameter, file_id, line, col, text FROM dependent_call"
        " WHERE parameter <> '' AND in_symbol_id IS NOT NULL"
    ).fetchall():
        root = program.root(within)
        holder, _, label = parameter.partition(" ")
        if holder[0] in "@~":
            values = given.get((int(holder[1:]), holder[0]), set())
            if holder[0] == RESULT:  # of an object that is returned clang knows the class, and what it calls
                values = {value for value in values if value[0] == "f"}
        else:
            head, _, path = holder.partition("::")
            values = given.get((root, head), set()) | given.get((program.parent.get(root), head), set())
            values = set(_within(values, path, methods))
        found: set[Id] = set()
        for value in values:
            if value[0] == "c":
                found.update(methods.named(int(value[1:]), name))
            elif name == CALL_OPERATOR or (name == METHOD_POINTER and program.kind.get(int(value[1:])) == "method"):
                found.add(int(value[1:]))
        found.discard(within)
        if not found and not (name == DESTRUCTION and values):  # nobody need have written a destructor
            continue
        known.add((file_id, line, col, within))
        if len(found) > MAX_VALUES:
            reason = f"through {label or holder}, which is given {len(found)} functions"
            derived.unresolved([(file_id, line, col, within, text, reason)])
            continue
        evidence = Evidence.VALUE if name in (CALL_OPERATOR, METHOD_POINTER) else Evidence.TEMPLATE
        derived.calls((within, f, evidence, file_id, line, col, label or holder) for f in sorted(found))
    return known


def _within(values: Iterable[str], path: str, methods: _Methods) -> Iterator[str]:
    """The values, or the classes that the member type of that path is in them."""
    for value in values:
        if not path:
            yield value
        elif value[0] == "c" and (class_ := methods.within(int(value[1:]), path)) is not None:
            yield f"c{class_}"


def _given(db: sqlite3.Connection, program: _Program, methods: _Methods) -> dict[Place, set[str]]:
    """(template or its class, parameter) -> the functions, lambdas and classes that it is given, handed on ones too."""
    given: dict[Place, set[str]] = defaultdict(set)
    flows: dict[Place, set[tuple[Place, str]]] = defaultdict(set)
    rows = db.execute(  # the caller matters only to its own parameters
        "SELECT DISTINCT NULL, callee_id, bindings FROM instance WHERE bindings NOT LIKE '%=p%' AND bindings <> '*'"
        " UNION ALL SELECT DISTINCT caller_id, callee_id, bindings FROM instance WHERE bindings LIKE '%=p%'"
    )
    for caller, callee, written in rows:
        root = program.root(caller) if caller is not None else None
        for name, labelled in (bindings(written) or {}).items():
            value = labelled.partition(" ")[0]
            of_class = name.startswith("^")
            target = (program.parent.get(callee), name[1:]) if of_class else (callee, name)
            if value.startswith("p"):
                head, _, path = value[1:].partition("::")
                flows[root, head].add((target, path))
                if root is not None:
                    flows[program.parent.get(root), head].add((target, path))
            elif value.startswith("@"):
                flows[int(value[1:]), "@"].add((target, ""))
            elif value.startswith("r"):
                for maker in value[1:].split("/"):
                    flows[int(maker), RESULT].add((target, ""))
            else:
                given[target].add(value)
    for overrider, overridden in db.execute("SELECT from_id, to_id FROM relations WHERE kind = 'overrides'"):
        flows[overrider, RESULT].add(((overridden, RESULT), ""))
    pending = [place for place in given if place in flows]
    while pending:
        place = pending.pop()
        for target, path in flows[place]:
            missing = set(_within(given[place], path, methods)) - given[target]
            if missing:
                given[target] |= missing
                if target in flows:
                    pending.append(target)
    return given
