"""Which release a tree is, and of which era: both read as text from its own files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xref.tree.flags import ffi_header_release, read_text

if TYPE_CHECKING:
    from xref.tree.find import SourceFile


def release(root: Path, project: str, tag: str) -> str:
    """The version, as text: the release tag at HEAD, else what the project's own files say, in the order of trust."""
    if re.fullmatch(r"v?\d+(\.\w+)+", tag):
        return tag.removeprefix("v")
    if project == "tvm-ffi":
        return _assigned(root / "python/tvm_ffi/_version.py", "__version__") or ffi_header_release(root / "include")
    if project == "tvm":
        sources = [(root / name, "__version__") for name in ("version.py", "python/tvm/_version.py")]
        sources += [(root / f"include/tvm/runtime/{name}", "TVM_VERSION") for name in ("base.h", "c_runtime_api.h")]
        sources.append((root / "python/tvm/libinfo.py", "__version__"))
        return next(filter(None, (_assigned(*source) for source in sources)), "")
    plain = read_text(root / "VERSION").strip()
    return plain if re.fullmatch(r"\d[\w.+-]{0,40}", plain) else _assigned(root / "pyproject.toml", "version")


def _assigned(path: Path, name: str) -> str:
    """The string that `name` has in a Python, TOML or C file: NAME = "x", NAME = other = "x" or #define NAME "x"."""
    pattern = rf"^\s*(?:#define )?{name}(?:: str)?\s*(?:=\s*\w+\s*)?=?\s*[\"']([\w.+-]+)[\"']"
    found = re.search(pattern, read_text(path), re.MULTILINE)
    return found[1] if found else ""


def era_of(root: Path, files: Sequence[SourceFile]) -> str:
    """The era by how many units use each registration macro.

    v0.21 has 501 units with TVM_FFI_REGISTER_GLOBAL and 150 with a static init block; other releases have one kind.
    """
    old = middle = new = 0
    for file in files:
        if file.kind != "unit" or file.skip:
            continue
        try:
            text = (root / file.path).read_bytes()
        except OSError:
            continue
        old += b"TVM_REGISTER_GLOBAL" in text
        middle += b"TVM_FFI_REGISTER_GLOBAL" in text
        new += b"TVM_FFI_STATIC_INIT_BLOCK" in text
    total = old + middle + new
    if not total:
        return "none"
    if old > 0.9 * total:
        return "register_global"
    if new > 0.9 * total:
        return "static_init_block"
    return "ffi_register_global" if middle > 0.1 * total and old < 0.1 * total else "mixed"
