"""axe-core, the rules of browsers' accessibility panels: taken from npm when the tests run, and kept in the cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from xref.cache import cache_folder

PACKAGE = "axe-core-4.14.1"
SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
"""Of the package's file, as npm's lock files write it: these tests run no script that was changed on the way."""
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules that see a difference between the schemes."""
SERIOUS = ("serious", "critical")


def axe_core() -> str:
    """The script. A machine without npm, or without a network at the first time, skips the test; in CI it fails."""
    kept = cache_folder() / PACKAGE / "axe.min.js"
    if not kept.is_file():
        _fetch(kept)
    return kept.read_text(encoding="utf-8")


def _fetch(kept: Path) -> None:
    missing = pytest.fail if os.environ.get("CI") else pytest.skip
    npm = shutil.which("npm")
    if npm is None:
        missing("npm is not installed: apt-get install npm")
    with tempfile.TemporaryDirectory() as folder:
        name, _, version = PACKAGE.rpartition("-")
        done = subprocess.run(
            [str(npm), "pack", f"{name}@{version}", "--silent"], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            missing(f"npm could not fetch {PACKAGE} ({done.stderr.strip()[-300:]})")
        package = Path(folder) / f"{PACKAGE}.tgz"
        assert b64encode(hashlib.sha512(package.read_bytes()).digest()).decode() == SHA512
        with tarfile.open(package) as archive:
            script = archive.extractfile("package/axe.min.js")
            assert script is not None
            kept.parent.mkdir(parents=True, exist_ok=True)
            partial = kept.with_name(f"{kept.name}.{os.getpid()}")
            partial.write_bytes(script.read())
            partial.replace(kept)  # another process may be fetching it too


def violations(page: Page, script: str, rules: Sequence[str] = ()) -> list[str]:
    """What is seriously or critically wrong with the page as it stands: the rule, and the first element.

    `rules`: only these, all when empty.
    """
    page.evaluate(script)
    options = {"resultTypes": ["violations"], "preload": False} | ({"runOnly": list(rules)} if rules else {})
    found: list[dict[str, Any]] = page.evaluate("(options) => axe.run(document, options)", options)["violations"]
    return [
        f"{rule['id']} ({rule['impact']}), {len(rule['nodes'])} times: {rule['nodes'][0]['html'][:200]}"
        f" {rule['nodes'][0]['failureSummary'][:300]}"
        for rule in found
        if rule["impact"] in SERIOUS
    ]
