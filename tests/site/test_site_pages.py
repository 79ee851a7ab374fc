"""What the pages of the small site say."""

from __future__ import annotations

import re
from contextlib import closing
from html import unescape
from pathlib import Path

import pytest
import site_case
from site_case import Site

from xref.model import FileFacts, Lang, Relation, Symbol
from xref.site import registry_pages, source_pages, urls, whole_pages
from xref.site.assets import environment
from xref.site.build import build_site
from xref.site.check import check_site
from xref.site.crossings import counterparts
from xref.site.ir_pages import ir_url
from xref.site.keys import Key, Use, load_keys
from xref.site.links import Line, Linker
from xref.site.plan import make_plan
from xref.site.symbol_view import key_views
from xref.store import open_index


def text_of(html: str) -> str:
    """A page as a reader sees it."""
    html = re.sub(r"<(script|title)[^>]*>.*?</\1>", "", html)
    html = re.sub(r"<(?:p|li|td|th|tr|h\d|div|ul|section|text|summary|caption|figcaption)\b", r" \g<0>", html)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", html)))


def section(html: str, symbol: site_case.Symbol, site: Site) -> str:
    """The part of a shared page that is about one symbol."""
    anchor = site.address(symbol).partition("#")[2]
    return html[html.index(f"id={anchor}>") :].partition("</section>")[0] if anchor else html


def page(site: Site, symbol: site_case.Symbol) -> str:
    return text_of(section(site.page(symbol), symbol, site))


def test_the_function_behind_a_key(site: Site) -> None:
    """Definition, key, wrapper with its callers, drawing, why no C++ caller, how often it ran: on one page."""
    text = page(site, site_case.CREATOR)
    assert "tvm::FuseTIR" in text
    assert "Pass FuseTIR()" in text
    assert "Returns The pass." in text
    assert "registered at src/relax/fuse_tir.cc:17" in text
    assert "no C++ caller: it is reached only through the ffi key relax.transform.FuseTIR" in text
    assert "Python tvm.FuseTIR through the key relax.transform.FuseTIR" in text
    assert re.search(r"which is called by.*tvm\.relax\.pipeline\.zero.*tvm\.relax\.pipeline\.one", text)
    assert "return _ffi_api.FuseTIR()" in text, "the line of the call is shown"
    assert "ran ×3" in text
    assert "through the FFI 4.5 ms" in text


