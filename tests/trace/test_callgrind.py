"""What callgrind writes is read whole: a wrong count or a wrong caller would be believed, since it "was measured"."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from trace_case import script, xref

from xref.model import XrefError
from xref.trace.again import _pointers, prepare
from xref.trace.callgrind import Place, read_edges
from xref.trace.runfile import read_run

# Written by valgrind 3.19, shortened: abbreviated names, a recursion, and a function without a symbol.
OUTPUT = """# callgrind format
version: 1
events: Ir
ob=(1) /lib/libtvm.so
fl=(1) ???
fn=(1) tvm::outer()
0 5
cfn=(2) tvm::inner(int)
calls=3 0
0 70
cob=(2) /lib/libtvm_ffi.so
cfi=(2) object.cc
cfn=(3) 0x0000000000001a20
calls=2 0
0 8

fn=(2)
0 30
cfn=(4) tvm::inner(int)'2
calls=4 0
0 20

fn=(4)
0 20
cfn=(4)
calls=1 0
0 5
totals: 1
"""


def test_edges_are_added_up_over_recursion_and_abbreviations(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text(OUTPUT)
    outer, inner = Place("libtvm.so", "tvm::outer()", 0, ""), Place("libtvm.so", "tvm::inner(int)", 0, "")
    hidden = Place("libtvm_ffi.so", "", 0x1A20, "object.cc")
    assert read_edges(path) == {(outer, inner): (3, 70), (outer, hidden): (2, 8), (inner, inner): (5, 25)}


def test_another_file_is_no_output_of_callgrind(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("hello\n")
    with pytest.raises(ValueError, match="no output of callgrind"):
        read_edges(path)


def test_without_valgrind_nothing_runs_and_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(XrefError, match="apt install valgrind"):
        prepare(native=True, ir=False)


PROGRAM = """
import tvm
import tvm_ffi
from tvm.ir.transform import Pass

compiled = tvm_ffi.get_global_func("test.compiled")
Pass("Work", lambda: compiled())()
compiled()
print("done")
"""


FAKE_VALGRIND = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
export SLOW=1
exec "$@"
"""
HANGING = """
import os, subprocess, sys, tvm
if "SLOW" in os.environ:
    child = subprocess.Popen(["sleep", "600"])
    open(sys.argv[1], "w").write(str(child.pid))
    child.wait()
"""


def test_a_run_under_callgrind_that_does_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    """It once ran for hours on a compilation with LLVM, and nothing of the first run was kept when the user gave up."""
    fake, path, pid = tmp_path / "bin" / "valgrind", tmp_path / "run", tmp_path / "pid"
    script(tmp_path, FAKE_VALGRIND, "bin/valgrind")
    fake.chmod(0o755)
    program = (sys.executable, script(tmp_path, HANGING), pid)
    done = xref("trace", "--native", "--native-limit", "0.05", "-o", path, "--", *program, cwd=tmp_path,
                PATH=f"{fake.parent}:{os.environ['PATH']}")  # fmt: skip
    if "valgrind/callgrind.h" in done.stderr:
        assert done.returncode == 5, "valgrind is not installed: said before anything runs"
        return
    assert done.returncode == 0, done.stderr
    assert "After 3 s it is ended" in done.stderr
    assert any("was ended after 3 s, its limit" in note for note in read_run(path).header["notes"])
    deadline = time.monotonic() + 10
    while pid.exists() and _runs(pid.read_text()):
        assert time.monotonic() < deadline, "what the command started goes on"
        time.sleep(0.05)


def _runs(pid: str) -> bool:
    """Whether it exists, and not only as a zombie that nobody waits for."""
    status = Path("/proc", pid, "stat")
    return status.exists() and status.read_text().rpartition(") ")[2][:1] not in ("Z", "X")


def test_code_that_later_serves_more_keys_is_named_by_none() -> None:
    early, late = ["pointer", "libtvm.so", 16, "a", "wrapper"], ["pointer", "libtvm.so", 32, "b", "target"]
    assert _pointers([["pointers"], early, ["pointers"], late]) == {("libtvm.so", 32): ("target", "b")}
    assert _pointers([["pointers"], early]) == {("libtvm.so", 16): ("wrapper", "a")}


def test_c_functions_that_ran_in_a_pass_are_recorded_and_no_others(tmp_path: Path) -> None:
    """On the stand-in of tvm_ffi, whose library has names. `test.compiled` calls another function twice; its second
    call is outside of any compilation.
    """
    path = tmp_path / "run"
    done = xref("trace", "--native", "-o", path, "--", sys.executable, script(tmp_path, PROGRAM), cwd=tmp_path)
    if shutil.which("valgrind") is None:
        assert done.returncode == 5
        assert "apt install valgrind" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
    assert "under callgrind" in done.stderr
    run = read_run(path)
    assert run.header["recorded"]["native"] == "callgrind"
    edges = {(run.functions[row.caller].name, run.functions[row.callee].name): row.calls for row in run.native}
    assert edges["ffi_compiled", "TVMFFIFunctionCall"] == 2
    assert edges["TVMFFIFunctionCall", "ffi_nothing"] == 2
    assert {run.functions[row.callee].library for row in run.native} == {"libtvm_ffi.so"}
    assert run.header["counts"]["native_edges"] == len(run.native)
