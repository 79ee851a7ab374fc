"""What a run tells: if these fail, a reader of a run is shown calls that did not happen, or misses some that did."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest
from trace_case import ROOT, WORKLOAD, calls_to, label, line_of, plain, python_edges, script, traced

from xref.trace.runfile import RunFile

RECORDER = ROOT / "xref" / "trace" / "recorder"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFile:
    """The run of the workload, whose numbers are written in it."""
    made = traced(tmp_path_factory.mktemp("workload"), "python", WORKLOAD)
    assert (made.code, made.err) == (0, "")
    return made.run


def test_python_calls_have_caller_line_and_number(run: RunFile) -> None:
    edges = python_edges(run)
    assert edges["workload.py:main", line_of(WORKLOAD, "Thing().method()"), "workload.py:Thing.method"] == 3
    assert edges["workload.py:Thing.method", line_of(WORKLOAD, "return helper(2)"), "workload.py:helper"] == 3


def test_a_generator_is_called_once_however_often_it_goes_on(run: RunFile) -> None:
    assert calls_to(run, "workload.py:numbers") == {"workload.py:main": 1}


def test_calls_in_other_threads_are_theirs(run: RunFile) -> None:
    threads = {row.thread for row in run.python if label(run, row.callee) == "workload.py:helper"}
    assert len(threads) == 2
    assert 0 in threads


def test_threads_that_follow_each_other_are_different_threads(tmp_path: Path) -> None:
    """The system gives the id of a thread that has ended to the next one."""
    text = """
import threading, tvm, tvm_ffi
nothing = tvm_ffi.get_global_func("test.nothing")
def work(): nothing()
for _ in range(3):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""
    run = traced(tmp_path, "python", script(tmp_path, text)).run
    python = sorted(row.thread for row in run.python if label(run, row.callee) == "script.py:work")
    assert python == sorted(row.thread for row in run.ffi if label(run, row.caller) == "script.py:work")
    assert len(set(python)) == 3


def test_nothing_of_the_recorder_or_the_import_system_is_in_the_run(run: RunFile) -> None:
    files = {row.path for row in run.files}
    assert not [path for path in files if "_xref_recorder" in path or path.endswith("sitecustomize.py")]
    assert not [path for path in files if path.startswith("<frozen importlib")]
    assert calls_to(run, "transform.py:PassContext.__init__")["workload.py:main"] == 1, "the wrapper hides the caller"


def ffi_calls(run: RunFile) -> dict[tuple[str, str, str, str | None], int]:
    """(caller, kind, function, via) -> calls."""
    found: dict[tuple[str, str, str, str | None], int] = {}
    for row in run.ffi:
        key = run.keys[row.key]
        via = run.keys[row.via].name if row.via is not None else None
        place = (label(run, row.caller), key.kind, key.name, via)
        found[place] = found.get(place, 0) + row.calls
        assert row.ns > 0
    return found


def test_ffi_calls_are_named_by_key(run: RunFile) -> None:
    calls = ffi_calls(run)
    assert run.header["recorded"]["ffi"] == "shim"
    assert calls["workload.py:ffi_calls", "global", "test.nothing", None] == 5
    assert calls["workload.py:ffi_calls", "global", "test.compiled", None] == 1
    line = line_of(WORKLOAD, "        nothing()")
    assert [row.line for row in run.ffi if run.keys[row.key].name == "test.nothing" and row.via is None] == [line]


def test_a_function_without_a_key_is_named_by_what_returned_it(run: RunFile) -> None:
    assert ffi_calls(run)["workload.py:ffi_calls", "returned", "test.maker", None] == 1


def test_a_key_is_not_given_to_what_was_freed_at_its_address_before(tmp_path: Path) -> None:
    """tvm_ffi lists its keys by a function of a moment. A function that was registered later, at that address,
    seemed to be called thousands of times.
    """
    text = """
import tvm, tvm_ffi
reused = tvm_ffi.ask(tvm_ffi.get_global_func("test.maker"))
for _ in range(7): reused()
tvm_ffi.register_global_func("test.later", reused)
for _ in range(2): reused()
"""
    calls = ffi_calls(traced(tmp_path, "python", script(tmp_path, text)).run)
    assert calls["script.py:<module>", "returned", "test.maker", None] == 7
    assert calls["script.py:<module>", "global", "test.later", None] == 2


