"""The page of a run: bars inside the bars above them, only stacks that ran, passes apart from what runs them."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import site_case

from xref.model import Call, Evidence, FileFacts, Id, KeyDef, Lang, Symbol, symbol_id
from xref.site import run_pages, urls
from xref.site.assets import breakable, humps
from xref.site.build import build_site
from xref.site.links import Linker
from xref.site.plan import make_plan
from xref.site.run_nesting import nested
from xref.site.run_passes import PassRow, parents, places, totals
from xref.site.stacks import Edge, Frame, call_stacks, pass_stacks

RECORDED = [
    (0, 1774586772, 25032331), (1, 1774689586, 24867092), (2, 1774721696, 16255516), (2, 1791135353, 67814),
    (2, 1791275262, 928748), (2, 1792632971, 1535943), (2, 1794285823, 5857956), (3, 1794322331, 3944768),
    (4, 1794350746, 18662), (4, 1794402858, 2851636), (3, 1799604238, 29685), (3, 1799667077, 1311549),
    (3, 1801236341, 451342), (0, 1802132900, 9129554),
]  # fmt: skip
"""Depth, start and duration of passes as `xref trace` recorded them when a convolution was compiled. A duration leaves
out the comparisons of modules, a start does not: that of 451342 ends after the pass around it."""


def _rows() -> list[PassRow]:
    names = ["zero", "sequential", "LegalizeOps", "Annotate", "FoldConstant", "FuseOps", "FuseTIR", "Expand", "Inner",
             "Canonicalize", "Remove", "FuseTIRInner", "DeadCode", "zero"]  # fmt: skip
    above = parents([depth for depth, _, _ in RECORDED])
    return [
        PassRow(seq, depth, name, None, start, duration, int(name != "FoldConstant"), 0.0, 0.0, parent)
        for seq, ((depth, start, duration), name, parent) in enumerate(zip(RECORDED, names, above, strict=True))
    ]


def test_a_bar_ends_before_the_one_it_stands_under() -> None:
    """What a pass ran must not look as if it went on after the pass had ended."""
    above = parents([depth for depth, _, _ in RECORDED])
    assert above == [-1, 0, 1, 1, 1, 1, 1, 6, 7, 7, 6, 6, 6, -1]
    bars = places([(start, duration) for _, start, duration in RECORDED], above)
    assert RECORDED[12][1] + RECORDED[12][2] > RECORDED[6][1] + RECORDED[6][2], "as recorded it stands out"
    for (left, width), parent in zip(bars, above, strict=True):
        if parent >= 0:
            assert bars[parent][0] <= left
            assert left + width <= sum(bars[parent]) + 0.001
    for one in range(len(bars)):
        for other in range(one + 1, len(bars)):
            if above[one] == above[other]:
                assert sum(bars[one]) <= bars[other][0] + 0.001, "bars beside each other do not overlap"
    assert [round(width) for _, width in bars] == [duration for _, _, duration in RECORDED], "each as long as it took"


def test_more_inside_than_outside_is_squeezed() -> None:
    """Times of another clock, or of threads, may not add up: the bars still nest."""
    bars = places([(0, 10), (0, 8), (8, 8)], [-1, 0, 0])
    assert bars == [(0.0, 10.0), (0.0, 5.0), (5.0, 5.0)]


def test_what_only_runs_passes_is_no_pass_that_changed_the_module() -> None:
    """`sequential` and a pipeline change whatever the passes inside them change."""
    counted = {total.name: total for total in totals(_rows())}
    assert [name for name, total in counted.items() if total.container] == ["zero", "sequential", "FuseTIR", "Expand"]
    assert counted["FuseTIR"].own_ns == 5857956 - 3944768 - 29685 - 1311549 - 451342
    assert counted["zero"].total_ns == 25032331 + 9129554
    assert counted["zero"].own_ns == 25032331 - 24867092 + 9129554
    assert counted["LegalizeOps"].changed == 1


def test_passes_of_one_name_at_one_place_are_one_frame() -> None:
    frames = pass_stacks(_rows())
    assert [(frame.parent, frame.name, frame.times) for frame in frames][:3] == [
        (-1, "zero", 2), (0, "sequential", 1), (1, "LegalizeOps", 1)
    ]  # fmt: skip
    assert frames[0].ns == 25032331 + 9129554


def _stacks(edges: list[Edge]) -> list[list[Id]]:
    frames = call_stacks(edges)

    def above(frame: Frame) -> list[Id]:
        return [*(above(frames[frame.parent]) if frame.parent >= 0 else []), frame.what]

    return [above(frame) for frame in frames]


def test_no_stack_is_shown_that_did_not_run() -> None:
    """1 and 2 call 5, which calls 6 for one of them and 7 for the other: the run does not tell which for which."""
    edges = [Edge(1, 5, 1, None), Edge(2, 5, 1, None), Edge(5, 6, 1, 300), Edge(5, 7, 1, 200), Edge(7, 8, 1, 100),
             Edge(1, 9, 2, None), Edge(9, 10, 2, 50)]  # fmt: skip
    assert _stacks(edges) == [[5], [5, 6], [5, 7], [5, 7, 8], [1], [1, 9], [1, 9, 10]]
    first, *_ = call_stacks(edges)
    assert (first.ns, first.callers, first.times) == (500, 2, 2)


def test_a_measured_call_of_a_shared_function_is_a_leaf() -> None:
    """How long 1's calls of the FFI function 5 took is known; what 5 called back for it is not."""
    edges = [Edge(1, 5, 1, 300), Edge(2, 5, 1, 200), Edge(5, 6, 2, None), Edge(6, 7, 2, 90)]
    frames = call_stacks(edges)
    assert _stacks(edges) == [[1], [1, 5], [2], [2, 5], [5], [5, 6], [5, 6, 7]]
    assert [frame.elsewhere for frame in frames] == [False, True, False, True, False, False, False]
    assert [frame.ns for frame in frames] == [300, 300, 200, 200, 90, 90, 90]


