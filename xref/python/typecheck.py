"""Runs the type checker (pyrefly) over the plan's files, beside our own survey, and leaves its reports in the scratch
folder. Nothing of the analysed tree decides what is run.

pyrefly obeys configuration files that it finds above a source file, and one of their settings names a program that it
runs: so it gets an empty configuration of ours, no interpreter query, explicit search paths and an environment without
its own variables. The report it writes for Pysa is an internal interface: the version is pinned, the format checked.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from xref.python import scratch as names
from xref.python.plan import PythonFile, PythonPlan
from xref.python.programs import finish, own_program, start_program

FORMAT_VERSION = 1
"""`format_version` of pyrefly 1.5's Pysa report."""
TIMEOUT_S = 900
"""Seconds before a run counts as hung; 2,500 files of TVM take 15."""
SETTINGS = (
    "--skip-interpreter-query", "--preset=default", "--check-unannotated-defs=true", "--infer-return-types=checked",
    "--disable-search-path-heuristics=true", "--use-ignore-files=false", "--output-format=omit-errors",
    "--progress-bar=no",
)  # fmt: skip
"""With pyrefly's default preset for a tree without configuration (`basic`), the bodies of unannotated functions are
not checked: on TVM it then finds 52 instead of 69 of 100 calls seen at run time."""
_MODULE_NAMES = "modules.json"
_ARGUMENTS = "files.txt"
_CONFIG = "pyrefly.toml"
_MAX_CRASHES = 20
_ROOM = 1 << 30


def run_type_checker(plan: PythonPlan, jobs: int) -> str:
    """Survey the plan's files and type-check them with `jobs` threads; reports go into the plan's scratch folder.

    Returns "" or the reason why there are no types: extraction then goes on from syntax alone.
    """
    names.save_plan(plan)
    for stale in (names.SCIP, names.TYPES, names.CALLS, names.RECEIVERS, names.TROUBLE, names.DEADLY, names.SURVEY,
                  names.KEPT, names.SAID):  # fmt: skip
        (plan.scratch / stale).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="xref-pysa-", dir=_roomy_memory() or plan.scratch) as folder:
        pysa = Path(folder)
        survey = _start_survey(plan.scratch)
        try:
            trouble = _check(plan, jobs, pysa)
        finally:
            _finish_survey(plan.scratch, survey)
        if not trouble:
            trouble = _digest(plan.scratch, pysa)
    (plan.scratch / names.TROUBLE).write_text(trouble, "utf-8")
    return trouble


def _roomy_memory() -> str:
    """A folder in memory with room for the report: 120 MB in 10,000 files, most of them about stubs that we do not
    read, which take longer to delete from a disk than to write. "" when there is none.
    """
    folder = "/dev/shm"  # noqa: S108  only the parent of a private temporary folder
    try:
        state = os.statvfs(folder)
    except OSError:
        return ""
    return folder if state.f_bavail * state.f_frsize >= _ROOM and os.access(folder, os.W_OK) else ""


def ensure_survey(plan: PythonPlan) -> None:
    """Make the survey if `run_type_checker` has not."""
    if not (plan.scratch / names.SURVEY).exists():
        names.save_plan(plan)
        _finish_survey(plan.scratch, _start_survey(plan.scratch))


def _start_survey(scratch: Path) -> subprocess.Popen[bytes]:
    return start_program(own_program("survey", scratch), scratch, own_code=True)


