"""Asks an interpreter for the registries of its TVM, and compares the index with them."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

from xref.model import ExitCode, XrefError
from xref.store import read_meta
from xref.verify.compare import Verification, compare

TIMEOUT_S = 300
"""Seconds before the interpreter counts as hung: importing TVM takes 5, asking for operators 15."""


_RUN = (
    "import runpy, sys\n"
    "if sys.path[:1] == ['']: del sys.path[0]\n"  # the folder that one stands in, which may hold a tvm of its own
    "runpy.run_path(sys.argv[1], run_name='__main__')"
)
"""Not `-I`, which would take PYTHONPATH away: a TVM that was built from source is found through it."""


def verify(db: sqlite3.Connection, python: str) -> Verification:
    """Compare the index with the TVM of the interpreter `python`. Raises `XrefError` (exit code 5) when it has none."""
    candidates = [
        name.rpartition(":")[2] for (name,) in db.execute("SELECT DISTINCT name FROM keys WHERE registry = 'op_attr'")
    ]
    return compare(db, read_meta(db), ask(python, sorted(set(candidates))))


def ask(python: str, op_attrs: list[str]) -> dict[str, Any]:
    """What `xref.verify.probe` lists in that interpreter."""
    request = json.dumps({"op_attrs": op_attrs}).encode("ascii")
    probe = Path(__file__).with_name("probe.py")
    try:
        done = subprocess.run(
            [python, "-c", _RUN, str(probe)], input=request, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except OSError as error:
        raise XrefError(
            f"{python} cannot be run ({error.strerror}): name the interpreter that has TVM in --python",
            ExitCode.UNUSABLE_INPUT,
        ) from error
    except subprocess.TimeoutExpired as error:
        raise XrefError(f"{python} did not answer within {TIMEOUT_S} s", ExitCode.UNUSABLE_INPUT) from error
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        remedy = "install it there, `pip install apache-tvm`, or name another --python"
        if "No module named 'tvm'" in words:
            raise XrefError(f"{python} has no TVM: {remedy}", ExitCode.UNUSABLE_INPUT)
        raise XrefError(f"the TVM of {python} cannot be asked ({words}): {remedy}", ExitCode.UNUSABLE_INPUT)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
