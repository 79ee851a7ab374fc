"""Drawings and addresses: what is shown, what is left out, and that no name becomes part of a drawing's source."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest
import site_case
from hypothesis import given
from hypothesis import strategies as st
from site_case import Site

from xref.model import Evidence, XrefError, symbol_id
from xref.site import drawable, layout, packing, symbol_pages, urls
from xref.site.assets import read_script_data
from xref.site.callgraph import KINDS, CallGraph
from xref.site.drawing import NODE_CAP, Arrow, Drawer, Drawing, Node, short_label
from xref.site.links import Linker
from xref.site.names import Name


def drawing_of(site: Site, symbol: site_case.Symbol) -> Drawing:
    return Drawer(Linker(site.plan)).draw(site_case.id_of(symbol), "s/x.html")


def test_a_drawing_goes_through_the_key(site: Site) -> None:
    drawing = drawing_of(site, site_case.CREATOR)
    labels = {node.id: node.label for node in drawing.nodes.values()}
    edges = {(labels[arrow.tail], labels[arrow.head], arrow.evidence) for arrow in drawing.arrows.values()}
    assert ("transform.FuseTIR", site_case.KEY, "registry") in edges
    assert (site_case.KEY, "tvm::FuseTIR", "registry") in edges
    assert ("tvm::FuseTIR", "FuseTIR::{lambda: pass}", "encloses") in edges
    assert ("FuseTIR::{lambda: pass}", "tvm::Inner", "direct") in edges, "one step further on each side"
    assert next(iter(drawing.nodes.values())).label == "tvm::FuseTIR", "the middle comes first"


def test_macro_expansions_and_symbols_from_outside_are_counted_not_drawn(site: Site) -> None:
    drawing = drawing_of(site, site_case.INNER)
    assert "std::move" not in {node.label for node in drawing.nodes.values()}
    assert drawing.left_out == 1


def star(callers: int, callees: int) -> tuple[Drawing, int]:
    """The drawing of a function with so many callers and callees."""
    files = ["a.cc"]
    names = {}
    for number in range(callers + callees + 1):
        names[number] = Name("cpp", "function", f"f{number}", f"ns::f{number}", 0, number + 1, 0, None, True)
    ends = [(number, 0) for number in range(1, callers + 1)]
    ends += [(0, number) for number in range(callers + 1, callers + callees + 1)]
    site = 1 << 48 | 1 << 24  # the first file, line 1

    class Plan:
        pass

    plan = Plan()
    graph = CallGraph(sorted((caller, callee, 0, "", site, 1, 0) for caller, callee in ends))
    plan.__dict__.update(
        graph=graph, names=names, observed={}, callers=graph.caller_counts(), parameters={}, aliases={}, public={},
        away=frozenset(), dispatchers=frozenset(),
        files=[type("F", (), {"path": files[0]})()], key_pages={}, root=Path(),
        packing=packing.Packing(address={number: f"s/{number}.html" for number in names}),
        place_at=lambda _file, line: f"source/a.cc.html#L{line}",
    )  # fmt: skip
    return Drawer(Linker(plan)).draw(0, "s/0.html"), callers + callees  # type: ignore[arg-type]


def around_middle(
    edges: list[tuple[int, int, Evidence]], files: list[str], away: frozenset[int] = frozenset()
) -> Drawing:
    """The drawing of function 0 among calls; function `n` stands in the file of that number, or the first."""
    ends = {number for edge in edges for number in edge[:2]}
    names = {
        n: Name("cpp", "function", f"f{n}", f"ns::f{n}", n if n < len(files) else 0, n + 1, 0, None, True) for n in ends
    }
    graph = CallGraph(
        sorted((one, other, KINDS.index(kind), "", 1 << 48 | 1 << 24, 1, 0) for one, other, kind in edges)
    )
    plan = SimpleNamespace(
        graph=graph, names=names, observed={}, callers=graph.caller_counts(), parameters={}, aliases={}, public={},
        files=[SimpleNamespace(path=path) for path in files], key_pages={}, root=Path(), away=away,
        dispatchers={id_ for id_, count in graph.callee_counts.items() if count > drawable.HUB_CALLEES},
        packing=packing.Packing(address={number: f"s/{number}.html" for number in names}),
        place_at=lambda _file, line: f"source/a.cc.html#L{line}",
    )  # fmt: skip
    return Drawer(Linker(plan)).draw(0, "s/0.html")  # type: ignore[arg-type]


def labels(drawing: Drawing) -> list[str]:
    return [node.label for node in drawing.nodes.values() if node.kind == "symbol"][1:]


def test_code_that_runs_whatever_it_is_given_says_nothing_about_it() -> None:
    """The FFI's template that unpacks arguments may call 2,400 functions: it and its callers hid who calls this one."""
    many = [(1, number, Evidence.VALUE) for number in range(100, 100 + drawable.HUB_CALLEES)]
    calls = [(1, 0, Evidence.VALUE), (2, 1, Evidence.DIRECT), (3, 0, Evidence.DIRECT), (4, 3, Evidence.DIRECT)]
    drawing = around_middle([*calls, *many], ["a.cc"])
    assert labels(drawing) == ["ns::f3", "ns::f4"]
    assert drawing.callers_out == 1
    assert "1 caller not drawn: code that runs whatever it is given" in symbol_pages.note_of(drawing)
    assert "ns::f1" in labels(around_middle(calls, ["a.cc"])), "one that runs few is shown"
    own = [(0 if one == 1 else one, other, kind) for one, other, kind in many]
    assert len(labels(around_middle(own, ["a.cc"]))) > 10, "its own drawing shows what it runs"


