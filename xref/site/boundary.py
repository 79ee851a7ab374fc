"""The FFI boundary as a picture: Python packages on the left, C++ folders on the right, the keys between them.

A ribbon is as wide as the number of keys through which functions of the one call functions of the other. Folders are
split until they are telling and few enough to read. The list below the picture says the same in words.
"""

from __future__ import annotations

import posixpath
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from html import escape
from typing import NamedTuple

from markupsafe import Markup

from xref.model import Evidence, Lang
from xref.site.assets import counted
from xref.site.links import Linker

_GROUPS = 14
"""Boxes on each side."""
_SPLIT_SHARE = 0.08
"""A folder with a smaller share of the keys is not divided."""
_EXAMPLES = 4
_WIDTH, _BOX, _GAP = 960, 268, 6
_LEAST_HEIGHT = 20
_HEIGHT = 520
"""Pixels that all keys together are high, before boxes are made high enough for their names."""


class Crossing(NamedTuple):
    """Keys through which one folder calls another: all names, sorted."""

    source: str
    target: str
    keys: list[str]


class Pair(NamedTuple):
    """A row of the list: labels with addresses, the number of keys, some of them with addresses."""

    source: str
    source_href: str
    target: str
    target_href: str
    total: int
    examples: list[tuple[str, str | None]]


class Boundary(NamedTuple):
    """The picture, its list, and in how many keys each direction has."""

    picture: Markup
    pairs: list[Pair]
    into_cpp: int
    into_python: int


def boundary(db: sqlite3.Connection, linker: Linker) -> Boundary:
    """The crossings of an index; the picture is empty when nothing crosses."""
    rows = db.execute(
        "SELECT DISTINCT a.lang = 'cpp', a.path, b.path, c.via FROM calls c JOIN symbols a ON a.id = c.caller_id"
        " JOIN symbols b ON b.id = c.callee_id WHERE c.evidence = ? AND (a.lang = 'cpp') <> (b.lang = 'cpp')"
        " AND a.path IS NOT NULL AND b.path IS NOT NULL",
        (Evidence.REGISTRY,),
    ).fetchall()
    rows = [row for row in rows if row[1] in linker.plan.files_at and row[2] in linker.plan.files_at]
    down = [(source, target, via) for back, source, target, via in rows if not back]
    up = [(source, target, via) for back, source, target, via in rows if back]
    crossings, back = _crossings(down), _crossings(up)
    pairs = [_pair(linker, crossing) for crossing in (*crossings, *back)]
    return Boundary(_draw(crossings, linker), pairs, len({via for _, _, via in down}), len({via for _, _, via in up}))


def _crossings(rows: Iterable[tuple[str, str, str]]) -> list[Crossing]:
    """The keys by group of the caller and group of what runs, the fullest first."""
    rows = list(rows)
    sources = _groups({(posixpath.dirname(source), via) for source, _, via in rows})
    targets = _groups({(posixpath.dirname(target), via) for _, target, via in rows})
    keys: dict[tuple[str, str], set[str]] = defaultdict(set)
    for source, target, via in rows:
        keys[sources[posixpath.dirname(source)], targets[posixpath.dirname(target)]].add(via)
    found = [Crossing(source, target, sorted(names)) for (source, target), names in keys.items()]
    return sorted(found, key=lambda crossing: (-len(crossing.keys), crossing.source, crossing.target))


def _groups(members: set[tuple[str, str]]) -> dict[str, str]:
    """Folder -> the folder that it is shown as, so that at most `_GROUPS` are shown."""
    keys: dict[str, set[str]] = defaultdict(set)
    for folder, via in members:
        keys[folder].add(via)
    shown = {"": set(keys)}
    """Folder -> the folders with keys that it stands for."""
    least = _SPLIT_SHARE * _weight(keys, shown[""])
    while True:
        weights = {folder: _weight(keys, inside) for folder, inside in shown.items()}
        for folder in sorted(shown, key=lambda folder: (-weights[folder], folder)):
            parts = _split(keys, folder, shown[folder], _GROUPS - len(shown) + 1) if weights[folder] >= least else {}
            if parts and parts.keys() != {folder}:
                del shown[folder]
                shown.update(parts)
                break
        else:
            return {inner: posixpath.commonpath(inside) for inside in shown.values() for inner in inside}


def _split(keys: Mapping[str, set[str]], folder: str, inside: set[str], room: int) -> dict[str, set[str]]:
    """A folder's parts, at most `room`: the small ones stay together under its own name."""
    parts: dict[str, set[str]] = defaultdict(set)
    for inner in inside:
        rest = inner[len(folder) :].strip("/")
        parts[posixpath.join(folder, rest.partition("/")[0]) if rest else folder].add(inner)
    if len(parts) > room:
        by_weight = sorted(parts, key=lambda part: (part == folder, -_weight(keys, parts[part]), part))
        for small in by_weight[max(0, room - 1) :]:
            if small != folder:
                parts[folder] |= parts.pop(small)
    return dict(parts)


def _weight(keys: Mapping[str, set[str]], folders: set[str]) -> int:
    return len(set().union(*(keys[folder] for folder in folders)))


