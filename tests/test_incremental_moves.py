"""Whatever is moved, renamed, dropped or edited in a tree, the updated index is the one that a new run makes.

The edits are drawn, and so is where everything stands at first; the same ones each time, unless told to look for more:
`XREF_MOVES=500 pytest tests/test_incremental_moves.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from moving_tree import HEADERS, MODULES, ONLY_IN_UNITS, PIECES, PYTHON, UNITS, Layout, begin, write
from same_index import differences

from xref.index import IndexOptions, run_index

EXAMPLES = int(os.environ.get("XREF_MOVES", "0"))
NEW_NAMES = {
    **dict.fromkeys(UNITS, ("src/first.cc", "src/x.cc", "src/deep/last.cc")),
    **dict.fromkeys(HEADERS, ("include/lib/new.h", "src/new.h", "src/deep/new.h")),
    **dict.fromkeys(MODULES, ("python/pkg/new.py",)),
}
Edit = tuple[str, tuple[str, ...]]
"""The method of `Layout`, and its arguments."""


def _homes(piece: str) -> tuple[str, ...]:
    return UNITS if piece in ONLY_IN_UNITS else (*HEADERS, *UNITS)


@st.composite
def _layouts(draw: st.DrawFn) -> Layout:
    places = {piece: draw(st.sampled_from(_homes(piece)), label=piece) for piece in PIECES}
    modules = st.dictionaries(st.sampled_from(sorted(PYTHON)), st.sampled_from(MODULES))
    return Layout(places, python=draw(modules))


def _edit(kind: str, *arguments: str) -> Edit:
    return kind, arguments


_moves = st.sampled_from(sorted(PIECES)).flatmap(
    lambda piece: st.sampled_from(_homes(piece)).map(lambda home: _edit("move", piece, home))
)
_renames = st.sampled_from(sorted(NEW_NAMES)).flatmap(
    lambda file: st.sampled_from((file, *NEW_NAMES[file])).map(lambda path: _edit("rename", file, path))
)
_edits = st.one_of(
    _moves,
    _renames,
    st.builds(_edit, st.just("drop"), st.sampled_from(sorted(PIECES))),
    st.builds(_edit, st.just("lengthen"), st.sampled_from((*UNITS, *HEADERS))),
    st.builds(_edit, st.just("move_python"), st.sampled_from(sorted(PYTHON)), st.sampled_from(MODULES)),
)
_BY_HAND = Layout(dict(zip(PIECES, (*HEADERS[:3] * 3, *UNITS, *UNITS), strict=False)))


def _apply(layout: Layout, edits: list[Edit]) -> Layout:
    """The layout after the edits; one that would give two files one name is left out."""
    for kind, arguments in edits:
        method: Callable[..., Layout] = getattr(layout, kind)
        changed = method(*arguments)
        paths = [changed.names.get(file, file) for file in (*UNITS, *HEADERS, *MODULES)]
        if len(set(paths)) == len(paths):
            layout = changed
    return layout


@settings(
    max_examples=EXAMPLES or 4, derandomize=not EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(_layouts(), st.lists(st.lists(_edits, min_size=1, max_size=3), min_size=1, max_size=3))
@example(_BY_HAND, [[("rename", ("src/a.cc", "src/x.cc"))], [("move", ("hidden", "src/b.cc"))]])
@example(_BY_HAND, [[("move", ("it", "src/deep/q.h"))], [("rename", ("src/deep/q.h", "src/new.h"))]])
def test_after_moves_the_index_is_as_a_new_one(layout: Layout, chain: list[list[Edit]]) -> None:
    with TemporaryDirectory() as folder:
        root, db = Path(folder) / "it", Path(folder) / "x.db"
        begin(root)
        write(root, {}, before := layout.files())
        run_index(IndexOptions(root, db))
        for edits in chain:
            layout = _apply(layout, edits)
            write(root, before, after := layout.files())
            run_index(IndexOptions(root, db))
            before = after
        run_index(IndexOptions(root, Path(folder) / "fresh.db"))
        assert differences(db, Path(folder) / "fresh.db") == {}