def test_a_function_that_was_asked_for_by_name_bears_that_name(tmp_path: Path) -> None:
    """As tvm_ffi passes strings: by pointer, within the value, as an object. Two strings, or one that is no word, tell
    nothing of what comes back.
    """
    text = """
import tvm, tvm_ffi
maker, string = tvm_ffi.get_global_func("test.maker"), tvm_ffi.string
for strings in ([string(8, b"raw")], [string(11, b"small")], [string(65, b"an_object")], [string(8, b"say \\"hi\\"")],
                [string(8, b"two"), string(8, b"strings")], []):
    tvm_ffi.ask(maker, *strings)()
again = tvm_ffi.maker(tvm_ffi.maker(tvm_ffi.native()))
tvm_ffi.register_global_func("test.again", again)
tvm_ffi.ask(tvm_ffi.ask(again, string(8, b"first")), string(8, b"second"))()
"""
    run = traced(tmp_path, "python", script(tmp_path, text)).run
    named = {name: calls for (_, kind, name, _), calls in ffi_calls(run).items() if kind == "named"}
    assert named == {'test.maker("raw")': 1, 'test.maker("small")': 1, 'test.maker("an_object")': 1,
                     'test.again("first")': 1, 'test.again("first")("second")': 1}  # fmt: skip
    assert ffi_calls(run)["script.py:<module>", "returned", "test.maker", None] == 3


def test_a_python_function_behind_the_ffi_is_that_function(tmp_path: Path) -> None:
    text = """
import tvm, tvm_ffi
def outer():
    def one(): return 0
    return one
def other(): return 0
tvm_ffi.convert(outer())()
made = tvm_ffi.convert(other)
made()
made()
tvm_ffi.register_global_func("test.other", made)
"""
    run = traced(tmp_path, "python", script(tmp_path, text)).run
    (key,) = {row.key for row in run.ffi if run.keys[row.key].kind == "python"}
    assert run.keys[key].name.replace("outer.<locals>.", "") == "one"
    assert label(run, run.keys[key].code) == ("script.py:outer.one" if sys.version_info >= (3, 11) else "script.py:one")
    assert ffi_calls(run)["script.py:<module>", "global", "test.other", None] == 2, "a key says more"


def test_what_compiled_code_calls_is_not_charged_to_python(run: RunFile) -> None:
    assert ffi_calls(run)["workload.py:ffi_calls", "global", "test.nothing", "test.compiled"] == 2


def test_python_entered_from_native_code_is_a_callback_and_no_python_call(run: RunFile) -> None:
    callbacks = {(run.keys[row.key].name, label(run, row.callee)): row.calls for row in run.callbacks}
    assert callbacks["test.callback", "workload.py:entered_from_native"] == 1
    assert calls_to(run, "workload.py:entered_from_native") == {}
    assert calls_to(run, "workload.py:helper")["workload.py:entered_from_native"] == 1


def test_passes_nest_also_after_one_has_raised(run: RunFile) -> None:
    shown = [(row.depth, row.name, row.opt_level, row.ns is not None) for row in run.passes]
    assert shown == [(0, "outer", 0, True), (1, "inner", 1, True), (0, "broken", 0, False), (0, "broken", 0, False),
                     (0, "last", 0, True)]  # fmt: skip
    outer, inner = run.passes[0], run.passes[1]
    assert outer.ns is not None
    assert inner.ns is not None
    assert outer.start < inner.start
    assert inner.ns < outer.ns
    assert "2 passes did not finish: broken, broken" in run.header["notes"]


