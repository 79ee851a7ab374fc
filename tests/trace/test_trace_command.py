"""`xref trace` must change nothing of what it watches, whatever the script does, and say what it could not keep."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from trace_case import WORKLOAD, calls_to, environment, packages, plain, script, traced, xref

from xref.trace import launch

SCRIPTS = {
    "prints and returns": ("import tvm, sys; print('out'); print('err', file=sys.stderr)", 0),
    "raises": ("import tvm\nprint('before')\ndef f(): raise ValueError('boom')\nf()", 1),
    "exits": ("import tvm, sys; sys.exit(7)", 7),
    "exits with a message": ("import tvm, sys; sys.exit('no')", 1),
    "os._exit": ("import tvm, os, sys; print('x', flush=True); os._exit(9)", 9),
    "os._exit by keyword": ("import tvm, os; os._exit(status=3)", 3),
    "syntax error": ("import tvm\nif", 1),
    "killed": ("import tvm, os, signal; os.kill(os.getpid(), signal.SIGKILL)", 128 + 9),
    "interrupted": ("import tvm, os, signal; os.kill(os.getpid(), signal.SIGINT)", 128 + 2),
    "aborted": ("import tvm, os; os.abort()", 128 + 6),
    "own handlers": (
        """import tvm, atexit, signal, os
atexit.register(print, 'bye')
signal.signal(signal.SIGTERM, lambda *_: print('term'))
os.kill(os.getpid(), signal.SIGTERM)""",
        0,
    ),
}


@pytest.mark.parametrize("what", SCRIPTS)
def test_output_and_exit_code_are_the_scripts_own(tmp_path: Path, what: str) -> None:
    text, code = SCRIPTS[what]
    path = script(tmp_path, text)
    untraced = plain(tmp_path, "python", path, "a", "-b")
    made = traced(tmp_path, "python", path, "a", "-b")
    # A shell shows a command that a signal killed as 128 and the signal's number; so does xref.
    shown = untraced[0] if untraced[0] >= 0 else 128 - untraced[0]
    assert (made.code, made.out) == (shown, untraced[1])
    assert made.code == code
    if what == "syntax error":
        assert made.err == untraced[2] + "xref: nothing was recorded: the script imported neither tvm nor tvm_ffi\n"
    else:
        assert made.err == untraced[2]
        assert made.run.tvm_version == "0.99.0"


def test_what_xref_is_to_ignore_its_command_ignores(tmp_path: Path) -> None:
    path = script(tmp_path, "import tvm, os, signal; os.kill(os.getpid(), signal.SIGINT); print('unmoved')")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        untraced, made = plain(tmp_path, "python", path), traced(tmp_path, "python", path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert untraced[:2] == (made.code, made.out) == (0, "unmoved\n")


FORMS = {
    "script": ("script.py", "a", "-c", "--", "-q"),
    "script in a folder": ("folder/script.py",),
    "options before the script": ("-W", "ignore", "-Xutf8", "-B", "script.py"),
    "module": ("-m", "script", "a"),
    "code": ("-c", "import tvm, script", "a"),
    "after two dashes": ("-B", "--", "script.py"),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_script_is_where_it_would_be(tmp_path: Path, form: str) -> None:
    text = (
        "import os, sys, tvm\n"
        "shown = {name: value for name, value in os.environ.items() if name not in ('_', 'XREF_CACHE')}\n"
        "print(sys.argv, sys.path, sys.flags, __name__, globals().get('__file__'), os.getcwd())\n"
        "print(sorted(shown.items()))\n"
        "print(sys.meta_path[-1], 'sitecustomize' in sys.modules, sys.orig_argv)\n"
    )
    script(tmp_path, text)
    script(tmp_path, text, "folder/script.py")
    untraced = plain(tmp_path, "python", *FORMS[form])
    made = traced(tmp_path, "python", *FORMS[form])
    assert (made.code, made.out, made.err) == untraced
    assert made.run.header["command"][1:] == list(FORMS[form])


def test_a_folder_that_is_gone_is_no_trouble(tmp_path: Path) -> None:
    words = f"mkdir gone && cd gone && rmdir ../gone && exec {sys.executable} -c 'import tvm; print(1)'"
    made = traced(tmp_path, "sh", "-c", words)
    assert (made.code, made.out, made.err) == plain(tmp_path, "sh", "-c", words)
    assert made.run.tvm_version == "0.99.0"


def test_standard_input_is_the_scripts(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "xref", "trace", "-q", "-o", str(tmp_path / "run"), "--", sys.executable, "-"]
    env = environment(PYTHONPATH=os.pathsep.join((str(packages()), str(Path(launch.__file__).parents[2]))))
    done = subprocess.run(words, input="import tvm\nprint(input())\nhello\n", env=env, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 1  # python reads all of it as the script: `input()` finds the end
    assert "EOFError" in done.stderr
    assert (tmp_path / "run").exists()


def test_a_users_sitecustomize_still_runs(tmp_path: Path) -> None:
    script(tmp_path, "import sys\nsys.from_sitecustomize = f'mine {__name__}'", "site/sitecustomize.py")
    path = script(tmp_path, "import sys, tvm; print(sys.from_sitecustomize, sys.modules['sitecustomize'].__file__)")
    changed = {"PYTHONPATH": f"{tmp_path / 'site'}{os.pathsep}{packages()}"}
    untraced = plain(tmp_path, "python", path, **changed)
    made = traced(tmp_path, "python", path, **changed)
    assert (made.code, made.out, made.err) == untraced


def test_a_deep_recursion_ends_as_it_would(tmp_path: Path) -> None:
    path = script(tmp_path, "import tvm\ndef f(n): return f(n + 1)\ntry: f(0)\nexcept RecursionError: print('deep')\n")
    made = traced(tmp_path, "python", path)
    assert (made.code, made.out) == (0, "deep\n")


def test_forked_children_are_recorded_apart(tmp_path: Path) -> None:
    text = """