def test_the_other_side_shows_what_it_does(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A docstring would fill the few lines that are shown, before the call that the reader came for."""
    monkeypatch.setattr("xref.site.excerpts._SHORT", 0)
    [crossing] = counterparts(Linker(make_plan(site.db)), site_case.id_of(site_case.CREATOR))
    assert "Fuse." not in crossing.code
    assert '<span style="counter-set:l 7">' in crossing.code
    assert "FuseTIR()" in crossing.code.rpartition("<span")[2]


def test_the_drawing_crosses_the_languages(site: Site) -> None:
    html = site.page(site_case.CREATOR)
    drawing = html[html.index("<svg class=graph role=group") : html.index("</svg>")]
    assert "<title id=graph-title>Call graph of tvm::FuseTIR</title>" in drawing
    assert 'class="node t-key"' in drawing
    assert "Python function" in drawing
    assert "C++ function" in drawing
    assert ">×3</text>" in drawing
    assert drawing.count("<a href=") > 4, "nodes and edges are links"
    assert "written inside it" in html


def test_the_callers_of_a_wrapper(site: Site) -> None:
    text = page(site, site_case.WRAPPER)
    assert "2 callers at 3 call sites Python direct" in text
    assert "python/tvm/relax/pipeline.py:5 return [fuse(), fuse()]" in text
    assert "Across the language boundary C++ tvm::FuseTIR" in text


def test_callees_in_the_code_come_before_those_of_macros_and_others(site: Site) -> None:
    text = page(site, site_case.INNER)
    assert re.search(r"3 callees at 3 call sites C\+\+ direct tvm::Helper 7 /\* é ü \*/", text)
    assert "outside the tree" in text
    assert "inside macro expansions" in text
    assert "x->f<T>(</script>) dependent on a template parameter" in text


def test_a_call_that_only_a_run_saw(site: Site) -> None:
    text = page(site, site_case.RUN_METHOD)
    assert "1 caller C++ seen in a run only tvm::FuseTIR ×5 place unknown" in text
    assert "×5" in text


def test_a_class_and_its_members(site: Site) -> None:
    text = page(site, site_case.PASS)
    assert "2 members" in text
    assert "level field 5" in text
    assert "Small members, in full" in text


def test_something_nobody_calls_says_why(site: Site) -> None:
    assert "no caller found: nothing that was read in the tree calls it" in page(site, site_case.F)


def test_symbols_from_outside_have_a_place(site: Site) -> None:
    text = page(site, site_case.OUTSIDE)
    assert "std::move" in text
    assert "defined outside the tree" in text
    assert "tvm::Inner" in text


def test_an_alias_leads_to_what_it_stands_for(site: Site) -> None:
    assert site.address(site_case.PUBLIC) == site.address(site_case.WRAPPER)


def test_source_links_and_margins(site: Site) -> None:
    html = site.read(urls.source_url(site_case.CC))
    line = dict(re.findall(r"<span id=L(\d+)[^>]*>(.*?)</span>(?=<span id=L|</pre>)", html))
    assert 'aria-label="2 callers of Inner"' not in line["6"]
    assert 'aria-label="1 caller of Inner"' in line["6"]
    assert line["7"].count("<a href=#L6>mod</a>") == 2, "a parameter leads to its line"
    assert f"href=../../../{site.address(site_case.CHECK)}>CHECK</a>" in line["8"], (
        "a macro's expansion links the macro"
    )
    assert "level" not in line["9"], "an implicit reference links nothing"
    assert "include/tvm/fuse.h.html>tvm/fuse.h</a>" in line["1"]
    assert "keys/ffi.html#k.relax.transform.FuseTIR>relax.transform.FuseTIR</a>" in line["17"]
    assert "<i>/* comment: FuseTIR */</i>" in line["5"], "a name in a comment is no reference"


def test_the_attribute_of_a_key_leads_to_cpp(site: Site) -> None:
    html = site.read(urls.source_url(site_case.TRANSFORM))
    assert f"_ffi_api.<a href=../../../../{site.address(site_case.CREATOR)}>FuseTIR</a>()" in html


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (
            "src/degraded.cc",
            "degraded Read only in part, so calls and references may be missing: missing header <cuda.h>",
        ),
        ("src/failed.cc", "failed Not read, so nothing in it is linked or counted: the worker process died (SIGSEGV)"),
        ("src/changed.cc", "changed The file is no longer the one that was indexed"),
        ("src/gone.cc", "missing The file that was indexed is gone from the tree"),
    ],
)
def test_a_file_that_is_not_the_whole_truth_says_so(site: Site, path: str, words: str) -> None:
    assert words in text_of(site.read(urls.source_url(path)))


def test_a_changed_file_is_shown_without_links(site: Site) -> None:
    html = site.read(urls.source_url("src/changed.cc"))
    assert "int</b> after() " in html
    code = html[html.index("<div class=code") : html.index("</pre>")]
    assert "<a " not in code
    assert "changed.cc.html#L" not in site.page(site_case.BEFORE), "and no page links into its lines"


def test_blocks_of_a_long_file(site: Site) -> None:
    """Blocks outside the window take their height from the page, and each sets its own line counter."""
    plan = site.plan
    linker = Linker(plan)
    position = plan.files_at[site_case.CC]
    code = source_pages.Code(source_pages.Text([""] * 450), ["x"] * 450, linked=False)
    blocks = source_pages._blocks(linker, code, position)
    assert blocks.count("<pre ") == 3
    assert blocks.count("contain-intrinsic-size:auto 4000px") == 2
    assert "contain-intrinsic-size:auto 1000px" in blocks
    assert '<span id=L201 style="counter-set:l 201">' in blocks
    assert '<span id=L401 style="counter-set:l 401">' in blocks
    assert "\n" not in blocks, "lines are blocks: a line end between them would double their height"


def test_the_overview(site: Site) -> None:
    text = text_of(site.read("index.html"))
    assert "tvm 0.27.dev0" in text
    assert "commit 0123456789ab" in text
    assert "1 Python function reaches C++ through 1 key of the registries, at 1 call site: " in text
    assert "Passes 1 pass" in text
    assert "How to read evidence" in text
    assert "1 key is looked up and registered nowhere: gone.</script>" in text
    assert site_case.RUN in text
    assert "C++ 7 files · 33 lines" in text
    assert "seen in a run only No static fact explains it, but a recorded run made this call. 1" in text


@pytest.mark.parametrize("detail", ["1 error, first a.h:7: no member", "146 errors, first b.h:1: unknown type"])
def test_errors_are_one_reason_however_many(detail: str) -> None:
    """The page of the index's health had a heading for every number of errors."""
    assert whole_pages.reason_of(detail) == "errors where the compiler did not understand the code"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the callee is whatever the variable a.b holds", "the callee is whatever the variable c holds"),
        ("runs the handlers of whatever tvm::A it is given: too many to be edges",
         "runs the handlers of whatever B it is given: too many to be edges"),
        ("575 keys under the prefix", "9 keys under the prefix"),
        ("through the parameter T", "through the parameter f_"),
        ("through the field a", "through the field b"),
        ("through the local fn", "through the local op"),
        ("42 candidates", "43 candidates"),
    ],
)  # fmt: skip
def test_calls_are_counted_by_cause(one: str, other: str) -> None:
    """The page of the index's health had a heading for every variable."""
    assert whole_pages.cause_of(one) == whole_pages.cause_of(other)
    assert not re.search(r"\d|tvm|a\.b|under the prefix", whole_pages.cause_of(one))
    assert whole_pages.cause_of("the callee's type is unknown") == "the callee's type is unknown"