def test_tests_come_after_what_they_test() -> None:
    calls = [(1, 0, Evidence.DIRECT), (2, 0, Evidence.DIRECT), (3, 0, Evidence.DIRECT)]
    files = ["src/a.cc", "tests/cpp/a_test.cc", "src/b.cc", "src/ffi/testing/x.cc"]
    assert labels(around_middle(calls, files)) == ["ns::f2", "ns::f1", "ns::f3"]


def test_code_outside_the_usual_scope_is_not_drawn_around_code_inside_it() -> None:
    """With `xref index --also tests`, dozens of tests call what one asks about: callers as well as callees."""
    calls = [(1, 0, Evidence.DIRECT), (2, 0, Evidence.DIRECT)]
    drawing = around_middle(calls, ["src/a.cc", "tests/t.py", "src/b.cc"], frozenset({1}))
    assert labels(drawing) == ["ns::f2"]
    assert drawing.callers_out == 1
    assert labels(around_middle(calls, ["tests/t.py", "tests/u.py", "src/b.cc"], frozenset({0, 1}))) == [
        "ns::f2",
        "ns::f1",
    ]


def test_the_name_of_a_file_stands_above_the_lines(site: Site) -> None:
    """Lines ran through the names of the files, which could not be read then."""
    page = site.page(site_case.CREATOR)
    svg = page[page.index("<svg class=graph role=group") :]
    assert (
        svg.index("class=cluster") < svg.index('class="edge') < svg.index("<text class=file") < svg.index('class="node')
    )


@pytest.mark.parametrize(("callers", "callees"), [(0, 3), (5, 5), (200, 0), (0, 200), (200, 200), (30, 1)])
def test_a_drawing_says_what_it_leaves_out(callers: int, callees: int) -> None:
    drawing, neighbours = star(callers, callees)
    assert len(drawing.nodes) <= NODE_CAP
    drawn = sum(node.kind == "symbol" for node in drawing.nodes.values()) - 1
    more = {node.href: int(re.sub(r"\D", "", node.label)) for node in drawing.nodes.values() if node.kind == "more"}
    assert drawn + sum(more.values()) == neighbours
    assert set(more) <= {"s/0.html#callers", "s/0.html#callees"}, "and where the rest is listed"


def test_a_cycle_leaves_callers_on_the_left() -> None:
    """A call back from what the middle reaches to its callers must not turn the drawing round."""
    nodes = {name: Node(name, "symbol", name, "", "cpp", None, name) for name in ("middle", "caller", "callee", "far")}
    drawing = Drawing(nodes=nodes, clusters=["one.cc", "both.cc"])
    for name, node in nodes.items():
        node.cluster = name in ("callee", "far")
    for tail, head in (("middle", "callee"), ("callee", "far"), ("far", "caller"), ("caller", "middle")):
        drawing.arrows[tail, head, "direct"] = Arrow(tail, head, "direct", None, "")
    assert drawing.levels() == {"middle": 0, "caller": -1, "far": -2, "callee": 1}
    assert lefts(drawing) == ["far", "caller", "middle", "callee"]


def test_who_calls_and_is_called_is_a_caller() -> None:
    nodes = {name: Node(name, "symbol", name, "", "cpp", None, name) for name in ("middle", "both", "callee", "caller")}
    drawing = Drawing(nodes=nodes)
    for tail, head in (
        ("middle", "callee"),
        ("middle", "both"),
        ("both", "middle"),
        ("caller", "both"),
        ("callee", "caller"),
    ):
        drawing.arrows[tail, head, "direct"] = Arrow(tail, head, "direct", None, "")
    assert lefts(drawing) == ["caller", "both", "middle", "callee"]


def lefts(drawing: Drawing) -> list[str]:
    """The nodes of a drawing from left to right."""
    dot = layout.find_dot()
    assert dot is not None
    [svg] = layout.render_drawings(dot, [drawing], ["x"])
    boxes = re.findall(r'class="node[^"]*"><title>(\w+)</title><rect x=(-?\d+)', svg)
    return [name for name, _ in sorted(boxes, key=lambda box: int(box[1]))]


HOSTILE = 'x"];}</svg><script>alert(1)</script>\n\\N{|}'


