"""What this machine has for parsing C++: libclang, the compiler's own headers, a C++ standard library.

The libclang package has no compiler headers (`stddef.h`): an installed clang's resource folder serves, else gcc's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from xref.cpp.clang import INCOMPLETE, Index, library_path, version
from xref.model import ExitCode, XrefError

_PROBE = "#include <stddef.h>\n#include <vector>\n#include <string>\n"


@dataclass(frozen=True)
class Toolchain:
    """`arguments` make libclang find the compiler's headers; the rest is for people to read."""

    libclang: Path
    version: str
    resource_dir: str
    cxx_include_dirs: tuple[str, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The command-line options that every parse needs."""
        folders = (*self.cxx_include_dirs, str(python_headers()))
        return tuple(part for folder in folders for part in ("-isystem", folder))


def python_headers() -> Path:
    """The folder of Python.h, which the binding's C++ needs: the running interpreter's, else that of our stand-in."""
    own = Path(sysconfig.get_path("include"))
    return own if (own / "Python.h").is_file() else Path(__file__).parent / "standins"


@cache
def find_toolchain(kept: Path | None = None) -> Toolchain:
    """The first combination that parses a probe. Raises `XrefError` (exit code 5) that says what to install.

    `kept` names a file that holds what was found last. It is found again without a parse, which takes a quarter of a
    second, where the candidates and the files that the probe consisted of are those of then.
    """
    words = version()
    candidates = _compiler_headers(words)
    asked = [words, str(library_path()), *candidates]
    known = _recall(kept, asked) if kept is not None else None
    if known is not None:
        return Toolchain(library_path(), words, known, (known,) if known else ())
    problem = "no folder with stddef.h"
    for candidate in candidates:
        chain = Toolchain(library_path(), words, candidate, (candidate,) if candidate else ())
        problem, consists_of = _probe(chain)
        if not problem:
            if kept is not None:
                _remember(kept, asked, candidate, consists_of)
            return chain
    raise XrefError(
        f"no C++ standard library that libclang can read ({problem}): install a compiler's headers, on Debian and "
        "Ubuntu `apt install g++`, on Fedora `dnf install gcc-c++`",
        ExitCode.UNUSABLE_INPUT,
    )


def _compiler_headers(words: str) -> list[str]:
    """Folders that hold stddef.h: none named (libclang may find its own), clang's of one major, gcc's, any clang's."""
    major = re.search(r"version (\d+)", words)
    same: list[str] = []
    other: list[str] = []
    for root in ("/usr/lib", "/usr/local/lib", "/opt/homebrew/opt", "/Library/Developer/CommandLineTools/usr/lib"):
        for pattern in ("llvm-*/lib/clang/*/include", "clang/*/include", "llvm*/lib/clang/*/include"):
            for folder in sorted(Path(root).glob(pattern), reverse=True):
                if (folder / "stddef.h").is_file():
                    fits = major is not None and folder.parent.name.split(".")[0] == major.group(1)
                    (same if fits else other).append(str(folder))
    return ["", *same, *_gcc_headers(), *other]


def _gcc_headers() -> list[str]:
    found = []
    for compiler in ("gcc", "cc", "g++"):
        path = shutil.which(compiler)
        if path is None:
            continue
        answer = subprocess.run([path, "-print-file-name=include"], capture_output=True, text=True, check=False)
        folder = answer.stdout.strip()
        if (Path(folder) / "stddef.h").is_file():
            found.append(folder)
    found += [
        str(p) for p in sorted(Path("/usr/lib/gcc").glob("*/*/include"), reverse=True) if (p / "stddef.h").is_file()
    ]
    return list(dict.fromkeys(found))


def _probe(chain: Toolchain) -> tuple[str, list[str]]:
    """ "" when the standard library parses, else the first error; and the files that it consists of."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.cc"
        source.write_text(_PROBE, encoding="ascii")
        arguments = ["-x", "c++", "-std=c++17", *chain.arguments]
        with Index().parse(str(source), arguments, INCOMPLETE) as unit:
            errors = unit.errors()
            consists_of = [name for name in unit.included() if name != str(source)]
    return (errors[0].message if errors else ""), consists_of


def _recall(kept: Path, asked: list[str]) -> str | None:
    """The candidate that was found when the same was asked; None when it may be another one now."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads(kept.read_bytes())
        if found["asked"] == asked and found["files"] == _stamps(name for name, *_ in found["files"]):
            return str(found["candidate"])
    return None


def _remember(kept: Path, asked: list[str], candidate: str, consists_of: list[str]) -> None:
    """Write what was found, in whole; a folder that cannot be written costs the next run a parse."""
    partial = kept.with_name(f"{kept.name}.partial{os.getpid()}")
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        found = {"asked": asked, "candidate": candidate, "files": _stamps(consists_of)}
        partial.write_text(json.dumps(found), encoding="utf-8")
        partial.replace(kept)


def _stamps(names: Iterable[str]) -> list[list[str | int]]:
    """Each file with its size and its time in nanoseconds."""
    return [[name, (state := os.stat(name)).st_size, state.st_mtime_ns] for name in names]
