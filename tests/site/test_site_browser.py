"""What a reader does with the site, in a browser that opened it from disk: search, read, follow, without a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import site_case
from playwright.sync_api import Browser, Page, sync_playwright
from site_case import Site

pytestmark = pytest.mark.browser
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return site_case.make_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    """Debian's chromium. Where tests must be whole (CI), a machine without it fails them."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("chromium is not installed: apt-get install chromium")
        pytest.skip("chromium is not installed: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chrome: Browser, site: Site) -> Iterator[Open]:
    """Opens a page of the site. The test fails on any error in the console, and on any request out of its folder."""
    trouble: list[str] = []
    contexts = []

    def opener(url: str = "index.html", **options: object) -> Page:
        context = chrome.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        context.set_default_timeout(8000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on(
            "console", lambda message: trouble.append(message.text) if message.type in ("error", "warning") else None
        )
        inside = site.folder.resolve().as_uri() + "/"
        page.on(
            "request",
            lambda request: None if request.url.startswith((inside, "data:")) else trouble.append(request.url),
        )
        path, _, anchor = url.partition("#")
        page.goto(inside + path + (f"#{anchor}" if anchor else ""))
        return page

    yield opener
    for context in contexts:
        context.close()
    assert trouble == []


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
        ("pipeline.zero", "tvm.relax.pipeline.zero"),
        ("fuse_tir.cc", "fuse_tir.cc"),
        ("relax/fuse", "src/relax/fuse_tir.cc"),
        ("</title><b>od", "</title><b>odd"),
    ],
)
def test_search(open_page: Open, query: str, expected: str) -> None:
    page = open_page()
    find(page, query)
    assert expected in page.locator("#hits .sym").first.inner_text()


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
    page.locator("#L7 a.v", has_text="mod").first.hover()
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
          for (const ground of ["bg", "soft", "hit"])
            if (ratio(`--${text}`, `--${ground}`) < 4.5) bad.push([text, ground, ratio(`--${text}`, `--${ground}`)]);
        return bad;
        }"""
    )
    assert low == []


@pytest.mark.parametrize("url", ["index.html", "health.html", "source/src/relax/fuse_tir.cc.html", "keys/ffi.html",
                                 "runs/index.html", "symbols/src/relax/fuse_tir.cc.html"])  # fmt: skip
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
    assert page.url.endswith("#main")


def test_a_hostile_file_opens(open_page: Open, site: Site) -> None:
    page = open_page("source/index.html")
    page.get_by_role("link", name="src/").click()
    page.get_by_role("link", name="we ird/").click()
    page.locator("table.list a").last.click()
    assert site_case.HOSTILE_PATH.rpartition("/")[2] in page.locator("h1").inner_text()
    assert "int odd()" in page.locator("#L1").inner_text()
