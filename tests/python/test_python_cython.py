"""Cython files: the FFI's own crossing code is in the index, and its text is only ever read."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_case import CASES, describe

from xref.model import FileFacts, Lang, Status
from xref.python import extract_cython

FOLDER = "pkg/cython"


def read(root: Path, *names: str) -> dict[str, FileFacts]:
    return {facts.path: facts for facts in extract_cython(root, names)}


@pytest.fixture
def case() -> dict[str, FileFacts]:
    return read(CASES / "cython", *(f"{FOLDER}/{name}" for name in ("base.pxi", "core.pyx", "object.pxi")))


def test_an_included_file_owns_its_facts_in_the_namespace_of_the_module_that_includes_it(
    case: dict[str, FileFacts],
) -> None:
    assert {path: (facts.lang, facts.status, facts.lines) for path, facts in case.items()} == {
        f"{FOLDER}/base.pxi": (Lang.CYTHON, Status.OK, 15),
        f"{FOLDER}/core.pyx": (Lang.CYTHON, Status.OK, 5),
        f"{FOLDER}/object.pxi": (Lang.CYTHON, Status.OK, 26),
    }
    symbols = [line for line in describe(case, "symbols") if "object.pxi" in line]
    assert symbols[:3] == [
        "pkg/cython/object.pxi:1:12 class pkg.cython.core.CObject to 13 | CObject | The root of all objects.",
        "pkg/cython/object.pxi:3:16 field pkg.cython.core.CObject.chandle to 3",
        "pkg/cython/object.pxi:5:9 method pkg.cython.core.CObject.__cinit__ to 6 | __cinit__(self)",
    ]
    assert "pkg/cython/object.pxi:9:9 property pkg.cython.core.CObject.handle to 10 | handle(self)" in symbols


def test_calls_follow_the_module_s_names_typed_variables_and_base_classes(case: dict[str, FileFacts]) -> None:
    core = "pkg.cython.core"
    assert describe(case, "calls") == [
        f"pkg/cython/base.pxi:8:15 {core}.CHECK_CALL -> builtins.ValueError direct",
        f"pkg/cython/core.pyx:5:8 {core} -> atexit.register direct",
        f"pkg/cython/object.pxi:8:6 {core}.CObject -> builtins.property direct",
        f"pkg/cython/object.pxi:10:21 {core}.CObject.handle -> {core}.CObject.same direct",
        f"pkg/cython/object.pxi:13:16 {core}.CObject.same -> {core}.CHECK_CALL direct",
        f"pkg/cython/object.pxi:13:27 {core}.CObject.same -> {core}.TVMFFIFunctionCall direct",
        f"pkg/cython/object.pxi:18:30 {core}.Function.__call__ -> {core}.CObject.__cinit__ direct",
        f"pkg/cython/object.pxi:19:15 {core}.Function.__call__ -> {core}.CObject.same direct",
        f"pkg/cython/object.pxi:21:21 {core}.Function.__call__ -> {core}.CObject.same direct",
        f"pkg/cython/object.pxi:21:30 {core}.Function.__call__ -> builtins.len direct",
        f"pkg/cython/object.pxi:25:5 {core}.convert -> {core}.Function.__call__ direct",
        f"pkg/cython/object.pxi:26:29 {core}.convert -> {core}.CObject.same direct",
    ]
    assert describe(case, "unresolved") == [
        f"pkg/cython/object.pxi:20:17 in {core}.Function.__call__: args[0].unknown(): the receiver's type is unknown"
    ]


def test_a_c_function_is_declared_not_defined_here(case: dict[str, FileFacts]) -> None:
    found = {s.name: (s.is_definition, s.linkage) for s in case[f"{FOLDER}/base.pxi"].symbols if s.kind == "function"}
    assert found["TVMFFIFunctionCall"] == (False, "c")
    assert found["make_handle"] == (True, "")


def test_the_modules_of_tvm_have_the_names_that_python_imports(tmp_path: Path) -> None:
    for folder, module in (("tvm_ffi/cython", "tvm_ffi.core"), ("tvm/_ffi/_cython", "tvm._ffi._cy3.core")):
        path = f"python/{folder}/core.pyx"
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("def f(): pass\n")
        assert [s.key for s in read(tmp_path, path)[path].symbols] == [f"py:{module}", f"py:{module}:f"]


def test_text_that_cython_would_compute_while_parsing_is_not_computed(tmp_path: Path) -> None:
    """DEF and IF are evaluated by Cython's parser, with calls: a tree could run anything through them."""
    mark = tmp_path / "ran"
    attack = f"().__class__.__base__.__subclasses__() and open({str(mark)!r}, 'w')"
    (tmp_path / "a.pyx").write_text(
        f"DEF X = {attack}\nIF {attack}:\n    pass\nELIF {attack}:\n    pass\ndef f(): pass\n"
    )
    facts = read(tmp_path, "a.pyx")["a.pyx"]
    assert not mark.exists()
    assert "f" in {symbol.name for symbol in facts.symbols}


