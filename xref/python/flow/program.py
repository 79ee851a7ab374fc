"""The whole program as the solver sees it: modules by name, codes by number, what a name of a module stands for."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import NamedTuple

from xref.python.flow.graph import FOREIGN, MODULE, OUTSIDE, Graph
from xref.python.flow.summary import CALL, CONST, FUNC, NODE_MASK, SETATTR, Code, Summary

_BUILTINS = frozenset(dir(builtins))
_DEPTH = 30


class Place(NamedTuple):
    """A code of the program: the number of its file, its summary's number in the file, and the code itself."""

    file: int
    number: int
    code: Code


def _set_later(code: Code, made: set[int]) -> set[str]:
    """Names under which code sets what a call made: `C.name = property(f)`, `setattr(C, name, property(f))`."""
    names: set[str] = set()
    computed = False
    for row in code.constraints:
        if row[0] == SETATTR and row[3] in made:
            computed = computed or row[2] is None
            names.update([row[2]] if row[2] is not None else [])
    if computed:
        names.update(row[2] for row in code.constraints if row[0] == CONST and isinstance(row[2], str))
    return names


class Program:
    """The summaries of a tree, with a graph whose nodes are their modules' globals so far."""

    def __init__(self, summaries: Sequence[Summary], graph: Graph) -> None:
        self.graph = graph
        self.summaries = summaries
        self.places: list[Place] = []
        self.first_code: list[int] = []
        self.modules: dict[str, int] = {}
        self.roots: dict[str, int] = {}
        """Module -> the first node of its frame."""
        self._members: dict[tuple[str, str], int] = {}
        self._missing: dict[str, list[tuple[str, int]]] = {}
        self._prefixes: set[str] = set()
        self._redirects: dict[str, str] = {}
        self._fills: dict[str, list[str]] = {}
        self.property_names: set[str] = set()
        self.special_names: set[str] = set()
        """The special methods that some class of the tree has."""
        self.compiled: frozenset[str] = frozenset()
        """Modules of the tree that are written in Cython: outside, as far as value flow goes."""
        for file, summary in enumerate(summaries):
            self.first_code.append(len(self.places))
            if summary.is_stub and summary.module in self.modules:
                self.places += [Place(file, n, code) for n, code in enumerate(summary.codes)]
                continue
            self._add(file, summary)

    def _add(self, file: int, summary: Summary) -> None:
        module = summary.module
        self.modules[module] = file
        for number, code in enumerate(summary.codes):
            self.places.append(Place(file, number, code))
            made = {row[1] for row in code.constraints if row[0] == CALL}
            if code.kind == "class":
                self.special_names.update(name for name in code.names if name.startswith("__") and name.endswith("__"))
                # `name = property(f)`, or a call that makes one
                self.property_names.update(name for name, node in code.names.items() if node in made)
            self.property_names.update(_set_later(code, made))
            for row in code.constraints:
                if row[0] == FUNC and row[4] == "property":
                    self.property_names.add(summary.codes[row[2]].suffix.rpartition(".")[2].partition("#")[0])
        self._prefixes.update(module[:at] for at, letter in enumerate(module) if letter == ".")
        self._redirects.update(summary.redirects)
        for target, namespace in summary.fills:
            self._fills.setdefault(target, []).append(namespace)
        self.roots[module] = self.graph.nodes(summary.codes[0].nodes)

    def module(self, name: str) -> int | None:
        """The object of a module of the tree; None when the tree has no such module."""
        name = self._redirected(name)
        if name in self.modules or name in self._prefixes:
            return self.graph.object(MODULE, name)
        if name in self.compiled:
            return self.graph.object(OUTSIDE, name)
        return None

    def _redirected(self, name: str) -> str:
        head, tail = name, ""
        while head and self._redirects:
            if head in self._redirects:
                return self._redirects[head] + tail
            head, _, last = head.rpartition(".")
            tail = f".{last}{tail}"
        return name

    def imported(self, module: str, name: str) -> int:
        """The node of what an import binds."""
        module = self._redirected(module)
        if name:
            return self.member(module, name)
        key = (module, "")
        if key not in self._members:
            node = self._members[key] = self.graph.node()
            found = self.module(module)
            self.graph.put(node, found if found is not None else self.graph.object(OUTSIDE, module))
        return self._members[key]

    def member(self, module: str, name: str, depth: int = 0) -> int:
        """The node of a module's attribute; one and the same for every asker."""
        key = (module, name)
        node = self._members.get(key)
        if node is None:
            node = self._members[key] = self.graph.node()
            self._fill(node, module, name, depth)
        return node

    def _fill(self, node: int, module: str, name: str, depth: int) -> None:
        graph = self.graph
        file = self.modules.get(module)
        if file is None:
            if module not in self._prefixes:
                graph.put(node, graph.object(OUTSIDE, f"{module}.{name}"))
            elif (found := self.module(f"{module}.{name}")) is not None:
                graph.put(node, found)
            return
        summary = self.summaries[file]
        own = summary.codes[0].names.get(name)
        if own is not None and own <= NODE_MASK:
            graph.flow(self.roots[module] + own, node)
            return
        found = self.module(f"{module}.{name}")
        starred = False
        if depth < _DEPTH and not name.startswith("_"):
            for star in map(self._redirected, summary.stars):
                if star in self.modules and self._exports(star, name):
                    starred = starred or self._binds(star, name)
                    graph.flow(self.member(star, name, depth + 1), node)
        if found is not None:
            if not starred:  # else the star import has put another thing in the submodule's place
                graph.put(node, found)
            return
        dunder = name.startswith("__") and name.endswith("__")
        if not dunder and (namespaces := self._fills.get(module)):
            graph.put(node, graph.object(FOREIGN, f"{namespaces[0]}.{name}"))

    def _binds(self, module: str, name: str, depth: int = 0) -> bool:
        """Whether a module's own statements, or those that it star-imports from, bind a name."""
        summary = self.summaries[self.modules[module]]
        if name in summary.codes[0].names:
            return True
        stars = [star for star in map(self._redirected, summary.stars) if star in self.modules]
        return depth < _DEPTH and any(self._exports(s, name) and self._binds(s, name, depth + 1) for s in stars)

    def _exports(self, module: str, name: str) -> bool:
        exports = self.summaries[self.modules[module]].exports
        return exports is None or name in exports

    def has_member(self, module: str, name: str) -> bool:
        """Whether anything was found for a module's attribute so far."""
        return bool(self.graph.held(self.member(module, name)))

    def global_name(self, file: int, name: str) -> int:
        """The node of a global name that the module itself does not bind: from a star import, or builtin."""
        summary = self.summaries[file]
        node = self.graph.node()
        for star in map(self._redirected, summary.stars):
            if star in self.modules:
                if self._exports(star, name) and not name.startswith("_"):
                    self.graph.flow(self.member(star, name, 1), node)
            elif name not in _BUILTINS:
                self.graph.put(node, self.graph.object(OUTSIDE, f"{star}.{name}"))
        if name in _BUILTINS and name != "NotImplemented":  # an operator's word for "ask the other", never a value
            self.graph.put(node, self.graph.object(OUTSIDE, f"builtins.{name}"))
        return node
