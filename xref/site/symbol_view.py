"""What the page of a symbol shows, ready for its template: facts with names and addresses, lists cut into pages."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from markupsafe import Markup

from xref.model import Evidence, Id
from xref.query import answers as query_answers
from xref.query import why as query_why
from xref.query.types import CallSite, KeyDefRow, Match
from xref.site.calls import MORE_ROWS, CallList, Further, call_list, further
from xref.site.crossings import Crossing
from xref.site.descent import Descent
from xref.site.facts import Facts, Ran, Reference, Site, calls_to
from xref.site.keys import Key
from xref.site.links import Line, Linker, SymbolLink
from xref.site.names import CONTAINERS, LOCAL_KINDS, RUNNABLE, Name

FIRST_REFERENCES = 100
"""References on a symbol's own page; further pages have `MORE_ROWS`."""
_WITH_TEXT, _FEW_WITH_TEXT = 24, 3
"""References that show their line, on a symbol's own page and on a shared one."""
MEMBERS_SHOWN = 300
_WORD = re.compile(r"\w+")
_UPS = {"base": "Derives from", "overrides": "Overrides", "specializes": "Specialises", "counterpart": "Other side"}
_DOWNS = {"base": "Derived directly", "overrides": "Overridden directly by", "specializes": "Specialisations",
          "counterpart": "Other side"}  # fmt: skip
_ENDS = {"base": "class", "overrides": "method", "specializes": "template"}
"""What stands at the other end of a relation, for counting."""


class FileReferences(NamedTuple):
    """References in one file: `lines` with their text, `numbers` of the others."""

    path: str
    href: str | None
    lines: list[Line]
    numbers: list[int]


@dataclass(slots=True)
class RoleReferences:
    """References with one role; `total` counts all, `files` holds those of this page."""

    role: str
    total: int
    files: list[FileReferences] = field(default_factory=list)


@dataclass(slots=True)
class ReferenceList:
    """References by role: `roles` on the symbol's page, `pages` elsewhere; `calls` are those that callers show."""

    total: int = 0
    calls: int = 0
    shown: int = 0
    roles: list[RoleReferences] = field(default_factory=list)
    further: list[Further] = field(default_factory=list)
    pages: list[list[RoleReferences]] = field(default_factory=list)

    @property
    def listed(self) -> int:
        """References that are not shown among the callers."""
        return self.total - self.calls


class KeyView(NamedTuple):
    """A key that runs or names the symbol: registrations, and uses by status with the function around each."""

    registry: str
    name: str
    href: str | None
    definitions: list[tuple[Line, str, str, str]]
    uses: list[tuple[Line, SymbolLink, str, str]]
    more_uses: int


class Member(NamedTuple):
    """A symbol inside another. `line` is 0 when it stands in another file."""

    symbol: SymbolLink
    name: str
    line: Line
    callers: int
    refs: int