def _finish_survey(scratch: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait for the survey; when a file kills it, note the file and start over without it."""
    for _ in range(_MAX_CRASHES):
        _, errors = finish(process)
        if process.returncode == 0:
            return
        current = scratch / names.CURRENT
        if process.returncode > 0 or not current.exists():
            break
        with (scratch / names.DEADLY).open("a", encoding="utf-8", errors="surrogateescape") as log:
            log.write(current.read_text("utf-8", "surrogateescape") + "\0")
        process = _start_survey(scratch)
    raise RuntimeError(f"the survey of the Python files failed: {errors[-2000:]}")


def _digest(scratch: Path, pysa: Path) -> str:
    """Turn pyrefly's reports into one table, in a process of its own: as objects they take hundreds of megabytes."""
    process = start_program(own_program("pysa", scratch, pysa), scratch, own_code=True)
    _, errors = finish(process)
    if process.returncode:
        last = errors.strip().rpartition("\n")[2]
        return f"no types: the type checker's report could not be read ({last})"
    return ""


def _check(plan: PythonPlan, jobs: int, pysa: Path) -> str:
    program = _find_program()
    if not program:
        return "no types: pyrefly is not installed (pip install 'pyrefly==1.5.*')"
    files = [file for file in plan.files if _can_be_named(file)]
    if not files:
        return "no types: no file has a name that the type checker can be given"
    command = _command(program, plan, files, jobs)
    trouble = _run([*command, "--report-pysa", str(pysa), "--report-pysa-format=json"], plan.root)
    if trouble:
        return trouble
    trouble = _format_trouble(pysa)
    if trouble:
        return trouble
    scip = ["--report-scip-project-name=xref", "--report-scip-project-version=1"]
    return _run([*command, *scip, "--report-scip", str(plan.scratch / names.SCIP)], plan.root)


def _find_program() -> str:
    """pyrefly's executable: the one of this Python's environment, else of the PATH; "" when there is none."""
    beside = Path(sys.executable).with_name("pyrefly")
    return str(beside) if beside.is_file() else shutil.which("pyrefly") or ""


def _can_be_named(file: PythonFile) -> bool:
    """A file name that is not UTF-8, or holds a line break, cannot stand in pyrefly's list of arguments."""
    return file.path.isprintable() and file.path.encode("utf-8", "replace").decode() == file.path


def _command(program: str, plan: PythonPlan, files: list[PythonFile], jobs: int) -> list[str]:
    scratch = plan.scratch
    (scratch / _CONFIG).write_text("", "ascii")
    modules = {file.path: file.module for file in files if not file.is_stub}
    (scratch / _MODULE_NAMES).write_text(json.dumps(modules), "utf-8")
    arguments = "".join(f"{_literal_glob(file.path)}\n" for file in files)
    (scratch / _ARGUMENTS).write_text(arguments, "utf-8")
    searched = [argument for path in plan.search_paths for argument in ("--search-path", path)]
    return [
        program, "check", "--config", str(scratch / _CONFIG), *SETTINGS, *searched, "--threads", str(max(jobs, 1)),
        "--module-names", str(scratch / _MODULE_NAMES), f"@{scratch / _ARGUMENTS}",
    ]  # fmt: skip


def _literal_glob(path: str) -> str:
    """`path` as a glob that matches only itself; "./" keeps a leading dash or @ from being an option or a file list."""
    return "./" + "".join(f"[{letter}]" if letter in "*?[]{}" else letter for letter in path)


def _run(command: list[str], folder: Path) -> str:
    """Run pyrefly in `folder`; "" or why there is no result. Its exit code 1 only says that type errors were found."""
    try:
        process = start_program(command, folder)
    except OSError as error:
        return f"no types: {command[0]} cannot be run ({error.strerror or error})"
    try:
        output, errors = finish(process, TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return f"no types: the type checker did not finish within {TIMEOUT_S} s"
    if process.returncode < 0:
        return f"no types: the type checker was killed by signal {-process.returncode}"
    if process.returncode > 1:
        text = (errors or output).strip().rpartition("\n")[2]
        return f"no types: the type checker failed with exit code {process.returncode} ({text[:300]})"
    return ""


def _format_trouble(pysa: Path) -> str:
    index = pysa / "pyrefly.pysa.json"
    if not index.exists():
        return "no types: the type checker wrote no report"
    found = json.loads(index.read_bytes()).get("format_version")
    if found == FORMAT_VERSION:
        return ""
    try:
        installed = version("pyrefly")
    except PackageNotFoundError:
        installed = "?"
    return f"no types: pyrefly {installed} writes report format {found}, xref reads {FORMAT_VERSION}: install 1.5.*"
