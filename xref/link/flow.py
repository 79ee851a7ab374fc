"""Solves the value flow of all Python files together: calls of functions that were stored, passed, returned, decorated.

An edge that a file's own facts have is not repeated. A site with more callees than `MAX_CALLEES` makes none, and a row
in `unresolved` says so. How it is solved: xref.python.flow.solver.
"""

from __future__ import annotations

import hashlib
import io
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator

from xref.link.flow_doubts import Doubts
from xref.link.flow_handed import handed_over
from xref.link.flow_kept import keep_answers
from xref.link.flow_types import CONSTRUCTORS, REFERENCES, read_foreign_types
from xref.link.step import CallRow, Derived, Step, Touched, UnresolvedRow
from xref.model import Evidence, Id, Lang, Symbol, symbol_id
from xref.python.declarations import member_key
from xref.python.flow.graph import FUNCTION
from xref.python.flow.parsed import find_parsed
from xref.python.flow.solver import CONSTRAINT_MASK, Solver
from xref.python.flow.summary import ATTR, load_summary, pack, unpack
from xref.python.names import Target

MAX_CALLEES = 1000
"""More functions than this at one call site say nothing: a row in `unresolved` takes their place."""


_PYTHON_CLASSES = "SELECT symbol_id FROM key_def WHERE registry = 'type' AND side = 'python' AND symbol_id IS NOT NULL"
_BY_PARENTHESES = frozenset({"__init__", "__new__", "__post_init__", "__call__"})
_INPUTS = "flow_inputs"
"""Key in `meta` of a digest of all that the answers follow from, the facts of Python files aside."""


_COMPILED_CALLS = """
    SELECT s.key, r.in_symbol_id, r.file_id, r.line, r.col FROM ref r JOIN symbol s ON s.id = r.symbol_id
    JOIN file f ON f.id = r.file_id
    WHERE r.role = 'call' AND f.lang = 'cython' AND s.lang = 'cython' AND s.kind = 'variable' ORDER BY 1, 2, 3, 4, 5"""

_COMPILED_MODULES = (
    "SELECT DISTINCT s.qualname FROM file f CROSS JOIN symbol s ON s.file_id = f.id"
    " WHERE f.lang = 'cython' AND s.lang = 'cython' AND s.kind = 'module' ORDER BY 1"
)
_INPUT_ROWS = (
    "SELECT path FROM file WHERE lang = 'python' ORDER BY 1",
    """SELECT k.registry, k.name, k.side, s.qualname, s.signature FROM key_def k JOIN symbol s ON s.id = k.symbol_id
       WHERE k.registry IN ('type', 'field', 'ffi') ORDER BY 1, 2, 3, 4, 5""",
    "SELECT name, other FROM key_relation WHERE registry = 'type' AND kind = 'parent' ORDER BY 1, 2",
    REFERENCES,
    CONSTRUCTORS,
    _COMPILED_CALLS,
    _COMPILED_MODULES,
)


def _derive(derived: Derived, touched: Touched | None) -> None:
    """After an edit of C++ that changes nothing which Python sees, the answers of before still hold; after one of
    Python, where `keep_answers` says so. What was derived of a Cython file has gone with its other facts.
    """
    db = derived.db
    inputs = _inputs(db)
    if touched is not None:
        before = db.execute("SELECT value FROM meta WHERE key = ?", (_INPUTS,)).fetchone()
        read = {
            lang for id_, lang in db.execute("SELECT id, lang FROM file WHERE lang <> 'cpp'") if id_ in touched.files
        }
        is_kept = before is not None and before[0] == inputs and Lang.CYTHON not in read
        if is_kept and (Lang.PYTHON not in read or keep_answers(derived, touched)):
            return
        derived.clear()
    _Answers(derived).write()
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_INPUTS, inputs))


def _inputs(db: sqlite3.Connection) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for sql in _INPUT_ROWS:
        for row in db.execute(sql):
            digest.update(repr(row).encode("utf-8", "surrogateescape"))
    classes = {id_: id_ for (id_,) in db.execute(_PYTHON_CLASSES)}
    types, _ = read_foreign_types(db, classes)
    digest.update(repr((sorted(types.made.items()), sorted(types.keepers))).encode())
    return digest.hexdigest()


