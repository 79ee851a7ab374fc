"""Chooses what a call-graph drawing shows: who reaches a function on its left, what it reaches on its right.

A drawing is for reading, so it has at most `NODE_CAP` nodes and says what it leaves out: helpers that everybody calls,
macro expansions, operators and constructors go first, and "+N more" leads to the list that has them all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xref.model import Evidence, Id
from xref.site.callgraph import Edge
from xref.site.drawable import GIVEN, HUB_CALLERS, in_tests
from xref.site.facts import STRENGTH
from xref.site.links import Linker

NODE_CAP = 32
"""Nodes of a drawing, keys and "+N more" included."""
_NEAR = 13
"""Neighbours of the middle on each side, more when the other side has fewer."""
_FAR = 3
"""Neighbours of each of those."""
ALWAYS_DRAWN = (Evidence.REGISTRY, "observed")
"""Evidence that tells something about a function even where the other end is a helper."""
_QUIET_KINDS = ("constructor", "destructor", "conversion", "class", "struct", "typedef", "macro", "variable", "field")


_KIND_WORDS = {"static_init": "static initialiser"}


@dataclass(slots=True)
class Node:
    """A box: a symbol, a key ("key") or what was left out ("more"). `title` is shown on hover."""

    id: str
    kind: str
    label: str
    sub: str
    lang: str
    href: str | None
    title: str
    cluster: int = -1


@dataclass(slots=True)
class Arrow:
    """A call; `label` is the number of calls that a run counted."""

    tail: str
    head: str
    evidence: str
    href: str | None
    title: str
    label: str = ""


@dataclass(slots=True)
class Drawing:
    """Nodes in order of choice, the middle first; `clusters` are file paths by number; `left_out` counts callees that
    are not drawn, `callers_out` callers."""

    nodes: dict[str, Node] = field(default_factory=dict)
    arrows: dict[tuple[str, str, str], Arrow] = field(default_factory=dict)
    clusters: list[str] = field(default_factory=list)
    left_out: int = 0
    callers_out: int = 0

    def levels(self) -> dict[str, int]:
        """How far each node is from the middle: callers below zero, callees above, those that are both as callers."""
        if not self.nodes:
            return {}
        into: dict[str, list[str]] = {}
        out: dict[str, list[str]] = {}
        for arrow in self.arrows.values():
            into.setdefault(arrow.head, []).append(arrow.tail)
            out.setdefault(arrow.tail, []).append(arrow.head)
        found = {next(iter(self.nodes)): 0}
        frontiers = [(-1, into, list(found)), (1, out, list(found))]
        while frontiers:
            step, ways, frontier = frontiers.pop(0)
            further = []
            for node in frontier:
                for other in ways.get(node, ()):
                    if other not in found:
                        found[other] = found[node] + step
                        further.append(other)
            if further:
                frontiers.append((step, ways, further))
        return found

    @property
    def full(self) -> bool:
        """Whether only room for a "+N more" on each side is left."""
        return len(self.nodes) >= NODE_CAP - 2


class Drawer:
    """Makes the drawing of one symbol after another."""

    def __init__(self, linker: Linker) -> None:
        self._linker = linker
        self._plan = linker.plan

    def draw(self, middle: Id, lists: str) -> Drawing:
        """The drawing around `middle`; `lists` is the address of its page, whose lists have what is left out."""
        drawing = Drawing()
        self.add(drawing, middle)
        above = self._ranked(middle, "callers", {middle}, middle)
        below = self._ranked(middle, "callees", {middle}, middle)
        room_above = max(_NEAR, 2 * _NEAR - len(below))
        room_below = max(_NEAR, 2 * _NEAR - len(above))
        near_above, near_below = above[:room_above], below[:room_below]
        for edges in near_above + near_below:
            self.connect(drawing, edges)
        for side, every, chosen in (("callers", above, near_above), ("callees", below, near_below)):
            self._more(drawing, middle, side, len(every) - len(chosen), f"{lists}#{side}")
        drawing.left_out = self._quiet(middle)
        drawing.callers_out = len({
            edge.caller for edge in self._plan.graph.callers(middle)
            if edge.caller != middle and edge.evidence != Evidence.NAME and self._linker.name(edge.caller).file >= 0
            and not self._telling(edge, edge.caller, middle)
        })  # fmt: skip
        for side, chosen in (("callers", near_above), ("callees", near_below)):
            self._second(drawing, side, chosen, middle)
        return drawing

    def _second(self, drawing: Drawing, side: str, chosen: list[list[Edge]], middle: Id) -> None:
        """The neighbours' neighbours on the same side; many when there are few neighbours."""
        each = _FAR if len(chosen) > 2 else 2 * _NEAR
        shown = {edge.caller for edges in chosen for edge in edges} | {
            edge.callee for edges in chosen for edge in edges
        }
        for edges in chosen:
            near = edges[0].caller if side == "callers" else edges[0].callee
            further = self._ranked(near, side, shown, middle)
            taken = 0
            for more in further[:each]:
                if drawing.full:
                    break
                self.connect(drawing, more)
                taken += 1
            address = self._linker.address(near)
            if taken and len(drawing.nodes) < NODE_CAP:
                self._more(drawing, near, side, len(further) - taken, address or "")

    def _ranked(self, of: Id, side: str, shown: set[Id], middle: Id) -> list[list[Edge]]:
        """The neighbours worth drawing, best first, each with its edges."""
        graph = self._plan.graph
        found: dict[Id, list[Edge]] = {}
        for edge in graph.callers(of) if side == "callers" else graph.callees(of):
            far = edge.caller if side == "callers" else edge.callee
            if far not in shown and self._telling(edge, far, middle):
                found.setdefault(far, []).append(edge)
        own = self._linker.name(of)

        def rank(item: tuple[Id, list[Edge]]) -> tuple[object, ...]:
            far, edges = item
            name = self._linker.name(far)
            ran = any((edge.caller, edge.callee) in self._plan.observed for edge in edges)
            return (
                name.lang == own.lang,
                not ran,
                name.kind == "static_init",
                side == "callers" and far in self._plan.dispatchers,
                name.file >= 0 and in_tests(self._plan.files[name.file].path),
                min(STRENGTH.get(edge.evidence, 99) for edge in edges),
                name.file != own.file,
                self._plan.callers.get(far, 0),
                far,
            )

        return [edges for _, edges in sorted(found.items(), key=rank)]

    def _telling(self, edge: Edge, far: Id, middle: Id) -> bool:
        """Whether an edge says something about its ends rather than about helpers, or code outside the usual scope."""
        if edge.evidence == Evidence.NAME or edge.caller == edge.callee:
            return False
        name = self._linker.name(far)
        if name.file in self._plan.away and self._linker.name(middle).file not in self._plan.away:
            return False
        if edge.evidence in GIVEN and edge.caller in self._plan.dispatchers and edge.caller != middle:
            return False
        if name.file < 0 or (edge.in_macro and far == edge.callee):
            return False
        if edge.evidence in ALWAYS_DRAWN:
            return True
        if far == edge.caller:
            return True
        return (
            name.kind not in _QUIET_KINDS
            and not name.name.startswith("operator")
            and self._plan.callers.get(far, 0) <= HUB_CALLERS
        )

    def _quiet(self, middle: Id) -> int:
        """How many callees of the middle are not drawn because they are helpers."""
        return len({
            edge.callee for edge in self._plan.graph.callees(middle)
            if edge.callee != middle and edge.evidence != Evidence.NAME and not self._telling(edge, edge.callee, middle)
        })  # fmt: skip

    def add(self, drawing: Drawing, id_: Id) -> str:
        """The box of a symbol."""
        key = f"n{id_:x}"
        if key not in drawing.nodes:
            name = self._linker.name(id_)
            path = self._plan.files[name.file].path if name.file >= 0 else "(outside the tree)"
            if path not in drawing.clusters:
                drawing.clusters.append(path)
            label = self._linker.label(id_)
            parameters = self._plan.parameters.get(id_, "")
            drawing.nodes[key] = Node(
                key, "symbol", short_label(name.short),
                short_label(parameters) if len(parameters) > 2 else _KIND_WORDS.get(name.kind, name.kind), name.lang,
                self._linker.address(id_), f"{label}{parameters}" + _at(name.line), drawing.clusters.index(path),
            )  # fmt: skip
        return key

    def connect(self, drawing: Drawing, edges: Iterable[Edge]) -> None:
        """Add the edges of one pair, through a node for the key where one leads there; the surest edge is drawn."""
        edge = min(edges, key=lambda edge: (STRENGTH.get(edge.evidence, 99), edge))
        if len(drawing.nodes) + 1 > NODE_CAP:
            return
        tail, head = self.add(drawing, edge.caller), self.add(drawing, edge.callee)
        href = self._plan.place_at(edge.file, edge.line) if edge.file >= 0 else None
        where = _at(edge.line) if edge.file >= 0 else ""
        ran = self._plan.observed.get((edge.caller, edge.callee), {})
        counts = "; ".join(f"run {run}: {count:,} calls" for run, count in sorted(ran.items()))
        title = "\n".join(filter(None, (f"{edge.evidence}{where}", counts)))
        label = f"×{max(ran.values()):,}" if ran else ""
        if edge.evidence == Evidence.REGISTRY and edge.via:
            key = f"k{edge.via}"
            if key not in drawing.nodes:
                drawing.nodes[key] = Node(
                    key, "key", short_label(edge.via), "key", "", self._linker.any_key(edge.via), f"key {edge.via}"
                )
            self._arrow(drawing, Arrow(tail, key, edge.evidence, href, title, label))
            self._arrow(drawing, Arrow(key, head, edge.evidence, drawing.nodes[key].href, f"{edge.via} runs this"))
        else:
            self._arrow(drawing, Arrow(tail, head, edge.evidence, href, title, label))

    @staticmethod
    def _arrow(drawing: Drawing, arrow: Arrow) -> None:
        drawing.arrows.setdefault((arrow.tail, arrow.head, arrow.evidence), arrow)

    def _more(self, drawing: Drawing, of: Id, side: str, count: int, href: str) -> None:
        if count <= 0:
            return
        at = self.add(drawing, of)
        key = f"m{side}{at}"
        noun = side if count > 1 else side[:-1]
        drawing.nodes[key] = Node(key, "more", f"+{count:,} more", "", "", href, f"{count:,} more {noun}: see the list")
        tail, head = (key, at) if side == "callers" else (at, key)
        drawing.arrows[tail, head, "more"] = Arrow(tail, head, "more", href, f"{count:,} more {noun}")


def _at(line: int) -> str:
    """Where in a file, after what stands there; nothing where it is unknown."""
    return f", line {line}" if line else ""


def short_label(text: str, limit: int = 30) -> str:
    """A label that fits a box: the beginning and the end of a long name; what a lambda is for stays whole."""
    if len(text) <= limit:
        return text
    purpose = len(text) - text.rfind("::{") if text.endswith("}") else 0
    end = purpose if limit // 2 < purpose <= limit - 6 else limit // 2
    return f"{text[: limit - end - 1]}…{text[len(text) - end :]}"
