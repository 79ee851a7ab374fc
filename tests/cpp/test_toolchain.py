"""The compiler's headers that were found last are found again without a parse, while nothing about them has changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xref.cpp import toolchain


@pytest.fixture(name="probes")
def probes_fixture(monkeypatch: pytest.MonkeyPatch) -> list[toolchain.Toolchain]:
    """The combinations that were probed."""
    made: list[toolchain.Toolchain] = []
    probe = toolchain._probe

    def counted(chain: toolchain.Toolchain) -> tuple[str, list[str]]:
        made.append(chain)
        return probe(chain)

    monkeypatch.setattr(toolchain, "_probe", counted)
    return made


def _find(kept: Path) -> toolchain.Toolchain:
    toolchain.find_toolchain.cache_clear()
    return toolchain.find_toolchain(kept)


def test_what_was_found_is_not_probed_again(tmp_path: Path, probes: list[toolchain.Toolchain]) -> None:
    kept = tmp_path / "new" / "toolchain.json"
    found = _find(kept)
    assert probes
    probes.clear()
    assert _find(kept) == found
    assert not probes


@pytest.mark.parametrize("key", ["asked", "files"])
def test_another_compiler_or_library_is_probed(key: str, tmp_path: Path, probes: list[toolchain.Toolchain]) -> None:
    kept = tmp_path / "toolchain.json"
    found = _find(kept)
    written = json.loads(kept.read_text())
    assert any(name.endswith("/vector") for name, *_ in written["files"])
    last = written[key][-1]
    written[key][-1] = f"{last} of before" if key == "asked" else [last[0], last[1] + 1, last[2]]
    kept.write_text(json.dumps(written))
    probes.clear()
    assert _find(kept) == found
    assert probes


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"asked": []}', "\0"])
def test_a_damaged_file_is_made_again(content: str, tmp_path: Path, probes: list[toolchain.Toolchain]) -> None:
    kept = tmp_path / "toolchain.json"
    kept.write_text(content)
    _find(kept)
    assert probes
    assert json.loads(kept.read_text())["files"]