@dataclass(slots=True)
class SymbolView:
    """One section of a page. `own_page`: it is what the page is about, else one of several small symbols."""

    id: Id
    code: str
    own_page: bool
    name: Name
    label: str
    scope: list[tuple[str, str | None]]
    parameters: str
    signature: str
    doc: str
    place: Line
    end_line: int
    places: list[tuple[str, Line]]
    public: list[str]
    traits: list[str]
    code_lines: Markup
    code_first: int
    code_more: int
    drawing: Markup
    drawing_note: str
    legend: list[tuple[str, str]]
    """(evidence, words) of the lines in the drawing."""
    callers: CallList
    why_none: list[tuple[str, str | None]]
    """A sentence in pieces, see `Linker.sentence`; empty when a caller is known."""
    why_no_callees: list[tuple[str, str | None]]
    callees: CallList
    callee_sites: int
    """Places of calls in all lists of callees together: several may be called at one."""
    more_callees: list[tuple[str, str, CallList]]
    """(words, part of the address, list) of the callees that are folded away, empty ones left out."""
    crossings: list[Crossing]
    keys: list[KeyView]
    used_keys: list[tuple[str, str, str | None, Line, str]]
    references: ReferenceList
    relations: list[tuple[str, str, list[SymbolLink]]]
    """(heading, what the list has, the list)."""
    descents: list[Descent]
    """What is below it at any distance, where not all of it is directly below it."""
    members: list[Member]
    more_members: int
    unresolved: list[tuple[Line, str, str]]
    ran: list[tuple[Ran, str, bool]]
    """With the address of the run, and whether the calls may have run inside one another."""
    callable: bool

    @property
    def live(self) -> bool:
        """Whether the page draws in the browser: it has calls, and no drawing made at build."""
        runs = self.name.kind in RUNNABLE and self.name.kind != "module"
        return self.own_page and runs and not self.drawing and bool(self.callers.total or self.callees.total)

    @property
    def ran_total(self) -> int:
        """Calls of it over all runs; of a pass that nothing else called, how often it ran."""
        calls = sum(ran.times for ran, *_ in self.ran if ran.kind != "pass")
        return calls or sum(ran.times for ran, *_ in self.ran)

    @property
    def callee_total(self) -> int:
        """Functions called, in all lists together."""
        return self.callees.total + sum(calls.total for _, _, calls in self.more_callees)

    @property
    def counts(self) -> list[tuple[int, str, str]]:
        """(number, noun, anchor) of the lists below, for the line under the title."""
        numbers = (
            (self.callers.total, "caller", "callers"),
            (self.callee_total, "callee", "callees"),
            (self.references.total, "reference", "references" if self.references.listed else "callers"),
            (len(self.keys), "key", "keys"),
        )
        return [item for item in numbers if item[0]]


def split_callees(linker: Linker, facts: Facts, macros: dict[tuple[str, int, int], str]) -> tuple[list[Site], ...]:
    """The calls of a symbol: functions named in its code, the quiet ones, those of macros, those that leave the tree.

    Quiet are constructors, conversions and operators: most of them stand nowhere in the text.
    """
    written: list[Site] = []
    quiet: list[Site] = []
    expanded: list[Site] = []
    outside: list[Site] = []
    for site in facts.callees:
        if (site.path, site.line, site.col) in macros:
            expanded.append(site)
        elif linker.name(site.other).file < 0:
            outside.append(site)
        elif linker.name(site.other).is_quiet and site.evidence != Evidence.REGISTRY:
            quiet.append(site)
        else:
            written.append(site)
    known = {site.other for site in facts.callees}
    for edge in linker.plan.graph.callees(facts.id):
        if edge.evidence == "observed" and edge.callee not in known:
            path = linker.plan.files[edge.file].path if edge.file >= 0 else ""
            written.append(Site(edge.callee, "observed", path, edge.line, 0, ""))
    return written, quiet, outside, expanded


def _by_place(site: Site) -> tuple[str, int, int, str, Id]:
    return site.path, site.line, site.col, site.evidence, site.other


def caller_sites(db: sqlite3.Connection, linker: Linker, facts: Facts) -> list[Site]:
    """The calls of a symbol, of a class also those of its constructors, of an override also those of its base."""
    sites = list(facts.callers)
    if linker.name(facts.id).kind in CONTAINERS:
        sites = sorted({*sites, *calls_to(db, linker.plan.constructors(facts.id))}, key=_by_place)
    if any(kind == "overrides" for kind, _ in facts.ups):
        row = query_answers.symbol_rows(db, [facts.id]).get(facts.id)
        known = {(site.other, site.path, site.line, site.col) for site in sites}
        for found in query_answers.callers(db, row).calls if row else ():
            if found.evidence == Evidence.VIRTUAL and (found.id, found.path, found.line, found.col) not in known:
                sites.append(Site(found.id, found.evidence, found.path, found.line, found.col, found.via))
    known_callers = {site.other for site in sites}
    for edge in linker.plan.graph.callers(facts.id):
        if edge.evidence == "observed" and edge.caller not in known_callers:
            path = linker.plan.files[edge.file].path if edge.file >= 0 else ""
            sites.append(Site(edge.caller, "observed", path, edge.line, 0, ""))
    return sites


