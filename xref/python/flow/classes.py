"""Classes in the solver: method resolution order, attribute look-up, fields of objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from xref.python.flow.calls import Site
from xref.python.flow.graph import KLASS, OUTSIDE, Graph
from xref.python.flow.summary import NODE_MASK, Code

MAX_BASES = 8
"""Classes that one base expression stands for; further ones are left out. `class Quantizer(base_cls)` in a factory
whose argument comes out of a table (tvm/contrib/msc, v0.16 to v0.22) would derive from hundreds, some of them below it,
and each changes what all classes below find: ten minutes instead of a second."""
_PLAIN_BASES = ("builtins.", "typing.", "abc.", "enum.", "typing_extensions.", "collections.abc.")


@dataclass(eq=False)
class Klass:
    """A class of the tree: one for each frame that its definition runs in. `frame`: first node of its body's frame."""

    number: int
    code_number: int
    code: Code
    frame: int
    base_nodes: tuple[int, ...]
    bases: dict[int, list[int]] = field(default_factory=dict)
    outside: list[str] = field(default_factory=list)
    below: list[int] = field(default_factory=list)
    added: dict[str, int] = field(default_factory=dict)
    lookups: dict[str, int] = field(default_factory=dict)
    order: list[int] | None = None
    meta: int = -1
    defined: Site | None = None
    """Where its statement stands, once that has been looked at."""
    site: tuple[int, int] = (0, 0)
    """(code that the class statement is in, position)."""
    is_view: bool = False
    """Whether this stands for some of the classes below its only base: see `Classes.view`."""
    views: list[int] = field(default_factory=list)
    wider: int = -1
    """Of a view of what a function is known to make: the view of all that it is declared to return."""


