"""Callers and callees as a page lists them: by language and evidence, one row for a function with all its call sites.

A list that is too long for the symbol's page goes on, whole, on further pages; nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from xref.model import Evidence, Id
from xref.site import urls
from xref.site.facts import STRENGTH, Site
from xref.site.links import Line, Linker, SymbolLink

FIRST_ROWS = 200
"""Rows of a list on the symbol's own page."""
MORE_ROWS = 1000
"""Rows of each further page."""
_LINES_WITH_TEXT = {"callers": 2}
"""Lines that a row shows with their text; of a callee one, it stands in the definition that the page shows."""
_ROWS_WITH_TEXT, _FEW_WITH_TEXT = 16, 3
"""Rows of callers or callees that show their lines, on a symbol's own page and on a shared one; beyond, a list is for
searching, not for reading."""

EVIDENCE_WORDS = {
    Evidence.REGISTRY: "through a key",
    Evidence.DIRECT: "direct",
    Evidence.VALUE: "as a value",
    Evidence.VIRTUAL: "may dispatch here",
    Evidence.DISPATCH: "through a dispatch table",
    Evidence.TEMPLATE: "candidate in a template",
    Evidence.NAME: "a guess",
    "observed": "seen in a run only",
}
"""How a page says each kind of evidence; the word of the SQL views stands beside it."""


@dataclass(slots=True)
class Row:
    """The far end of calls: a function, its call sites (`lines` with text, `others` as numbers), what runs counted."""

    symbol: SymbolLink
    via: str
    via_href: str | None
    lines: list[Line]
    others: list[Line] = field(default_factory=list)
    ran: list[tuple[str, int]] = field(default_factory=list)

    @property
    def other_files(self) -> list[tuple[Line, list[int]]]:
        """`others` by file: its first line with the address, and the numbers of the rest."""
        return by_file(self.others)


@dataclass(slots=True)
class Group:
    """Rows of one language and one kind of evidence. `functions` counts those of the group on all pages; `alone`: the
    list has no other group, so that its heading has told."""

    lang: str
    evidence: str
    rows: list[Row]
    functions: int = 0
    alone: bool = False

    def parts(self, own: str) -> list[tuple[Line | None, list[Row]]]:
        """The rows in their order; those without text whose calls all stand in one file, together under that file.

        `own`: the file that the list is about, whose rows need no heading.
        """
        found: list[tuple[Line | None, list[Row]]] = []
        for row in self.rows:
            files = row.other_files if not row.lines else []
            file = files[0][0] if len(files) == 1 and files[0][0].path != own and files[0][0].exact else None
            last = found[-1][0] if found else None
            if file and last and last.path == file.path:
                found[-1][1].append(row)
            else:
                found.append((file, [row]))
        return found

    @property
    def words(self) -> str:
        """The evidence in words."""
        return EVIDENCE_WORDS.get(self.evidence, self.evidence)


class Further(NamedTuple):
    """A further page of a list: its address and the numbers of its first and last row."""

    url: str
    first: int
    last: int


@dataclass(slots=True)
class CallList:
    """A list of callers or callees: `groups` on the symbol's page, `further` elsewhere.

    `total` counts functions, `sites` the places where they are called, as far as they are known, `rows` the rows on all
    pages: one function may call directly and through a key.
    """

    total: int = 0
    sites: int = 0
    rows: int = 0
    groups: list[Group] = field(default_factory=list)
    further: list[Further] = field(default_factory=list)
    pages: list[list[Group]] = field(default_factory=list)

    @property
    def shown(self) -> int:
        """Rows on the symbol's own page."""
        return sum(len(group.rows) for group in self.groups)


