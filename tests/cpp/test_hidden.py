"""What libclang does not show is read where a sample confirms it; where it does not, users are told so."""

from __future__ import annotations

import pytest
from cpp_cases import all_cases, extract, plan_case

from xref.cpp import hidden


def test_this_libclang_keeps_lists_where_they_are_read() -> None:
    assert hidden.can_read_lists()


def test_lists_that_cannot_be_read_are_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden, "_layout", lambda: None)
    (facts,) = extract(plan_case(next(case for case in all_cases() if case.name == "braces")))
    reasons = {row.text: row.reason for row in facts.unresolved}
    assert reasons["{8}"] == "what values in braces construct, which this libclang does not show"
