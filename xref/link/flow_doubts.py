"""Of the functions that value flow found for one call, those that only its joining of objects leads to: guesses.

A table that a base class makes for each class below it holds the methods of all of them, since all share the code that
makes it; and it holds methods of the base class itself that no object runs, since every class of which there are
objects has its own.
"""

from __future__ import annotations

from collections import defaultdict

from xref.python.flow.graph import DECLARED, FUNCTION, OBJECT
from xref.python.flow.solver import Solver

MAX_SURE = 20
"""Callees at one site beyond which it is looked at whose methods they are."""
_IN_TABLE = 5
"""Callees of one site that make it a table."""


class Doubts:
    """Answers for one solved program."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self._classes: dict[tuple[int, int], set[int]] = defaultdict(set)
        """(calling code, position) -> classes that are called there."""
        for caller, position, number in solver.sure.constructions:
            self._classes[caller, position].add(number)
        self._made = {one for some in self._classes.values() if len(some) < _IN_TABLE for one in some}
        """Classes of which the program makes objects elsewhere than by a table."""
        self._callees: dict[tuple[int, int], set[int]] = defaultdict(set)
        for caller, position, code in solver.sure.edges:
            self._callees[caller, position].add(code)
        self._runs: dict[tuple[int, str, int], bool] = {}

    def of(self, caller: int, position: int) -> set[int]:
        """The callees (by their codes) that are guesses at a site."""
        found = self._bases(caller, position) | self._lent(caller, position)
        callees = self._callees[caller, position]
        if len(callees) >= _IN_TABLE:
            found |= self._without_objects(caller, position)
        if len(callees) > MAX_SURE:
            found |= self._strangers(caller, position, callees)
        return found

    def closures(self, caller: int, position: int) -> set[int]:
        """The callees (by their codes) that a function made, rather than that stand by themselves."""
        return {code for code in self._callees[caller, position] if self._maker_kind(code) in ("function", "lambda")}

    def _maker_kind(self, code: int) -> str:
        place = self.solver.program.places[code]
        return self.solver.program.places[code - place.number + place.code.outer].code.kind if place.number else ""

    def _owner(self, code: int) -> int | None:
        """The class that a function is a method of."""
        place = self.solver.program.places[code]
        return self.solver.first_classes.get(code - place.number + place.code.outer)

    def _strangers(self, caller: int, position: int, callees: set[int]) -> set[int]:
        """Methods, and functions made within methods, of classes that the caller's own object is not of."""
        number = self._owner(caller)
        if number is None:
            return set()
        solver = self.solver
        kinds, firsts = solver.graph.kinds, solver.graph.firsts
        own: set[int] = set()
        other: set[int] = set()
        for method, receiver in solver.bound_calls.get((caller, position), ()):
            if kinds[receiver] in (OBJECT, DECLARED):
                kin = self._is_below(firsts[receiver], number) and self._are_kin(self._owner(method), number)
                (own if kin else other).add(method)
        for code in callees:
            place = solver.program.places[code]
            maker = code - place.number + place.code.outer
            home = self._owner(maker) if place.code.outer > 0 else None
            if home is not None and solver.program.places[maker].code.kind != "class":
                (own if self._are_kin(home, number) else other).add(code)
        return other - own if own else set()

    def _is_below(self, number: int, base: int) -> bool:
        classes = self.solver.classes
        return base in classes.order(classes.all[number])

    def _are_kin(self, home: int | None, number: int) -> bool:
        return home is None or self._is_below(home, number) or self._is_below(number, home)

    def _without_objects(self, caller: int, position: int) -> set[int]:
        """Methods that each class below has its own of, where there are no objects of their own class."""
        live: set[int] = set()
        dead: set[int] = set()
        kinds, firsts = self.solver.graph.kinds, self.solver.graph.firsts
        for method, receiver in self.solver.bound_calls.get((caller, position), ()):
            is_object = kinds[receiver] in (OBJECT, DECLARED)
            (live if not is_object or self._can_run(firsts[receiver], method) else dead).add(method)
        return dead - live

    def _can_run(self, number: int, method: int) -> bool:
        """Whether some object of a class, or of one below it, finds that method under its name."""
        suffix = self.solver.program.places[method].code.suffix
        name = suffix.rpartition(".")[2].partition("#")[0]
        key = (number, name, method)
        if key not in self._runs:
            classes = self.solver.classes
            klass = classes.all[number]
            node = classes.first(klass, name)
            held = self.solver.graph.held(node) if node is not None else set()
            if not any(self.solver.graph.firsts[one] == method for one in held):
                self._runs[key] = True  # named otherwise, or called by `super()`
            else:
                self._runs[key] = any(
                    classes.first(one, name) == node and (not one.below or one.number in self._made)
                    for one in (klass, *classes.below(klass))
                )
        return self._runs[key]

    def _lent(self, caller: int, position: int) -> set[int]:
        """Constructors that one statement puts on several classes: whether it does on these, is not known."""
        classes, graph = self.solver.classes, self.solver.graph
        runs: dict[bool, set[int]] = {True: set(), False: set()}
        for number in self._classes[caller, position]:
            klass = classes.all[number]
            node = classes.first(klass, "__init__")
            held = graph.held(node) if node is not None else set()
            is_lent = classes.is_lent(klass, "__init__")
            runs[is_lent].update(graph.firsts[one] for one in held if graph.kinds[one] == FUNCTION)
        return runs[True] - runs[False]

    def _bases(self, caller: int, position: int) -> set[int]:
        """Constructors of base classes that nothing else makes, in a table of classes."""
        classes, kinds, firsts = self.solver.classes, self.solver.graph.kinds, self.solver.graph.firsts
        called = self._classes[caller, position]
        if len(called) < _IN_TABLE:
            return set()
        runs: dict[bool, set[int]] = {True: set(), False: set()}
        for number in called:
            klass = classes.all[number]
            is_base = number not in self._made and any(one.number in called for one in classes.below(klass))
            found = {klass.code_number}
            for name in ("__init__", "__new__"):
                node = classes.first(klass, name)
                held = self.solver.graph.held(node) if node is not None else set()
                found.update(firsts[one] for one in held if kinds[one] == FUNCTION)
            runs[not is_base] |= found
        return runs[False] - runs[True]