def test_names_never_reach_the_layout_program() -> None:
    node = Node("n1", "symbol", HOSTILE, HOSTILE, "cpp", "s/x.html", HOSTILE, 0)
    drawing = Drawing(nodes={"n1": node, "n2": node}, clusters=[HOSTILE])
    drawing.arrows["n1", "n2", "direct"] = Arrow("n1", "n2", "direct", "s/x.html", HOSTILE, "×3")
    source = layout.dot_source(drawing, drawing.levels())
    assert "script" not in source
    assert "\\N" not in source
    dot = layout.find_dot()
    assert dot is not None
    [svg] = layout.render_drawings(dot, [drawing], [HOSTILE])
    assert "<script" not in svg
    assert svg.count("</svg>") == 1
    assert "&lt;script&gt;" in svg


def test_one_broken_drawing_does_not_cost_the_others(tmp_path: Path) -> None:
    """A layout program that fails on a batch is asked again for each drawing alone."""
    dot = layout.find_dot()
    assert dot is not None
    program = tmp_path / "dot"
    program.write_text(
        f'#!/bin/sh\ncat > "$0.in"\ngrep -q "width=9.99" "$0.in" && exit 1\nexec {dot[0]} "$@" < "$0.in"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    good = Drawing(nodes={"a": Node("a", "symbol", "a", "", "cpp", None, "")})
    wide = Drawing(nodes={"a": Node("a", "symbol", "a" * 97, "", "cpp", None, "")})
    assert "width=9.99" not in layout.dot_source(good, good.levels())
    bad_source = layout.dot_source(wide, wide.levels())
    width = re.search(r"width=(\d+\.\d\d)", bad_source)
    assert width is not None
    program.write_text(program.read_text().replace("width=9.99", f"width={width[1]}"))
    results = layout.render_drawings([str(program)], [good, wide, good], ["1", "2", "3"])
    assert [str(result).startswith("<svg") for result in results] == [True, False, True]


def test_dot_is_found_or_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XREF_DOT", str(tmp_path / "none"))
    with pytest.raises(XrefError) as caught:
        layout.find_dot()
    assert caught.value.exit_code == 5
    assert "XREF_DOT" in str(caught.value)
    monkeypatch.setenv("XREF_DOT", "/bin/true")
    assert layout.find_dot() == ["/bin/true"]


def test_short_labels() -> None:
    assert short_label("FuseTIR") == "FuseTIR"
    long = short_label("FusedTIRConstructor::AllocateIntermediateBuffer")
    assert len(long) <= 30
    assert long.startswith("FusedTIRConst")
    assert long.endswith("Buffer")
    of_a_lambda = short_label("RemoveUnusedParameters::{lambda: pass_func}")
    assert of_a_lambda == "RemoveUn…::{lambda: pass_func}"
    assert len(of_a_lambda) <= 30


def test_addresses() -> None:
    assert urls.source_url("src/a b/x.cc") == "source/src/a~20b/x.cc.html"
    assert urls.source_url("x.html/y.h") == "source/x~2ehtml/y.h.html", "a folder never ends like a page"
    assert urls.source_url("x.h") != urls.source_url("x~2eh")
    assert urls.source_url("a/.hidden.py") == "source/a/~2ehidden.py.html", "dot files would not be served"
    assert urls.source_url("\udcff.cc") == "source/~ff.cc.html", "bytes that are not UTF-8"
    assert len(urls.source_url("x" * 4000 + ".cc").rpartition("/")[2]) < 255
    assert urls.source_url("x" * 4000 + ".cc") != urls.source_url("x" * 4001 + ".cc")
    assert urls.root_of("s/ab/cde.html") == "../../"


@given(st.text(min_size=1), st.text(min_size=1))
def test_two_files_never_share_a_page(one: str, other: str) -> None:
    assert (urls.safe_segment(one) == urls.safe_segment(other)) == (one == other)
    assert re.fullmatch(r"[A-Za-z0-9._+~-]+", urls.safe_segment(one))


def test_codes_that_would_clash_are_longer() -> None:
    """Two symbols never share an address, whatever their ids."""
    size = 36**urls.CODE_DIGITS
    codes = urls.codes([5, 5 + size, 6])
    assert len(set(codes.values())) == 3
    assert len(codes[6]) == urls.CODE_DIGITS
    assert len(codes[5]) > urls.CODE_DIGITS
    assert urls.codes([6])[6] == codes[6], "and the others keep theirs"


def test_the_same_tree_is_drawn_the_same(site: Site) -> None:
    names, graph = site.plan.names, site.plan.graph
    chosen = [drawable.choose(names, graph, site.plan.callers, {}, set(names), set(), {}) for _ in range(2)]
    assert chosen[0] == chosen[1]
    assert symbol_id(site_case.CREATOR.key) in site.plan.drawn


def test_search_data_is_scripts_of_json(site: Site) -> None:
    names = read_script_data((site.folder / "search/names.js").read_text())
    assert "FuseTIR" in names["names"].split("\n")
    shard = read_script_data((site.folder / "search/0.js").read_text())
    assert len(shard) == len(names["names"].split("\n"))
    for wrong in ("", "alert(1)", 'xref.put("a","");alert(1)', 'xref.put("a","AAAA");\n'):
        with pytest.raises(ValueError, match=r"data|invalid|error|block"):
            read_script_data(wrong)