def test_a_users_own_instruments_stay_and_work(tmp_path: Path) -> None:
    text = """
import tvm
from tvm.ir.transform import Pass
class Mine:
    callables = {"enter": None, "leave": None, "before": lambda module, info: print("before", info.name), "after": None}
for context in (tvm.PassContext(2, None, None, [Mine()]), tvm.PassContext(instruments=(Mine(),)), tvm.PassContext()):
    with context:
        Pass("one")()
tvm.PassContext.current().override_instruments([Mine()])
Pass("two")()
"""
    made = traced(tmp_path, "python", script(tmp_path, text))
    assert made.out == "before one\nbefore one\nbefore two\n"
    assert [row.name for row in made.run.passes] == ["one", "one", "one", "two"]


def test_an_instrument_that_fails_is_no_error_of_the_pass(tmp_path: Path) -> None:
    text = """
import tvm
from tvm.ir.transform import Pass
strange = Pass("strange", lambda: print("ran"), opt_level="high")
strange()
Pass("later", lambda: print("ran"))()
"""
    made = traced(tmp_path, "python", script(tmp_path, text))
    assert (made.code, made.out, made.err) == (0, "ran\nran\n", "")
    assert any("passes were not recorded to the end: ValueError" in note for note in made.run.header["notes"])


def test_without_a_compiler_the_python_side_is_recorded_and_the_rest_said(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    made = traced(tmp_path, "python", WORKLOAD, PATH=str(tools), CC="", XREF_CACHE=str(tmp_path / "cache"))
    run = made.run
    assert calls_to(run, "workload.py:helper")["workload.py:Thing.method"] == 3
    assert len(run.passes) == 5
    assert any("no C compiler" in note for note in run.header["notes"])
    if sys.version_info >= (3, 12):
        calls = ffi_calls(run)
        assert calls["workload.py:ffi_calls", "global", "test.nothing", None] == 5
        assert {label(run, row.callee) for row in run.callbacks} >= {"workload.py:entered_from_native"}
    else:
        assert run.ffi == []


def test_a_profiler_of_the_script_is_noticed(tmp_path: Path) -> None:
    text = "import sys, tvm\ndef f(): pass\nf()\nsys.setprofile(lambda *_: None)\nf()\nsys.setprofile(None)\n"
    run = traced(tmp_path, "python", script(tmp_path, text)).run
    missing = any("another profiler" in note for note in run.header["notes"])
    calls = calls_to(run, "script.py:f")["script.py:<module>"]
    assert (missing, calls) == ((False, 2) if sys.version_info >= (3, 12) else (True, 1))


def test_the_recorder_reads_as_python_3_9() -> None:
    for path in sorted(RECORDER.glob("*.py")):
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))


def test_the_script_finds_the_modules_that_it_would_have(tmp_path: Path) -> None:
    """A script's own json.py, or a library that looks whether something was imported, must not meet our imports."""
    path = script(tmp_path, "import sys; print(*sorted(sys.modules)); import tvm_ffi\n")
    untraced = set(plain(tmp_path, "python", path)[1].split())
    seen = set(traced(tmp_path, "python", path).out.split())
    assert untraced - seen == set()
    extra = {name for name in seen - untraced if not name.startswith("_xref_recorder")}
    assert extra <= {"__future__", "_bisect", "atexit"}


def test_threads_are_recorded_when_threading_came_first(tmp_path: Path) -> None:
    """A .pth file of an environment may import threading before any sitecustomize."""
    text = f"""
import threading, sys
sys.path.insert(0, {str(RECORDER.parent)!r})
from recorder.start import start
def helper(): pass
start({str(tmp_path)!r})
thread = threading.Thread(target=helper)
thread.start()
thread.join()
"""
    assert plain(tmp_path, "python", script(tmp_path, text)) == (0, "", "")
    (part,) = tmp_path.glob("part-*")
    rows = [json.loads(line) for line in part.read_text().splitlines()]
    helper = next(row[1] for row in rows[1:] if row[0] == "code" and row[4] == "helper")
    assert [row[1] for row in rows[1:] if row[0] == "python" and row[4] == helper] == [1]
