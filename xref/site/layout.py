"""Lays drawings out with Graphviz's dot and writes them as SVG of our own: small, themed by the style sheet, linked.

dot gets sizes and numbers only, never a name of the analysed tree, so that nothing in it can be misread; the text goes
into the SVG afterwards, escaped. Sizes come from a fixed-width font's metrics: a drawing is the same on every machine.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from markupsafe import Markup

from xref.model import ExitCode, XrefError
from xref.site.codeview import ROOT
from xref.site.drawing import Arrow, Drawing, Node

TIMEOUT = 120.0
"""Seconds that dot may take for one batch; a drawing of 40 nodes takes 0.01."""
_CHAR = 7.25
_SMALL_CHAR = 6.05
"""Widths in points of a character at 12 and at 10 points of a fixed-width font."""
_PAD = 18
_HEIGHTS = {"symbol": 36, "key": 24, "more": 22}
_MARGIN = 6
_LEAST_SCALE = 0.75
"""A drawing shrinks to fit its page down to this, then it scrolls."""
_PREAMBLE = (
    'digraph {rankdir=LR;ranksep=0.55;nodesep=0.12;remincross=true;node[shape=box fixedsize=true label=""];'
    'edge[arrowsize=0.6];graph[fontname="Courier" fontsize=10 margin=7];'
)
_LANG_WORDS = {"cpp": "C++", "python": "Python", "cython": "Cython"}


def find_dot() -> list[str] | None:
    """The command that lays graphs out: $XREF_DOT, else the graphviz-pure beside this Python, else a dot on the path.

    None when there is none. Raises `XrefError` (exit code 5) when $XREF_DOT names no program.
    """
    chosen = os.environ.get("XREF_DOT")
    if chosen:
        found = shutil.which(chosen)
        if found is None:
            raise XrefError(
                f"XREF_DOT={chosen} is not a program: unset it, or name Graphviz's dot", ExitCode.UNUSABLE_INPUT
            )
        return [found]
    beside = Path(sysconfig.get_path("scripts")) / "graphviz-pure"
    if beside.is_file():
        return [str(beside)]
    found = shutil.which("graphviz-pure") or shutil.which("dot")
    return [found] if found else None


def render_drawings(command: Sequence[str], drawings: Sequence[Drawing], titles: Sequence[str]) -> list[Markup | str]:
    """An SVG for each drawing, or (a plain `str`) the reason why there is none. One process lays all of them out."""
    levels = [drawing.levels() for drawing in drawings]
    sources = [dot_source(drawing, its) for drawing, its in zip(drawings, levels, strict=True)]
    layouts = _run(command, sources)
    if len(layouts) != len(drawings):
        layouts = [layout for source in sources for layout in (_run(command, [source]) or [None])[:1]]
    return [
        "the layout program failed on this drawing" if layout is None else _Svg(drawing, its, layout).write(title)
        for drawing, its, layout, title in zip(drawings, levels, layouts, titles, strict=True)
    ]


def _run(command: Sequence[str], sources: Sequence[str]) -> list[dict[str, Any] | None]:
    text = "".join(sources)
    try:
        done = subprocess.run(
            [*command, "-Tjson0"], input=text.encode(), capture_output=True, timeout=TIMEOUT, check=True
        )
        return _objects(done.stdout.decode("utf-8", "replace"))
    except (subprocess.SubprocessError, OSError, ValueError):
        return []


def _objects(text: str) -> list[dict[str, Any] | None]:
    decoder = json.JSONDecoder()
    result: list[dict[str, Any] | None] = []
    position = 0
    while True:
        while position < len(text) and text[position].isspace():
            position += 1
        if position >= len(text):
            return result
        value, position = decoder.raw_decode(text, position)
        result.append(value)


def _size(node: Node) -> tuple[float, int]:
    """Width and height of a box, in points."""
    width = max(len(node.label) * _CHAR, (len(_sub(node)) + 1) * _SMALL_CHAR) + _PAD
    return width, _HEIGHTS[node.kind]


def _sub(node: Node) -> str:
    if node.kind != "symbol":
        return ""
    return f"{_LANG_WORDS.get(node.lang, node.lang)} {node.sub}".strip()


def _cluster_label(path: str) -> str:
    parts = path.split("/")
    label = "/".join(parts[-2:])
    return label if len(label) <= 40 else "…" + label[-39:]


def _groups(drawing: Drawing, levels: Mapping[str, int]) -> list[tuple[str, list[str]]]:
    """The nodes of each file, (path, keys). A file on both sides of the middle is two groups.

    dot places a group as one thing: one that holds callers and callees of the middle would be before and after it.
    """
    found: dict[tuple[int, bool], list[str]] = {}
    for key, node in drawing.nodes.items():
        if node.cluster >= 0:
            found.setdefault((node.cluster, levels.get(key, 0) < 0), []).append(key)
    return [(drawing.clusters[cluster], keys) for (cluster, _), keys in sorted(found.items())]


def dot_source(drawing: Drawing, levels: Mapping[str, int]) -> str:
    """The drawing as a dot graph of numbered boxes; `levels` are the drawing's."""
    number = {key: f"n{position}" for position, key in enumerate(drawing.nodes)}
    lines = [_PREAMBLE]
    for cluster, (path, members) in enumerate(_groups(drawing, levels)):
        label = "x" * len(_cluster_label(path))
        lines.append(
            f'subgraph cluster_{cluster}{{label="{label}";labeljust=l;{";".join(number[m] for m in members)}}}'
        )
    for key, node in drawing.nodes.items():
        width, height = _size(node)
        lines.append(f"{number[key]}[width={width / 72:.4f} height={height / 72:.4f}];")
    for position, arrow in enumerate(drawing.arrows.values()):
        label = f' label="{"0" * len(arrow.label)}" fontsize=10 fontname="Courier"' if arrow.label else ""
        # A call from the right back to the left closes a cycle: it must not turn the whole drawing round.
        back = levels.get(arrow.tail, 0) > levels.get(arrow.head, 0)
        constraint = " style=dotted" if arrow.evidence == "more" else " constraint=false" if back else ""
        lines.append(f'{number[arrow.tail]}->{number[arrow.head]}[id="e{position}"{label}{constraint}];')
    return "\n".join([*lines, "}\n"])


