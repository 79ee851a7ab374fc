"""The pages of the walks: each step with its code, how the step before leads to it, what runs saw of it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple

from markupsafe import Markup, escape

from xref.model import Evidence, Id
from xref.site import urls
from xref.site.assets import render
from xref.site.callgraph import Edge
from xref.site.calls import EVIDENCE_WORDS
from xref.site.codeview import with_root
from xref.site.drawing import Drawer, Drawing
from xref.site.excerpts import shown_lines
from xref.site.layout import render_drawings
from xref.site.links import Line, Linker, SymbolLink
from xref.site.names import CONTAINERS
from xref.site.outputs import Output
from xref.site.source_pages import Code, code_of, code_rows
from xref.site.sources import SourceFile
from xref.site.texts import lead
from xref.site.walks import Step, Walk

_HOPS = 4
_REST = 2
"""Lines at the end of a definition that are shown with the others: a link to them would take as much room."""
_EARLIER_HOPS = 2
"""Calls of a chain from the step before, and from an earlier one."""
_VISITED = 6000
_CODE = re.compile(r"`([^`]+)`")
_HUB = 400
"""Chains do not go through functions that so many others call: they would explain nothing."""


class Hop(NamedTuple):
    """A call on the way to a step."""

    symbol: SymbolLink
    words: str
    evidence: str
    via: str
    via_href: str | None
    site: Line
    ran: list[tuple[str, int]]


class StepView(NamedTuple):
    """A step as its page shows it: `hops` lead from step `origin` to it, or `backwards` from it to that step."""

    number: int
    what: str
    text: Markup
    symbol: SymbolLink | None
    lang: str
    kind: str
    code: Markup
    first: int
    more: int
    hops: list[Hop]
    origin: int
    backwards: bool
    ran: list[tuple[str, int]]


def url_of(walk: Walk) -> str:
    """The address of a walk's page."""
    return f"walks/{urls.safe_segment(walk.name)}.html"


def index_page(walks: Sequence[Walk], site: str) -> Output:
    """The list of walks."""
    url = "walks/index.html"
    rows = [(walk, url_of(walk), len(walk.steps)) for walk in walks]
    return Output(url, render("walks.html.j2", title="Walks", site=site, root=urls.root_of(url), walks=rows))


def walk_page(
    linker: Linker, code: Callable[[SourceFile], Code], walk: Walk, dot: Sequence[str] | None, site: str
) -> Output:
    """The page of one walk; `code` gives the lines of a file."""
    maker = _Maker(linker, code, urls.root_of(url_of(walk)))
    steps = [maker.step(number, step, walk.steps[: number - 1]) for number, step in enumerate(walk.steps, 1)]
    plan = linker.plan
    at = plan.walks.index(walk)
    beside = [plan.walks[other] if 0 <= other < len(plan.walks) else None for other in (at - 1, at + 1)]
    return Output(url_of(walk), render(
        "walk.html.j2", title=walk.title, site=site, root=urls.root_of(url_of(walk)), walk=walk, steps=steps,
        drawing=maker.drawing(walk, dot), previous=beside[0] and (beside[0].title, url_of(beside[0])),
        next=beside[1] and (beside[1].title, url_of(beside[1])),
    ))  # fmt: skip


