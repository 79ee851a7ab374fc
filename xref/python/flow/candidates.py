"""What may run at a site of which the receiver's class is not sure: operators and other special methods, and methods
that only classes below the known one have. How sure each is follows from all that was found at the site together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from xref.python.flow.calls import Site
from xref.python.flow.graph import DECLARED, FUNCTION, OBJECT

if TYPE_CHECKING:
    from xref.python.flow.attributes import Attributes

MAX_RECEIVERS = 4
"""Kinds of objects at an operand that still say what runs; more have met there from everywhere."""


class Verdict(NamedTuple):
    """`code`, `position`: the site. `callee`: the code that may run. `base`: number of the class of which only a class
    below has the method, -1 for none. `is_sure`: False for a guess.
    """

    code: int
    position: int
    callee: int
    base: int
    is_sure: bool


class Candidates:
    """Collects them while the program is being solved."""

    def __init__(self) -> None:
        self.count = 0
        self._found: dict[tuple[int, int, str], dict[int, dict[int, bool]]] = {}
        self._guessed: set[tuple[int, int, str]] = set()
        self._plain: set[tuple[int, int, str]] = set()

    def add(self, site: Site, callee: int, receiver: int, below: bool) -> None:
        """At the site, the code `callee` may run on an object; `below`: if that is of a class below the known one."""
        key = (site.code, site.position, site.how)
        receivers = self._found.setdefault(key, {}).setdefault(callee, {})
        if receiver not in receivers:
            receivers[receiver] = below
            self.count += 1
        if site.is_guess:
            self._guessed.add(key)

    def plain(self, site: Site, how: str) -> None:
        """A list, tuple, dict or set of Python's own was found at the site, which runs no method of the tree."""
        self._plain.add((site.code, site.position, how))

    def judge(self, solver: Attributes) -> Iterator[Verdict]:
        """A verdict for each (site, callee), when everything has been found."""
        containers = frozenset(solver.containers_of_objects.values())
        for key, callees in self._found.items():
            how = key[2]
            receivers = {one for found in callees.values() for one in found}
            if how in _ASKED_OF_ALL:
                few = len(receivers) == 1
            else:
                few = len(callees) == 1 or len(receivers) <= MAX_RECEIVERS
            for callee, found in callees.items():
                own = [one for one, below in found.items() if not below]
                sure = key not in self._guessed and (few if own else len(callees) == 1)
                if sure and key in self._plain:
                    sure = any(solver.graph.firsts[one] in containers for one in found)
                if sure and own and (how in _VAGUE or how in _ASKED_OF_ALL):
                    sure = any(solver.graph.kinds[one] == OBJECT for one in own)
                if sure and own and how.startswith("__"):
                    sure = any(_is_last(solver, one, how, callee) for one in own)
                base = -1 if own else min(solver.graph.firsts[one] for one in found)
                yield Verdict(key[0], key[1], callee, base, sure)


def _is_last(solver: Attributes, receiver: int, name: str, callee: int) -> bool:
    """Whether the class of an object finds that method in the end: another may have been put in its place."""
    graph, classes = solver.graph, solver.classes
    if graph.kinds[receiver] not in (OBJECT, DECLARED):
        return True
    node = classes.first(solver.klass(receiver), name)
    held = graph.held(node) if node is not None else ()
    functions = [one for one in held if graph.kinds[one] == FUNCTION]
    return not functions or any(graph.firsts[one] == callee for one in functions)


_VAGUE = frozenset({"__repr__", "__str__", "__format__", "__getattr__"})
"""Special methods that run for any object of which nothing better is known: what is put into a text is most often a
text, and what lacks an attribute is most often of another class. An object must have been made of just that class."""
_ASKED_OF_ALL = frozenset({"__bool__", "__hash__", "__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__"})
"""Special methods that numbers and texts have too, and that nearly every condition and look-up asks."""