class _Svg:
    """Writes one laid-out drawing. dot's y axis points up, ours down."""

    def __init__(self, drawing: Drawing, levels: Mapping[str, int], layout: dict[str, Any]) -> None:
        self._drawing = drawing
        self._levels = levels
        self._layout = layout
        _, _, self._width, self._height = map(float, layout["bb"].split(","))

    def _x(self, value: float) -> str:
        return _short(value + _MARGIN)

    def _y(self, value: float) -> str:
        return _short(self._height - value + _MARGIN)

    def write(self, title: str) -> Markup:
        """The SVG element. All text in it is escaped here."""
        width, height = self._width + 2 * _MARGIN, self._height + 2 * _MARGIN
        objects = {thing["name"]: thing for thing in self._layout.get("objects", ())}
        opening = (
            f'<svg class=graph role=group aria-labelledby=graph-title viewBox="0 0 {_short(width)} {_short(height)}"'
            f" width={_short(width)} height={_short(height)}"
            f' style="min-width:{_short(width * _LEAST_SCALE)}px"><title id=graph-title>{escape(title)}</title>'
        )
        parts = [opening]
        labels: list[str] = []
        for cluster, (path, _) in enumerate(_groups(self._drawing, self._levels)):
            if f"cluster_{cluster}" in objects:
                frame, label = self._cluster(objects[f"cluster_{cluster}"], path)
                parts.append(frame)
                labels.append(label)
        arrows = list(self._drawing.arrows.values())
        order = {key: at for at, key in enumerate(self._drawing.nodes)}
        parts += [self._arrow(thing, arrows[int(thing["id"][1:])], order) for thing in self._layout.get("edges", ())]
        parts += labels  # above the edges, which would strike them through
        for position, node in enumerate(self._drawing.nodes.values()):
            parts.append(self._node(objects[f"n{position}"], node, middle=position == 0))
        parts.append("</svg>")
        return Markup("".join(parts))  # noqa: S704

    def _cluster(self, thing: dict[str, Any], path: str) -> tuple[str, str]:
        """The frame around a file's boxes, and its label."""
        left, bottom, right, top = map(float, thing["bb"].split(","))
        frame = (
            f"<g class=cluster><rect x={self._x(left)} y={self._y(top)} width={_short(right - left)}"
            f" height={_short(top - bottom)} /></g>"
        )
        place = f"x={self._x(left + 7)} y={self._y(top - 14)}"
        return frame, f"<text class=file {place}>{escape(_cluster_label(path))}<title>{escape(path)}</title></text>"

    def _node(self, thing: dict[str, Any], node: Node, *, middle: bool) -> str:
        x, y = map(float, thing["pos"].split(","))
        width, height = _size(node)
        words = ("node", f"t-{node.kind}", f"l-{node.lang}" if node.lang else "", "middle" if middle else "")
        style = " ".join(filter(None, words))
        box = (
            f"<rect x={self._x(x - width / 2)} y={self._y(y + height / 2)} width={_short(width)}"
            f" height={_short(height)} />"
        )
        sub = _sub(node)
        text = f"<text x={self._x(x)} y={self._y(y + (2 if sub else -4))}>{escape(node.label)}</text>"
        if sub:
            text += f"<text class=sub x={self._x(x)} y={self._y(y - 12)}>{escape(sub)}</text>"
        return _linked(f'<g class="{style}"><title>{escape(node.title)}</title>{box}{text}</g>', node.href)

    def _arrow(self, thing: dict[str, Any], arrow: Arrow, order: dict[str, int]) -> str:
        path, head = self._curve(thing["pos"])
        label = ""
        if arrow.label and "lp" in thing:
            x, y = map(float, thing["lp"].split(","))
            label = f"<text x={self._x(x)} y={self._y(y - 4)}>{escape(arrow.label)}</text>"
        ran = " counted" if arrow.label else ""
        title = f"<title>{escape(arrow.title)}</title>" if arrow.title else ""
        shape = f'{title}<path d="{path}"/><path class=head d="{head}"/>{label}'
        ends = f"{order[arrow.tail]}-{order[arrow.head]}"
        return _linked(f'<g class="edge t-{arrow.evidence}{ran}" data-e={ends}>{shape}</g>', arrow.href)

    def _curve(self, pos: str) -> tuple[str, str]:
        """The path of a spline "e,x,y p0 c c p c c p ..." and of the head at its end."""
        end: tuple[float, float] | None = None
        points: list[tuple[float, float]] = []
        for word in pos.split():
            fields = word.split(",")
            if fields[0] == "e":
                end = float(fields[1]), float(fields[2])
            elif fields[0] != "s":
                points.append((float(fields[0]), float(fields[1])))
        path = self._moves("c", points)
        if end is None:
            return path, ""
        (x, y), (last_x, last_y) = end, points[-1]
        dx, dy = x - last_x, y - last_y
        length = (dx * dx + dy * dy) ** 0.5 or 1.0
        nx, ny = -dy / length * 3, dx / length * 3
        corners = [(x, y), (last_x + nx, last_y + ny), (last_x - nx, last_y - ny)]
        return path, self._moves("l", corners) + "z"

    def _moves(self, command: str, points: Sequence[tuple[float, float]]) -> str:
        """A path from the first point along the others, written as differences: a third shorter.

        A curve's points are relative to where the curve before it ended, a line's to the point before.
        """
        stride = 3 if command == "c" else 1
        (x, y), *rest = [(round(x + _MARGIN), round(self._height - y + _MARGIN)) for x, y in points]
        text = f"M{x} {y}{command}"
        for number, (to_x, to_y) in enumerate(rest):
            text += f" {to_x - x} {to_y - y}"
            if (number + 1) % stride == 0:
                x, y = to_x, to_y
        return text.replace(f"{command} ", command).replace(" -", "-")


def _linked(shape: str, href: str | None) -> str:
    return shape if href is None else f'<a href="{ROOT}{href}">{shape}</a>'


def _short(value: float) -> str:
    return str(round(value))