def unresolved_words(db: sqlite3.Connection) -> frozenset[str]:
    """The words of all calls that could not be resolved."""
    return frozenset(word for (text,) in db.execute("SELECT text FROM unresolved") for word in _WORD.findall(text))


def why_none(
    db: sqlite3.Connection, linker: Linker, facts: Facts, sites: Sequence[Site], spelled: frozenset[str], unread: str
) -> str | None:
    """Why no caller in the symbol's own language is known, in the words of `xref callers`; None when one is."""
    name = linker.name(facts.id)
    langs = {linker.name(site.other).lang for site in sites}
    if name.lang in langs or (name.lang == "cpp" and "cython" in langs):
        return None
    row = query_answers.symbol_rows(db, [facts.id]).get(facts.id)
    if row is None:
        return None
    calls = [
        CallSite(site.other, "", linker.name(site.other).lang, site.path, site.line, site.col, site.evidence, site.via)
        for site in sites
    ]
    keys = [
        KeyDefRow(key.registry, key.name, at.side, at.path, at.line, at.symbol, at.guard, at.note)
        for key in facts.keys
        for at in key.definitions
        if at.symbol == facts.id
    ]
    return query_why.why_no_callers(db, Match(row, keys=keys, calls=calls), spelled, unread)


def reference_list(linker: Linker, facts: Facts, code: str, *, called: bool, small: bool) -> ReferenceList:
    """The references by role; a namespace is mentioned in every line, so its references are only counted.

    `called`: the page lists callers, so references that are calls are only counted too.
    """
    name = linker.name(facts.id)
    result = ReferenceList(total=len(facts.references))
    if name.kind == "namespace":
        return result
    by_role: dict[str, list[Reference]] = {}
    for reference in facts.references:
        by_role.setdefault(reference.role, []).append(reference)
    result.calls = len(by_role.pop("call", ())) if called else 0
    ordered = [reference for role in sorted(by_role) for reference in by_role[role]]
    totals = {role: len(found) for role, found in by_role.items()}
    parts = [ordered[:FIRST_REFERENCES]]
    parts += [ordered[at : at + MORE_ROWS] for at in range(FIRST_REFERENCES, len(ordered), MORE_ROWS)]
    pages = [
        _roles(linker, part, totals, name.name, 0 if number else _FEW_WITH_TEXT if small else _WITH_TEXT)
        for number, part in enumerate(parts)
        if part
    ]
    if pages:
        result.roles, result.pages, result.shown = pages[0], pages[1:], len(parts[0])
        result.further = further(code, "references", [len(part) for part in parts])
    return result


def _roles(
    linker: Linker, part: Iterable[Reference], totals: dict[str, int], name: str, with_text: int
) -> list[RoleReferences]:
    """References by role and file; the first `with_text` show their line."""
    roles: dict[str, RoleReferences] = {}
    for number, reference in enumerate(part):
        role = roles.setdefault(reference.role, RoleReferences(reference.role, totals[reference.role]))
        if not role.files or role.files[-1].path != reference.path:
            role.files.append(FileReferences(reference.path, linker.plan.place(reference.path, 0), [], []))
        lines, numbers = role.files[-1].lines, role.files[-1].numbers
        if not reference.line:
            continue
        if reference.line in numbers[-1:] or (lines and lines[-1].line == reference.line):
            continue
        line = linker.line(reference.path, reference.line, reference.col, name) if number < with_text else None
        if line and (line.before or line.hit or line.after):
            lines.append(line)
        else:
            numbers.append(reference.line)
    return list(roles.values())


