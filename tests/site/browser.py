"""A browser for the tests of the site."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from site_case import Site

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip

Open = Callable[..., Page]


@contextmanager
def chromium() -> Iterator[Browser]:
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


@contextmanager
def opener_of(chrome: Browser, site: Site) -> Iterator[Open]:
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
