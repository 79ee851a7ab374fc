"""What callgrind writes is read whole: a wrong count or a wrong caller would be believed, since it "was measured"."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from trace_case import script, xref

from xref.model import XrefError
from xref.trace.again import prepare
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