def test_functions_that_only_call_each_other_begin_somewhere() -> None:
    """Nothing was seen to enter the circle: it must neither hang nor vanish."""
    edges = [Edge(2, 1, 1, None), Edge(1, 2, 1, None), Edge(2, 3, 1, 70)]
    assert _stacks(edges) == [[1], [1, 2], [1, 2, 3]]


def test_what_the_index_does_not_know_calls_too() -> None:
    edges = [Edge(None, 4, 1, 60), Edge(1, 4, 1, 40), Edge(None, 5, 1, None), Edge(5, 6, 1, 10)]
    assert _stacks(edges) == [[4], [1], [1, 4], [5], [5, 6]]


def test_a_function_that_another_made_has_the_key_of_that_one(tmp_path: Path) -> None:
    """The busiest row of a real run is a lambda that a registered function returns: it stood there without a name."""
    path = "src/a.cc"
    text = "void f() {}\n"
    maker = Symbol("maker", "lambda", "{lambda: ffi.Names}", "init::{lambda: ffi.Names}", 1, 1, 1)
    made = Symbol("made", "lambda", "{lambda: functor}", "init::{lambda: ffi.Names}::{lambda: functor}", 1, 2, 1,
                  parent=symbol_id("maker"))  # fmt: skip
    plain = Symbol("plain", "function", "f", "f", 1, 6, 1)
    facts = FileFacts(path, Lang.CPP, symbols=[maker, made, plain])
    facts.calls = [Call(symbol_id("plain"), symbol_id("made"), Evidence.DIRECT, 1, 1, "")]
    facts.key_defs = [KeyDef("ffi", "ffi.Names", "cpp", 1, symbol_id("maker"))]
    (tmp_path / "tree/src").mkdir(parents=True)
    (tmp_path / "tree" / path).write_text(text)
    db = tmp_path / "xref.db"
    site_case.build(db, tmp_path / "tree", [facts])
    with sqlite3.connect(db) as connection:
        connection.execute("INSERT INTO run VALUES ('r', 'x', '2026-01-02T03:04:05Z', '0.27', '3.11.7', '')")
        connection.executemany("INSERT INTO observed_call VALUES ('r', ?, ?, 'ffi', NULL, 0, 1, ?, 1000)", [
            (symbol_id("plain"), symbol_id("made"), 9), (symbol_id("plain"), symbol_id("maker"), 8),
            (symbol_id("made"), symbol_id("plain"), 7),
        ])  # fmt: skip
    connection.close()
    plan = make_plan(db)
    with sqlite3.connect(db) as connection:
        view = run_pages.view_of(connection, Linker(plan), plan.runs[0])
    connection.close()
    rows = view.edges[0].rows
    assert [(row.key, row.remark) for row in rows] == [("ffi.Names", "made by this"), ("ffi.Names", ""), ("", "no key")]
    assert rows[0].key_href == rows[1].key_href != None  # noqa: E711
    build_site(db, tmp_path / "out", 1, lambda *_: None)
    assert "made by this" in (tmp_path / "out" / urls.run_url("r")).read_text()


def test_names_break_before_their_humps() -> None:
    assert str(humps("tirx.analysis.UndefinedVars<")) == "tirx.<wbr>analysis.<wbr>Undefined<wbr>Vars&lt;"
    assert str(breakable("tvm::relax::ns.a<b>")) == "tvm::<wbr>relax::<wbr>ns.<wbr>a&lt;b&gt;"


def test_functions_whose_calls_run_inside_one_another() -> None:
    """The times of RunPass, which runs Python, which calls RunPass, added up to twice the length of the run."""
    assert nested([(None, 1), (1, 2), (2, 3), (3, 1), (3, 4), (5, 1)]) == {1, 2, 3}
    assert nested([(1, 1), (1, 2)]) == {1}
    assert nested([(None, 1), (1, 2), (1, 3), (3, 2)]) == frozenset()
    assert nested([(1, 2), (2, 1), (3, 4), (4, 3), (2, 3)]) == {1, 2, 3, 4}
    long = [(number, number + 1) for number in range(20000)]
    assert nested([*long, (20000, 0)]) == set(range(20001)), "no recursion of ours"


def test_a_time_that_counts_some_twice_says_so(tmp_path: Path) -> None:
    db = site_case.make(tmp_path)
    site_case.add_run(db)
    with sqlite3.connect(db) as connection:
        connection.execute(
            "INSERT INTO observed_call VALUES (?, ?, ?, 'callback', NULL, 0, 1, 2, NULL)",
            (site_case.RUN, site_case.id_of(site_case.CREATOR), site_case.id_of(site_case.WRAPPER)),
        )
    build_site(db, tmp_path / "out", 1, lambda *_: None)
    site = site_case.Site(db, tmp_path / "out")
    run = site.read(urls.run_url(site_case.RUN))
    assert re.search(r"<span title=\"Some of these calls ran inside others[^>]*>≤ 4.5 ms</span>", run)
    assert "≤ 4.5 ms" in site.page(site_case.CREATOR)
    assert "≤ 1" not in run, "the others are what passed"
    assert "10 ms from the start of the first pass to the end of the last" in run
