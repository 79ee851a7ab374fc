"""Understands the command after `xref trace --`: which interpreter runs it, which script, and what can go wrong before
anything has started.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from xref.model import ExitCode, XrefError

OLDEST_PYTHON = (3, 9)
"""Of the traced interpreter: what the recorder's code needs."""

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*(?:\.exe)?", re.IGNORECASE)
_PROBE = "import sys; print(sys.implementation.name, *sys.version_info[:2])"
_PROBE_SECONDS = 60


class Command(NamedTuple):
    """A command that can be started. `name` is what ran, for the run's id. `interpreter` is the Python that it names;
    None when it is another program.
    """

    arguments: tuple[str, ...]
    name: str
    interpreter: str | None


class _Options(NamedTuple):
    """The interpreter's own options: `letters` without argument, and what it runs: "script", "module", "code" or ""."""

    letters: str
    kind: str
    target: str


def understand(words: tuple[str, ...], python: str | None) -> Command:
    """The command to run. `python` takes the place of the Python that the command names, or runs its script.

    Raises `XrefError`: exit code 5 when the interpreter or the script is not there, or the interpreter is no CPython of
    3.9 or newer; 2 when an option would keep the recorder out.
    """
    is_python = _PYTHON.fullmatch(Path(words[0]).name) is not None
    if python is not None:
        words = (python, *words[1:]) if is_python else (python, *words)
        is_python = True
    program = shutil.which(words[0])
    if program is None:
        raise _no_program(words[0], chosen=python is not None)
    if not is_python:
        return Command(words, Path(words[0]).stem, None)
    _probe(words[0])
    options = _parse(words[1:])
    refused = sorted({letter for letter in options.letters if letter in "IES"})
    if refused:
        message = (
            f"python -{refused[0]} keeps the recorder out, which Python finds by PYTHONPATH and sitecustomize:"
            f" leave -{refused[0]} away"
        )
        raise XrefError(message, ExitCode.USAGE)
    if options.kind == "script" and not os.path.exists(options.target):
        raise XrefError(f"no such script: {options.target} (in {Path.cwd()})", ExitCode.UNUSABLE_INPUT)
    name = {"script": Path(options.target).stem, "module": options.target.rpartition(".")[2]}.get(
        options.kind, "python"
    )
    return Command(words, name, words[0])


def _no_program(word: str, *, chosen: bool) -> XrefError:
    where = "no such interpreter" if chosen or os.sep in word else "no program of this name on PATH"
    remedy = "give another --python" if chosen else "name the interpreter by its path, or by --python"
    return XrefError(f"{word}: {where}; {remedy}", ExitCode.UNUSABLE_INPUT)


def _probe(interpreter: str) -> None:
    """Check that `interpreter` starts, and is one that the recorder can work in."""
    try:
        done = _run(interpreter, _PROBE, dict(os.environ))
        words = done.stdout.split()
    except (OSError, subprocess.TimeoutExpired) as error:
        raise XrefError(f"{interpreter} cannot be started: {error}", ExitCode.UNUSABLE_INPUT) from error
    if done.returncode or len(words) != 3:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise XrefError(f"{interpreter} is no working Python: {said[-1]}", ExitCode.UNUSABLE_INPUT)
    name, version = words[0], (int(words[1]), int(words[2]))
    if name != "cpython" or version < OLDEST_PYTHON:
        message = f"{interpreter} is {name} {version[0]}.{version[1]}: the recorder needs CPython 3.9 or newer"
        raise XrefError(message, ExitCode.UNUSABLE_INPUT)


def _run(interpreter: str, code: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [interpreter, "-I", "-S", "-c", code],
        env=environment, capture_output=True, text=True, errors="replace", check=False, timeout=_PROBE_SECONDS,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def why_not_preloaded(interpreter: str, library: Path) -> str:
    """Why `interpreter` cannot preload `library` (one of another C library, say); "" when it can."""
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    try:
        done = _run(interpreter, f"print({str(library)!r} in open('/proc/self/maps').read())", environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.stdout.strip() == "True":
        return ""
    said = done.stderr.strip().splitlines() or ["the dynamic linker ignores LD_PRELOAD"]
    return f"{interpreter} cannot load the recorder's C part: {said[0]}"


def _parse(words: tuple[str, ...]) -> _Options:
    """Read the interpreter's options as CPython does (Python/initconfig.c, `config_parse_cmdline`)."""
    letters, rest = "", list(words)
    while rest:
        word = rest.pop(0)
        if word == "-" or not word.startswith("-"):
            return _Options(letters, "" if word == "-" else "script", word)
        if word == "--":
            return _Options(letters, "script" if rest else "", rest[0] if rest else "")
        if word.startswith("--"):
            if word == "--check-hash-based-pycs" and rest:
                rest.pop(0)
            continue
        for place, letter in enumerate(word[1:], 2):
            argument = word[place:]
            if letter in "cm":
                target = argument or (rest[0] if rest else "")
                return _Options(letters, "module" if letter == "m" else "code", target)
            if letter in "WX":
                if not argument and rest:
                    rest.pop(0)
                break
            letters += letter
    return _Options(letters, "", "")
