"""What `isinstance` tells the solver of an object: behind a test, only objects that can pass it are known of."""

from __future__ import annotations

from collections.abc import Iterator

from xref.python.flow.attributes import Attributes
from xref.python.flow.classes import Klass
from xref.python.flow.graph import BOUND, CONSTANT, CONTAINER, DECLARED, FUNCTION, KLASS, MODULE, OBJECT, OUTSIDE
from xref.python.flow.summary import NOTHING

_CONTAINERS = {
    "list": ("list", "tuple", "Sequence", "Iterable", "Collection", "Sized", "MutableSequence", "Reversible"),
    "set": ("set", "frozenset", "Set", "Iterable", "Collection", "Sized"),
    "dict": ("dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict", "Iterable", "Collection", "Sized"),
}
"""Kinds of containers -> names of classes of the standard library whose objects they may be."""
_FUNCTIONS = ("Callable", "FunctionType", "LambdaType", "MethodType")
_NUMBERS = {"str": ("str",), "int": ("int", "Number", "Integral", "Real"), "float": ("float", "Number", "Real")}
_TEXT_AND_NUMBERS = frozenset({"builtins.int", "builtins.str", "builtins.bool", "builtins.float", "builtins.bytes"})
_STANDARD = ("builtins.", "typing.", "collections.", "types.", "numbers.")


class Filters(Attributes):
    """Tests of classes, decided when nothing else flows, so that the classes are known by then."""

    def sift(self, item: int, payload: tuple[int, tuple[int, ...], bool, bool]) -> None:
        """An object meets a test: the node that gets it if it may pass, the nodes of the classes, whether the test
        holds, whether it is of the class that the object is (`issubclass`).
        """
        self.sifted.append((item, *payload))

    def let_through(self) -> bool:
        """Decide on the objects that met tests; False when there were none."""
        pending, self.sifted = self.sifted, []
        for item, target, nodes, holds, of_class in pending:
            found = self._judge(item, nodes, of_class)
            if found is None or found == holds:
                narrowed = self._narrowed(item, nodes) if found is None and holds and not of_class else [item]
                for one in narrowed:
                    self.graph.put(target, one)
        return bool(pending)

    def _narrowed(self, item: int, nodes: tuple[int, ...]) -> list[int]:
        """What passes a test that only some objects of the declared class pass: objects of the classes below it that
        the test names, or whatever was declared where it names others.
        """
        if self.graph.kinds[item] != DECLARED or NOTHING in nodes:
            return [item]
        declared = self.classes.widest(self.klass(item))
        found: list[int] = []
        for one in {one for node in nodes for one in self._classes(node)}:
            if self._is_a(item, one) is False:
                continue
            number = self.graph.firsts[one]
            if self.graph.kinds[one] != KLASS or not self._is_below(number, declared):
                return [item]
            found.append(self.graph.object(DECLARED, number))
        return found or [item]

    def _is_below(self, number: int, klass: Klass) -> bool:
        if klass.is_view:
            return any(below.number == number for below in self.classes.below(klass))
        return klass.number != number and klass.number in self.classes.order(self.classes.all[number])

    def _judge(self, item: int, nodes: tuple[int, ...], of_class: bool) -> bool | None:
        """Whether the object is of one of the classes; None when that is not known."""
        if of_class:
            if self.graph.kinds[item] != KLASS:
                return None
            item = self.graph.object(OBJECT, self.graph.firsts[item])
        results: set[bool | None] = set()
        for node in nodes:
            classes = list(self._classes(node)) if node != NOTHING else []
            results.update(self._is_a(item, one) for one in classes)
            if not classes:
                results.add(None)
        return True if True in results else None if None in results else False

    def _classes(self, node: int) -> Iterator[int]:
        for held in self.graph.held(node):
            if self.graph.kinds[held] == CONTAINER:
                yield from self.graph.held(self.everything(held))
            else:
                yield held

    def _is_a(self, item: int, kind: int) -> bool | None:
        graph = self.graph
        if graph.kinds[kind] == KLASS:
            return self._is_of_tree(item, graph.firsts[kind])
        if graph.kinds[kind] == OUTSIDE:
            return self._is_of_library(item, graph.firsts[kind])
        return None

    def _is_of_tree(self, item: int, number: int) -> bool | None:
        graph = self.graph
        kind = graph.kinds[item]
        if kind in (OBJECT, DECLARED):
            if number in self.classes.order(self.klass(item)):
                return True
            if kind == DECLARED and self.classes.may_be(self.klass(item), number):
                return None
            return False
        if kind == CONTAINER:  # values of the FFI are known as both, the container with its elements
            return number in self.containers_of_objects.values()
        return False if kind in (FUNCTION, BOUND, CONSTANT, MODULE) else None

    def _has_below(self, klass: Klass, name: str) -> bool:
        """Whether a class below derives from the builtin class of that name."""
        key = (klass.number, name)
        if key not in self._builtin_below:
            found = (base for below in self.classes.below(klass) for base in below.outside)
            self._builtin_below[key] = any(base == f"builtins.{name}" for base in found)
        return self._builtin_below[key]

    def _is_of_library(self, item: int, dotted: str) -> bool | None:
        graph = self.graph
        kind, name = graph.kinds[item], dotted.rpartition(".")[2]
        if kind in (OBJECT, DECLARED):
            klass = self.klass(item)
            outside = {
                one.rpartition(".")[2] for at in self.classes.order(klass) for one in self.classes.all[at].outside
            }
            if name in outside or name == "object":
                return True
            if dotted in _TEXT_AND_NUMBERS:
                return None if kind == DECLARED and self._has_below(klass, name) else False
            return None if kind == DECLARED or outside or name[:1].isupper() else False
        if not dotted.startswith(_STANDARD):
            return None
        if kind == CONTAINER:
            return name in _CONTAINERS.get(graph.seconds[item], ())
        if kind in (FUNCTION, BOUND):
            return name in _FUNCTIONS
        if kind == KLASS:
            return name in ("type", "Callable")
        if kind == CONSTANT:
            value = graph.firsts[item]
            return name in _NUMBERS.get("str" if isinstance(value, tuple) else type(value).__name__, ())
        return None
