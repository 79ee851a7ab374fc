"""Get a real TVM source tree from the package index: the one inside tilelang's wheel, with its tvm-ffi beside it.

The wheels are downloaded with their hashes checked and unpacked, never installed or run; the tree appears in the cache
folder whole or not at all, and is used from there the next time.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib import resources
from pathlib import Path, PurePosixPath

from xref.cache import cache_folder
from xref.model import ExitCode, XrefError

TREE_NAME = "tvm-0.25.dev0"
"""The TVM that tilelang 0.1.14 carries, by its own version.py."""

_PLACES = {
    "tilelang": {"tilelang/3rdparty/tvm/": ""},
    "apache_tvm_ffi": {
        "tvm_ffi/include/tvm/": "3rdparty/tvm-ffi/include/tvm/",
        "tvm_ffi/src/": "3rdparty/tvm-ffi/src/",
        "tvm_ffi/3rdparty/dlpack/": "3rdparty/tvm-ffi/3rdparty/dlpack/",
        "tvm_ffi/": "3rdparty/tvm-ffi/python/tvm_ffi/",
    },
}
"""Wheel -> prefix in it -> where that part stands in a checkout; the first prefix that fits decides."""

_NOT_PYTHON_PACKAGE = ("include/", "lib/", "share/", "3rdparty/", "src/")
_PIP_OPTIONS = (
    "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes", "--only-binary", ":all:",
    "--implementation", "cp", "--python-version", "3.11", "--abi", "cp311", "--abi", "abi3",
    "--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_27_x86_64",
)  # fmt: skip
_DOWNLOAD_SECONDS = 1800


def demo_tree(cache: Path | None = None) -> Path:
    """The folder of the demo's TVM tree, downloaded (48 MB) when the cache has none.

    Raises `XrefError` (exit code 5) when the wheels cannot be had, or are not the expected ones.
    """
    cache = cache or cache_folder()
    tree = cache / TREE_NAME
    if tree.is_dir():
        return tree
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{TREE_NAME}.", dir=cache) as scratch:
            wheels = download_wheels(Path(scratch) / "wheels")
            unpacked = Path(scratch) / "tree"
            for wheel in wheels:
                _unpack(wheel, unpacked)
            _publish(unpacked, tree)
    except OSError as error:
        message = f"{cache} cannot hold the demo's TVM tree ({error}): set XREF_CACHE to a folder with 100 MB of space"
        raise XrefError(message, ExitCode.UNUSABLE_INPUT) from error
    return tree


def download_wheels(folder: Path) -> list[Path]:
    """Download the wheels of wheels.txt into `folder`, by pip, which checks their hashes.

    Raises `XrefError` (exit code 5) when they cannot be had.
    """
    listed = resources.files("xref.demo").joinpath("wheels.txt")
    with resources.as_file(listed) as requirements:
        command = [sys.executable, "-m", "pip", "download", *_PIP_OPTIONS, "-r", str(requirements), "-d", str(folder)]
        try:
            subprocess.run(command, check=True, timeout=_DOWNLOAD_SECONDS, stdin=subprocess.DEVNULL)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            message = "the demo's TVM could not be downloaded (pip says why above): check the network, then try again"
            raise XrefError(message, ExitCode.UNUSABLE_INPUT) from error
    return sorted(folder.glob("*.whl"))


def _unpack(wheel: Path, tree: Path) -> None:
    """Copy the sources of `wheel` to where a checkout has them."""
    places = _PLACES[wheel.name.split("-")[0]]
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            target = _place(entry.filename, places)
            if target is None or entry.is_dir():
                continue
            destination = tree / target
            destination.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, destination.open("wb") as sink:
                shutil.copyfileobj(source, sink)


def _place(name: str, places: dict[str, str]) -> str | None:
    """Where the wheel's file `name` goes in the tree; None for what is left out."""
    if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        return None
    prefix = next((prefix for prefix in places if name.startswith(prefix)), None)
    if prefix is None:
        return None
    rest = name[len(prefix) :]
    if prefix == "tvm_ffi/" and (rest.startswith(_NOT_PYTHON_PACKAGE) or rest.endswith(".so")):
        return None
    return places[prefix] + rest


def _publish(unpacked: Path, tree: Path) -> None:
    """Rename the finished folder into place; another process may have been first, with the same content."""
    try:
        unpacked.rename(tree)
    except OSError:
        if not tree.is_dir():
            raise
