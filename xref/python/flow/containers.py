"""Lists, tuples, dicts and sets in the solver: a slot for each known key, one for all others."""

from __future__ import annotations

from typing import Any

from xref.python.flow.graph import CONSTANT, CONTAINER, Graph

OF_CPP = "C++"
"""How the identity of a container begins that C++ holds."""
MAX_SLOTS = 400
"""Known keys of one container; further ones share a slot."""


class Containers:
    """The slots of containers."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._slots: dict[int, dict[Any, int]] = {}
        self._everything: dict[int, int] = {}
        self._keys: dict[int, int] = {}
        self._sharers: dict[int, list[int]] = {}

    def slot(self, item: int, key: Any) -> int:
        """The node of what a container holds under a constant key, or (None) under keys that are not known."""
        slots = self._slots.setdefault(item, {})
        name = None if key is None else (type(key).__name__, key)
        node = slots.get(name)
        if node is None:
            if name is not None and len(slots) >= MAX_SLOTS:
                return self.slot(item, None)
            node = slots[name] = self.graph.node()
            everything = self._everything.get(item)
            if everything is not None:
                self.graph.flow(node, everything)
            if key is not None and item in self._keys:
                self.graph.put(self._keys[item], self.graph.object(CONSTANT, key, type(key).__name__))
            for sharer in self._sharers.get(item, ()):
                self.graph.flow(node, self.slot(sharer, key))
        return node

    def everything(self, item: int) -> int:
        """The node of all that a container holds."""
        node = self._everything.get(item)
        if node is None:
            node = self._everything[item] = self.graph.node()
            for slot in list(self._slots.get(item, {}).values()):
                self.graph.flow(slot, node)
        return node

    def keys(self, item: int) -> int:
        """The node of a container's known keys."""
        node = self._keys.get(item)
        if node is None:
            node = self._keys[item] = self.graph.node()
            for name in list(self._slots.get(item, {})):
                if name is not None:
                    self.graph.put(node, self.graph.object(CONSTANT, name[1], name[0]))
        return node

    def read_slot(self, item: int, key: Any, target: int) -> None:
        """Lead what `item[key]` may be to a node."""
        if isinstance(key, int) and key < 0:
            self.graph.flow(self.everything(item), target)
            return
        self.graph.flow(self.slot(item, key), target)
        self.graph.flow(self.slot(item, None), target)

    def elements(self, item: int, target: int) -> None:
        """Lead what iterating gives to a node: the keys of a dict, the elements of others."""
        self.graph.flow(self.keys(item) if self.graph.seconds[item] == "dict" else self.everything(item), target)

    def share(self, item: int, other: int) -> None:
        """Whatever `item` holds under a key, now and later, `other` holds too."""
        if item == other or other in self._sharers.get(item, ()):
            return
        self._sharers.setdefault(item, []).append(other)
        for name, node in list(self._slots.get(item, {}).items()):
            self.graph.flow(node, self.slot(other, name[1] if name is not None else None))

    def made(self, where: Any, kind: str) -> int:
        """The container made at a place."""
        return self.graph.object(CONTAINER, where, kind)

    def is_of_cpp(self, item: int) -> bool:
        """Whether a container stands for one that C++ holds."""
        first = self.graph.firsts[item]
        return isinstance(first, tuple) and first[0] == OF_CPP

    def sliced(self, item: int, payload: tuple[int, int | None, int | None]) -> None:
        """`item[first:last]`."""
        target, first, last = payload
        if self.graph.kinds[item] != CONTAINER:
            return
        known = [name for name in self._slots.get(item, {}) if name is not None and name[0] == "int"]
        result = self.made((target, "slice"), "list")
        self.graph.put(target, result)
        start = first or 0
        if not known or start < 0 or (last is not None and last < 0):
            self.graph.flow(self.everything(item), self.slot(result, None))
            return
        for name in known:
            if name[1] >= start and (last is None or name[1] < last):
                self.graph.flow(self.slot(item, name[1]), self.slot(result, name[1] - start))
        self.graph.flow(self.slot(item, None), self.slot(result, None))
