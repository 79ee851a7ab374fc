"""What may run at a site of which the receiver's class is not sure: operators and other special methods, and methods
that only classes below the known one have. How sure each is follows from all that was found at the site together.

Such a call waits until nothing else flows, and is then judged: what is sure runs. What is not runs in a second stage,
when everything sure is known, and all that is only found then is a guess, since it follows from one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from xref.python.flow.calls import Site
from xref.python.flow.graph import DECLARED, FUNCTION, OBJECT
from xref.python.flow.summary import NOTHING

if TYPE_CHECKING:
    from xref.python.flow.attributes import Attributes

BY_ITERATION = "<iteration>"
"""How `__getitem__` is called for a class without `__iter__`, in place of a method's name."""
MAX_RECEIVERS = 1
"""Kinds of objects at an operand that still say what runs; more have met there from everywhere. Of the 700 calls of TVM
main at which two to four meet and have different methods, a third is false.
"""


class Verdict(NamedTuple):
    """`code`, `position`: the site. `callee`: the code that may run. `base`: number of the class of which only a class
    below has the method, -1 for none. `is_sure`: False for a guess.
    """

    code: int
    position: int
    callee: int
    base: int
    is_sure: bool


Key = tuple[int, int, str]
"""(calling code, position, special method that is called there, "" for one that is called by name)."""


class Held(NamedTuple):
    """A call that waits: function object, site, and the receiver, as it was found and as the function sees it."""

    item: int
    site: Site
    found: int | None
    receiver: int | None


