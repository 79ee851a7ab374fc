"""Drawings in a browser: by keyboard, by mouse; chains of calls, and what the graph's page says where there is none."""

from __future__ import annotations

import pytest
import site_case
from browser import Open
from playwright.sync_api import Page
from site_case import Site

from xref.site import urls

pytestmark = pytest.mark.browser


def test_a_drawing_by_keyboard_and_filter(open_page: Open, site: Site) -> None:
    page = open_page(site.address(site_case.CREATOR))
    page.wait_for_selector(".tools button")
    page.locator(".canvas").focus()
    page.keyboard.press("ArrowRight")
    focused = "document.activeElement.textContent"
    assert "FuseTIR" in page.evaluate(focused), "first the middle"
    page.keyboard.press("ArrowLeft")
    assert "relax.transform.FuseTIR" in page.evaluate(focused), "the key through which it is called"
    page.keyboard.press("ArrowLeft")
    assert "Python function" in page.evaluate(focused)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("h1").text_content() != "tvm::relax::transform::FuseTIR"
    page = open_page(site.address(site_case.CREATOR))
    page.wait_for_selector(".legend input")
    before = page.locator("svg.graph[role=group]").bounding_box()
    page.get_by_role("button", name="Zoom in").click()
    after = page.locator("svg.graph[role=group]").bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > before["width"]
    shown = page.locator("svg[role=group] .edge.t-registry").first
    assert shown.is_visible()
    page.locator(".legend", has_text="through a key").locator("input").uncheck()
    assert not shown.is_visible()


def test_a_click_on_an_edge_leads_to_the_call(open_page: Open, site: Site) -> None:
    page = open_page(site.address(site_case.CREATOR))
    address = page.locator("svg[role=group] a", has=page.locator(".edge.t-registry")).first.get_attribute("href")
    assert address is not None
    assert address.endswith("python/tvm/relax/transform.py.html#L7")


def test_a_drawing_made_in_the_browser_and_a_path(open_page: Open, site: Site) -> None:
    code = site.plan.packing.code
    page = open_page(f"graph.html#of={code[site_case.id_of(site_case.INNER)]}")
    page.wait_for_selector(".drawing svg.graph .middle")
    drawn = page.locator(".drawing svg.graph").first.text_content() or ""
    assert "tvm::Inner" in drawn
    assert "lambda: pass" in drawn
    found = page.locator(".drawing svg.graph a").evaluate_all("all => all.map((a) => a.href.baseVal)")
    inside = [address.rpartition(site.folder.resolve().as_uri() + "/")[2] for address in found]
    assert any(address.startswith("f/") and "#" in address for address in inside), found
    for address in inside:
        assert (site.folder / address.partition("#")[0]).is_file(), address
    page.locator("#pick-from").fill("pipeline.one")
    page.locator("#pick-to").fill("Inner")
    page.get_by_role("button", name="Show").click()
    page.wait_for_selector(".chain li")
    steps = page.locator(".chain li").all_inner_texts()
    assert len(steps) == 5
    assert "through a key relax.transform.FuseTIR → tvm::FuseTIR" in steps[2]
    assert "transform.py:7" in steps[2]
    assert "×3" in steps[2]


def test_the_page_of_the_graph_begins_with_an_example(open_page: Open) -> None:
    """An empty page with two boxes tells a newcomer nothing."""
    page = open_page("graph.html")
    page.wait_for_selector(".drawing svg.graph .middle")
    assert "tvm.FuseTIR" in page.locator("#chain").inner_text()
    page.locator("#examples a", has_text="to").last.click()
    page.wait_for_selector(".chain li")
    assert "relax.transform.FuseTIR" in page.locator(".chain").inner_text()


def test_the_buttons_of_a_drawing_stand_beside_it(open_page: Open, site: Site) -> None:
    page = open_page(site.address(site_case.CREATOR), viewport={"width": 360, "height": 740})
    tools, canvas = page.locator(".tools").bounding_box(), page.locator(".drawing .canvas").bounding_box()
    assert tools is not None
    assert canvas is not None
    assert tools["y"] + tools["height"] <= canvas["y"]


FOCUSED = (
    "() => { const now = document.activeElement; const thing = now.matches('.node, .edge') ? now"
    " : now.querySelector('.node, .edge'); const all = [...document.querySelectorAll('.canvas .node, .canvas .edge')];"
    " return all.indexOf(thing); }"
)
SEEN = (
    "() => { const shape = document.activeElement.querySelector('rect, path');"
    " return getComputedStyle(shape).stroke === getComputedStyle(document.querySelector('a.skip')).borderColor; }"
)


def reached(page: Page) -> set[int]:
    """The boxes and lines of a drawing that the arrow keys reach: every box downwards, each with its lines."""
    found: set[int] = set()
    page.locator(".canvas").focus()
    page.keyboard.press("ArrowDown")
    while (box := page.evaluate(FOCUSED)) not in found:
        found.add(box)
        for key in ("Shift+ArrowRight", "Shift+ArrowLeft"):
            page.keyboard.press(key)
            while (line := page.evaluate(FOCUSED)) != box and line not in found:
                found.add(line)
                assert page.evaluate(SEEN), "what has the focus can be seen"
                page.keyboard.press("ArrowDown")
            if page.evaluate(FOCUSED) != box:  # back to the box at the near end
                page.keyboard.press("ArrowLeft" if "Right" in key else "ArrowRight")
            assert page.evaluate(FOCUSED) == box
        page.keyboard.press("ArrowDown")
    return found