def label(folder: str) -> str:
    """A folder as its language calls it: `tvm.relax` for python/tvm/relax."""
    before, mark, package = f"/{folder}/".rpartition("/python/")
    if mark and package.strip("/"):
        owner = before.strip("/").rpartition("/")[2]
        name = package.strip("/").replace("/", ".")
        return name if not owner or name.startswith(owner.replace("-", "_")) else f"{name} ({owner})"
    return folder or "(top)"


def _pair(linker: Linker, crossing: Crossing) -> Pair:
    examples = [(key, linker.any_key(key)) for key in crossing.keys[:: max(1, len(crossing.keys) // _EXAMPLES)]]
    return Pair(
        label(crossing.source), linker.folder(crossing.source), label(crossing.target),
        linker.folder(crossing.target), len(crossing.keys), examples[:_EXAMPLES],
    )  # fmt: skip


class _Box(NamedTuple):
    """A folder in the picture, in pixels."""

    top: float
    height: float
    thickness: float
    """Of all its ribbons together; no more than the height."""
    keys: int


def _draw(crossings: list[Crossing], linker: Linker) -> Markup:
    """The picture of the crossings from Python into C++."""
    total = sum(len(crossing.keys) for crossing in crossings)
    if not total:
        return Markup()
    scale = min(_HEIGHT / total, _LEAST_HEIGHT)
    left, height = _column(crossings, scale, of_source=True)
    right, other_height = _column(crossings, scale, of_source=False)
    height = max(height, other_height)
    opening = (
        f'<svg class=boundary role=group aria-labelledby=boundary-title viewBox="0 0 {_WIDTH} {height:.0f}"'
        f" width={_WIDTH} height={height:.0f}><title id=boundary-title>Keys between Python packages and C++ folders"
        "</title>"
    )
    used: dict[tuple[bool, str], float] = defaultdict(float)
    order = {folder: at for at, folder in enumerate(right)}
    numbered = {id(crossing): number for number, crossing in enumerate(crossings)}
    downwards = sorted(crossings, key=lambda each: (list(left).index(each.source), order[each.target]))
    parts = [
        opening,
        *(_ribbon(crossing, numbered[id(crossing)], left, right, used, scale) for crossing in downwards),
        *(_box(folder, box, 0, Lang.PYTHON, linker) for folder, box in left.items()),
        *(_box(folder, box, _WIDTH - _BOX, Lang.CPP, linker) for folder, box in right.items()),
        "</svg>",
    ]
    return Markup("".join(parts))  # noqa: S704 - every text is escaped where it is written


def _column(crossings: list[Crossing], scale: float, *, of_source: bool) -> tuple[dict[str, _Box], float]:
    """The boxes of one side from top to bottom, in order of their names, and the height of them all."""
    keys: dict[str, int] = defaultdict(int)
    for crossing in crossings:
        keys[crossing.source if of_source else crossing.target] += len(crossing.keys)
    boxes, top = {}, 1.0
    for folder in sorted(keys):
        thickness = keys[folder] * scale
        height = max(_LEAST_HEIGHT, thickness)
        boxes[folder] = _Box(top, height, thickness, keys[folder])
        top += height + _GAP
    return boxes, top


def _ribbon(
    crossing: Crossing, number: int, left: Mapping[str, _Box], right: Mapping[str, _Box],
    used: dict[tuple[bool, str], float], scale: float,
) -> str:  # fmt: skip
    thick = max(1.0, len(crossing.keys) * scale)
    ends = []
    for at_left, folder, boxes in ((True, crossing.source, left), (False, crossing.target, right)):
        box = boxes[folder]
        ends.append(box.top + (box.height - box.thickness) / 2 + used[at_left, folder])
        used[at_left, folder] += len(crossing.keys) * scale
    (y1, y2), x1, x2 = ends, _BOX, _WIDTH - _BOX
    middle = (x1 + x2) / 2
    path = (
        f"M{x1} {y1:.1f}C{middle:.0f} {y1:.1f} {middle:.0f} {y2:.1f} {x2} {y2:.1f}V{y2 + thick:.1f}"
        f"C{middle:.0f} {y2 + thick:.1f} {middle:.0f} {y1 + thick:.1f} {x1} {y1 + thick:.1f}Z"
    )
    title = f"{label(crossing.source)} reaches {label(crossing.target)} through {counted(len(crossing.keys), 'key')}"
    return f'<a href=#pair-{number} tabindex=-1><path d="{path}"/><title>{escape(title)}</title></a>'


def _box(folder: str, box: _Box, x: int, lang: Lang, linker: Linker) -> str:
    text = label(folder)
    shown = text if len(text) <= 30 else f"…{text[-29:]}"
    return (
        f'<a href="{linker.folder(folder)}"><g class="box l-{lang}"><title>{escape(folder)}</title>'
        f"<rect x={x + 0.5} y={box.top:.1f} width={_BOX - 1} height={box.height:.1f} rx=3 />"
        f"<text x={x + 8} y={box.top + box.height / 2 + 4:.1f}>{escape(shown)}</text>"
        f"<text class=n x={x + _BOX - 8} y={box.top + box.height / 2 + 4:.1f}>{box.keys:,}</text></g></a>"
    )