class _Answers:
    """The solved program, as rows."""

    def __init__(self, derived: Derived) -> None:
        self.derived = derived
        rows = derived.db.execute(
            "SELECT w.file_id, w.summary FROM flow w JOIN file f ON f.id = w.file_id"
            " ORDER BY f.path LIKE '%.pyi', f.path"
        ).fetchall()
        self.files: list[int] = [file for file, _ in rows]
        self.solver = Solver([load_summary(data) for _, data in rows])
        self.ids = [
            symbol_id(member_key(self.solver.program.summaries[place.file].module, place.code.suffix))
            for place in self.solver.program.places
        ]
        self.special = {
            id_
            for id_, place in zip(self.ids, self.solver.program.places, strict=True)
            if (name := place.code.suffix.rpartition(".")[2].partition("#")[0]).startswith("__")
            and name.endswith("__")
            and name not in _BY_PARENTHESES
        }
        """Methods that run where no parentheses say so. A parser that reads the source does other things there."""
        self.parsed: frozenset[int] = frozenset()
        self.known: set[tuple[Id, Id, int, int]] = set()
        self._read_calls()

    def _read_calls(self) -> None:
        """The calls that are facts: not to be repeated, and targets where the analysis has none."""
        numbers = {file: number for number, file in enumerate(self.files)}
        codes: dict[Id, int] = {}
        for number, id_ in enumerate(self.ids):
            codes.setdefault(id_, number)
        for caller, callee, file, line, column in self.derived.db.execute(
            "SELECT caller_id, callee_id, file_id, line, col FROM call c JOIN file f ON f.id = c.file_id"
            " WHERE f.lang = 'python' AND step = '' AND evidence <> 'virtual'"
        ):
            if file not in numbers:
                continue
            at = (numbers[file], pack(line, column))
            self.known.add((caller, callee, *at))
            if callee in codes:
                self.solver.typed.setdefault(at, []).append(codes[callee])
        modules = self.derived.db.execute(_COMPILED_MODULES)
        self.solver.program.compiled = frozenset(name for (name,) in modules)
        self.solver.foreign.types, self.solver.registered = read_foreign_types(self.derived.db, codes)

    def write(self) -> None:
        """Solve, and add the rows."""
        solver = self.solver
        solver.solve()
        at_site = self._called(solver.edges, solver.constructions)
        sure = self._called(solver.sure.edges, solver.sure.constructions)
        doubts = Doubts(solver)
        self.parsed = find_parsed(solver)
        calls = [*self._doubtful(), *self._hinted(at_site)]
        capped: list[UnresolvedRow] = []
        for (caller, position), callees in sorted(at_site.items()):
            file = solver.program.places[caller].file
            line, column = unpack(position)
            source = self.ids[caller]
            if len(callees) > MAX_CALLEES:
                reason = f"a call of {len(callees)} functions that may be stored here"
                capped.append((self.files[file], line, column, source, "", reason))
                continue
            place = self.files[file], line, column
            guesses = callees - sure[caller, position]
            if (caller, position) in solver.decorations and len(callees) > MAX_DECORATORS:
                closures = {self.ids[code] for code in doubts.closures(caller, position)}
                guesses = callees - closures if len(closures) == 1 else callees
            guesses |= {self.ids[code] for code in doubts.of(caller, position)}
            if caller in self.parsed:
                guesses |= callees & self.special
            calls += [
                (source, callee, Evidence.NAME if callee in guesses else Evidence.VALUE, *place, "")
                for callee in sorted(callees)
                if (source, callee, file, position) not in self.known
            ]
        for caller, position, reason in sorted(solver.cuts):
            if position:
                file = solver.program.places[caller].file
                capped.append((self.files[file], *unpack(position), self.ids[caller], "", reason))
        calls += self._outside(at_site)
        calls += sorted(self._handed_over())
        calls += self._candidates(at_site)
        calls += self._by_name()
        calls += self._from_compiled()
        self.derived.calls(_without_needless_guesses(calls))
        self.derived.unresolved(capped)

    def _called(
        self, edges: Iterable[tuple[int, int, int]], constructions: Iterable[tuple[int, int, int]]
    ) -> dict[tuple[int, int], set[Id]]:
        """(calling code, position) -> functions that are called there, and classes without a constructor."""
        at_site: dict[tuple[int, int], set[Id]] = defaultdict(set)
        for caller, position, callee in edges:
            at_site[caller, position].add(self.ids[callee])
        classes = self.solver.classes
        for caller, position, number in constructions:
            klass = classes.all[number]
            if position and not (classes.finds(klass, "__init__") or classes.finds(klass, "__new__")):
                at_site[caller, position].add(self.ids[klass.code_number])
        return at_site

    def _outside(self, at_site: dict[tuple[int, int], set[Id]]) -> list[CallRow]:
        """Calls that leave the tree, at sites of which nothing else is known; builtins are left to the type checker."""
        solver = self.solver
        found = {(c, p, name) for c, p, name in solver.outside_edges if not name.startswith("builtins.")}
        for caller, position, number in solver.constructions:
            klass = solver.classes.all[number]
            base = solver.classes.outside_base(klass)
            if position and base and not solver.classes.finds(klass, "__init__"):
                found.add((caller, position, f"{base}.__init__"))
        known = {(file, position) for _, _, file, position in self.known}
        rows: list[CallRow] = []
        symbols: dict[str, Symbol] = {}
        for caller, position, dotted in sorted(found):
            file = solver.program.places[caller].file
            if (file, position) in known and not dotted.endswith(".__init__"):
                continue
            if (caller, position) in at_site and not dotted.endswith(".__init__"):
                continue
            key = Target("external", "", dotted).key
            if key not in symbols:
                kind = "method" if dotted.count(".") > 1 else "function"
                symbols[key] = Symbol(key, kind, dotted.rpartition(".")[2], dotted, 0, 0, 0)
            rows.append((self.ids[caller], symbol_id(key), Evidence.VALUE, self.files[file], *unpack(position), ""))
        self.derived.externals(Lang.PYTHON, symbols.values())
        return rows

    def _handed_over(self) -> set[CallRow]:
        """Functions that C++ was given, and may run when the site calls the FFI function `via`."""
        places = self.solver.program.places
        return {
            (
                self.ids[caller], self.ids[code], Evidence.REGISTRY if is_sure else Evidence.NAME,
                self.files[places[caller].file], *unpack(position), key,
            )
            for caller, position, code, key, is_sure in handed_over(self.solver)
        }  # fmt: skip

    def _candidates(self, at_site: dict[tuple[int, int], set[Id]]) -> Iterator[CallRow]:
        """Where only a base class of the receiver is known, an override of the method may run instead."""
        solver = self.solver
        seen: set[tuple[Id, Id, int, int]] = set(self.known)
        for verdict in sorted(set(solver.verdicts), key=lambda one: (not one.is_sure, one)):
            row = (self.ids[verdict.code], self.ids[verdict.callee], self._file(verdict.code), verdict.position)
            edges = solver.sure.edges if verdict.is_sure else solver.edges
            if row in seen or (verdict.code, verdict.position, verdict.callee) in edges:
                continue
            seen.add(row)
            at = (verdict.code, verdict.position)
            sure = verdict.is_sure and not (at in solver.decorations and at in at_site)
            sure = sure and not (verdict.code in self.parsed and self.ids[verdict.callee] in self.special)
            evidence = Evidence.VALUE if verdict.base < 0 else Evidence.VIRTUAL
            via = self._qualname(solver.classes.all[verdict.base].code_number) if verdict.base >= 0 else ""
            yield self._row(row, evidence if sure else Evidence.NAME, via)
        below: dict[tuple[int, str], set[Id]] = {}
        for caller, position, number, code, how in sorted(solver.dispatches):
            name = solver.program.places[code].code.suffix.rpartition(".")[2].partition("#")[0]
            if (number, name) not in below:
                below[number, name] = self._overriding(number, name)
            found = below[number, name]
            if len(found) > MAX_CALLEES:
                continue
            via = self._qualname(solver.classes.all[number].code_number)
            for callee in sorted(found):
                row = (self.ids[caller], callee, self._file(caller), position)
                if row not in seen and callee != self.ids[code]:
                    seen.add(row)
                    yield self._row(row, Evidence.NAME if how else Evidence.VIRTUAL, via)

    def _file(self, code: int) -> int:
        return self.solver.program.places[code].file

    def _row(self, row: tuple[Id, Id, int, int], evidence: Evidence, via: str) -> CallRow:
        caller, callee, file, position = row
        return caller, callee, evidence, self.files[file], *unpack(position), via

    def _overriding(self, number: int, name: str) -> set[Id]:
        classes = self.solver.classes
        nodes = classes.found_below(classes.all[number], name)
        graph = self.solver.graph
        return {
            self.ids[graph.firsts[item]]
            for node in nodes
            for item in graph.held(node) if graph.kinds[item] == FUNCTION
        }  # fmt: skip

    def _qualname(self, code_number: int) -> str:
        place = self.solver.program.places[code_number]
        return f"{self.solver.program.summaries[place.file].module}.{place.code.suffix}"

    def _by_name(self) -> Iterator[CallRow]:
        """A method called on we know not what: the only method of that name in the tree, if there is only one."""
        solver = self.solver
        methods: dict[str, list[int]] = defaultdict(list)
        for number, place in enumerate(solver.program.places):
            outer = place.code.outer
            codes = solver.program.summaries[place.file].codes
            if place.code.kind == "function" and outer >= 0 and codes[outer].kind == "class":
                methods[place.code.suffix.rpartition(".")[2].partition("#")[0]].append(number)
        known = {(file, position) for _, _, file, position in self.known}
        known |= {(file, position) for file, position, _ in solver.hints}
        done: set[tuple[int, int]] = set()
        for site in solver.call_sites:
            place = solver.program.places[site.code]
            at = (place.file, site.position)
            if site.number in solver.answered or at in known or at in done:
                continue
            done.add(at)
            row = place.code.constraints[(site.number & CONSTRAINT_MASK) - 1]
            name = next((r[3] for r in place.code.constraints if r[0] == ATTR and r[1] == row[2]), "")
            found = methods.get(name, ()) if name not in _COMMON_NAMES else ()
            if len(found) == 1:
                file = self.files[place.file]
                yield self.ids[site.code], self.ids[found[0]], Evidence.NAME, file, *unpack(site.position), ""

    def _from_compiled(self) -> Iterator[CallRow]:
        """Cython calls a variable of its module, into which Python has put a function (tvm-ffi, error.pxi)."""
        sites: dict[str, list[tuple[Id, int, int, int]]] = defaultdict(list)
        for key, caller, file, line, column in self.derived.db.execute(_COMPILED_CALLS):
            sites[key].append((caller, file, line, column))
        for module, name, code in sorted(self.solver.given_to_compiled):
            for caller, file, line, column in sites.get(member_key(module, name), ()):
                yield caller, self.ids[code], Evidence.VALUE, file, line, column, ""

    def _hinted(self, at_site: dict[tuple[int, int], set[Id]]) -> Iterator[CallRow]:
        """Where nothing is known of what a decorator made, the decorated function stands for it."""
        sites = (*at_site, *self.solver.called_objects)
        answered = {(self.solver.program.places[caller].file, position) for caller, position in sites}
        for file, position, pairs in self.solver.hints:
            if (file, position) not in answered:
                for caller, callee in pairs:
                    yield caller, callee, Evidence.VALUE, self.files[file], *unpack(position), ""

    def _doubtful(self) -> Iterator[CallRow]:
        """What the type checker says of operators and the like, in functions that a decorator is given: it holds unless
        a parser reads them.
        """
        parsed = {self.ids[code] for code in self.parsed}
        for file, position, rows in self.solver.doubtful:
            for caller, callee, evidence, via in rows:
                self.known.add((caller, callee, file, position))
                is_sure = caller not in parsed
                yield (
                    caller, callee, Evidence(evidence) if is_sure else Evidence.NAME, self.files[file],
                    *unpack(position), via,
                )  # fmt: skip


def _without_needless_guesses(calls: list[CallRow]) -> list[CallRow]:
    """The rows, less the guesses that another row at the same place is sure of."""
    sure = {(row[0], row[1], *row[3:6]) for row in calls if row[2] != Evidence.NAME}
    return [row for row in calls if row[2] != Evidence.NAME or (row[0], row[1], *row[3:6]) not in sure]


MAX_DECORATORS = 4
"""Functions that a decorator may be: more have met in what makes decorators, from all its callers."""
_COMMON_NAMES = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float, io.TextIOWrapper) for name in dir(kind)
)
"""Methods of Python's own types: a call by such a name is most likely of one of them."""

STEP = Step("flow", _derive, scoped=True)
