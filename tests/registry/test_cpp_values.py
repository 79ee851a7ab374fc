"""What a C++ string literal holds: a key that is read one character wrong has no users."""

from __future__ import annotations

from pathlib import Path

import pytest

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, Index, children
from xref.registry import cpp_ffi, cpp_passes
from xref.registry.cpp_values import string_of, unquote


def _literals(tmp_path: Path, *written: str) -> list[str | None]:
    """The values of string constants, as clang reads them."""
    source = tmp_path / "literals.cc"
    lines = [f"extern const char v{i}[] = {w};" for i, w in enumerate(written)]
    source.write_text("\n".join(lines), "utf-8")
    with Index().parse(str(source), ["-x", "c++", "-std=c++17", "-w"], 0) as unit:
        assert unit.errors() == []
        return [string_of(_initialiser(cursor)) for cursor in children(unit.cursor) if cursor.kind == kinds.VARIABLE]


def _initialiser(variable: CXCursor) -> CXCursor:
    """The last child: an array's size comes before it."""
    return children(variable)[-1]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"relax.op.add"', "relax.op.add"),
        ('""', ""),
        ('"a" "b"\n"c"', "abc"),
        (r'"with \"quotes\" and \\ and \n"', 'with "quotes" and \\ and \n'),
        (r'"\x41\102"', "AB"),
        ('"é"', "é"),
        (r'"\u00e9 \xc3\xa9"', "é é"),
        (r'"\xff"', "�"),
        ('R"(raw "text" \\ kept)"', 'raw "text" \\ kept'),
        ('u8"größe"', "größe"),
    ],
)
def test_a_literal_is_read_as_the_compiler_reads_it(tmp_path: Path, written: str, value: str) -> None:
    assert _literals(tmp_path, written) == [value]


def test_a_literal_without_escapes_is_taken_as_it_is() -> None:
    assert unquote('u8"plain"') == "plain"


def test_the_first_look_at_a_call_misses_no_form() -> None:
    """Calls are told apart by their last name before anything else is asked of them."""
    for module, tables in (
        (cpp_ffi, (cpp_ffi.DEFINITIONS, cpp_ffi.OPENERS, cpp_ffi.BODIES, cpp_ffi.LOOK_UPS)),
        (cpp_passes, (cpp_passes.MAKERS,)),
    ):
        forms = {form for table in tables for form in table}
        assert {form.rpartition("::")[2] for form in forms} == set(module.NAMES)