class Classes:
    """All classes met so far."""

    def __init__(self, graph: Graph, inside: frozenset[str] = frozenset()) -> None:
        self.graph = graph
        self._inside = inside
        self.all: list[Klass] = []
        self.by_frame: dict[int, int] = {}
        self.cuts: set[tuple[int, int, str]] = set()
        """(code, position, what was cut there)."""
        self._installed: dict[tuple[int, str], set[tuple[int, int]]] = {}
        """(class, special method that a statement puts there) -> (code, position) of such statements."""
        self._installing: dict[tuple[int, int], set[int]] = {}
        """Of such a statement, the classes."""
        self._below: dict[tuple[int, str], tuple[int, list[int]]] = {}
        self._changes = 0

    def make(
        self, code_number: int, code: Code, frame: int, base_nodes: tuple[int, ...], site: tuple[int, int]
    ) -> Klass:
        """A new class, whose bases follow from its base nodes."""
        klass = Klass(len(self.all), code_number, code, frame, base_nodes, site=site)
        self.all.append(klass)
        self.by_frame[frame] = klass.number
        self._changes += 1
        for at, node in enumerate(base_nodes):
            if node >= 0:
                self.graph.when(node, self.add_base, (klass, at))
        return klass

    def view(self, base: Klass, members: list[Klass], wider: int = -1) -> Klass:
        """A class that nothing is made of: objects that are declared to be of it are of one of its members, all of them
        below `base`. Its members do not know of it. With `wider` they are of these as far as is known, else of any of
        the members of that class.
        """
        nothing = base.code._replace(names={})
        klass = Klass(len(self.all), base.code_number, nothing, base.frame, (), is_view=True, wider=wider)
        klass.bases = {0: [base.number]}
        klass.below = [member.number for member in members]
        self.all.append(klass)
        base.views.append(klass.number)
        return klass

    def inherit(self, bases: dict[int, tuple[list[int], list[str]]], metaclasses: dict[int, int]) -> None:
        """Give classes the bases and metaclasses that are known beforehand, by the codes of their bodies."""
        first: dict[int, Klass] = {}
        for klass in self.all:
            first.setdefault(klass.code_number, klass)
        for klass in self.all:
            inside, outside = bases.get(klass.code_number, ((), ()))
            klass.outside += [name for name in outside if name not in klass.outside]
            for number, code in enumerate(inside):
                base = first.get(code)
                if base is not None and base is not klass and klass.number not in base.below:
                    klass.bases.setdefault(number, []).append(base.number)
                    base.below.append(klass.number)
        for klass in self.all:
            klass.order = None
        for klass in self.all:
            named = (metaclasses.get(self.all[at].code_number) for at in self.order(klass))
            meta = next((first[code] for code in named if code in first), None)
            if meta is not None:
                klass.meta = meta.number
        self._changes += 1

    def add_base(self, item: int, payload: tuple[Klass, int]) -> None:
        """A base of a class is found: the object, the class, and which of its bases."""
        klass, at = payload
        kind = self.graph.kinds[item]
        if kind == OUTSIDE:
            name = self.graph.firsts[item]
            if name in klass.outside:
                return
            klass.outside.append(name)
        elif kind == KLASS:
            base = self.graph.firsts[item]
            known = any(base in found for found in klass.bases.values())
            if known or base == klass.number or klass.number in self.order(self.all[base]):
                return
            if len(klass.bases.get(at, ())) >= MAX_BASES:
                self.cuts.add((*klass.site, f"a base class may be more than {MAX_BASES} classes; so many are followed"))
                return
            klass.bases.setdefault(at, []).append(base)
            self.all[base].below.append(klass.number)
            if klass.meta < 0:
                klass.meta = self.all[base].meta
        else:
            return
        self._changed(klass)

    def _changed(self, klass: Klass) -> None:
        self._changes += 1
        pending, seen = [klass.number], {klass.number}
        while pending:
            at = self.all[pending.pop()]
            at.order = None
            for name, node in list(at.lookups.items()):
                self._resolve(at, name, node)
            for below in (*at.below, *at.views):
                if below not in seen and not at.is_view:
                    seen.add(below)
                    pending.append(below)

    def order(self, klass: Klass) -> list[int]:
        """The method resolution order (C3; depth first, where the bases contradict each other)."""
        if klass.order is None:
            klass.order = [klass.number]  # while it is being worked out, against cycles
            bases = [base for at in sorted(klass.bases) for base in klass.bases[at]]
            orders = [list(self.order(self.all[base])) for base in bases]
            klass.order = [klass.number, *_linearize([*orders, list(bases)])]
        return klass.order

    def own(self, klass: Klass, name: str) -> int | None:
        """The node of an attribute that the class itself has."""
        node = klass.code.names.get(name)
        if node is not None and node <= NODE_MASK:
            return klass.frame + node
        return klass.added.get(name)

    def finds(self, klass: Klass, name: str) -> bool:
        """Whether the class or one above it, in the tree, has the attribute."""
        return any(self.own(self.all[at], name) is not None for at in self.order(klass))

    def lookup(self, klass: Klass, name: str) -> int:
        """The node of an attribute as looked up on the class."""
        node = klass.lookups.get(name)
        if node is None:
            node = klass.lookups[name] = self.graph.node()
            self._resolve(klass, name, node)
        return node

    def lookup_after(self, klass: Klass, after: Klass, name: str) -> int | None:
        """The node of an attribute as `super()` finds it: behind `after` in the order of `klass`."""
        order = self.order(klass)
        start = order.index(after.number) + 1 if after.number in order else len(order)
        for at in order[start:]:
            own = self.own(self.all[at], name)
            if own is not None:
                return own
        outside = self.outside_base(after)
        if outside:
            node = self.graph.node()
            self.graph.put(node, self.graph.object(OUTSIDE, f"{outside}.{name}"))
            return node
        return None

    def _resolve(self, klass: Klass, name: str, node: int) -> None:
        for at in self.order(klass):
            own = self.own(self.all[at], name)
            if own is not None:
                self.graph.flow(own, node)
                return
        outside = self.outside_base(klass)
        if outside and not name.startswith("__"):
            self.graph.put(node, self.graph.object(OUTSIDE, f"{outside}.{name}"))

    def outside_base(self, klass: Klass) -> str:
        """The first class outside the tree that the class derives from, "" if none says anything: neither those of the
        standard library that have no behaviour, nor those of the tree's own packages that no Python defines.
        """
        for at in self.order(klass):
            for name in self.all[at].outside:
                if not name.startswith(_PLAIN_BASES) and name.partition(".")[0] not in self._inside:
                    return name
        return ""

    def widest(self, klass: Klass) -> Klass:
        """The class that objects are declared to be of, also where more is known of how they are made."""
        return self.all[klass.wider] if klass.wider >= 0 else klass

    def may_be(self, klass: Klass, number: int) -> bool:
        """Whether an object that is declared to be of a class may be of the class `number`, below or beside it."""
        klass = self.widest(klass)
        if not klass.is_view:
            return klass.number in self.order(self.all[number])
        return any(number in self.order(below) for below in self.below(klass))

    def is_enum(self, klass: Klass) -> bool:
        """Whether the class is an enumeration: its attributes are its objects."""
        return any(name.startswith("enum.") for at in self.order(klass) for name in self.all[at].outside)

    def add(self, klass: Klass, name: str) -> int:
        """The node of an attribute that is set on the class from outside its body."""
        own = self.own(klass, name)
        if own is None:
            own = klass.added[name] = self.graph.node()
            self._changed(klass)
        return own

    def install(self, klass: Klass, name: str, place: tuple[int, int]) -> int:
        """The node of an attribute that the statement at a place (code, position) sets."""
        if name.startswith("__"):
            self._installed.setdefault((klass.number, name), set()).add(place)
            self._installing.setdefault(place, set()).add(klass.number)
        return self.add(klass, name)

    def is_lent(self, klass: Klass, name: str) -> bool:
        """Whether a special method comes from a statement that puts it on several classes that it is given: mostly on
        those that fulfil some condition, as tvm_ffi/registry.py does with `__init__`.
        """
        for at in self.order(klass):
            if name in self.all[at].code.names:
                return False
            if name in self.all[at].added:
                places = self._installed.get((at, name), ())
                return any(len(self._installing[place]) > 1 for place in places)
        return False

    def below(self, klass: Klass) -> Iterator[Klass]:
        """All classes below, each once."""
        pending, seen = list(klass.below), set(klass.below)
        while pending:
            at = pending.pop()
            yield self.all[at]
            for below in self.all[at].below:
                if below not in seen:
                    seen.add(below)
                    pending.append(below)

    def found_below(self, klass: Klass, name: str) -> list[int]:
        """The nodes of an attribute as classes below find it, where that is not what the class itself finds: an
        override, or what a class below inherits from another base.
        """
        known = self._below.get((klass.number, name))
        if known is not None and known[0] == self._changes:
            return known[1]
        own = self.first(klass, name)
        found = {node for below in self.below(klass) if (node := self.first(below, name)) is not None and node != own}
        result = sorted(found)
        self._below[klass.number, name] = (self._changes, result)
        return result

    def found_by_most(self, view: Klass, name: str) -> list[int]:
        """The nodes of an attribute that as many members of a view find as no other one. What a function makes on the
        way to its result counts as its result, so that what few have is not proven.
        """
        counts = Counter(node for below in view.below if (node := self.first(self.all[below], name)) is not None)
        return sorted(node for node, count in counts.items() if count == max(counts.values()))

    def first(self, klass: Klass, name: str) -> int | None:
        """The node of an attribute where the class finds it; None when neither it nor one above it has it."""
        for at in self.order(klass):
            own = self.own(self.all[at], name)
            if own is not None:
                return own
        return None

    def names(self, klass: Klass, wanted: Callable[[str], bool]) -> list[str]:
        """The attributes of the class and those above it whose names are wanted."""
        found: dict[str, None] = {}
        for at in self.order(klass):
            one = self.all[at]
            found.update((name, None) for name in (*one.code.names, *one.added) if wanted(name))
        return list(found)


def _linearize(orders: list[list[int]]) -> list[int]:
    result: list[int] = []
    while orders := [order for order in orders if order]:
        for order in orders:
            head = order[0]
            if not any(head in other[1:] for other in orders):
                break
        else:
            head = orders[0][0]
        result.append(head)
        orders = [[item for item in order if item != head] for order in orders]
    return result
