"""A real compilation, on apache-tvm from the package index: what the stand-ins promise must hold for the real thing."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from trace_case import ROOT, label, plain, xref

from xref.demo.tree import cache_folder
from xref.trace.runfile import RunFile, read_run, write_run

pytestmark = pytest.mark.tvm

EXAMPLE = ROOT / "examples" / "conv2d.py"
REQUIREMENTS = ("apache-tvm==0.26.0", "apache-tvm-ffi==0.1.15.post2", "numpy>=1.26")


@pytest.fixture(scope="module")
def python() -> Path:
    """An interpreter with TVM and without xref, kept in the cache. A failed installation fails the tests."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache_folder() / f"test-tvm-0.26.0-py{version}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
            subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                            *REQUIREMENTS], check=True)  # fmt: skip
            (folder / "ready").touch()
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def run(python: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFile:
    """The example, traced; its output and exit code are those without."""
    path = tmp_path_factory.mktemp("conv2d") / "run"
    untraced = plain(ROOT, python, EXAMPLE, PYTHONPATH="")
    done = xref("trace", "-q", "-o", path, "--python", python, "--", EXAMPLE, PYTHONPATH="")
    assert (done.returncode, done.stdout, done.stderr) == untraced
    assert done.returncode == 0
    return read_run(path)


def test_versions_are_told(run: RunFile) -> None:
    assert run.tvm_version == "0.26.0"
    assert run.header["tvm_ffi"]["version"] == "0.1.15.post2"
    assert run.header["recorded"]["ffi"] == "shim"
    assert run.header["notes"] == []


def test_passes_are_in_order_and_nested(run: RunFile) -> None:
    passes = [(row.depth, row.name) for row in run.passes]
    pipeline = [(2, "LegalizeOps"), (2, "AnnotateTIROpPattern"), (2, "FoldConstant"), (2, "FuseOps"), (2, "FuseTIR")]
    assert [item for item in passes if item in pipeline[:5]][:5] == pipeline
    assert passes[passes.index((2, "FuseTIR")) + 1] == (3, "ExpandTupleArguments")
    assert len(passes) > 80
    assert all(row.ns is not None for row in run.passes)


def test_ffi_calls_have_keys_callers_and_times(run: RunFile) -> None:
    callers = {run.keys[row.key].name: label(run, row.caller) for row in run.ffi}
    assert callers["relax.transform.FuseTIR"] == "transform.py:FuseTIR"
    assert callers["relax.matmul:FInferType"].endswith("te_matmul"), "an operator's attribute, by Op.get_attr"
    assert "target.build.llvm" in callers
    assert sum(run.keys[row.key].kind in ("returned", "unknown") for row in run.ffi) <= 0.05 * len(run.ffi)
    assert all(row.caller is not None for row in run.ffi)
    slowest = max(run.ffi, key=lambda row: row.ns)
    assert run.keys[slowest.key].name in ("transform.RunPass", "target.build.llvm")


def test_cxx_enters_python_for_the_legaliser(run: RunFile) -> None:
    callbacks = {(run.keys[row.key].name, label(run, row.callee)) for row in run.callbacks}
    assert ("transform.RunPass", "nn.py:_nn_conv2d") in callbacks


def test_passes_say_whether_they_changed_the_module(run: RunFile) -> None:
    changed: dict[str, list[int | None]] = {}
    for row in run.passes:
        changed.setdefault(row.name, []).append(row.changed)
    assert changed["LegalizeOps"][0] == changed["FuseTIR"][0] == 1, "of the first time that each ran"
    assert changed["FoldConstant"][0] == 0
    assert sum(row.changed == 0 for row in run.passes) > 20


def test_the_text_of_a_module_is_there_before_and_after_a_pass(python: Path, tmp_path: Path) -> None:
    """It comes from a second run, whose output nobody sees; durations are those of the first."""
    path = tmp_path / "run"
    example = EXAMPLE.with_name("fuse.py")
    untraced = plain(ROOT, python, example, PYTHONPATH="")
    done = xref("trace", "-q", "--ir", "-o", path, "--python", python, "--", example, PYTHONPATH="")
    assert (done.returncode, done.stdout, done.stderr) == untraced
    run = read_run(path)
    fused = next(row for row in run.passes if row.name == "FuseTIR")
    assert fused.before is not None
    assert fused.after is not None
    assert "fused_add_multiply_relu" in run.texts[fused.before].text
    assert "@R.function(private=True)" in run.texts[fused.before].text
    assert "@R.function(private=True)" not in run.texts[fused.after].text
    assert fused.ns is not None
    assert all((row.before == row.after) == (row.changed == 0) for row in run.passes)


def test_tensors_are_told_by_their_addresses(python: Path, tmp_path: Path) -> None:
    """What the recorder says at each call site is what the script itself found out."""
    path = tmp_path / "run"
    example = EXAMPLE.with_name("tensors.py")
    done = xref("trace", "-q", "-o", path, "--python", python, "--", example, PYTHONPATH="")
    assert "numpy to TVM, by DLPack: the same memory" in done.stdout
    assert "numpy to TVM, by tvm.runtime.tensor: a copy" in done.stdout
    run = read_run(path)
    told = {(run.keys[row.key].name, label(run, row.caller)): row for row in run.tensors}
    shared = told["from_dlpack", "tensors.py:main"]
    assert (shared.same, shared.different) == (1, 0)
    copied = next(row for (name, _), row in told.items() if "CopyFromBytes" in name)
    assert (copied.same, copied.different) == (0, 1)
    echoed = told["main.<locals>.<lambda>", "tensors.py:main"]
    assert (echoed.same, echoed.different) == (1, 0)


# Of examples/conv2d.py, over the Python files of tvm named in `_excerpt`: of 284 calls.
PYTHON_RECALL = 0.975


def _excerpt(installed: Path, tree: Path) -> None:
    """The part of the installed tvm where a network is built, legalised and compiled: what the example runs most."""
    target = tree / "python" / "tvm"
    for folder, deep in ((".", False), ("ir", True), ("target", True), ("relax", False), ("relax/frontend", False),
                         ("relax/frontend/nn", True), ("relax/transform", True)):  # fmt: skip
        for path in (installed / folder).glob("**/*.py" if deep else "*.py"):
            copied = target / path.relative_to(installed)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copied)


