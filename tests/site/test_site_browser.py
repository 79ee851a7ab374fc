"""What a reader does with the site, in a browser that opened it from disk: search, read, follow, without a network."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import pytest
import site_case
from browser import Open, opener_of
from playwright.sync_api import Browser, Page
from site_case import Site

from xref.site import urls

pytestmark = pytest.mark.browser


def find(page: Page, text: str) -> None:
    page.keyboard.press("/")
    page.keyboard.type(text)
    page.wait_for_selector("#hits [role=option]")


def test_search_fusetir_and_follow_it_into_python(open_page: Open) -> None:
    """The road of the site: a half-remembered name, the function, the drawing, who calls it, the source of that."""
    page = open_page()
    find(page, "FuTIR")
    assert "FuseTIR" in page.locator("#hits [role=option]").first.inner_text()
    page.locator("#hits [role=option]", has_text="src/relax/fuse_tir.cc").first.click()
    page.wait_for_selector("h1.name")
    assert "FuseTIR" in page.locator("h1.name").inner_text()
    drawing = page.locator("svg.graph[role=group]").text_content() or ""
    assert "Python function" in drawing
    assert "C++ function" in drawing
    assert "×3" in drawing, "how often the recorded run took the edge"
    assert "ran ×3" in page.locator("p.facts").first.inner_text()
    page.locator("#callers ~ ul.calls a", has_text="transform.py:7").first.click()
    page.wait_for_selector("#L7")
    assert page.url.endswith("source/python/tvm/relax/transform.py.html#L7")
    assert "_ffi_api.FuseTIR()" in page.locator("#L7").inner_text()
    page.locator("#L7 a", has_text="FuseTIR").click()
    page.wait_for_selector("h1.name")
    assert "tvm::" in page.locator("h1.name").inner_text()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("FuseTIR", "FuseTIR"),
        ("fusetir", "FuseTIR"),
        ("fuse", "FuseTIR"),
        ("seTI", "FuseTIR"),
        ("relax.transform.Fu", "relax.transform.FuseTIR"),
        ("Pass::Ru", "tvm::Pass::Run"),
        ("Pass<T>::Run", "tvm::Pass::Run"),
        ("tvm::Pass<Map<String, tvm::Any>>::Ru", "tvm::Pass::Run"),
        ("Pass<Map<String, tvm::An", "tvm::Pass"),
        ("pipeline.zero", "tvm.relax.pipeline.zero"),
        ("fuse_tir.cc", "fuse_tir.cc"),
        ("relax/fuse", "src/relax/fuse_tir.cc"),
        ("</title><b>od", "</title><b>odd"),
        ("Inner(int mod)", "tvm::Inner"),
        ("fuse_tir.cc Run", "tvm::Pass::Run"),
        ("Inner fuse_tir", "tvm::Inner"),
        *((" ".join(words), "tvm::Pass::Run") for words in permutations(("fuse_tir", "Run", "Pass"))),
        ("fuse_tir Run", "tvm::Pass::Run"),
        ("Pass Run", "tvm::Pass::Run"),
        ("Pass level fuse.h", "tvm::Pass::level"),
        ("FuseTIR ffi transform", "relax.transform.FuseTIR"),
        ("ffi FuseTIR", "relax.transform.FuseTIR"),
        ("src fuse_tir", "src/relax/fuse_tir.cc"),
        ("fuse_tir.Run", "tvm::Pass::Run"),
        ("fuse_tir.cc:12", "fuse_tir.cc:12"),
        ("src/relax/fuse_tir.cc:12:3", "src/relax/fuse_tir.cc:12"),
        ("_ffi_api.FuseTIR", "FuseTIR"),
    ],
)
def test_search(open_page: Open, query: str, expected: str) -> None:
    page = open_page()
    find(page, query)
    assert expected in page.locator("#hits .sym").first.inner_text()


def test_a_place_that_is_searched_for_is_gone_to(open_page: Open) -> None:
    page = open_page()
    find(page, "fuse_tir.cc:12")
    page.keyboard.press("Enter")
    page.wait_for_url("**/source/src/relax/fuse_tir.cc.html#L12")


def test_no_answer_of_another_question_is_shown(open_page: Open) -> None:
    """While the answer is made, what stood there before must not be taken for it; and words that nothing has say so."""
    page = open_page()
    find(page, "Inner")
    page.evaluate(
        "() => { const real = xref.data; xref.data = async (file) => {"
        " await new Promise((done) => setTimeout(done, 600)); return real.call(xref, file); }; }"
    )
    page.keyboard.type(" fuse_tir")
    page.wait_for_selector("#hits[aria-busy] .empty", timeout=400)
    assert "Searching Inner fuse_tir" in page.locator("#hits").inner_text()
    assert page.locator("#hits [role=option]").count() == 0
    page.wait_for_selector("#hits [role=option]")
    assert page.locator("#hits[aria-busy]").count() == 0
    page.locator("#q").fill("Inner pipeline")
    page.wait_for_selector("#hits .empty >> text=all these words")


def test_search_is_a_combobox_by_keyboard(open_page: Open) -> None:
    page = open_page()
    find(page, "e")
    box = page.locator("#q")
    assert box.get_attribute("aria-expanded") == "true"
    assert box.get_attribute("aria-activedescendant") == "hit-0"
    page.keyboard.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant") == "hit-1"
    assert page.locator("#hit-1").get_attribute("aria-selected") == "true"
    page.keyboard.press("Escape")
    assert box.get_attribute("aria-expanded") == "false"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")
    page.keyboard.press("/")
    box.fill("nothing is called like this")
    page.wait_for_selector("#hits .empty")


def test_how_many_results_there_are(open_page: Open, whole_site: Site, chrome: Browser) -> None:
    """ "41 results" were those that were shown, of how many nobody said."""
    page = open_page()
    find(page, "Inner")
    assert page.locator("#search [role=status]").inner_text() == "1 result"
    with opener_of(chrome, whole_site) as opened:
        page = opened()
        for query in ("many", "tvm::many", "many cc"):
            page.keyboard.press("/")
            page.locator("#q").fill(query)
            page.wait_for_function("query => document.querySelector('#hits').dataset.query === query", arg=query)
            status = page.locator("#search [role=status]").inner_text()
            found = re.fullmatch(r"The first (\d\d) of 23\d results", status)
            assert found, (query, status)
            assert page.locator("#hits [role=option]:not(:has-text('everywhere'))").count() == int(found[1])
            assert status in page.locator("#hits").inner_text()


def test_a_question_that_is_too_long_is_not_asked(open_page: Open) -> None:
    page = open_page()
    page.keyboard.press("/")
    page.locator("#q").fill("aB" * 2500)
    page.wait_for_selector("#hits .empty", timeout=400)
    assert page.locator("#hits").inner_text() == "A question has at most 200 letters; this one has 5,000."
    page.locator("#q").fill("aB" * 100)
    page.wait_for_selector("#hits >> text=No name", timeout=400)


def test_names_near_the_one_that_nothing_has(open_page: Open) -> None:
    page = open_page()
    find(page, "FuesTIR")
    assert "No name, key or file like that. Names near it:" in page.locator("#hits").inner_text()
    assert "FuseTIR" in page.locator("#hits [role=option]").first.inner_text()


def test_enter_before_the_answer_goes_when_it_comes(open_page: Open) -> None:
    page = open_page()
    page.keyboard.press("/")
    page.keyboard.type("Inner")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1.name, h2.name")
    assert "index.html" not in page.url


def test_a_range_of_lines(open_page: Open) -> None:
    page = open_page("source/src/relax/fuse_tir.cc.html#L6-L9")
    assert page.locator(".code .in").evaluate_all("all => all.map(line => line.id)") == ["L6", "L7", "L8", "L9"]
    page.locator("#L4").click(position={"x": 20, "y": 10})
    assert page.url.endswith("#L4")
    page.locator("#L12").click(position={"x": 20, "y": 10}, modifiers=["Shift"])
    assert page.url.endswith("#L4-L12")
    assert page.locator(".code .in").count() == 9


def test_the_same_name_is_lit(open_page: Open) -> None:
    page = open_page("source/src/relax/fuse_tir.cc.html")
    page.locator("#L7 a[href^='#']", has_text="mod").first.hover()
    assert page.locator("a.same").evaluate_all("all => all.map(a => a.textContent)") == ["mod", "mod", "mod"]


def test_line_numbers_are_true(open_page: Open, tmp_path: Path) -> None:
    """The numbers are drawn, not text: they must agree with the anchors, beyond the first block too."""
    page = open_page("source/src/relax/fuse_tir.cc.html")
    shown = page.evaluate("() => getComputedStyle(document.querySelector('.code pre > span'), '::before').content")
    assert shown == "counter(l)"
    top, bottom = (page.locator(line).bounding_box() for line in ("#L1", "#L18"))
    assert top is not None
    assert bottom is not None
    assert bottom["y"] - top["y"] == 17 * 20, "a line is as high as the style sheet and the blocks' heights assume"


def test_lists_by_keyboard(open_page: Open, site: Site) -> None:
    page = open_page(site.address(site_case.WRAPPER))
    page.keyboard.press("j")
    first = page.locator("li.on").inner_text()
    page.keyboard.press("j")
    assert page.locator("li.on").count() == 1
    assert page.locator("li.on").inner_text() != first
    page.keyboard.press("k")
    assert page.locator("li.on").inner_text() == first
    page.keyboard.press("Escape")
    assert page.locator("li.on").count() == 0


def test_every_list_works_without_javascript(open_page: Open, site: Site) -> None:
    page = open_page(site.address(site_case.CREATOR), java_script_enabled=False)
    assert page.locator("#callers ~ ul.calls li").count() >= 1
    page.locator("ul.calls a", has_text="transform.py:7").first.click()
    assert page.locator("#L7").is_visible()
    page.get_by_role("link", name="Files").click()
    page.get_by_role("link", name="src/").click()
    page.get_by_role("link", name="relax/").click()
    page.get_by_role("link", name="fuse_tir.cc").click()
    assert "Inner" in page.locator("#L6").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_schemes_can_be_read(open_page: Open, site: Site, scheme: str) -> None:
    """Text against its background: at least 4.5 to 1 (WCAG 1.4.3) for every colour of the style sheet."""
    page = open_page("source/src/relax/fuse_tir.cc.html", color_scheme=scheme)
    low = page.evaluate(
        """() => {
        const style = getComputedStyle(document.documentElement);
        const colour = (name) => style.getPropertyValue(name).trim();
        const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        const luminance = (hex) => {
          const pairs = hex.length === 4 ? [...hex.slice(1)].map((c) => c + c) : hex.slice(1).match(/../g);
          const [r, g, b] = pairs.map((c) => linear(parseInt(c, 16) / 255));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ratio = (a, b) => {
          const [x, y] = [luminance(colour(a)), luminance(colour(b))].sort((p, q) => q - p);
          return (x + 0.05) / (y + 0.05);
        };
        const texts = "fg muted link cpp python cython key ran com str kw num warn".split(" ");
        const bad = [];
        for (const text of texts)
          for (const ground of ["bg", "soft", "hit", "mark"])
            if (ratio(`--${text}`, `--${ground}`) < 4.5) bad.push([text, ground, ratio(`--${text}`, `--${ground}`)]);
        return bad;
        }"""
    )
    assert low == []


@pytest.mark.parametrize("url", ["index.html", "health.html", "source/src/relax/fuse_tir.cc.html", "keys/ffi.html",
                                 "runs/index.html", urls.outline_url(site_case.CC)])  # fmt: skip
def test_a_narrow_screen_does_not_scroll_sideways(open_page: Open, url: str) -> None:
    page = open_page(url, viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_landmarks_and_focus(open_page: Open, site: Site) -> None:
    page = open_page(site.address(site_case.CREATOR))
    for landmark in ("banner", "navigation", "search", "main"):
        assert page.get_by_role(landmark).count() >= 1, landmark  # type: ignore[arg-type]
    assert page.locator("h1").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    page.wait_for_url("**#main")


def test_a_hostile_file_opens(open_page: Open, site: Site) -> None:
    page = open_page("source/index.html")
    page.get_by_role("link", name="src/").click()
    page.get_by_role("link", name="we ird/").click()
    page.locator("table.list a").last.click()
    assert site_case.HOSTILE_PATH.rpartition("/")[2] in page.locator("h1").inner_text()
    assert "int odd()" in page.locator("#L1").inner_text()


def test_a_card_tells_what_a_name_is(open_page: Open) -> None:
    """Pointing at a name, or the key i on a link: signature, documentation, callers, without leaving the page."""
    page = open_page("source/python/tvm/relax/transform.py.html")
    page.locator("#L7 a", has_text="FuseTIR").hover()
    page.wait_for_selector(".card")
    card = page.locator(".card").inner_text()
    assert "tvm::FuseTIR" in card
    assert "Pass FuseTIR()" in card
    assert "relax.transform.FuseTIR" in card
    page.keyboard.press("Escape")
    assert page.locator(".card").count() == 0
    page.locator("#L5 a.d").focus()
    page.keyboard.press("i")
    page.wait_for_selector(".card")
    assert "2 callers" in page.locator(".card").inner_text()
    assert page.locator("#L5 a.d").get_attribute("aria-describedby") == "card"


def test_the_card_of_a_parameter_shows_its_line(open_page: Open) -> None:
    page = open_page("source/src/relax/fuse_tir.cc.html")
    page.locator("#L7 a", has_text="mod").first.focus()
    page.keyboard.press("i")
    page.wait_for_selector(".card pre")
    assert page.locator(".card pre").inner_text() == "int Inner(int mod) {"


def test_the_card_of_a_macro_shows_what_it_expands_to(open_page: Open) -> None:
    page = open_page("source/src/relax/fuse_tir.cc.html")
    page.locator("#L8 a", has_text="CHECK").focus()
    page.keyboard.press("i")
    page.wait_for_selector(".card pre")
    assert page.locator(".card pre").inner_text() == "#define CHECK(x) Helper()"


def test_the_bar_says_where_you_are(open_page: Open) -> None:
    page = open_page("source/src/relax/fuse_tir.cc.html", viewport={"width": 1280, "height": 160})
    page.evaluate(
        "scrollTo(0, document.getElementById('L8').getBoundingClientRect().top + scrollY"
        " - document.querySelector('.top').offsetHeight + 5)"
    )
    page.wait_for_selector(".scopes a")
    assert page.locator(".scopes a").all_inner_texts() == ["Inner"]
    assert page.locator(".outline .here").inner_text().startswith("Inner")


def test_the_bar_names_the_scope_of_the_line_that_was_asked_for(open_page: Open) -> None:
    """Not that of the line at the upper edge, which is another function; the outline shows the symbol."""
    page = open_page("source/src/relax/fuse_tir.cc.html#L12", viewport={"width": 1280, "height": 260})
    page.wait_for_selector(".scopes a")
    assert page.locator("#L8").is_visible(), "the function before it can be seen too"
    assert page.locator(".scopes a").first.inner_text() == "FuseTIR"
    here = page.locator(".outline .here").bounding_box()
    frame = page.locator(".outline details").bounding_box()
    assert here is not None
    assert frame is not None
    assert frame["y"] <= here["y"] <= frame["y"] + frame["height"] - here["height"]
    page.evaluate("location.hash = '#L6'")
    page.wait_for_function("document.querySelector('.scopes a').textContent === 'Inner'")
    page.evaluate("document.querySelector('.outline').style.width = '5rem'")
    item = page.locator(".outline li", has_text="lambda: pass")
    item.hover()
    assert "{lambda: pass} lambda" in (item.get_attribute("title") or ""), "what is cut can be read"


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("url", ["keys/ffi.html#k.gone.~3c~2fscript~3e", "keys/ffi.html#k.relax.transform.FuseTIR"])
def test_what_an_address_names_is_lit_below_the_bars(open_page: Open, url: str, width: int) -> None:
    """On a narrow screen the bar at the top is three rows high, and the filter above the keys is filled in later."""
    page = open_page(url, viewport={"width": width, "height": 300})
    page.wait_for_selector("[data-filter] input")
    page.wait_for_timeout(200)
    row, bar = page.locator("li:target").bounding_box(), page.locator(".top").bounding_box()
    assert row is not None
    assert bar is not None
    assert bar["y"] + bar["height"] <= row["y"] < 300 - 20
    colours = page.evaluate(
        "() => [getComputedStyle(document.querySelector('li:target')).backgroundColor,"
        " getComputedStyle(document.querySelector('main')).backgroundColor]"
    )
    assert colours[0] != colours[1]


def test_a_name_breaks_between_its_parts(open_page: Open, site: Site) -> None:
    """A title on a narrow screen read "Fus" and, below it, "eTIR"."""
    page = open_page(site.address(site_case.WRAPPER), viewport={"width": 140, "height": 700})
    lines = page.evaluate(
        """() => { const rows = new Map(), title = document.querySelector('h1.name');
        const walker = document.createTreeWalker(title, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode())
          for (let at = 0; at < node.data.length; at++) {
            const part = new Range(); part.setStart(node, at); part.setEnd(node, at + 1);
            const end = Math.round(part.getBoundingClientRect().bottom);
            rows.set(end, (rows.get(end) || '') + node.data[at]); }
        return [...rows.values()]; }"""
    )
    assert len(lines) > 1
    assert all(line.endswith(".") for line in lines[:-1]), lines


def test_a_wide_table_says_that_it_goes_on(open_page: Open) -> None:
    """Columns are cut on a telephone: a shadow says that one can scroll there, and goes where one has."""
    page = open_page("keys/index.html", viewport={"width": 360, "height": 740})
    table = page.locator("table.list").first
    assert table.evaluate("table => table.scrollWidth > table.clientWidth")
    assert table.evaluate("table => getComputedStyle(table).backgroundAttachment") == "local, local, scroll, scroll"


def test_runs_in_the_margin_can_be_switched(open_page: Open) -> None:
    page = open_page("source/python/tvm/relax/transform.py.html")
    page.wait_for_selector("span.hot")
    assert page.locator("#L7").get_attribute("title") == f"called or calling ×3 in run {site_case.RUN}"
    assert "it was seen on 2 lines, at most ×3" in page.locator("p.facts").inner_text()
    page.select_option("#run", "")
    page.wait_for_selector("span.hot", state="detached")
    assert page.locator(".seen").is_hidden()
    page.reload()
    page.wait_for_selector("#run")
    assert page.locator("#run").input_value() == "", "the choice is kept"
    page.select_option("#run", site_case.RUN)
    page.wait_for_selector("span.hot")


def test_a_run_leads_to_its_files_and_they_to_the_lines_that_ran(open_page: Open) -> None:
    """The page of a run led to no file, and a file told on how many lines a run was seen, not on which."""
    page = open_page(urls.run_url(site_case.RUN))
    rows = page.locator("section[aria-labelledby=files] tbody tr").all_inner_texts()
    assert [row.split()[:4] for row in rows] == [
        ["src/relax/fuse_tir.cc", "3", "2", "8"], ["python/tvm/relax/transform.py", "2", "1", "3"],
        ["python/tvm/relax/pipeline.py", "2", "1", "1"],
    ]  # fmt: skip
    assert rows[0].split()[4:] == ["15", "×5"]
    page.evaluate("xref.keep('run', '')")
    page.locator("section[aria-labelledby=files] a", has_text="fuse_tir.cc").click()
    page.wait_for_selector("span.hot")
    assert page.locator("#run").input_value() == site_case.RUN, "whatever was chosen before"
    assert page.locator(".seen a").all_inner_texts() == ["11", "12", "15"]
    assert "11 ×3 12 ×1 15 ×5" in page.locator(".seen").inner_text()
    page.locator(".seen a", has_text="15").click()
    page.wait_for_url("**#L15")
    page.select_option("#run", "")
    page.wait_for_selector("span.hot", state="detached")


def test_the_line_of_an_address_is_highlighted_though_it_ran(open_page: Open) -> None:
    page = open_page("source/python/tvm/relax/transform.py.html#L7")
    page.wait_for_selector("#L7.hot")
    plain, both = (
        page.locator(line).evaluate("line => [getComputedStyle(line).backgroundColor, line.className]")
        for line in ("#L1", "#L7")
    )
    assert both[0] != plain[0]
    assert "gradient" in page.locator("#L7").evaluate("line => getComputedStyle(line).backgroundImage")


def test_a_pass_that_only_cpp_runs_is_in_the_margin(open_page: Open, site: Site, tmp_path: Path) -> None:
    """No call of it is seen, but the run has it among its passes; and one line is not "lines"."""
    page = open_page("source/src/relax/fuse_tir.cc.html")
    page.wait_for_selector("#L12.hot")
    assert "it was seen on 3 lines, at most ×5" in page.locator("p.facts").inner_text()
    page = open_page("source/python/tvm/relax/pipeline.py.html")
    page.wait_for_selector("span.hot")
    page = open_page(site.address(site_case.LAMBDA))
    assert "ran ×1" in page.locator("section.symbol", has_text="lambda: pass").first.inner_text()


def test_words_of_the_text_are_found_and_lit(open_page: Open) -> None:
    page = open_page()
    find(page, "comment")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_selector("details a")
    page.locator("details a", has_text="fuse_tir.cc").first.click()
    page.wait_for_selector("#L5")
    assert page.url.endswith("#q=comment")
    assert page.evaluate("CSS.highlights.get('word').size") == 1


def test_keys_are_filtered(open_page: Open) -> None:
    page = open_page("keys/index.html")
    box = page.get_by_role("searchbox", name="Filter keys by name")
    box.fill("fuse")
    page.wait_for_selector(".keys a.key")
    assert page.locator("[data-filter] .keys li").all_inner_texts() == ["FuseTIR pass", "relax.transform.FuseTIR ffi"]
    box.fill("*")
    page.get_by_label("dangling").check()
    page.wait_for_function("document.querySelectorAll('[data-filter] .keys li').length === 1")
    assert "gone." in page.locator("[data-filter] .keys li").inner_text()


def test_where_the_time_of_a_run_went(open_page: Open) -> None:
    page = open_page(urls.run_url(site_case.RUN))
    page.wait_for_selector(".flame button")
    first = page.locator(".flame button").first
    assert first.inner_text() == "Sequential 10.0 ms"
    calls = page.locator(".flame").nth(1)
    box = calls.locator("button", has_text="relax.transform.FuseTIR")
    assert box.inner_text() == "relax.transform.FuseTIR 4.50 ms", "a key's name, and its time"
    assert "tvm::FuseTIR" in (box.get_attribute("title") or "")
    assert [each.split(" ")[0] for each in calls.locator("button").all_inner_texts()] == [
        "pipeline.one", "transform.FuseTIR", "relax.transform.FuseTIR"
    ]  # fmt: skip
    box.click()
    assert page.locator(".trail").nth(1).locator("button").all_inner_texts() == [
        "1 stack", "pipeline.one", "transform.FuseTIR", "relax.transform.FuseTIR"
    ]  # fmt: skip
    assert calls.locator("button").count() == 1, "what is inside it is too short to be seen"
    page.keyboard.press("Escape")
    passes, stacks = page.locator(".trail").all_inner_texts()
    assert passes == "all passes 10.0 ms in those that no other pass ran"
    assert stacks.startswith("1 stack")
    assert "ms" not in stacks.partition("›")[0], "stacks overlap: their sum is no time of the run"
    assert page.locator("svg.timeline a").count() == 3
    page.locator("svg.timeline a", has_text="FuseTIR").first.click()
    assert page.locator("li:target").inner_text().startswith("FuseTIR")


def test_line_numbers_in_lists_are_links(open_page: Open, site: Site) -> None:
    """The page saves the addresses of lines whose file is at hand; the script gives them back."""
    page = open_page(site.address(site_case.INNER))
    links = page.locator(".calls i a, .refs i a").evaluate_all("all => all.map((a) => [a.textContent, a.href])")
    assert links
    for line, address in links:
        assert address.endswith(f"/source/src/relax/fuse_tir.cc.html#L{line}")


def test_a_line_number_leads_to_the_file_of_the_row_above_it(open_page: Open, site: Site) -> None:
    """A row names its file once; below it stand numbers, which are of that file and not of the symbol's own."""
    address = site.address(site_case.WRAPPER).partition("#")[0]
    path = site.folder / address
    html = path.read_text()
    at = html.index("</code>", html.index("pipeline.py:", html.index("id=callers"))) + len("</code>")
    with_numbers = path.with_name("numbers.html")
    with_numbers.write_text(f"{html[:at]}\n<p><i>8</i> <code>{html[at:]}")
    page = open_page(f"{address.rpartition('/')[0]}/numbers.html")
    with_numbers.unlink()
    link = page.locator("#callers ~ ul.calls a", has_text=re.compile(r"^8$")).first
    assert (link.get_attribute("href") or "").endswith("source/python/tvm/relax/pipeline.py.html#L8")