import os, tvm
from multiprocessing import get_context
def work(): pass
def child(): work()
for leave in (os._exit, None):
    pid = os.fork()
    if pid == 0:
        work()
        raise SystemExit(4) if leave is None else leave(3)
    print(os.waitpid(pid, 0)[1] >> 8)
process = get_context("fork").Process(target=child)
process.start()
process.join()
work()
"""
    path = script(tmp_path, text)
    made = traced(tmp_path, "python", path)
    assert (made.code, made.out, made.err) == plain(tmp_path, "python", path)
    run = made.run
    assert [process.parent for process in run.processes] == [None, 0, 0, 0]
    callee = next(code.number for code in run.codes if code.name == "work")
    assert sorted(row.process for row in run.python if row.callee == callee) == [0, 1, 2, 3]
    assert run.header["notes"] == []


def test_children_that_are_not_recorded_are_counted(tmp_path: Path) -> None:
    text = """
import os, subprocess, sys, tvm
subprocess.run([sys.executable, "-c", "import os; print('LD_PRELOAD' in os.environ)"])
if os.fork() == 0:
    os.kill(os.getpid(), 9)
os.wait()
"""
    made = traced(tmp_path, "python", script(tmp_path, text))
    assert made.out == "False\n"
    assert "1 forked child process left no recording" in made.run.header["notes"]
    assert "1 other program started as child processes, not recorded" in made.run.header["notes"]


def test_a_child_that_outlives_the_command_is_left_in_peace(tmp_path: Path) -> None:
    text = """
import os, time, tvm
from tvm.ir.transform import Pass
parent = os.getpid()
if os.fork() == 0:
    while os.getppid() == parent: time.sleep(0.05)
    time.sleep(1)
    def late(): print("late", flush=True)
    Pass("late", late)()
"""
    made = traced(tmp_path, "python", script(tmp_path, text))
    assert (made.code, made.out, made.err) == (0, "late\n", "")
    assert "1 forked child process left no recording" in made.run.header["notes"]


def test_what_was_seen_before_a_kill_is_kept(tmp_path: Path) -> None:
    text = """