def test_the_index_contains_the_calls_that_ran(run: RunFile, tmp_path: Path) -> None:
    """The measure of the index by reality: it must not fall by a point; nor rise, or the next fall is unseen."""
    _excerpt(Path(run.header["tvm"]["path"]).parent, tmp_path / "tree")
    db = tmp_path / "index" / "xref.db"
    assert xref("index", tmp_path / "tree", "--db", db, "--quiet", "-j", "1").returncode == 0
    path = tmp_path / "run"
    write_run(run, path)
    assert xref("run", "--import", path, "--db", db).returncode == 0
    measured = xref("verify", "--runs", "--json", "--db", db)
    assert measured.returncode == 0, measured.stderr
    python = json.loads(measured.stdout)["kinds"]["python"]
    assert python["observed"] > 200
    assert abs(python["share"] - PYTHON_RECALL) <= 0.01, (python["share"], python["missing"][:20])


def test_the_shim_sees_what_the_interpreter_sees(python: Path, tmp_path: Path, run: RunFile) -> None:
    """Two independent ways of counting FFI calls agree on what both can see. The interpreter's exists from 3.12 on."""
    if sys.version_info < (3, 12):
        assert run.header["recorded"]["python"] == "sys.setprofile"
        return
    path = tmp_path / "run"
    empty = tmp_path / "bin"
    empty.mkdir()
    done = xref("trace", "-q", "-o", path, "--python", python, "--", EXAMPLE, PYTHONPATH="", PATH=str(empty), CC="",
                XREF_CACHE=str(tmp_path / "cache"))  # fmt: skip
    assert done.returncode == 0
    monitored = _calls(read_run(path))
    shim = _calls(run)
    assert set(monitored) <= set(shim)
    # One call is made while tvm_ffi is imported, before the interpreter's monitoring begins; constructors call inside
    # the binding, where the interpreter sees nothing.
    for name, calls in monitored.items():
        assert shim[name] - 2 <= calls <= shim[name], name
    assert sum(monitored.values()) >= 0.99 * sum(shim[name] for name in monitored)


def _calls(run: RunFile) -> dict[str, int]:
    """Key -> calls, of functions that the registry knows."""
    calls: dict[str, int] = {}
    for row in run.ffi:
        if run.keys[row.key].kind == "global":
            name = run.keys[row.key].name
            calls[name] = calls.get(name, 0) + row.calls
    return calls


def test_a_pass_that_raises_is_told(python: Path, tmp_path: Path) -> None:
    program = tmp_path / "raises.py"
    program.write_text(
        "import tvm\n"
        "@tvm.transform.module_pass(opt_level=0, name='Bad')\n"
        "def bad(module, context): raise ValueError('bad')\n"
        "bad(tvm.IRModule({}))\n"
    )
    path = tmp_path / "run"
    untraced = plain(tmp_path, python, program, PYTHONPATH="")
    done = xref("trace", "-q", "-o", path, "--python", python, "--", program, cwd=tmp_path, PYTHONPATH="")
    assert done.returncode == untraced[0] == 1
    assert done.stderr == untraced[2]
    assert read_run(path).header["notes"] == ["1 pass did not finish: Bad"]