def call_list(
    linker: Linker,
    me: Id,
    sites: Iterable[Site],
    direction: str,
    code: str,
    *,
    spelled: str = "",
    brief: bool = False,
    small: bool = False,
) -> CallList:
    """The list for `sites`. `direction` names it in addresses; `spelled` is the callee's name where it is one for all.

    `small`: the symbol shares its page. `brief` leaves the source lines out.
    """
    grouped: dict[tuple[str, str], dict[tuple[Id, str], list[Site]]] = {}
    places: set[tuple[str, int, int]] = set()
    for site in sites:
        if site.line:
            places.add((site.path, site.line, site.col))
        via = site.via if site.evidence in (Evidence.REGISTRY, Evidence.DISPATCH) else ""
        lang = linker.name(site.other).lang
        grouped.setdefault((lang, site.evidence), {}).setdefault((site.other, via), []).append(site)
    own = linker.name(me).lang
    order = sorted(grouped, key=lambda pair: (pair[0] == own, STRENGTH.get(pair[1], 99), pair))
    groups = []
    before = 0
    most = 0 if brief else _FEW_WITH_TEXT if small else _ROWS_WITH_TEXT
    for lang, evidence in order:
        found = grouped[lang, evidence]
        rows = [
            _row(linker, me, other, via, its, direction, spelled, with_text=number < most)
            for number, ((other, via), its) in enumerate(found.items(), before)
        ]
        groups.append(Group(lang, evidence, rows, len({other for other, _ in found}), len(order) == 1))
        before += len(rows)
    total = len({other for found in grouped.values() for other, _ in found})
    pages = cut(groups, FIRST_ROWS, MORE_ROWS)
    result = CallList(total, len(places), before, pages[0] if pages else [], [], pages[1:])
    result.further = further(code, direction, [sum(len(group.rows) for group in page) for page in pages])
    return result


def _row(
    linker: Linker, me: Id, other: Id, via: str, sites: Sequence[Site], direction: str, spelled: str, *, with_text: bool
) -> Row:
    name = spelled or linker.name(other).name
    seen: set[tuple[str, int]] = set()
    unique = [site for site in sites if not ((site.path, site.line) in seen or seen.add((site.path, site.line)))]  # type: ignore[func-returns-value]
    shown = _LINES_WITH_TEXT.get(direction, 1) if with_text else 0
    pair = (other, me) if direction == "callers" else (me, other)
    return Row(
        linker.symbol(other),
        via,
        linker.any_key(via) if via else None,
        [linker.line(site.path, site.line, site.col, name) for site in unique[:shown]],
        [linker.place(site.path, site.line) for site in unique[shown:]],
        sorted(linker.plan.observed.get(pair, {}).items()),
    )


def by_file(lines: Iterable[Line]) -> list[tuple[Line, list[int]]]:
    """Consecutive lines of one file: the first with its address, the numbers of the rest; unknown lines by themselves.

    The page's script makes links of the numbers: their addresses would be a tenth of the whole site.
    """
    result: list[tuple[Line, list[int]]] = []
    for line in lines:
        if result and result[-1][0].path == line.path and line.line and result[-1][0].line:
            result[-1][1].append(line.line)
        else:
            result.append((line, []))
    return result


def cut(groups: Sequence[Group], first: int, more: int) -> list[list[Group]]:
    """Groups by page: `first` rows on the first, `more` on each other; a group may go on over pages."""
    pages: list[list[Group]] = []
    room = 0
    for group in groups:
        position = 0
        while position < len(group.rows):
            if room == 0:
                room = more if pages else first
                pages.append([])
            part = group.rows[position : position + room]
            pages[-1].append(replace(group, rows=part))
            position += len(part)
            room -= len(part)
    return pages


def further(code: str, part: str, sizes: Sequence[int]) -> list[Further]:
    """The addresses of a list's further pages; `sizes` counts the rows of each page, the first included."""
    result = []
    end = sizes[0] if sizes else 0
    for number, size in enumerate(sizes[1:], 2):
        result.append(Further(urls.more_url(code, part, number), end + 1, end + size))
        end += size
    return result