@pytest.mark.parametrize("url", ["own", "graph.html"])
def test_every_box_and_every_line_is_reached_by_keyboard(open_page: Open, site: Site, url: str) -> None:
    """Lines could not be, nor boxes that no line led to, nor those without a page."""
    page = open_page(site.address(site_case.CREATOR) if url == "own" else url)
    page.wait_for_selector(".canvas .node")
    page.wait_for_selector(".tools button")
    every = page.locator(".canvas .node, .canvas .edge").count()
    assert every > 6
    assert reached(page) == set(range(every))
    assert page.locator(".canvas [tabindex='0'], .canvas a:not([tabindex='-1'])").count() == 0, (
        "one stop of the Tab key"
    )
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('.canvas')")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")


def test_a_line_says_what_it_is_and_opens_its_call(open_page: Open, site: Site) -> None:
    page = open_page(site.address(site_case.CREATOR))
    page.wait_for_selector(".tools button")
    page.locator(".canvas").focus()
    assert "Esc: leave" in page.locator(".tools .keys").inner_text()
    for key in ("ArrowDown", "ArrowLeft", "Shift+ArrowLeft"):
        page.keyboard.press(key)
    assert "transform.FuseTIR → relax.transform.FuseTIR: registry, line 7" in page.locator(".tools .keys").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url("**/transform.py.html#L7")


def test_a_timeline_by_keyboard(open_page: Open) -> None:
    page = open_page(urls.run_url(site_case.RUN))
    page.wait_for_selector(".tools button")
    page.locator(".canvas").first.focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert "FuseTIR, 5 ms" in page.locator(".tools .keys").first.inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url("**#pass-1")


def path(page: Page, start: str, goal: str) -> str:
    """What the page says after somebody asked for a chain."""
    page.locator("#pick-from").fill(start)
    page.locator("#pick-to").fill(goal)
    page.evaluate("document.querySelector('#chain').replaceChildren()")
    page.get_by_role("button", name="Show").click()
    page.wait_for_selector("#chain > *")
    return page.locator("#chain").inner_text()


def test_a_chain_is_drawn(open_page: Open) -> None:
    """The drawing showed what is around its first function, and not the chain."""
    page = open_page("graph.html")
    path(page, "pipeline.one", "Inner")
    page.wait_for_selector("[aria-label='Chains of calls'] svg.graph")
    names = page.locator(".canvas .node > text:not(.sub)").all_text_contents()
    assert names == ["pipeline.one", "transform.FuseTIR", "tvm::FuseTIR", "FuseTIR::{lambda: pass}", "tvm::Inner"]
    boxes = [box.bounding_box() for box in page.locator(".canvas .node rect").all()]
    left = [box["x"] for box in boxes if box]
    assert left == sorted(left), "from left to right"
    assert page.locator(".canvas .edge").count() == 4
    assert page.locator(".legend").count() == 3


def test_why_there_is_no_chain(open_page: Open) -> None:
    """One function twice, unknown names and a missing chain had the same words."""
    page = open_page("graph.html")
    assert "Both ends are Inner" in path(page, "Inner", "tvm::Inner").replace("tvm::Inner", "Inner")
    text = path(page, "Innre", "Inner")
    assert "No function is called “Innre”. Names near it: tvm::Inner" in text
    page.locator("#chain a").first.click()
    page.wait_for_selector("#chain >> text=Both ends are")
    assert "No function is called “nothing at all like it”" in path(page, "Inner", "nothing at all like it")
    assert "tvm::Pass is a class that no call leads to" in path(page, "tvm::Pass", "Inner")
    text = path(page, "Inner", "pipeline.one")
    assert "No chain of calls leads from tvm::Inner to pipeline.one" in text
    assert "One leads the other way: 4 calls" in text
    page.locator("#chain a", has_text="4 calls").click()
    page.wait_for_selector(".chain li")
    page = open_page("graph.html#of=zzzzzzz")
    page.wait_for_selector("#chain >> text=No function is called “zzzzzzz”")


def test_an_address_may_hold_names(open_page: Open) -> None:
    page = open_page("graph.html#from=pipeline.one&to=FuseTIR")
    page.wait_for_selector(".chain li")
    assert page.locator(".chain li").count() == 2


def test_all_shortest_chains_are_counted_and_as_many_drawn_as_there_is_room_for(open_page: Open) -> None:
    """A grid: 2 x 2 x 2 ways through three layers of two, to one end."""
    page = open_page("graph.html")
    page.wait_for_function("window.xref || xref")
    page.wait_for_selector(".drawing svg.graph")
    found = page.evaluate(
        """async () => {
        const graph = Object.create(Object.getPrototypeOf(await xref.graph()));
        const layers = [[0], [1, 2], [3, 4], [5, 6], [7]], to = [], from = [], start = [0];
        for (let node = 0; node < 8; node++) {
          const at = layers.findIndex((layer) => layer.includes(node));
          for (const next of layers[at + 1] || []) { from.push(node); to.push(next); }
          start.push(to.length);
        }
        const incoming = [], enter = [0];
        for (let node = 0; node < 8; node++) {
          to.forEach((goal, edge) => { if (goal === node) incoming.push(edge); });
          enter.push(incoming.length);
        }
        Object.assign(graph, { to, from, start, incoming, enter, ev: to.map(() => "0"), codes: start,
                               evidence: [["direct", "direct", 1]], counts: new Map([[2 * 9 + 4, 5]]) });
        const all = (most) => { const { best, count, level, edges } = graph.chains(0, 7, () => true, most);
          return [best.map((edge) => to[edge]), count, level.size, edges.size]; };
        return [all(24), all(5), graph.chains(7, 0, () => true, 24)];
        }"""
    )
    assert found == [[[2, 4, 5, 7], 8, 8, 12], [[2, 4, 5, 7], 8, 5, 4], None]