import os, signal, time, tvm
from tvm.ir.transform import Pass
def early(): pass
def late(): os.kill(os.getpid(), signal.SIGKILL)
early()
time.sleep(2.2)
Pass("fine")()
Pass("fatal", late)()
"""
    made = traced(tmp_path, "python", script(tmp_path, text))
    run = made.run
    assert made.code == 128 + 9
    assert calls_to(run, "script.py:early") == {"script.py:<module>": 1}
    assert [(row.name, row.ns is None) for row in run.passes] == [("fine", False), ("fatal", True)]
    assert any("killed by SIGKILL" in note for note in run.header["notes"])
    assert "1 pass did not finish: fatal" in run.header["notes"]


def test_exec_keeps_what_came_before(tmp_path: Path) -> None:
    text = "import os, sys, tvm\ndef f(): pass\nf()\nos.execv(sys.executable, [sys.executable, '-c', 'print(5)'])\n"
    made = traced(tmp_path, "python", script(tmp_path, text))
    assert (made.code, made.out) == (0, "5\n")
    assert calls_to(made.run, "script.py:f") == {"script.py:<module>": 1}


def test_a_signal_for_xref_goes_to_the_script(tmp_path: Path) -> None:
    path = script(tmp_path, "import tvm, time; print('ready', flush=True); time.sleep(60)\n")
    words = [sys.executable, "-m", "xref", "trace", "-q", "-o", str(tmp_path / "run"), "--", sys.executable, str(path)]
    env = environment(PYTHONPATH=os.pathsep.join((str(packages()), str(Path(launch.__file__).parents[2]))))
    process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=30) == 128 + signal.SIGTERM
    assert time.monotonic() - started < 30
    assert (tmp_path / "run").exists()
    process.stdout.close()


# what cannot be traced


def test_the_remedy_is_named_when_there_is_no_tvm(tmp_path: Path) -> None:
    done = xref("trace", "--", sys.executable, "-c", "import tvm", PYTHONPATH="", XREF_DB=str(tmp_path / "x.db"))
    assert done.returncode == 1
    assert "ModuleNotFoundError" in done.stderr
    assert "has no TVM; install it" in done.stderr
    assert "pip install apache-tvm" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_script_that_needs_no_tvm_leaves_no_run(tmp_path: Path) -> None:
    done = xref("trace", "--", sys.executable, "-c", "print(1)", XREF_DB=str(tmp_path / "x.db"))
    assert (done.returncode, done.stdout) == (5, "1\n")
    assert "imported neither tvm nor tvm_ffi" in done.stderr


BROKEN = {
    "undefined symbol: _ZN3tvm3ffi4json9StringifyERKNS0_3AnyE": "-m pip install apache-tvm-ffi==0.1.12",
    "libz3.so.4.15: cannot open shared object file: No such file or directory": "-m pip install 'z3-solver<4.15.5'",
    "undefined symbol: _ZN3tvm3ffi5OtherE": "-m pip install --upgrade apache-tvm apache-tvm-ffi",
    "something else": "-c 'import tvm'` by itself",
}


@pytest.mark.parametrize("error", BROKEN)
def test_a_tvm_that_cannot_be_imported_names_versions_and_fix(tmp_path: Path, error: str) -> None:
    script(tmp_path, f"import tvm_ffi\nraise OSError({error!r})\n", "lib/tvm/__init__.py")
    (tmp_path / "lib" / "apache_tvm-0.25.0.dist-info").mkdir()
    done = xref("trace", "--", sys.executable, "-c", "import tvm", XREF_DB=str(tmp_path / "x.db"),
                PYTHONPATH=f"{tmp_path / 'lib'}{os.pathsep}{packages()}")  # fmt: skip
    assert done.returncode == 1
    assert "TVM 0.25.0 with apache-tvm-ffi 0.1.99 could not be imported" in done.stderr
    assert BROKEN[error] in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("python-of-nobody", "x.py"), 5, "no program of this name on PATH"),
        (("/no/such/python3", "x.py"), 5, "no such interpreter"),
        ((sys.executable, "no_such.py"), 5, "no such script: no_such.py"),
        ((sys.executable, "-I", str(WORKLOAD)), 2, "leave -I away"),
        ((sys.executable, "-BSq", str(WORKLOAD)), 2, "leave -S away"),
        (("/bin/true",), 5, "started no Python"),
        ((), 2, "Missing argument"),
    ],
)
def test_commands_that_cannot_be_traced(tmp_path: Path, words: tuple[str, ...], code: int, said: str) -> None:
    done = xref("trace", "--", *words, XREF_DB=str(tmp_path / "x.db"))
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_another_interpreter_is_one_that_works(tmp_path: Path) -> None:
    old = script(tmp_path, "#!/bin/sh\necho cpython 3 8\n", "python3.8")
    broken = script(tmp_path, "#!/bin/sh\necho lost >&2; exit 3\n", "python3")
    old.chmod(0o755)
    broken.chmod(0o755)
    assert "cpython 3.8: the recorder needs CPython 3.9" in xref("trace", "--python", old, "--", "-c", "1").stderr
    assert "no working Python: lost" in xref("trace", "--python", broken, "--", "-c", "1").stderr
    assert "no such interpreter" in xref("trace", "--python", tmp_path / "none", "--", "-c", "1").stderr


def test_python_takes_the_place_of_the_commands_own(tmp_path: Path) -> None:
    for words in (("python3", str(WORKLOAD)), (str(WORKLOAD),)):
        done = xref(
            "trace", "-q", "-o", tmp_path / "run", "--python", sys.executable, "--", *words, PATH="/usr/bin:/bin"
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_a_place_that_cannot_be_written_is_said_after_the_script_ran(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = xref("trace", "-o", tmp_path / "file" / "run", "--", sys.executable, "-c", "import tvm; print(1)")
    assert (done.returncode, done.stdout) == (5, "1\n")
    assert "cannot be written" in done.stderr
