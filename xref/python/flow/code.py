"""One code under construction: its nodes, its names with their versions, its constraints.

Names are followed through a body in the order of its statements: each assignment makes a new version, and where two
ways meet, a node takes the versions of both. What a nested function sees of a name is one node with every version; what
other code sees of a module's or class's name is its last version.
"""

from __future__ import annotations

import ast

from xref.python.flow.summary import (
    ATTR,
    CALL,
    CLASS,
    CONST,
    FILTER,
    FUNC,
    LEVEL_BITS,
    NAMED,
    NODE_MASK,
    NOTHING,
    PRODUCING,
    Code,
    Constraint,
    Parameters,
)
from xref.python.walk import Scope

NO_PARAMETERS = Parameters((), (), NOTHING, NOTHING, 0, 0)
MAX_CLONED_SIZE = 400
"""Constraints, those of nested codes included, of a function that is analysed for each of its call sites."""


class CodeBuilder:
    """A code of one file. `env`: name (or a path such as `d["a"]`) -> its version at this point; None after a jump."""

    def __init__(self, number: int, kind: str, scope: Scope, outer: CodeBuilder | None) -> None:
        self.number = number
        self.kind = kind
        self.scope = scope
        self.outer = outer
        self.level: int = outer.level + 1 if outer is not None else 0
        self.nodes = 0
        self.env: dict[str, int] | None = {}
        self.cells: dict[str, int] = {}
        self.versions: dict[str, list[int]] = {}
        self.inner_names: set[str] = set()
        self.copies: list[tuple[int, int]] = []
        self.constraints: list[Constraint] = []
        self.parameters = NO_PARAMETERS
        self.result = self.node()
        self.yields = NOTHING
        self.is_async = False
        self.is_decorated = False
        self.returns = NOTHING
        self.declines = False
        self.absent = ""
        """The parameter that is None where the statements now stand."""
        self.without: list[tuple[str, int]] = []
        """Parameters and what is returned where one of them is None."""
        self.children: list[CodeBuilder] = []
        self.captured: set[str] = set()
        if outer is not None:
            outer.children.append(self)

    def node(self) -> int:
        """A new node."""
        self.nodes += 1
        return self.nodes - 1

    def add(self, *constraint: object) -> None:
        """Add a constraint."""
        self.constraints.append(constraint)

    def copy(self, source: int, target: int) -> None:
        """Let values flow from one node to another."""
        if NOTHING not in (source, target) and source != target:
            self.copies.append((source, target))

    def binds(self, name: str) -> bool:
        """Whether the name belongs to this code."""
        return name in self.scope.bindings or name in self.inner_names

    def cell(self, name: str) -> int:
        """The node of a name as nested codes see it."""
        found = self.cells.get(name)
        if found is None:
            found = self.cells[name] = self.node()
        return found

    def assign(self, name: str, value: int) -> None:
        """Make `value` the name's version from here on."""
        if self.env is None:
            self.env = {}
        if value == NOTHING:
            value = self.node()
        self.kill_paths(name)
        self.env[name] = value
        self.versions.setdefault(name, []).append(value)

    def kill_paths(self, name: str) -> None:
        """Forget what is known of the parts of `name`; of everything's parts when it is ""."""
        env = self.env
        if not env:
            return
        if not name:
            for path in [path for path in env if path[-1] in "]."]:
                del env[path]
            return
        for path in [path for path in env if path[-1] in "]." and path.startswith((f"{name}[", f"{name}."))]:
            del env[path]

    def kill_part(self, part: str) -> None:
        """Forget every path that ends in `part`: an object with another name may be the same."""
        env = self.env
        if env:
            for path in [path for path in env if path.endswith(part)]:
                del env[path]

    def merge(self, states: list[dict[str, int] | None]) -> None:
        """Go on where several ways meet."""
        live = [state for state in states if state is not None]
        if not live:
            self.env = None
            return
        first = live[0]
        if all(state is first for state in live):
            self.env = dict(first)
            return
        merged: dict[str, int] = {}
        names = dict.fromkeys(name for state in live for name in state)
        for name in names:
            found = list(dict.fromkeys(state[name] for state in live if name in state))
            if name[-1] in "]." and any(name not in state for state in live):
                continue
            if len(found) == 1:
                merged[name] = found[0]
                continue
            node = merged[name] = self.node()
            for value in found:
                self.copy(value, node)
        self.env = merged

    def finish(self, suffix: str) -> Code:
        """The finished code; its children must be finished."""
        env = self.env or {}
        names: dict[str, int] = {}
        if self.kind in ("module", "class"):
            for name, versions in self.versions.items():
                names[name] = env.get(name, versions[-1])
            for name in self.cells:
                names.setdefault(name, self.cells[name])
        for name, value in names.items():
            if value > NODE_MASK:
                names[name] = self.node()
                self.copy(value, names[name])
        for name, cell in self.cells.items():
            if self.kind == "module":
                if name in self.versions:
                    self.copy(names[name], cell)
                    names[name] = cell
            else:
                for version in self.versions.get(name, ()):
                    self.copy(version, cell)
        without = self._results_without()
        new = self._new() if suffix.endswith(".__new__") else (False, False)
        passes, attributes = self._passes() if self.kind in ("function", "lambda") else ((), ())
        size = len(self.constraints) + sum(child.size for child in self.children)
        self.size = size
        return Code(
            self.kind, suffix, self.outer.number if self.outer else NOTHING, self.nodes, self.parameters, self.result,
            self.yields, self.is_async, names, tuple(dict.fromkeys(self.copies)), tuple(self.constraints), passes,
            attributes, size <= MAX_CLONED_SIZE and self._is_cloned(), self.returns, size, self.is_decorated,
            self.declines, without, *new,
        )  # fmt: skip

    size: int = 0

    def _sources(self, target: int) -> set[int]:
        """The nodes of this code that flow into `target` by copies."""
        incoming: dict[int, list[int]] = {}
        for source, to in self.copies:
            incoming.setdefault(to, []).append(source)
        for row in self.constraints:
            if row[0] == FILTER:
                incoming.setdefault(row[1], []).append(row[2])
        found, pending = {target}, [target]
        while pending:
            for source in incoming.get(pending.pop(), ()):
                if source not in found and source >> LEVEL_BITS == 0:
                    found.add(source)
                    pending.append(source)
        return found

    def _passes(self) -> tuple[tuple[int, ...], tuple[tuple[int, str], ...]]:
        """Cut what is returned into what comes from parameters and the rest, so that one call's argument is not
        another call's result.
        """
        if self.yields != NOTHING or not any(to == self.result for _, to in self.copies):
            return (), ()
        sources = self._sources(self.result)
        numbers = {node: number for number, (_, node) in enumerate(self.parameters.positional)}
        passes = tuple(sorted(numbers[node] for node in sources if node in numbers))
        attributes = {
            row[1]: (numbers[row[2]], row[3])
            for row in self.constraints
            if row[0] == ATTR and row[1] in sources and row[2] in numbers
        }
        if not passes and not attributes:
            return (), ()
        made = {row[1] for row in self.constraints if row[0] in PRODUCING or (row[0] == FILTER and row[2] > NODE_MASK)}
        outer = [(s, self.result) for s, to in self.copies if to in sources and s >> LEVEL_BITS]
        self.copies = [row for row in self.copies if row[1] != self.result] + outer
        for node in sources:
            if node in made and node not in attributes and node != self.result:
                self.copy(node, self.result)
        return passes, tuple(attributes.values())

    def _results_without(self) -> tuple[tuple[int, int], ...]:
        numbers = {name: number for number, (name, _) in enumerate(self.parameters.positional)}
        for name, node in self.without:
            if name not in numbers:
                self.copy(node, self.result)
        return tuple((numbers[name], node) for name, node in self.without if name in numbers)

    def _new(self) -> tuple[bool, bool]:
        """Of a `__new__`: whether it returns what another one makes of its class, and whether only constants."""
        sources = self._sources(self.result)
        own = {node for _, node in self.parameters.positional[:1]}
        asked = {row[1] for row in self.constraints if row[0] == ATTR and row[3] == "__new__"}
        made = [row for row in self.constraints if row[0] in PRODUCING and row[1] in sources]
        makes_own = any(
            row[0] == CALL and row[2] in asked and row[3] and row[3][0] != NOTHING and self._sources(row[3][0]) & own
            for row in made
        )
        parameters = {node for _, node in (*self.parameters.positional, *self.parameters.keyword_only)}
        from_outside = any(target in sources and source > NODE_MASK for source, target in self.copies)
        is_plain = all(row[0] == CONST for row in made) and not from_outside and sources.isdisjoint(parameters)
        return makes_own, is_plain

    def _is_cloned(self) -> bool:
        """What is returned depends on the arguments: a closure over them, the result of calling one, an attribute that
        one names.
        """
        if self.kind not in ("function", "lambda") or not self.parameters.positional:
            return False
        sources = self._sources(self.result)
        own = {node for _, node in self.parameters.positional}
        own_names = {name for name, _ in self.parameters.positional}
        for row in self.constraints:
            if row[0] == CALL and row[1] in sources and row[2] >> LEVEL_BITS == 0 and self._sources(row[2]) & own:
                return True
            if row[0] == NAMED and row[1] in sources and row[3] >> LEVEL_BITS == 0 and self._sources(row[3]) & own:
                return True
        closures = [child for child in self.children if child.kind != "module"]
        makes = any(row[0] in (FUNC, CLASS) for row in self.constraints)
        return makes and any(child.uses(own_names, 1) for child in closures)

    def uses(self, names: set[str], level: int) -> bool:
        """Whether this code or one within it sees any of the names, bound `level` codes outside."""
        return bool(self.captured & names) or any(child.uses(names, level + 1) for child in self.children)


def dotted_path(node: ast.expr) -> str:
    """A name for a place that an assignment in the same body can be followed through: `d["a"]`, `x.f.`; "" for others.

    An attribute's path ends in a dot, so that no path is also a name.
    """
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Subscript):
            key = node.slice
            if isinstance(key, ast.UnaryOp) or not isinstance(key, ast.Constant):
                return ""
            parts.append(f"[{key.value!r}]")
            node = node.value
        elif isinstance(node, ast.Attribute):
            parts.append(f".{node.attr}.")
            node = node.value
        elif isinstance(node, ast.Name):
            return node.id + "".join(reversed(parts))
        else:
            return ""


def outward(levels: int, node: int) -> int:
    """The node of a code `levels` outside, as a constraint writes it."""
    assert node <= NODE_MASK
    return levels << LEVEL_BITS | node
