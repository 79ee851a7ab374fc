"""Whole small trees against expectations beside them: what a reader of the index would see of each file.

`XREF_WRITE_EXPECTATIONS=1 pytest tests/python/test_python_cases.py` rewrites them; review the difference.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from python_case import CASES, copy_case, describe, index

NAMES = sorted(path.parent.name for path in CASES.glob("*/expected.json"))


@pytest.mark.parametrize("name", NAMES)
def test_the_facts_of_a_case_are_the_ones_beside_it(name: str, tmp_path: Path) -> None:
    expectation = CASES / name / "expected.json"
    expected = json.loads(expectation.read_text("utf-8"))
    facts = index(copy_case(name, tmp_path / "tree"), tmp_path / "scratch")
    assert {path: (file.status, file.detail) for path, file in facts.items() if file.status != "ok"} == {}
    found = {}
    for section, lines in expected.items():
        only = [line for line in lines if " " not in line]  # a bare path limits the section to that file
        found[section] = only + describe(facts, section, only)
    if os.environ.get("XREF_WRITE_EXPECTATIONS"):
        expectation.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return
    assert found == expected
