"""Passes over time as a picture: a row for each depth of nesting, a box for each pass, as wide as it took."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from markupsafe import Markup

from xref.model import duration

_WIDTH, _ROW, _BAR = 1160, 24, 21
_CHAR = 6.1
"""Width of a character at 10 points of a fixed-width font."""


class Slice(NamedTuple):
    """A pass as it ran: `left` and `width` in percent of the whole, `changed` 1, 0 or None where unknown."""

    seq: int
    depth: int
    name: str
    left: float
    width: float
    duration_ns: int
    changed: int | None


def timeline(slices: Sequence[Slice], span_ns: int) -> Markup:
    """The picture; each box leads to the pass's row in the table, `#pass-SEQ`."""
    if not slices:
        return Markup()
    height = (max(each.depth for each in slices) + 1) * _ROW + 22
    opening = (
        f'<svg class=timeline role=group aria-labelledby=timeline-title viewBox="0 0 {_WIDTH} {height}" width={_WIDTH}'
        f" height={height}><title id=timeline-title>Passes over time</title>"
    )
    parts = [opening]
    for tenth in range(0, 11, 2):
        x = tenth * (_WIDTH - 1) / 10
        anchor = ("start", "middle", "end")[(tenth > 0) + (tenth == 10)]
        parts.append(
            f'<path d="M{x:.0f} 0V{height - 16}"/><text x={x:.0f} y={height - 4} text-anchor={anchor}>'
            f"{escape(duration(span_ns * tenth // 10)) if tenth else 0}</text>"
        )
    parts += [_box(each) for each in slices]
    return Markup("".join([*parts, "</svg>"]))  # noqa: S704 - every text is escaped where it is written


def _box(each: Slice) -> str:
    x, wide = each.left * _WIDTH / 100, max(1.0, each.width * _WIDTH / 100)
    room = int((wide - 6) / _CHAR)
    label = each.name if len(each.name) <= room else each.name[: room - 1] + "…" if room > 3 else ""
    style = "changed" if each.changed else "same" if each.changed == 0 else "unknown"
    words = {"changed": ", the module changed", "same": ", the module stayed as it was"}.get(style, "")
    text = ""
    if label:  # with its length: another machine's font may be wider
        fit = f"textLength={len(label) * _CHAR:.0f} lengthAdjust=spacingAndGlyphs"
        text = f"<text x={x + 3:.1f} y={each.depth * _ROW + 14} {fit}>{escape(label)}</text>"
    title = escape(f"{each.name}, {duration(each.duration_ns)}{words}")
    return (
        f'<a href="#pass-{each.seq}" tabindex=-1><g class={style}><title>{title}</title>'
        f"<rect x={x:.1f} y={each.depth * _ROW} width={wide:.1f} height={_BAR} rx=2 />{text}</g></a>"
    )
