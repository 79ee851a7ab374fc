"""Compiles the recorder's C parts (recorder/*.c) with the machine's C compiler, once, into the cache folder."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from xref.cache import cache_folder

_FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden")
_LIBRARIES = ("-ldl", "-lpthread")
_COMPILE_SECONDS = 120


class Shim(NamedTuple):
    """The library to preload; None when there is none, and why."""

    path: Path | None
    why_not: str


def build_shim(cache: Path | None = None, part: str = "shim") -> Shim:
    """The C part of this name, compiled unless the cache has it."""
    if not sys.platform.startswith("linux"):
        return Shim(None, f"preloading a library is not supported on {sys.platform}")
    source = resources.files("xref.trace.recorder").joinpath(f"{part}.c").read_bytes()
    compiler = _compiler()
    if compiler is None:
        return Shim(None, "there is no C compiler (cc, gcc, clang or $CC): install gcc")
    stamp = hashlib.sha256(source + repr((compiler, _FLAGS, platform.machine())).encode()).hexdigest()[:16]
    cache = cache or cache_folder()
    target = cache / f"{part}-{stamp}.so"
    if target.is_file():
        return Shim(target, "")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".shim-", dir=cache) as scratch:
            made = Path(scratch) / "shim.so"
            (Path(scratch) / "shim.c").write_bytes(source)
            command = [*compiler, *_FLAGS, "-o", str(made), str(Path(scratch) / "shim.c"), *_LIBRARIES]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False,
                                  timeout=_COMPILE_SECONDS, stdin=subprocess.DEVNULL)  # fmt: skip
            if done.returncode:
                problem = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip())
                return Shim(None, f"{shlex.join(compiler)} could not compile the recorder's C part: {problem}")
            made.replace(target)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Shim(None, f"the recorder's C part could not be compiled in {cache}: {error}")
    return Shim(target, "")


def _compiler() -> tuple[str, ...] | None:
    for candidate in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        words = candidate.split()
        if words and shutil.which(words[0]):
            return tuple(words)
    return None
