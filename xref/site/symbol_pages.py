"""Makes the pages of the symbols of one file: their own pages, the shared page of the small ones, and further pages."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from markupsafe import Markup

from xref.graph import ENCLOSES
from xref.model import Id
from xref.query import why as query_why
from xref.query.answers import symbol_rows
from xref.query.types import Match
from xref.site import symbol_view as view
from xref.site import urls
from xref.site.assets import counted, digest, render
from xref.site.calls import EVIDENCE_WORDS, FIRST_ROWS, MORE_ROWS, CallList, call_list
from xref.site.codeview import with_root
from xref.site.crossings import Crossing, counterparts
from xref.site.descent import descents
from xref.site.drawing import Drawer, Drawing
from xref.site.excerpts import shown_lines
from xref.site.facts import Facts, gather, lacks_facts
from xref.site.layout import render_drawings
from xref.site.links import Linker
from xref.site.names import CONTAINERS, RUNNABLE
from xref.site.outputs import Output
from xref.site.outputs import page as marked_page
from xref.site.packing import Page
from xref.site.source_pages import Code, code_rows, outline_of
from xref.site.symbol_view import SymbolView
from xref.site.texts import brief, clean_doc, lead

EXCERPT_LINES = 7
"""Lines of a definition that its page shows; of a symbol on a shared page, `SMALL_EXCERPT`."""
SMALL_EXCERPT = 3
_LED = {*RUNNABLE, *CONTAINERS, "typedef"} - {"module"}
"""Kinds whose definition may begin above the line of the name."""
_CHUNK = 400
"""Symbols whose facts are read at once: bounds the memory of a worker."""
_UNREAD = "some files could not be read, or only in part: see Health"
"""Of an index in which this is so. Their number stands there alone, so that another one changes no other page."""
_LINK = re.compile(r"</?a\b[^>]*>")
_LOCAL_LINK = re.compile(r"<a href=#L\d+>([^<]*)</a>")
_FOLDED = (
    ("constructors, conversions and operators", "quiet"),
    ("outside the tree", "outside"),
    ("inside macro expansions", "expanded"),
)


class Drawn(NamedTuple):
    """A drawing, what it leaves out, (evidence, words) of its lines, and what it was laid out from."""

    svg: Markup
    note: str
    legend: list[tuple[str, str]]
    source: Drawing | None = None


NOT_DRAWN = Drawn(Markup(), "", [])


class TableItem(NamedTuple):
    """A symbol in the list at the top of a file's symbols."""

    name: str
    kind: str
    line: int
    line_href: str
    href: str | None
    callers: int
    depth: int