_BARE = re.compile(r"<span class=n>[\d,]+</span>|<h\d[^>]*>(?:(?!</h\d).)*[^×\w#.][\d,]+</h\d>")
"""A number without its noun, in a heading or beside one."""


def test_every_count_says_what_it_counts(whole_site: Site) -> None:
    """Callers, call sites, references and rows stood beside each other as numbers alone."""
    bare = {}
    for path in sorted(whole_site.folder.rglob("*.html")):
        html = re.sub(r"<pre[^>]*>.*?</pre>", "", path.read_text(), flags=re.DOTALL)
        if found := _BARE.findall(html):
            bare[path.relative_to(whole_site.folder).as_posix()] = found
    assert bare == {}


def test_an_unknown_line_is_no_number(whole_site: Site) -> None:
    module = environment().get_template("macros.html.j2").module
    assert "line unknown" in str(module.number(Line("a.py", 0, "source/a.py.html")))
    assert "place unknown" in str(module.first_place(Line("", 0, None), ""))
    for path in sorted(whole_site.folder.rglob("*.html")):
        html = path.read_text()
        assert not re.search(r"<i>(?:[\d ]* )?0\b|>0</a>|line 0\b|\w:0<|#L0\b", html), path


def test_a_line_of_a_file_that_is_not_told_is_no_place() -> None:
    """In a site of a part, callers in the other files stood as ":38"."""
    module = environment().get_template("macros.html.j2").module
    assert str(module.place(Line("", 38, None), "")).strip() == ""
    assert "a.py:38" in str(module.place(Line("a.py", 38, None), ""))


def test_two_runs_are_compared_and_one_is_not(site: Site) -> None:
    """A run beside itself tells nothing."""
    text = text_of(site.read("runs/compare.html"))
    assert "One run is recorded in this index, and it takes two." in text
    assert "data-compare" not in site.read("runs/compare.html")


def test_health_has_every_reason(site: Site) -> None:
    text = text_of(site.read("health.html"))
    for words in (
        "look <here>",
        "src/gone.cc missing",
        "src/changed.cc changed",
        "src/failed.cc the worker process died",
        "missing header <cuda.h> 1 file",
        "dependent on a template parameter 1 call site",
        "gone.</script>",
    ):
        assert words in text, words


