"""What several modules of the site's tests need; each made once for a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import site_case
from browser import Open, chromium, opener_of
from playwright.sync_api import Browser
from site_case import Site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The small site; a module that needs another has a fixture of the same name."""
    return site_case.make_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def whole_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The same with every kind of page."""
    return site_case.make_whole_site(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    """Chromium."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def open_page(chrome: Browser, site: Site) -> Iterator[Open]:
    """Opens pages of the site, and fails where one complains."""
    with opener_of(chrome, site) as opener:
        yield opener
