"""Which options build a file: a wrong guard calls a real gap explained, a missing one reports a gap that is none."""

from __future__ import annotations

import pytest

from xref.tree.cmake import NO_RULE, build_guards
from xref.tree.cmake_logic import Argument, commands, in_words, parse_condition

OPTIONS = (
    'tvm_option(USE_CUDA "Build with CUDA" OFF)\ntvm_option(USE_NCCL "NCCL" OFF)\ntvm_option(USE_RPC "RPC" ON)\n'
    'option(USE_X "no value")\ntvm_option(USE_BLAS "The blas library" none)\ntvm_option(USE_LLVM "LLVM" OFF)\n'
    'tvm_option(USE_Z3 "Z3" AUTO)\ntvm_option(USE_ROCM "ROCm" OFF)\n'
)
PATHS = ("src/a.cc", "src/b.cc", "src/cuda/c.cc", "src/cuda/deep/d.cc")


def guards(text: str, paths: tuple[str, ...] = PATHS, **files: str) -> dict[str, str]:
    """The guards of `paths` under a CMakeLists.txt that starts with the options above."""
    known = {"CMakeLists.txt": OPTIONS + text} | {
        name.replace("__", "/") + ".cmake": body for name, body in files.items()
    }
    return build_guards(paths, lambda path: known.get(path, ""))


def guard(condition: str, paths: tuple[str, ...] = ("src/a.cc",)) -> str:
    """The guard of a file that is built inside if(`condition`)."""
    return guards(f"if({condition})\nadd_library(t src/a.cc)\nendif()", paths).get("src/a.cc", "")


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("USE_CUDA", "USE_CUDA"),
        ("USE_CUDA AND USE_NCCL", "USE_CUDA and USE_NCCL"),
        ("USE_CUDA OR USE_ROCM", "USE_CUDA or USE_ROCM"),
        ("NOT (USE_CUDA OR USE_RPC)", "not USE_RPC"),
        ("USE_RPC", ""),
        ("USE_Z3", ""),
        ("NOT USE_CUDA", ""),
        ("NOT USE_RPC", "not USE_RPC"),
        ("NOT WIN32", "not WIN32"),
        ("NOT BUILD_FOR_HEXAGON", ""),
        ("BUILD_FOR_HEXAGON", "BUILD_FOR_HEXAGON"),
        ("USE_X", "USE_X"),
        ("${USE_LLVM} MATCHES ${IS_TRUE_PATTERN}", "USE_LLVM"),
        ('NOT "${USE_LLVM}" MATCHES ${IS_FALSE_PATTERN}', "USE_LLVM"),
        ('NOT USE_LLVM STREQUAL "OFF"', "USE_LLVM"),
        ('USE_BLAS STREQUAL "openblas"', "USE_BLAS=openblas"),
        ('USE_BLAS STREQUAL "none"', ""),
        ("IS_DIRECTORY ${USE_LLVM}", "USE_LLVM is a folder"),
        ("USE_CUDA AND CUDA_LIB_FOUND", "USE_CUDA"),
        ('CMAKE_CUDA_ARCHITECTURES MATCHES "90a"', "CMAKE_CUDA_ARCHITECTURES matches 90a"),
        ("DEFINED USE_CUDA", ""),
        ("TRUE", ""),
        ("((USE_CUDA) AND (NOT (NOT USE_NCCL)))", "USE_CUDA and USE_NCCL"),
        ("USE_CUDA )(", "USE_CUDA"),
    ],
)
def test_conditions_in_words(condition: str, words: str) -> None:
    assert guard(condition) == words


def test_a_file_built_anyway_has_no_guard_whatever_else_builds_it() -> None:
    text = "if(USE_CUDA)\nadd_library(c src/a.cc)\nendif()\nadd_library(t src/a.cc)\n"
    assert "src/a.cc" not in guards(text)
    assert "src/a.cc" not in guards("if(USE_CUDA)\nadd_library(c src/a.cc)\nelse()\nadd_library(c src/a.cc)\nendif()")


def test_of_two_ways_the_wider_one_counts() -> None:
    text = "if(USE_CUDA)\nadd_library(c src/a.cc)\nif(USE_NCCL)\nadd_library(n src/a.cc)\nendif()\nendif()"
    assert guards(text)["src/a.cc"] == "USE_CUDA"
    text = "if(USE_CUDA AND NOT USE_X)\nadd_library(c src/a.cc)\nendif()\nif(USE_X)\nadd_library(x src/a.cc)\nendif()"
    assert guards(text)["src/a.cc"] == "USE_CUDA or USE_X"


