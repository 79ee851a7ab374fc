"""What this machine has for parsing C++: libclang, the compiler's own headers, a C++ standard library.

The libclang package has no compiler headers (`stddef.h`): an installed clang's resource folder serves, else gcc's.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
import tempfile
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
def find_toolchain() -> Toolchain:
    """The first combination that parses a probe. Raises `XrefError` (exit code 5) that says what to install."""
    words = version()
    problem = "no folder with stddef.h"
    for candidate in _compiler_headers(words):
        chain = Toolchain(library_path(), words, candidate, (candidate,) if candidate else ())
        problem = _probe(chain)
        if not problem:
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


def _probe(chain: Toolchain) -> str:
    """ "" when the standard library parses, else the first error."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.cc"
        source.write_text(_PROBE, encoding="ascii")
        arguments = ["-x", "c++", "-std=c++17", *chain.arguments]
        with Index().parse(str(source), arguments, INCOMPLETE) as unit:
            errors = unit.errors()
    return errors[0].message if errors else ""