class Candidates:
    """Collects them while the program is being solved."""

    def __init__(self) -> None:
        self.count = 0
        self.is_guessing = False
        """Whether the second stage has begun."""
        self._found: dict[Key, dict[int, dict[int, bool]]] = {}
        self._guessed: set[Key] = set()
        self._plain: set[Key] = set()
        self._texts: set[Key] = set()
        self._keyed: dict[Key, bool] = {}
        """Whether all that asks there asks a key of a dict or set."""
        self._follows: dict[Key, str] = {}
        """Tests of truth -> the methods of the comparison at the same place whose result is tested."""
        self._held: dict[Key, list[tuple[int, Held]]] = {}
        self._dirty: dict[Key, None] = {}
        self._late: dict[tuple[Key, int], int] = {}
        self._rest: list[Held] = []
        """Calls for the second stage."""

    def add(self, callee: int, below: bool, call: Held) -> bool:
        """At the site, the code `callee` may run on an object; `below`: if that is of a class below the known one.
        Returns whether the call has to wait.
        """
        site, receiver = call.site, call.found
        assert receiver is not None
        key = (site.code, site.position, site.how)
        callees = self._found.get(key, {}) if site.is_rest else self._found.setdefault(key, {})
        if self.is_guessing or site.is_rest:
            if callee not in callees and (key, callee) not in self._late:
                self._late[key, callee] = receiver if below else NOTHING
                self.count += 1
            if not self.is_guessing:
                self._rest.append(call)
            return not self.is_guessing
        receivers = callees.setdefault(callee, {})
        if receiver not in receivers:
            receivers[receiver] = below
            self.count += 1
        if site.is_guess:
            self._guessed.add(key)
        self._keyed[key] = self._keyed.get(key, True) and site.is_key
        if site.follows and site.how == "__bool__":
            self._follows[key] = site.follows
        self._held.setdefault(key, []).append((callee, call))
        self._dirty[key] = None
        return True

    def plain(self, site: Site, how: str) -> None:
        """Something was found at the site that runs no method of the tree: a list, tuple, dict or set of Python, a
        constant whose truth is asked, an object that has the attribute which another one lacks.
        """
        self._plain.add((site.code, site.position, how))

    def text(self, site: Site, how: str) -> None:
        """The object is compared with a text at the site, so that it is most likely one too."""
        self._texts.add((site.code, site.position, how))

    def release(self, solver: Attributes) -> list[Held]:
        """The calls that are sure, now that nothing else flows, or all of them in the second stage."""
        ready: list[Held] = []
        dirty, self._dirty = self._dirty, {}
        if self.is_guessing:
            ready, self._rest = self._rest, []
        for key in self._held if self.is_guessing else dirty:
            sure = {} if self.is_guessing else {one.callee: one.is_sure for one in self._judge(key, solver)}
            waiting = self._held[key]
            ready += [call for callee, call in waiting if self.is_guessing or sure[callee]]
            self._held[key] = [one for one in waiting if not self.is_guessing and not sure[one[0]]]
        return ready

    def judge(self, solver: Attributes) -> Iterator[Verdict]:
        """A verdict for each (site, callee) of the first stage, when that has ended."""
        for key in self._found:
            yield from self._judge(key, solver)

    def guesses(self, solver: Attributes) -> Iterator[Verdict]:
        """A verdict for each (site, callee) that only the second stage found."""
        for (key, callee), receiver in self._late.items():
            if callee in self._found.get(key, ()):
                continue
            base = solver.graph.firsts[receiver] if receiver != NOTHING else NOTHING
            yield Verdict(key[0], key[1], callee, base, False)

    def _judge(self, key: Key, solver: Attributes) -> Iterator[Verdict]:
        callees = self._found[key]
        how = key[2]
        receivers = {one for found in callees.values() for one in found}
        containers = frozenset(solver.containers_of_objects.values())
        vague = {one for one in receivers if solver.graph.firsts[one] in containers}
        if how in _ASKED_OF_ALL:
            few = len(receivers) == 1
        else:
            few = len(callees) == 1 or len(receivers) <= MAX_RECEIVERS
        for callee, found in callees.items():
            own = [one for one, below in found.items() if not below]
            is_told = (
                key not in self._texts
                and how not in _UNTOLD
                and any(solver.klass(one).is_view for one in found if solver.graph.kinds[one] == DECLARED)
            )
            sure = key not in self._guessed and (few if own else is_told or len(callees) == 1)
            if sure and key in self._plain and (len(receivers) > 1 or how == BY_ITERATION):
                sure = not vague.isdisjoint(found)
            if sure and own and (how in _VAGUE or (how in _ASKED_OF_ALL and not receivers.isdisjoint(vague))):
                sure = any(solver.graph.kinds[one] == OBJECT for one in own)
            if how in ("__bool__", *_VAGUE):
                sure = sure and key not in self._plain
            if how == "__bool__" and not own:  # any other object is true without being asked
                sure = False
            if self._keyed[key] and (key[0], key[1], "__getitem__") in self._found:  # an object is indexed there too
                sure = False
            if key in self._follows and any(solver.graph.kinds[one] == OBJECT for one in own):
                sure = self._is_compared(key, solver)
            if sure and own and how.startswith("__"):
                sure = any(_is_last(solver, one, how, callee) for one in own)
                sure = sure and not all(solver.classes.is_lent(solver.klass(one), how) for one in own)
            base = NOTHING if own else min(solver.graph.firsts[one] for one in found)
            yield Verdict(key[0], key[1], callee, base, sure)

    def _is_compared(self, key: Key, solver: Attributes) -> bool:
        """Whether the comparison whose result is tested for truth is sure: an object that it made is then tested."""
        keys = ((key[0], key[1], how) for how in self._follows[key].split("|"))
        return any(one.is_sure for at in keys if at in self._found for one in self._judge(at, solver))


def _is_last(solver: Attributes, receiver: int, name: str, callee: int) -> bool:
    """Whether the class of an object finds that method in the end: another may have been put in its place."""
    graph, classes = solver.graph, solver.classes
    if graph.kinds[receiver] not in (OBJECT, DECLARED):
        return True
    node = classes.first(solver.klass(receiver), name)
    held = graph.held(node) if node is not None else ()
    functions = [one for one in held if graph.kinds[one] == FUNCTION]
    return not functions or any(graph.firsts[one] == callee for one in functions)


_VAGUE = frozenset({"__repr__", "__str__", "__format__", "__getattr__", "__index__"})
"""Special methods that run for any object of which nothing better is known: what is put into a text is most often a
text, and what lacks an attribute is most often of another class. An object must have been made of just that class."""
_UNTOLD = frozenset({"__bool__", "__hash__"})
"""Special methods of which the C++ type says too little: what compares numbers is itself declared as one of them."""
COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__"})
_ASKED_OF_ALL = COMPARISONS | {"__bool__", "__hash__"}
"""Special methods that numbers and texts have too, and that nearly every condition and look-up asks."""