def test_long_alternatives_are_given_by_what_they_share() -> None:
    first = "if(USE_CUDA AND USE_X)\nadd_library(a src/a.cc)\nendif()\n"
    text = first + "if(USE_ROCM AND USE_X)\nadd_library(b src/a.cc)\nendif()"
    assert guards(text)["src/a.cc"] == "USE_X"


def test_elseif_chains_do_not_inherit_the_branches_before_them() -> None:
    text = (
        'if(USE_BLAS STREQUAL "mkl")\nelseif(USE_BLAS STREQUAL "atlas")\nadd_library(a src/a.cc)\n'
        'elseif(USE_BLAS STREQUAL "none")\nadd_library(b src/b.cc)\nendif()'
    )
    found = guards(text)
    assert found["src/a.cc"] == "USE_BLAS=atlas"
    assert "src/b.cc" not in found


def test_globs_stay_in_their_folder_unless_they_recurse() -> None:
    text = (
        "file(GLOB A src/*.cc)\nif(USE_CUDA)\ntvm_file_glob(GLOB_RECURSE B CONFIGURE_DEPENDS src/cuda/*.cc)\nendif()\n"
    )
    found = guards(text + "add_library(t ${A} ${B})")
    assert found == {"src/cuda/c.cc": "USE_CUDA", "src/cuda/deep/d.cc": "USE_CUDA"}
    assert guards("file(GLOB A src/*/*.cc)\nadd_library(t ${A})").get("src/cuda/c.cc", "") == ""


def test_a_glob_alone_builds_nothing() -> None:
    assert guards("tvm_file_glob(GLOB_RECURSE GROUP src/*.cc)\nadd_library(t src/b.cc)") == dict.fromkeys(
        ("src/a.cc", "src/cuda/c.cc", "src/cuda/deep/d.cc"), NO_RULE
    )


def test_lists_grow_shrink_and_are_replaced() -> None:
    text = (
        "set(S src/a.cc src/b.cc)\nif(USE_CUDA)\nlist(APPEND S src/cuda/c.cc)\nendif()\n"
        'list(REMOVE_ITEM S "src/b.cc")\nadd_library(t OBJECT ${S})'
    )
    assert guards(text) == {"src/cuda/c.cc": "USE_CUDA", "src/b.cc": NO_RULE, "src/cuda/deep/d.cc": NO_RULE}
    text = "set(S src/a.cc)\nset(S src/b.cc)\nadd_library(t ${S})"
    assert guards(text)["src/a.cc"] == NO_RULE
    text = "file(GLOB_RECURSE S src/*.cc)\nlist(FILTER S EXCLUDE REGEX cuda)\nadd_library(t ${S})"
    assert guards(text) == dict.fromkeys(("src/cuda/c.cc", "src/cuda/deep/d.cc"), NO_RULE)


def test_paths_are_found_through_variables_and_absolute_ones_are_not() -> None:
    text = (
        'set(DIR "${CMAKE_CURRENT_SOURCE_DIR}/src/cuda")\nif(USE_CUDA)\n'
        'add_library(t "${DIR}/c.cc" ./src/../src/a.cc)\n'
        "endif()\nadd_library(u /usr/src/a.cc ../src/b.cc ${CMAKE_BINARY_DIR}/src/cuda/deep/d.cc)"
    )
    found = guards(text)
    assert found["src/cuda/c.cc"] == found["src/a.cc"] == "USE_CUDA"
    assert found["src/b.cc"] == found["src/cuda/deep/d.cc"] == NO_RULE


def test_macros_and_functions_of_the_tree_take_part() -> None:
    text = (
        "macro(append _out)\ntvm_file_glob(GLOB _tmp0 ${ARGN})\nset(_tmp1 ${${_out}})\nlist(APPEND _tmp1 ${_tmp0})\n"
        "set(${_out} ${_tmp1})\nendmacro()\nfunction(make name)\nadd_library(${name} ${ARGN})\nendfunction()\n"
        "append(S src/a.cc)\nif(USE_CUDA)\nappend(S src/cuda/*.cc)\nendif()\nmake(t ${S})"
    )
    assert guards(text, PATHS[:3]) == {"src/cuda/c.cc": "USE_CUDA", "src/b.cc": NO_RULE}


def test_a_loop_builds_each_of_its_items() -> None:
    text = (
        "set(L a b)\nforeach(x IN LISTS L)\nadd_library(${x} src/${x}.cc)\nendforeach()\n"
        "foreach(y c)\nadd_library(y src/cuda/${y}.cc)\nendforeach()"
    )
    assert guards(text, PATHS[:3]) == {}