class _Maker:
    def __init__(self, linker: Linker, code: Callable[[SourceFile], Code], root: str) -> None:
        self._linker, self._code_of, self._root = linker, code, root
        self._edges: list[Edge] = []

    def step(self, number: int, step: Step, before: list[Step]) -> StepView:
        """One step, with the calls that lead to it."""
        text = Markup(_CODE.sub(r"<code>\1</code>", str(escape(step.text))))  # noqa: S704 - escaped just here
        linker, id_ = self._linker, step.symbol
        if id_ is None:
            return StepView(number, step.what, text, None, "", "", Markup(), 0, 0, [], 0, False, [])
        chain, origin, backwards = self._way(before, id_)
        self._edges += chain
        code, first, more = self._code(id_, step)
        name = linker.name(id_)
        ran: dict[str, int] = {}
        for edge in linker.plan.graph.callers(id_):
            for run, count in linker.plan.observed.get((edge.caller, id_), {}).items():
                ran[run] = ran.get(run, 0) + count
        return StepView(
            number, step.what, text, linker.symbol(id_), name.lang, name.kind, code, first, more,
            [self._hop(edge) for edge in chain], origin, backwards, sorted(ran.items()),
        )  # fmt: skip

    def _hop(self, edge: Edge) -> Hop:
        linker = self._linker
        path = linker.plan.files[edge.file].path if edge.file >= 0 else ""
        words = {**EVIDENCE_WORDS, "encloses": "written inside it"}
        row = linker.sources.line(linker.plan.files[edge.file], edge.line) if edge.file >= 0 else ""
        name = linker.name(edge.callee).name
        at = row.find(name)
        site = linker.place(path, edge.line)
        if row.strip():
            cut = (row[:at].lstrip(), name, row[at + len(name) :].rstrip()) if at >= 0 else ("", "", row.strip())
            site = Line(site.path, site.line, site.href, *cut)
        return Hop(
            linker.symbol(edge.callee), words.get(edge.evidence, edge.evidence), edge.evidence, edge.via,
            linker.any_key(edge.via) if edge.via else None, site,
            sorted(linker.plan.observed.get((edge.caller, edge.callee), {}).items()),
        )  # fmt: skip

    def _code(self, id_: Id, step: Step) -> tuple[Markup, int, int]:
        """Some lines of the definition, and how many more there are below them."""
        name = self._linker.name(id_)
        file = self._linker.plan.files[name.file]
        code = self._code_of(file)
        if not code.linked or not 0 < name.line <= len(code.lines):
            return Markup(), 0, 0
        start, end = lead(code.text.rows, name.line), max(name.end_line, name.line)
        if step.show:
            start = next((at for at in range(name.line, end + 1) if step.show in code.text.rows[at - 1]), start)
        shown = shown_lines(code.text.rows, file.lang, start, end, step.lines, head=not step.show)
        if end - shown[-1] <= _REST:
            shown += range(shown[-1] + 1, end + 1)
        page = urls.source_url(file.path)
        html = with_root(code_rows(code, shown), self._root).replace("<a href=#L", f"<a href={self._root}{page}#L")
        return Markup(html), start, end - shown[-1]  # noqa: S704 - escaped in codeview

    def _way(self, before: list[Step], goal: Id) -> tuple[list[Edge], int, bool]:
        """The calls that lead to a step: from the one before it, from it to the one before, from an earlier one."""
        starts = [(number, step.symbol) for number, step in enumerate(before, 1) if step.symbol not in (None, goal)]
        for number, start in reversed(starts):
            assert start is not None
            near = number == len(before)
            chain = self._chain(start, goal, _HOPS if near else _EARLIER_HOPS)
            if chain:
                return chain, number, False
            chain = self._chain(goal, start, _HOPS) if near else []
            if chain:
                return chain, number, True
        return [], 0, False

    def _chain(self, start: Id, goal: Id, hops: int) -> list[Edge]:
        """A shortest chain of calls; a class stands for its members."""
        plan = self._linker.plan
        goals = self._members(goal)
        came: dict[Id, Edge | None] = dict.fromkeys(sorted(self._members(start)), None)
        frontier = list(came)
        for _ in range(hops):
            further: list[Id] = []
            for id_ in frontier:
                for edge in plan.graph.callees(id_):
                    helper = plan.callers.get(edge.callee, 0) > _HUB and edge.callee not in goals
                    if edge.callee in came or edge.evidence == Evidence.NAME or edge.in_macro or helper:
                        continue
                    came[edge.callee] = edge
                    if edge.callee in goals:
                        return _back(came, edge)
                    further.append(edge.callee)
            if len(came) > _VISITED:
                break
            frontier = further
        return []

    def _members(self, id_: Id) -> set[Id]:
        is_class = self._linker.name(id_).kind in CONTAINERS
        return {id_, *(self._linker.plan.children.get(id_, ()) if is_class else ())}

    def drawing(self, walk: Walk, dot: Sequence[str] | None) -> Markup:
        """All steps and the calls between them, from left to right."""
        drawer, drawing = Drawer(self._linker), Drawing()
        for step in walk.steps:
            if step.symbol is not None:
                drawer.add(drawing, step.symbol)
        for edge in self._edges:
            drawer.connect(drawing, [edge])
        if dot is None or len(drawing.nodes) < 2:
            return Markup()
        [svg] = render_drawings(dot, [drawing], [f"Calls of the walk: {walk.title}"])
        return Markup(with_root(svg, self._root)) if isinstance(svg, Markup) else Markup()  # noqa: S704


def _back(came: dict[Id, Edge | None], last: Edge) -> list[Edge]:
    chain = [last]
    while (edge := came[chain[0].caller]) is not None:
        chain.insert(0, edge)
    return chain


def walk_pages(db: sqlite3.Connection, linker: Linker, dot: Sequence[str] | None, site: str) -> Iterator[Output]:
    """The list of walks and the page of each; nothing where no recipe fits the tree."""
    if linker.plan.walks:
        yield index_page(linker.plan.walks, site)
    code = cache(partial(code_of, db, linker))  # several steps stand in one file
    for walk in linker.plan.walks:
        yield walk_page(linker, code, walk, dot, site)
