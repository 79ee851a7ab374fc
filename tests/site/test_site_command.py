"""`xref site` on the command line: exit codes, streams, what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import site_case


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site_case.make(tmp_path_factory.mktemp("command"))


def xref(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment}
    command = [sys.executable, "-m", "xref", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def test_it_says_what_it_made_and_what_to_open(index: Path, tmp_path: Path) -> None:
    done = xref("site", "--db", index, "-j", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "pages," in done.stdout
    assert "2 files changed since the index was made" in done.stdout
    assert "open site/index.html" in done.stdout
    assert (tmp_path / "site" / "index.html").is_file()
    assert not (tmp_path / "site" / "plan").exists()


def test_quiet(index: Path, tmp_path: Path) -> None:
    done = xref("site", "--db", index, "--out", "pages", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "pages" / "index.html").is_file()


def test_exit_codes(index: Path, tmp_path: Path) -> None:
    assert xref("site", "--db", "none.db", cwd=tmp_path).returncode == 3
    assert xref("site", "--db", index, "-j", "0", cwd=tmp_path).returncode == 2
    (tmp_path / "mine").write_text("x")
    done = xref("site", "--db", index, "--out", ".", cwd=tmp_path)
    assert done.returncode == 5
    assert done.stdout == ""
    assert "mine" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert (tmp_path / "mine").read_text() == "x"


def test_a_layout_program_that_is_not_there(index: Path, tmp_path: Path) -> None:
    done = xref("site", "--db", index, cwd=tmp_path, XREF_DOT="/no/such/program")
    assert done.returncode == 5
    assert "XREF_DOT" in done.stderr


@pytest.mark.parametrize(
    "place",
    ["/proc/foo", "/proc/1/foo", "/dev/null", "/dev/null/foo", "a/" + 300 * "n", "loop", "loop/foo", "file/foo", "/"],
)
def test_a_place_where_no_site_can_be(index: Path, tmp_path: Path, place: str) -> None:
    """One line that names the place and the way out, whatever is wrong with it."""
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("mine")
    done = xref("site", "--db", index, "--out", place, cwd=tmp_path)
    assert done.returncode == 5, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "name another --out" in done.stderr or "name an --out elsewhere" in done.stderr
    assert (tmp_path / "file").read_text() == "mine"