class SymbolPages:
    """Makes pages for one process. `dot` is the layout command, None when there is none."""

    def __init__(self, db: sqlite3.Connection, linker: Linker, dot: Sequence[str] | None, site: str) -> None:
        self._db = db
        self._linker = linker
        self._plan = linker.plan
        self._dot = dot
        self._site = site
        self._drawer = Drawer(linker)
        self._spelled = view.unresolved_words(db)
        self._unread = _UNREAD if lacks_facts(db) else ""
        self.drawn = 0
        self.marks: dict[str, str] = {}
        """Of the pages made: code of a symbol -> mark of its drawing and its counterparts, where it has any."""

    def same(self, page: Page, before: Mapping[str, str]) -> bool:
        """Whether drawings and counterparts of a page are those of `before`, the marks of the site in place."""
        ids = ([] if page.main is None else [page.main]) + page.members
        for id_ in ids:
            drawing = self._drawer.draw(id_, page.url) if self._dot and id_ in self._plan.drawn else None
            mark = far_mark(drawing, counterparts(self._linker, id_))
            if mark != before.get(self._plan.packing.code[id_], ""):
                return False
        return True

    def of_file(self, position: int, code: Code, only: Collection[str] | None = None) -> Iterator[Output]:
        """The symbol pages of the file at `position`: all, or those in `only`."""
        file = self._plan.files[position]
        pages = list(self._plan.packing.by_file.get(position, ()))
        shared = urls.outline_url(file.path)
        if all(page.url != shared for page in pages):
            pages.append(Page(shared, None))
        if only is not None:
            pages = [page for page in pages if page.url in only]
        yield from self._pages(pages, position, code)

    def outside(self, pages: Sequence[Page]) -> Iterator[Output]:
        """The pages of symbols from outside the tree."""
        yield from self._pages(pages, -1, None)

    def _pages(self, pages: Sequence[Page], position: int, code: Code | None) -> Iterator[Output]:
        chunk: list[Page] = []
        size = 0
        for page in pages:
            chunk.append(page)
            size += len(page.members) + 1
            if size >= _CHUNK:
                yield from self._some(chunk, position, code)
                chunk, size = [], 0
        yield from self._some(chunk, position, code)

    def _some(self, pages: Sequence[Page], position: int, code: Code | None) -> Iterator[Output]:
        ids = [id_ for page in pages for id_ in ((page.main,) if page.main is not None else ()) + tuple(page.members)]
        facts = gather(self._db, ids, runs=bool(self._plan.runs))
        macros = self._macros(position)
        drawings = self._drawings([page for page in pages if page.main in self._plan.drawn])
        for page in pages:
            views = []
            if page.main is not None:
                drawn = drawings.get(page.main, NOT_DRAWN)
                views.append(self._view(facts[page.main], macros, code, drawn, own=True))
            views += [self._view(facts[id_], macros, code, NOT_DRAWN, own=False) for id_ in page.members]
            yield self._page(page, views, position)
            for shown in views:
                yield from self._further(shown)

    def _macros(self, position: int) -> dict[tuple[str, int, int], str]:
        """Where macros are expanded in a file: a call at the same place was written by the macro."""
        if position < 0:
            return {}
        path = self._plan.files[position].path
        rows = self._db.execute(
            "SELECT r.line, r.col, s.name FROM refs r JOIN symbol s ON s.id = r.symbol_id"
            " WHERE r.path = ? AND r.role = 'macro'", (path,)
        )  # fmt: skip
        return {(path, line, col): name for line, col, name in rows}

    def _drawings(self, pages: Sequence[Page]) -> dict[Id, Drawn]:
        if self._dot is None or not pages:
            return {}
        made: list[tuple[Id, Drawing, str]] = []
        alone: dict[Id, Drawn] = {}
        for page in pages:
            assert page.main is not None
            drawing = self._drawer.draw(page.main, page.url)
            if len(drawing.nodes) <= 1:
                alone[page.main] = Drawn(Markup(), "", [], drawing)
            else:
                made.append((page.main, drawing, f"Call graph of {self._linker.label(page.main)}"))
        results = render_drawings(self._dot, [drawing for _, drawing, _ in made], [title for _, _, title in made])
        found = alone
        for (id_, drawing, _), svg in zip(made, results, strict=True):
            if isinstance(svg, Markup):
                self.drawn += 1
                root = urls.root_of(urls.symbol_url(self._plan.packing.code[id_]))
                html = Markup(with_root(svg, root))  # noqa: S704 - escaped in layout
                found[id_] = Drawn(html, note_of(drawing), _legend(drawing), drawing)
            else:
                found[id_] = Drawn(Markup(), f"No drawing: {svg}.", [], drawing)
        return found

    def _view(
        self, facts: Facts, macros: dict[tuple[str, int, int], str], code: Code | None, drawn: Drawn, *, own: bool
    ) -> SymbolView:
        linker, id_ = self._linker, facts.id
        name = linker.name(id_)
        short = self._plan.packing.code[id_]
        sites = view.caller_sites(self._db, linker, facts)
        callers = call_list(linker, id_, sites, "callers", short, spelled=name.name, small=not own)
        lines, first, rest = self._excerpt(facts, code, EXCERPT_LINES if own else SMALL_EXCERPT)
        written, *folded = view.calls_of(
            linker, facts, short, view.split_callees(linker, facts, macros), brief=not own and bool(lines)
        )
        more = [(words, part, calls) for (words, part), calls in zip(_FOLDED, folded, strict=True) if calls.total]
        path = self._plan.files[name.file].path if name.file >= 0 else ""
        members = view.members(linker, id_) if own else []
        callable_ = view.is_callable(name, callers, written)
        speaks = callable_ and (name.kind != "module" or callers.total > 0)
        keys = view.key_views(linker, facts.keys)
        crossings, below = counterparts(linker, id_), descents(linker, id_, short)
        if mark := far_mark(drawn.source, crossings):
            self.marks[short] = mark
        return SymbolView(
            id=id_, code=short, own_page=own, name=name, label=linker.label(id_), scope=view.scope_of(linker, name),
            parameters=self._plan.parameters.get(id_, ""),
            signature=facts.signature if own or not lines else "",
            doc=brief(clean_doc(facts.doc, name.lang), whole=own), place=linker.place(path, name.line),
            end_line=name.end_line, places=[(at.kind, linker.place(at.path, at.line)) for at in facts.places
                    if (at.path, at.line) != (path, name.line)],
            public=self._plan.public.get(id_, []), traits=view.traits(name, facts),
            code_lines=lines, code_first=first, code_more=rest, drawing=drawn.svg,
            drawing_note=drawn.note, legend=drawn.legend,
            callers=callers,
            why_none=linker.sentence(
                view.why_none(self._db, linker, facts, sites, self._spelled, self._unread) if speaks else None
            ),
            callees=written, more_callees=more,
            callee_sites=len({(site.path, site.line, site.col) for site in facts.callees if site.line}),
            why_no_callees=linker.sentence(
                self._why_no_callees(id_)
                if own and speaks and not (written.total or more) and name.kind not in CONTAINERS else None
            ),
            crossings=crossings, keys=keys,
            used_keys=[(registry, key, linker.key(registry, key), linker.place(path, line), status)
                       for registry, key, line, status in facts.used_keys],
            references=view.reference_list(linker, facts, short, called=bool(callers.total), small=not own),
            relations=view.relations(linker, facts, below), descents=below,
            members=members[: view.MEMBERS_SHOWN], more_members=max(0, len(members) - view.MEMBERS_SHOWN),
            unresolved=[(linker.place(at, line), text, reason) for at, line, text, reason in facts.unresolved],
            ran=[(ran, urls.run_url(ran.run), id_ in self._plan.nested.get(ran.run, ())) for ran in facts.ran],
            callable=speaks,
        )  # fmt: skip

    def _why_no_callees(self, id_: Id) -> str | None:
        row = symbol_rows(self._db, [id_]).get(id_)
        return query_why.why_no_callees(self._db, Match(row)) if row else None

    def _excerpt(self, facts: Facts, code: Code | None, limit: int) -> tuple[Markup, int, int]:
        """The first lines of a definition with what leads up to it; how many more there are."""
        name = self._linker.name(facts.id)
        if name.kind == "namespace":  # it begins anywhere, and what comes first tells nothing of the rest
            return Markup(), 0, 0
        if code is None or not code.linked or not name.line or name.line > len(code.lines):
            return Markup(), 0, 0
        start = lead(code.text.rows, name.line) if name.kind in _LED else name.line
        end = max(name.end_line, name.line)
        count = end - start + 1 if end - start + 1 <= limit + 3 else limit
        shown = shown_lines(code.text.rows, name.lang, start, end, count, head=name.kind in _LED)
        root = urls.root_of(self._plan.packing.address[facts.id])
        html = code_rows(code, shown)
        html = _LOCAL_LINK.sub(r"\1", html)  # their line is in sight; their addresses were a third of the page
        if limit == SMALL_EXCERPT:
            html = _LINK.sub("", html)  # one click further the source has them
        return Markup(with_root(html, root)), start, end - shown[-1]  # noqa: S704 - escaped in codeview

    def _page(self, page: Page, views: Sequence[SymbolView], position: int) -> Output:
        root = urls.root_of(page.url)
        file = self._plan.files[position] if position >= 0 else None
        title = views[0].label if page.main is not None else file.path if file else "Symbols from outside the tree"
        table = self._table(position) if page.main is None and file else []
        return Output(page.url, based(page.url, render(
            "symbol.html.j2", title=title, site=self._site, root=root, views=views, table=table,
            heading=file.path.rpartition("/")[2] if file else title,
            file_href=urls.source_url(file.path) if file else None, file_path=file.path if file else "",
        )))  # fmt: skip

    def _table(self, position: int) -> list[TableItem]:
        plan = self._plan
        return [
            TableItem(item.name, item.kind, item.line, plan.place_at(position, item.line),
                      self._linker.address(item.id), plan.callers.get(item.id, 0), item.depth)
            for item in outline_of(self._linker, position)
        ]  # fmt: skip

    def _further(self, shown: SymbolView) -> Iterator[Output]:
        for noun, part, calls in (
            ("callers", "callers", shown.callers),
            ("callees", "callees", shown.callees),
            *((f"callees: {words}", part, calls) for words, part, calls in shown.more_callees),
        ):
            yield from self._call_pages(shown, noun, part, calls)
        for below in shown.descents:
            for number, rows in enumerate(below.pages[1:], 2):
                yield self._more(shown, below.heading, below.part, number, len(below.pages), below.length, rows=rows)
        references = shown.references
        for number, roles in enumerate(references.pages, 2):
            yield self._more(shown, "references", "references", number, len(references.pages) + 1,
                             references.listed, roles=roles)  # fmt: skip

    def _call_pages(self, shown: SymbolView, noun: str, part: str, calls: CallList) -> Iterator[Output]:
        for number, groups in enumerate(calls.pages, 2):
            yield self._more(shown, noun, part, number, len(calls.pages) + 1, calls.rows, groups=groups)

    def _more(self, shown: SymbolView, noun: str, part: str, number: int, pages: int, total: int,
              groups: object = None, roles: object = None, rows: object = None) -> Output:  # fmt: skip
        url = urls.more_url(shown.code, part, number)
        first = (view.FIRST_REFERENCES if roles is not None else FIRST_ROWS) + (number - 2) * MORE_ROWS + 1
        return marked_page(
            url, "more.html.j2", partial(based, url), title=f"{noun} of {shown.label}, page {number}",
            site=self._site, root=urls.root_of(url),
            noun=noun, label=shown.label, back=self._plan.packing.address[shown.id], first=first,
            last=min(first + MORE_ROWS - 1, total), total=total, page=number, pages=pages,
            previous=urls.more_url(shown.code, part, number - 1) if number > 2 else None,
            next=urls.more_url(shown.code, part, number + 1) if number < pages else None,
            groups=groups, roles=roles, rows=rows, row="caller" if part == "callers" else "callee",
        )  # fmt: skip