def test_keys_are_counted_once(site: Site) -> None:
    """The list of registries and each registry's page give one figure; prefixes completed at run time are no keys."""
    with closing(open_index(site.db)) as db:
        keys = load_keys(db)
    use = Use("python", site_case.PIPELINE, 5, site_case.id_of(site_case.ZERO), "wildcard")
    keys = sorted([*keys, Key("ffi", "many.*", uses=[use])], key=lambda key: (key.registry, key.name))
    linker = Linker(site.plan)
    made = {output.url: output.content() for output in registry_pages.pages(linker, keys, "tvm")}
    for row in registry_pages.counts(keys):
        cells = rf"<a href=../{row.href}>{row.registry}</a><td>[^<]*<td class=num>([\d,]+)"
        listed = re.search(cells, made["keys/index.html"])
        own = re.search(r"· ([\d,]+) keys?(, and 1 prefix completed at run time)?</p>", made[row.href])
        assert listed
        assert own
        assert listed[1] == own[1] == str(row.keys)
        assert bool(own[2]) == (row.registry == "ffi")


def test_the_run(site: Site) -> None:
    html = site.read(urls.run_url(site_case.RUN))
    text = text_of(html)
    passes = re.findall(
        r"<li id=pass-\d style=\"--d:(\d)\"><span class=name>(?:<a[^>]*>)?(.*?)(?:</a>)?(?: <|</span>)", html
    )
    assert passes == [("0", "Sequential"), ("1", "FuseTIR"), ("1", "&lt;script&gt;")]
    assert "FuseTIR changed5 ms" in text
    assert "left:20.0%;width:50.0%" in html
    assert "relax.transform.FuseTIR C++ tvm::FuseTIR Python tvm.FuseTIR 3 4.5 ms" in text
    assert "outside the index" in text
    assert "ffi nobody.knows 2 no such key" in text


def test_what_a_pass_did_to_its_module(tmp_path: Path) -> None:
    """Where the run's file beside the index has the texts, each pass leads to their difference."""
    db = site_case.make(tmp_path)
    site_case.add_texts(db)
    build_site(db, tmp_path / "out", 1, lambda *_: None)
    page = (tmp_path / "out" / urls.run_url("plain")).read_text()
    assert "#ir-1>IR</a>" in page
    assert "#ir-0>" not in page, "its text is the same"
    html = (tmp_path / "out" / ir_url("plain")).read_text()
    assert "<del>-    old &lt;b&gt;</del>\n<ins>+    new</ins>\n<ins>+    more</ins>" in html
    assert "+2 −1" in html
    assert check_site(tmp_path / "out").problems == []


def test_keys(site: Site) -> None:
    text = text_of(site.read("keys/ffi.html"))
    assert "relax.transform.FuseTIR C++ tvm::FuseTIR registered at src/relax/fuse_tir.cc:17" in text
    assert "used Python python/tvm/relax/transform.py:7 in tvm.FuseTIR" in text
    assert "gone.</script> · dangling: registered nowhere in the tree" in text


def test_an_override_says_which_of_the_overloads_it_is(tmp_path: Path) -> None:
    """A class that overrides one of thirty has no other of that name: its parameters are what its reader asks for."""
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "src/a.cc").write_text("\n" * 9)
    methods = [
        Symbol(f"m{line}", "method", "Visit", f"{scope}::Visit", line, 1, line, f"void Visit({types})")
        for line, scope, types in ((1, "Base", "const A *"), (2, "Base", "const B *"), (3, "Mid", "const B *"),
                                   (4, "Last", "const B *"), (5, "Other", "const B *"))
    ]  # fmt: skip
    ids = [site_case.id_of(method) for method in methods]
    facts = FileFacts("src/a.cc", Lang.CPP, symbols=methods)
    facts.relations = [Relation(ids[2], "overrides", ids[1]), Relation(ids[3], "overrides", ids[2])]
    site_case.build(tmp_path / "xref.db", tree, [facts])
    parameters = make_plan(tmp_path / "xref.db").parameters
    assert [parameters.get(id_, "") for id_ in ids] == ["(const A*)", "(const B*)", "(const B*)", "(const B*)", ""]


def test_a_line_that_looks_a_key_up_twice_is_one_row(site: Site) -> None:
    """As a macro's expansion does: `used a.cc:41 in f` stood there twice."""
    use = Use("python", site_case.PIPELINE, 5, site_case.id_of(site_case.ZERO), "resolved")
    linker, key = Linker(make_plan(site.db)), Key("ffi", "twice", uses=[use, use])
    assert len(registry_pages.key_row(linker, key).uses) == 1
    [view] = key_views(linker, [key])
    assert (len(view.uses), view.more_uses) == (1, 0)
