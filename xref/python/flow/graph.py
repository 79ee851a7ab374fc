"""The points-to graph: nodes that hold abstract objects, along whose edges objects flow until nothing changes.

An object is a number; `kind`, `first` and `second` say what it is. Objects are interned, so that equal ones are one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FUNCTION = 0  # code, (frames of the enclosing codes, form)
BOUND = 1  # function object, receiver object
KLASS = 2  # number of the class
OBJECT = 3  # number of the class: an object of exactly this class
DECLARED = 4  # number of the class: an object of the class or of one below it
MODULE = 5  # dotted name
CONTAINER = 6  # where it is made, kind
METHOD_OF_CONTAINER = 7  # container object, name
PARTIAL = 8  # function object, call site
OUTSIDE = 9  # dotted name: a function, class or module outside the tree
OUTSIDE_OBJECT = 10  # dotted name of the class or function that made it
CONSTANT = 11  # the value
SUPER_OF = 12  # number of the class, receiver object
RUNNING = 13  # code, frame: a generator or coroutine
FOREIGN = 14  # key of an FFI function
CONSTRUCTOR = 15  # object: its method that has an FFI function make it
MAKER = 16  # class object: `type.__call__`, bound to it
DISPATCHER = 17  # function object, whether it is a method: functools.singledispatch

_CALLABLES, _CLASSES, _INSTANCES, _CONTAINERS, _CONSTANTS, _OTHERS = range(6)
_SORTS = (
    _CALLABLES, _CALLABLES, _CLASSES, _INSTANCES, _INSTANCES, _OTHERS, _CONTAINERS, _CONTAINERS, _CALLABLES, _OTHERS,
    _OTHERS, _CONSTANTS, _OTHERS, _OTHERS, _CALLABLES, _OTHERS, _CALLABLES, _CALLABLES,
)  # fmt: skip
"""By kind, what it counts as."""
MAX_OBJECTS = (1500, 400, 24, 8, 24, 8)
"""Objects of each sort that a node holds; more are cut, and calls through the node are reported as capped. Tables hold
hundreds of functions or classes (the ONNX front end has 170 converters); containers within containers multiply. Before
v0.20 the binding is Python, which makes any of TVM's 670 classes of what an FFI function returns
(tvm/_ffi/_ctypes/object.py, `OBJECT_TYPE[tindex]`)."""
USUAL_OBJECTS = (40, 24, 24, 8, 24, 8)
"""What all nodes are held to but the first `MAX_LARGE` that need more."""
MAX_LARGE = 1000
"""Nodes. On TVM main 855 are large: tables, and what is taken out of them. In a tree with TVM's tests 7,000 nodes held
all of the 1,500 functions that a decorator is given, and ever more of them, until 9 GB were full."""
_UNCOUNTED = min(MAX_OBJECTS)
_FEW = 8
"""Targets of a node: a list is looked through as fast as a set, and takes a third of the memory."""

Handler = Callable[[int, Any], None]


class Graph:
    """Nodes, edges and what waits for objects."""

    def __init__(self) -> None:
        self.kinds: list[int] = []
        self.firsts: list[Any] = []
        self.seconds: list[Any] = []
        self.interned: dict[tuple[int, Any, Any], int] = {}
        self.holds: list[set[int] | None] = []
        self.flows: list[list[int] | None] = []
        self.waits: list[list[tuple[Handler, Any]] | None] = []
        self._many: dict[int, set[int]] = {}
        """The targets of the nodes with more than `_FEW`."""
        self._news: dict[int, list[int]] = {}
        self._due: list[tuple[Handler, int, Any]] = []
        self._large: set[int] = set()
        """The nodes that may hold more objects than usual."""
        self._counts: dict[int, list[int]] = {}
        self.full: set[int] = set()
        """Nodes that something callable was kept out of."""

    def object(self, kind: int, first: Any, second: Any = None) -> int:
        """The object of that kind and identity."""
        key = (kind, first, second)
        found = self.interned.get(key)
        if found is None:
            found = self.interned[key] = len(self.kinds)
            self.kinds.append(kind)
            self.firsts.append(first)
            self.seconds.append(second)
        return found

    def node(self) -> int:
        """A new node."""
        self.holds.append(None)
        self.flows.append(None)
        self.waits.append(None)
        return len(self.holds) - 1

    def nodes(self, count: int) -> int:
        """`count` new nodes; the number of the first."""
        first = len(self.holds)
        self.holds.extend([None] * count)
        self.flows.extend([None] * count)
        self.waits.extend([None] * count)
        return first

    def held(self, node: int) -> set[int]:
        """The objects of a node."""
        return self.holds[node] or set()

    def put(self, node: int, item: int) -> None:
        """Add an object to a node."""
        held = self.holds[node]
        if held is None:
            held = self.holds[node] = set()
        elif item in held:
            return
        if len(held) >= _UNCOUNTED and not self._has_room(node, held, item):
            if _SORTS[self.kinds[item]] <= _CLASSES:
                self.full.add(node)
            return
        held.add(item)
        if self.flows[node] is not None or self.waits[node] is not None:
            news = self._news.get(node)
            if news is None:
                self._news[node] = [item]
            else:
                news.append(item)

    def cut(self) -> set[int]:
        """The nodes that hold fewer callables than might reach them, since there is a limit."""
        found, pending = set(self.full), list(self.full)
        while pending:
            for target in self.flows[pending.pop()] or ():
                if target not in found:
                    found.add(target)
                    pending.append(target)
        return found

    def _has_room(self, node: int, held: set[int], item: int) -> bool:
        """Count one more object of its sort, if there may be more."""
        counts = self._counts.get(node)
        if counts is None:
            counts = self._counts[node] = [0] * len(MAX_OBJECTS)
            for known in held:
                counts[_SORTS[self.kinds[known]]] += 1
        sort = _SORTS[self.kinds[item]]
        if counts[sort] >= MAX_OBJECTS[sort]:
            return False
        if counts[sort] >= USUAL_OBJECTS[sort] and node not in self._large:
            if len(self._large) >= MAX_LARGE:
                return False
            self._large.add(node)
        counts[sort] += 1
        return True

    def flow(self, source: int, target: int) -> None:
        """Let all objects of `source`, now and later, reach `target`."""
        if source == target:
            return
        flows = self.flows[source]
        if flows is None:
            flows = self.flows[source] = []
        elif len(flows) <= _FEW:
            if target in flows:
                return
        else:
            many = self._many.get(source)
            if many is None:
                many = self._many[source] = set(flows)
            if target in many:
                return
            many.add(target)
        flows.append(target)
        held = self.holds[source]
        if held:
            known = self._news.get(source)
            for item in list(held):
                if known is None or item not in known:
                    self.put(target, item)

    def when(self, node: int, handler: Handler, payload: Any) -> None:
        """Have `handler(object, payload)` called by `run` for each object that the node holds or will hold."""
        waits = self.waits[node]
        if waits is None:
            waits = self.waits[node] = []
        waits.append((handler, payload))
        held = self.holds[node]
        if held:
            known = self._news.get(node)
            due = self._due
            for item in held:
                if known is None or item not in known:
                    due.append((handler, item, payload))

    def run(self) -> None:
        """Propagate until nothing is new."""
        news, due = self._news, self._due
        while news or due:
            while due:
                handler, item, payload = due.pop()
                handler(item, payload)
            if not news:
                break
            node, items = news.popitem()
            waits = self.waits[node]
            if waits is not None:
                for handler, payload in waits:
                    for item in items:
                        due.append((handler, item, payload))
            flows = self.flows[node]
            if flows is not None:
                for target in flows:
                    for item in items:
                        self.put(target, item)
