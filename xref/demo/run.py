"""Make the demo's TVM run: the libraries of tilelang's wheel and an environment of their own, to record a compilation.

The Python that runs is that of the indexed tree, so that the lines of a run are the lines of the index. Nothing here is
installed beside xref: the recorder works in an interpreter that does not have it.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from xref.cache import cache_folder
from xref.demo.tree import TREE_NAME, download_wheels
from xref.model import ExitCode, XrefError

_LIBRARIES = "tilelang/lib/"
_INSTALL_SECONDS = 1800


@dataclass(frozen=True)
class DemoTvm:
    """An interpreter and the environment in which it finds the demo's TVM."""

    python: Path
    environment: dict[str, str]


def can_run() -> bool:
    """Whether tilelang's libraries fit this machine: they are built for Linux on x86_64."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def demo_tvm(tree: Path, cache: Path | None = None) -> DemoTvm:
    """The demo's TVM, ready to run; made once, in the cache folder (0.6 GB).

    Raises `XrefError` (exit code 5) when its parts cannot be had.
    """
    cache = cache or cache_folder()
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache / f"{TREE_NAME}-run-py{version}"
    if not (folder / "ready").exists():
        try:
            _make(folder)
        except (OSError, subprocess.SubprocessError) as error:
            raise XrefError(
                f"{folder} cannot hold the demo's TVM ({error}): check the network, or set XREF_CACHE to a folder with"
                " 1 GB of space",
                ExitCode.UNUSABLE_INPUT,
            ) from error
    solver = next(iter(sorted(folder.glob("venv/lib/python*/site-packages/z3/lib"))), folder)
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree / "python"),
        "TVM_LIBRARY_PATH": str(folder / "lib"),
        "LD_LIBRARY_PATH": str(solver),
        "PYTHONDONTWRITEBYTECODE": "1",  # the tree stays as it was unpacked
    }
    return DemoTvm(folder / "venv" / "bin" / "python", environment)


def _make(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        for wheel in download_wheels(Path(scratch)):
            if wheel.name.startswith("tilelang-"):
                _unpack_libraries(wheel, folder / "lib")
    venv.create(folder / "venv", with_pip=True)
    listed = resources.files("xref.demo").joinpath("run.txt")
    with resources.as_file(listed) as requirements:
        subprocess.run(
            [folder / "venv" / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "-r", str(requirements)],
            check=True, timeout=_INSTALL_SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    (folder / "ready").touch()


def _unpack_libraries(wheel: Path, target: Path) -> None:
    target.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(_LIBRARIES) and name.endswith(".so") and "/" not in name[len(_LIBRARIES) :]:
                with archive.open(name) as source, (target / name[len(_LIBRARIES) :]).open("wb") as sink:
                    shutil.copyfileobj(source, sink)