def test_return_guards_the_rest_of_an_included_file_only() -> None:
    module = "if(NOT USE_CUDA)\n  return()\nendif()\nlist(APPEND S src/cuda/c.cc)\n"
    text = "set(S src/a.cc)\ninclude(cmake/modules/CUDA.cmake)\nlist(APPEND S src/b.cc)\nadd_library(t ${S})"
    assert guards(text, PATHS[:3], cmake__modules__CUDA=module) == {"src/cuda/c.cc": "USE_CUDA"}


def test_a_search_macro_that_returns_when_its_option_is_off_does_not_guard_the_rest() -> None:
    """find_nccl() returns when its argument is false; it is called only where the option is on."""
    text = (
        "macro(find_nccl use_nccl)\nif(${use_nccl} MATCHES ${IS_FALSE_PATTERN})\nreturn()\nendif()\nendmacro()\n"
        "if(USE_CUDA AND USE_NCCL)\nfind_nccl(${USE_NCCL})\nadd_library(n src/cuda/c.cc)\nendif()\n"
        "add_library(t src/a.cc)"
    )
    assert guards(text, ("src/a.cc", "src/cuda/c.cc")) == {"src/cuda/c.cc": "USE_CUDA and USE_NCCL"}


def test_a_sub_project_has_its_own_folder() -> None:
    known = {
        "CMakeLists.txt": "add_library(t src/a.cc)\nadd_subdirectory(3rdparty/tvm-ffi)\nadd_library(u src/b.cc)",
        "3rdparty/tvm-ffi/CMakeLists.txt": 'option(F_TEST "" OFF)\n'
        'add_library(f "${CMAKE_CURRENT_SOURCE_DIR}/src/o.cc")\n'
        "if(F_TEST)\nadd_library(g src/t.cc)\nendif()",
    }
    paths = ("src/a.cc", "src/b.cc", "3rdparty/tvm-ffi/src/o.cc", "3rdparty/tvm-ffi/src/t.cc")
    assert build_guards(paths, lambda path: known.get(path, "")) == {"3rdparty/tvm-ffi/src/t.cc": "F_TEST"}


def test_comments_brackets_and_quotes_are_read_as_cmake_does() -> None:
    text = (
        "#[[ add_library(no src/a.cc) ]]\n# add_library(no src/a.cc)\nset(X [=[a ]] b]=])\n"
        'message("if(USE_X) \\" #")\nADD_LIBRARY(t src/b.cc)'
    )
    assert [command.name for command in commands(text)] == ["set", "message", "add_library"]
    assert next(commands(text)).arguments[1] == Argument("a ]] b", quoted=True)


@pytest.mark.parametrize(
    "text",
    [
        "include(CMakeLists.txt)",
        "macro(m)\nm()\nendmacro()\nm()",
        "set(A ${B})\nset(B ${A})\nset(A ${A}${A})\nadd_library(t ${A} src/a.cc)",
        "foreach(x ${ARGN}",
        "endif()\nelse()\nelseif(X)\nif(\nadd_library(t src/a.cc)",
        "if(" + "NOT " * 5000 + "X)\nendif()",
        "if(" + "(" * 5000 + "X" + ")" * 5000 + ")\nendif()\nadd_library(t src/a.cc)",
        "if(" + " AND ".join(f"(A{n} OR B{n})" for n in range(40)) + ")\nadd_library(t src/a.cc)\nendif()",
        "set(S a)\n" + "list(APPEND S ${S})\n" * 60 + "add_library(t ${S})",
        "list(FILTER S EXCLUDE REGEX [)\nadd_library(t src/[a.cc)\nfile(GLOB S src/[a-.cc)",
        "add_subdirectory(.)",
        "\x00\x01(((" * 100,
        "foreach(a 1 2 3 4 5 6 7 8 9)\n" * 8 + "set(x 1)\n" + "endforeach()\n" * 8,
    ],
)
def test_hostile_and_broken_files_end(text: str) -> None:
    guards(text)


def test_without_a_build_there_is_nothing_to_say() -> None:
    assert build_guards(PATHS, lambda path: "") == {}


def test_a_literal_nobody_can_set_is_kept_when_it_stands_alone() -> None:
    found = parse_condition([Argument("Z_FOUND")], lambda name: None, lambda name: False)
    assert in_words(found) == "Z_FOUND"