def key_views(linker: Linker, keys: Iterable[Key], shown: int = 20) -> list[KeyView]:
    """Keys with their registrations and the first `shown` uses of each."""
    views = []
    for key in keys:
        definitions = [(linker.place(at.path, at.line), at.side, at.guard, at.note) for at in key.definitions]
        every = dict.fromkeys(  # a macro may look it up several times in one line
            (linker.place(use.path, use.line), linker.symbol(use.symbol), use.side, use.status) for use in key.uses
        )
        uses = list(every)[:shown]
        views.append(KeyView(key.registry, key.name, linker.key(key.registry, key.name), definitions, uses,
                             max(0, len(every) - shown)))  # fmt: skip
    return views


def relations(linker: Linker, facts: Facts, below: Sequence[Descent]) -> list[tuple[str, str, list[SymbolLink]]]:
    """Bases, overrides and specialisations, both ways, but what `below` lists; aliases are shown as public paths."""
    listed = {descent.kind for descent in below}
    found: dict[tuple[str, str], dict[Id, SymbolLink]] = {}
    for words, pairs in ((_UPS, facts.ups), (_DOWNS, facts.downs)):
        for kind, other in pairs:
            if kind in words and not (words is _DOWNS and kind in listed):
                found.setdefault((words[kind], _ENDS.get(kind, "symbol")), {})[other] = linker.symbol(other)
    return [
        (heading, noun, sorted(links.values(), key=lambda link: (link.label, link.where)))
        for (heading, noun), links in found.items()
    ]


def members(linker: Linker, id_: Id) -> list[Member]:
    """The symbols written inside another, in the order of the code."""
    plan = linker.plan
    own = plan.names[id_].file
    path = plan.files[own].path if own >= 0 else None
    return [
        Member(
            linker.symbol(inner),
            plan.names[inner].name + plan.parameters.get(inner, ""),
            linker.place(path, plan.names[inner].line if plan.names[inner].file == own else 0),
            plan.callers.get(inner, 0),
            plan.refs.get(inner, 0),
        )
        for inner in plan.children.get(id_, ())
        if plan.names[inner].kind not in LOCAL_KINDS and inner not in plan.aliases
    ]


def traits(name: Name, facts: Facts) -> list[str]:
    """Words about a symbol that its signature does not say."""
    words = []
    if facts.access in ("private", "protected"):
        words.append(facts.access)
    if facts.linkage == "internal":
        words.append("internal linkage: only this file can name it")
    if name.file < 0:
        words.append("defined outside the tree")
    elif not name.defined:
        words.append("declared in the tree, not defined in it")
    return words


def scope_of(linker: Linker, name: Name) -> list[tuple[str, str | None]]:
    """The enclosing symbols, outermost first, with their pages."""
    chain: list[tuple[str, str | None]] = []
    parent, seen = name.parent, set()
    while parent is not None and parent in linker.plan.names and parent not in seen:
        seen.add(parent)
        around = linker.name(parent)
        chain.append((around.name if around.kind != "module" else around.qualname, linker.address(parent)))
        parent = around.parent if around.kind != "module" else None
    return chain[::-1]


def is_callable(name: Name, calls: CallList, callees: CallList) -> bool:
    """Whether the page speaks of callers at all."""
    return name.kind in RUNNABLE or name.kind in CONTAINERS[:3] or bool(calls.total or callees.total)


def calls_of(
    linker: Linker, facts: Facts, code: str, parts: tuple[list[Site], ...], *, brief: bool
) -> tuple[CallList, ...]:
    """The lists of callees, in the order of `split_callees`; `brief`: none shows its lines."""
    directions = ("callees", "quiet", "outside", "expanded")
    return tuple(
        call_list(linker, facts.id, part, direction, code, brief=brief or direction != "callees")
        for part, direction in zip(parts, directions, strict=True)
    )
