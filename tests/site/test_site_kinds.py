"""What every kind of page must keep: an empty console, the width of a telephone, and the rules of axe-core."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import site_case
from axe_core import COLOURS, axe_core, violations
from browser import Open
from playwright.sync_api import Browser
from site_case import Site

from xref.site import urls
from xref.site.serve import Server

pytestmark = pytest.mark.browser
KINDS = ("overview", "walks", "walk", "folder", "source", "symbol", "further page", "symbols", "outside", "registries",
         "registry", "runs", "run", "comparison", "differences", "graph", "text", "health")  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return site_case.make_whole_site(tmp_path_factory.mktemp("kinds"))


@pytest.fixture(scope="module")
def addresses(site: Site) -> dict[str, str]:
    """One page of each kind."""
    pages = sorted(site.folder.rglob("*.html"), key=lambda page: (page.stat().st_size, page))
    found = {urls.kind_of(url): url for url in (page.relative_to(site.folder).as_posix() for page in pages)}
    chosen = {"symbol": site.address(site_case.CREATOR), "source": urls.source_url(site_case.CC),
              "symbols": urls.outline_url(site_case.CC)}  # fmt: skip
    return found | chosen


@pytest.fixture(scope="module")
def script() -> str:
    return axe_core()


@pytest.fixture(scope="module")
def server(site: Site) -> Iterator[Server]:
    with Server(site.db, site.folder, 0) as made:
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield made
        made.shutdown()


def test_no_kind_is_forgotten(addresses: dict[str, str]) -> None:
    """A page of a new kind must be looked at too."""
    assert set(addresses) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_page(open_page: Open, addresses: dict[str, str], script: str, kind: str) -> None:
    """No error in the console (the fixture), no wider than a telephone, nothing serious for axe-core, light or dark."""
    page = open_page(addresses[kind], viewport={"width": 360, "height": 740})
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 900})
    assert violations(page, script) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, script, COLOURS) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_opens_over_a_page_is_accessible(open_page: Open, script: str, scheme: str) -> None:
    """The card of a name, the answers of the search box, a range of lines, a run in the margin."""
    page = open_page(urls.source_url(site_case.TRANSFORM) + "#L5-L7", color_scheme=scheme)
    page.wait_for_selector("span.hot")
    page.locator("#L5 a.d").focus()
    page.keyboard.press("i")
    page.wait_for_selector(".card")
    assert violations(page, script) == []
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("fuse")
    page.wait_for_selector("#hits [role=option]")
    assert violations(page, script) == []
    page.locator("#q").fill("nothing has all these")
    page.wait_for_selector("#hits .empty >> text=all these words")
    assert violations(page, script) == []


@pytest.mark.parametrize("question", ["", "who calls FuseTIR"])
def test_the_page_that_answers_questions(chrome: Browser, server: Server, script: str, question: str) -> None:
    """`xref serve` adds it; its policy for scripts must let the page's own ones run."""
    context = chrome.new_context(viewport={"width": 360, "height": 740}, bypass_csp=True)
    page = context.new_page()
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
    page.goto(f"http://127.0.0.1:{server.port}/ask?q={question.replace(' ', '+')}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert violations(page, script) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, script, COLOURS) == []
    context.close()
    assert trouble == []


def test_drawings_and_paths_made_in_the_browser_are_accessible(open_page: Open, site: Site, script: str) -> None:
    code = site.plan.packing.code[site_case.id_of(site_case.INNER)]
    page = open_page(f"graph.html#of={code}")
    page.wait_for_selector(".drawing svg.graph .middle")
    page.locator("#pick-from").fill("pipeline.one")
    page.locator("#pick-to").fill("Inner")
    page.get_by_role("button", name="Show").click()
    page.wait_for_selector(".chain li")
    assert violations(page, script) == []


def test_a_long_list_goes_on_by_file(open_page: Open, addresses: dict[str, str]) -> None:
    """Rows without text stand under their file, and their lines lead to it."""
    page = open_page(addresses["further page"])
    group = page.locator("li.f").first
    assert group.locator("a").first.inner_text() == "src/many.cc"
    row = group.locator("li").first
    line = row.locator("i a")
    assert row.locator("a").first.inner_text() == f"tvm::many{line.inner_text()}"
    line.click()
    page.wait_for_url(f"**/source/src/many.cc.html#L{row_number(page.url)}")


def row_number(url: str) -> str:
    return url.rpartition("#L")[2]
