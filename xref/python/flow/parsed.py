"""Functions and classes whose source text is read rather than run: `@T.prim_func def f` of TVMScript, whose decorator
gives `f` to a function that gives it to `inspect.getsourcelines`.

What such a body says is up to a parser: it evaluates the calls in it, but a name that a statement binds holds what the
parser made of the value, and loops, tests and assignments become nodes. The body itself never runs. Known by following
parameters, from the standard library's functions that read source back to the calls whose arguments reach them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from xref.python.flow import summary as ops
from xref.python.flow.solver import Solver
from xref.python.flow.summary import LEVEL_BITS, NODE_MASK, NOTHING, Code, Constraint

READERS = frozenset(f"inspect.{name}" for name in ("getsource", "getsourcelines", "getsourcefile", "findsource"))


def find_parsed(solver: Solver) -> frozenset[int]:
    """The codes that are read, with all within them, of a program that is solved."""
    return _Search(solver).run()


class _Search:
    def __init__(self, solver: Solver) -> None:
        self.places = solver.program.places
        self._calls: dict[int, dict[int, list[Constraint]]] = {}
        self._incoming: dict[int, dict[int, list[int]]] = {}
        self._callers: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for caller, position, callee in sorted(solver.sure.edges):
            self._callers[callee].append((caller, position))
        for caller, position, number in sorted(solver.sure.constructions):
            for code in self._constructors(solver, number):
                self._callers[code].append((caller, position))
        self._starts = sorted((c, p) for c, p, dotted in solver.outside_edges if dotted in READERS)
        self._pending: list[tuple[int, int]] = []
        self._seen: set[tuple[int, int]] = set()
        self._found: set[int] = set()

    @staticmethod
    def _constructors(solver: Solver, number: int) -> Iterator[int]:
        node = solver.classes.first(solver.classes.all[number], "__init__")
        for item in solver.graph.held(node) if node is not None else ():
            yield solver.graph.firsts[item]

    def run(self) -> frozenset[int]:
        for code, position in self._starts:
            for row in self._calls_of(code).get(position, ()):
                self._argument(code, row, 0, "object")
        while self._pending:
            code, number = self._pending.pop()
            positional = self.places[code].code.parameters.positional
            name = positional[number][0] if number < len(positional) else ""
            shift = 1 if self._is_method(code) else 0
            for caller, position in self._callers[code]:
                for row in self._calls_of(caller).get(position, ()):
                    self._argument(caller, row, number - shift, name)
        return self._with_inner()

    def _is_method(self, number: int) -> bool:
        place = self.places[number]
        return place.code.outer > 0 and self.places[number - place.number + place.code.outer].code.kind == "class"

    def _calls_of(self, number: int) -> dict[int, list[Constraint]]:
        if number not in self._calls:
            found = self._calls[number] = defaultdict(list)
            for row in self.places[number].code.constraints:
                if row[0] == ops.CALL:
                    found[row[7]].append(row)
        return self._calls[number]

    def _argument(self, code: int, row: Constraint, number: int, name: str) -> None:
        """What a call gives to a parameter is read."""
        given = [node for word, node in row[4] if word == name]
        if 0 <= number < len(row[3]):
            given.append(row[3][number])
        for node in given:
            if node != NOTHING:
                self._read(code, node)

    def _read(self, code: int, node: int) -> None:
        """The values of a node are read: parameters, and functions and classes that are defined there."""
        for at, sources in self._sources(code, node):
            inner = self.places[at].code
            for number, (_, parameter) in enumerate(inner.parameters.positional if inner.kind != "class" else ()):
                if parameter in sources:
                    self._add(at, number)
            for row in inner.constraints:
                if row[0] == ops.SUB and row[1] in sources and row[2] != NOTHING and isinstance(row[3], int):
                    self._read_rest(at, row[2], row[3])
                elif row[0] in (ops.FUNC, ops.CLASS) and row[1] in sources:
                    self._found.add(at - self.places[at].number + row[2])
                elif row[0] == ops.CALL and row[8] and row[1] in sources and row[3][0] != NOTHING:
                    self._read(at, row[3][0])  # a decorator gives back what it was given, as far as we know

    def _read_rest(self, code: int, node: int, index: int) -> None:
        """`args[index]` is read, which is a parameter if `node` is that of `*args`."""
        for at, sources in self._sources(code, node):
            inner = self.places[at].code
            if inner.kind != "class" and inner.parameters.rest in sources:
                self._add(at, len(inner.parameters.positional) + index)

    def _add(self, code: int, number: int) -> None:
        if (code, number) not in self._seen:
            self._seen.add((code, number))
            self._pending.append((code, number))

    def _sources(self, code: int, node: int) -> Iterator[tuple[int, set[int]]]:
        """The nodes that flow into one, of its code and of codes around it."""
        level = node >> LEVEL_BITS
        for _ in range(level):
            code = code - self.places[code].number + self.places[code].code.outer
        node &= NODE_MASK
        incoming = self._incoming_of(code)
        found, pending, outward = {node}, [node], []
        while pending:
            for source in incoming.get(pending.pop(), ()):
                if source > NODE_MASK:
                    outward.append(source)
                elif source not in found:
                    found.add(source)
                    pending.append(source)
        yield code, found
        for source in outward:
            yield from self._sources(code, source)

    def _incoming_of(self, number: int) -> dict[int, list[int]]:
        if number not in self._incoming:
            found = self._incoming[number] = defaultdict(list)
            code: Code = self.places[number].code
            for source, target in code.copies:
                found[target].append(source)
            for row in code.constraints:
                if row[0] == ops.FILTER and row[2] != NOTHING:
                    found[row[1]].append(row[2])
        return self._incoming[number]

    def _with_inner(self) -> frozenset[int]:
        found = set(self._found)
        for number, place in enumerate(self.places):  # codes come behind those around them
            if place.code.outer >= 0 and number - place.number + place.code.outer in found:
                found.add(number)
        return frozenset(found)
