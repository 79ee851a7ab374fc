"""Under which conditions a line is compiled: when this errs, a key is called guarded that is always there."""

from __future__ import annotations

import pytest

from xref.cpp.conditionals import Conditionals


def _at(source: str, mark: str = "HERE") -> str:
    lines = source.split("\n")
    return Conditionals(source).at(next(i for i, line in enumerate(lines, 1) if mark in line))


@pytest.mark.parametrize(
    "opening",
    [
        "#ifndef TVM_X_H_\n#define TVM_X_H_\n",
        "#if !defined(TVM_X_H_)\n#define TVM_X_H_\n",
        "/* license\n * #if of no meaning\n */\n#ifndef TVM_X_H_  // guard\n#define TVM_X_H_ 1\n",
        "#pragma once\n",
    ],
)
def test_an_include_guard_is_no_condition(opening: str) -> None:
    assert _at(f"{opening}HERE\n#ifdef A\n#endif\n#endif\n") == ""


def test_a_first_condition_that_only_looks_like_an_include_guard_counts() -> None:
    assert _at("#ifndef USE_X\n#define OTHER\nHERE\n#endif\n") == "not USE_X"


def test_the_cplusplus_condition_of_c_headers_is_none() -> None:
    assert _at("#ifdef __cplusplus\nHERE\n#endif\n") == ""


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("#ifdef A\nHERE\n#endif", "A"),
        ("#ifndef A\nint x;\n#else\nHERE\n#endif", "A"),
        ("#if defined(A)\n#else\nHERE\n#endif", "not A"),
        ("#if !defined A\nHERE\n#endif", "not A"),
        ("#if A > 2 && B\n#else\nHERE\n#endif", "not (A > 2 && B)"),
        ("#if A\n#elif B\n#else\nHERE\n#endif", "not A and not B"),
        ("#if A\n#elif B\nHERE\n#endif", "B"),
        ("#ifdef A\n#  if B\nHERE\n#  endif\n#endif", "A and B"),
        ("#ifdef A\n#endif\nHERE", ""),
        ("#if A && \\\n    B\nHERE\n#endif", "A && B"),
        ("#if A /* why */ && B  // because\nHERE\n#endif", "A && B"),
        ("#endif\n#else\n#ifdef A\nHERE\n#endif", "A"),
    ],
)
def test_conditions_in_words(source: str, words: str) -> None:
    assert _at(source) == words


def test_line_ends_of_windows_change_nothing() -> None:
    assert _at("#if A && \\\r\n    B\r\nHERE\r\n#endif\r\n") == "A && B"


@pytest.mark.parametrize(
    "hiding",
    [
        "/*\n#ifdef GONE\n*/",
        "// \\\n#ifdef GONE",
        'auto code = R"(\n#ifdef GONE\n)";',
        'auto code = R"cu(\n)"\n#ifdef GONE\n)cu";',
        '#if 1\n#error "/*"\n#endif',
        "int a = 1'000; /*\n#ifdef GONE\n*/",
        "char c = '\"'; /*\n#ifdef GONE\n*/",
    ],
)
def test_what_is_no_code_holds_no_directive(hiding: str) -> None:
    assert _at(f"{hiding}\nHERE\n") == ""


def test_a_comment_that_never_ends_hides_the_rest() -> None:
    assert _at("#ifdef A\nHERE\n/*\n#endif\n") == "A"
