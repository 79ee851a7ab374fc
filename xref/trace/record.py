"""`xref trace`: runs a command with the recorder inside, and keeps what it recorded as one run file."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from xref.model import ExitCode, XrefError
from xref.trace import diagnose
from xref.trace.again import NATIVE_LIMIT, Say, add_further_runs, prepare
from xref.trace.collect import collect, counts, read_parts, recorder_errors
from xref.trace.command import Command, understand, why_not_preloaded
from xref.trace.folder import new_id, run_path
from xref.trace.launch import remove_scratch, run_recorded
from xref.trace.runfile import RunFile, write_run
from xref.trace.shim import Shim, build_shim


@dataclass(frozen=True)
class Recording:
    """What came of it. `exit_code` is the command's own, unless it succeeded and nothing could be kept. `run` and
    `path` are None when nothing was kept; `trouble` says why.
    """

    exit_code: int
    run: RunFile | None = None
    path: Path | None = None
    trouble: str = ""
    warnings: list[str] = field(default_factory=list)


def record(
    words: tuple[str, ...], db: Path, python: str | None = None, output: Path | None = None,
    *, native: bool = False, native_limit: float = NATIVE_LIMIT, ir: bool = False, say: Say = lambda _text: None,
) -> Recording:  # fmt: skip
    """Run `words` and record it, into the file `output`, else beside the index at `db`. `native` and `ir` ask for
    further runs, which `say` announces; the native one is ended after `native_limit` minutes.

    Raises `XrefError` when the command cannot be started: see `understand`, `run_recorded`, `prepare`.
    """
    command = understand(words, python)
    wanted = prepare(native=native, ir=ir, limit=native_limit)
    shim = _usable_shim(command)
    scratch = Path(tempfile.mkdtemp(prefix="xref-trace-"))
    try:
        ended = run_recorded(command.arguments, shim, scratch)
        folder = scratch / "parts"
        parts, errors = read_parts(folder), recorder_errors(folder)
        why_nothing = diagnose.why_nothing(parts, errors, command.arguments[0])
        if why_nothing is not None:
            return Recording(ended.exit_code or ExitCode.UNUSABLE_INPUT, trouble=why_nothing)
        run = collect(new_id(db, command.name, ended.started), command.arguments, ended, folder, parts, shim.why_not)
        run.header["notes"] += [f"the recorder of one process failed: {error}" for error in errors]
        add_further_runs(run, wanted, command.arguments, scratch, say)
        run.header["counts"] = counts(run)
        path = output if output is not None else run_path(db, run.id)
        try:
            write_run(run, path)
        except XrefError as error:
            return Recording(ended.exit_code or error.exit_code, trouble=str(error))
        return Recording(ended.exit_code, run, path, warnings=run.header["notes"])
    finally:
        remove_scratch(scratch)


def _usable_shim(command: Command) -> Shim:
    shim = build_shim()
    if shim.path is not None and command.interpreter is not None:
        problem = why_not_preloaded(command.interpreter, shim.path)
        if problem:
            return Shim(None, problem)
    return shim