def test_an_include_reads_nothing_outside_the_list_of_files(tmp_path: Path) -> None:
    outside = tmp_path / "secret.pxi"
    outside.write_text("def secret(): pass\n")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.pyx").write_text('include "../secret.pxi"\ndef f(): pass\n')
    assert [s.name for s in read(tree, "a.pyx")["a.pyx"].symbols] == ["a", "f"]


@pytest.mark.parametrize(
    ("content", "status", "detail"),
    [
        (b"def f(:\n  pass\n", Status.FAILED, "line 1: "),
        (b"x = 1\n# caf\xe9\ndef f(): pass\n", Status.DEGRADED, "line 2: byte 0xe9 is not UTF-8"),
        (b"x = 1\n\0\n", Status.FAILED, "line 2: a NUL byte"),
    ],
)
def test_bad_input_is_a_status_with_a_line_never_an_exception(
    tmp_path: Path, content: bytes, status: Status, detail: str
) -> None:
    (tmp_path / "bad name's.pyx").write_bytes(content)
    facts = read(tmp_path, "bad name's.pyx")["bad name's.pyx"]
    assert facts.status is status
    assert facts.detail.startswith(detail)


def test_a_file_that_cannot_be_read_is_failed(tmp_path: Path) -> None:
    facts = read(tmp_path, "gone.pyx")["gone.pyx"]
    assert (facts.status, facts.detail) == (Status.FAILED, "cannot be read: No such file or directory")


@pytest.mark.parametrize("text", ["x = " + "(" * 100_000 + ")" * 100_000, "x = " + "not " * 100_000 + "1"])
def test_a_file_that_kills_cython_s_parser_costs_only_itself(tmp_path: Path, text: str) -> None:
    (tmp_path / "deep.pyx").write_text(text + "\n")
    (tmp_path / "good.pyx").write_text("def f(): pass\n")
    facts = read(tmp_path, "deep.pyx", "good.pyx")
    assert facts["deep.pyx"].status is Status.FAILED
    assert "nested too deeply" in facts["deep.pyx"].detail
    assert [symbol.name for symbol in facts["good.pyx"].symbols] == ["good", "f"]


def test_a_file_that_the_parser_hangs_on_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xref.python.cython.TIMEOUT_S", 3)
    (tmp_path / "slow.pyx").write_text("x = " + 'f"{' * 3000 + "1" + '}"' * 3000 + "\n")
    assert "did not finish" in read(tmp_path, "slow.pyx")["slow.pyx"].detail


def test_a_look_up_of_an_ffi_function_is_a_use_of_its_key(tmp_path: Path) -> None:
    """As cython/function.pxi of tvm-ffi looks up the functions that conversion needs."""
    (tmp_path / "core.pyx").write_text(
        "def _get_global_func(name, allow_missing):\n    return name\n"
        'cdef object MAKE = _get_global_func("ffi.Array", True)\n'
        'MISSING = _get_global_func("ffi.GetInvalidObject", False)()\n'
        "def find(name):\n    return _get_global_func(name, False)\n"
    )
    uses = read(tmp_path, "core.pyx")["core.pyx"].key_uses
    assert [(use.name, use.line, use.calls, use.optional) for use in uses] == [
        ("ffi.Array", 3, True, True),
        ("ffi.GetInvalidObject", 4, True, False),
    ]


def test_what_an_imported_module_holds_is_a_function_as_python_knows_it(tmp_path: Path) -> None:
    """`json.dumps` called from Cython and from Python is one symbol, and no module."""
    (tmp_path / "m.pyx").write_text(
        "import json\nimport os\ndef f(x):\n    os.path.join(x)\n    return json.dumps(x)\n"
    )
    facts = read(tmp_path, "m.pyx")["m.pyx"]
    assert {(s.key, s.kind, s.qualname) for s in facts.externals} == {
        ("py:json:dumps", "function", "json.dumps"),
        ("py:os:path.join", "function", "os.path.join"),
    }


def test_a_local_variable_is_of_the_class_of_all_that_it_is_given(tmp_path: Path) -> None:
    """As CHECK_CALL of tvm-ffi raises what `move_from_last_error` found: else nothing leads to `py_error`."""
    (tmp_path / "m.pyx").write_text(
        "cdef class Error:\n"
        "    def py_error(self): return 1\n"
        "cdef inline Error last():\n"
        "    made = Error.__new__(Error)\n"
        "    made.py_error()\n"
        "    return made\n"
        "cdef Error* address(): return NULL\n"
        "def raising():\n"
        "    error = last()\n"
        "    raise error.py_error()\n"
        "def unknown(flag, last_one):\n"
        "    error = last()\n"
        "    if flag: error = last_one\n"
        "    error.py_error()\n"
        "    for other in flag: other.py_error()\n"
        "    other = last()\n"
        "    a, b = last(), last()\n"
        "    a.py_error()\n"
        "    pointer = address()\n"
        "    pointer.py_error()\n"
    )
    facts = {"m.pyx": read(tmp_path, "m.pyx")["m.pyx"]}
    assert [line for line in describe(facts, "calls") if "py_error" in line] == [
        "m.pyx:5:10 m.last -> m.Error.py_error direct",
        "m.pyx:10:17 m.raising -> m.Error.py_error direct",
    ]
    assert len([line for line in describe(facts, "unresolved") if "py_error" in line]) == 4
