"""The small site that most tests here read, built once."""

from __future__ import annotations

from pathlib import Path

import pytest
import site_case

from xref.site.build import SiteSummary, build_site


class Site:
    """A built site: `db` is its index, `folder` the pages."""

    def __init__(self, db: Path, folder: Path, summary: SiteSummary) -> None:
        self.db = db
        self.folder = folder
        self.summary = summary

    def read(self, url: str) -> str:
        """A page's HTML."""
        return (self.folder / url).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site of `site_case`, with its run."""
    folder = tmp_path_factory.mktemp("site")
    db = site_case.make(folder)
    site_case.add_run(db)
    return Site(db, folder / "out", build_site(db, folder / "out", 1, lambda *_: None))


def pytest_configure(config: pytest.Config) -> None:
    """Tests that need a browser can be left out with `-m 'not browser'`."""
    config.addinivalue_line("markers", "browser: needs chromium (Debian's) and playwright")