_ADDRESS = re.compile(r'(<[^<>]*[ -](?:href|src)="?)(#|(?:\.\./)+(?:source/)?)')


def based(url: str, html: str) -> str:
    """A page of symbols with its addresses relative to `source/`, where most of them lead.

    There are over a million, and their way out of the page's folder was a twelfth of the whole site.
    """
    root = urls.root_of(url)
    short = {"#": f"../{url}#", root: "../", f"{root}source/": ""}
    html = _ADDRESS.sub(lambda match: match[1] + short[match[2]], html)
    return html.replace("<meta charset=utf-8>\n", f"<meta charset=utf-8>\n<base href={root}source/>\n", 1)


def far_mark(drawing: Drawing | None, crossings: Sequence[Crossing]) -> str:
    """A digest of what a symbol's page shows of functions two calls away, "" where it shows nothing of them."""
    return digest((drawing, crossings)) if drawing is not None or crossings else ""


def note_of(drawing: Drawing) -> str:
    """What a drawing leaves out, in words."""
    parts = []
    if drawing.callers_out:
        words = "code that runs whatever it is given, or outside the usual scope"
        parts.append(f"{counted(drawing.callers_out, 'caller')} not drawn: {words}.")
    if drawing.left_out:
        words = "helpers, operators, constructors, macro expansions"
        parts.append(f"{counted(drawing.left_out, 'callee')} not drawn: {words}.")
    return " ".join(parts)


def _legend(drawing: Drawing) -> list[tuple[str, str]]:
    words = {**EVIDENCE_WORDS, ENCLOSES: "written inside it"}
    used = {arrow.evidence for arrow in drawing.arrows.values()}
    return [(kind, text) for kind, text in words.items() if kind in used]
