"""Cython files: symbols, references and calls of the FFI's own crossing code, from the syntax alone.

The files of one extension module (a .pyx and the .pxi files that it includes) share one namespace; each file owns the
facts of its own lines. Symbols have the same keys as Python's, so that a stub or a Python caller of the compiled module
leads here. Runs as a process of its own, see cython.py.
"""

from __future__ import annotations

import functools
import json
import pickle
import posixpath
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from xref.model import FileFacts, Lang, Status, Symbol
from xref.python.cython_declare import CythonModule, declare_cython
from xref.python.cython_parse import Parsed, parse_cython
from xref.python.cython_walk import walk_cython
from xref.python.declarations import module_key

REQUEST = "request.json"
RESULT = "facts.pickle"
CURRENT = "current"

_MODULES = {
    # tvm-ffi's CMakeLists.txt: cython --module-name "tvm_ffi.core"
    "tvm_ffi/cython/core.pyx": "tvm_ffi.core",
    # v0.21's python/setup.py and CMake: the extension lands beside the package's __init__.py
    "tvm/ffi/cython/core.pyx": "tvm.ffi.core",
    # python/setup.py to v0.20: config_cython() names it tvm._ffi.<_cy2 or _cy3>.core
    "tvm/_ffi/_cython/core.pyx": "tvm._ffi._cy3.core",
}
"""End of a .pyx file's path -> the module that it is built as, where its folder does not say so."""


def main(folder: Path) -> None:
    """Extract what the request in `folder` asks for; writes the facts there, and on the way the file being parsed."""
    request = json.loads((folder / REQUEST).read_text("ascii"))
    facts = extract(Path(request["root"]), request["paths"], folder / CURRENT)
    (folder / RESULT).write_bytes(pickle.dumps(facts))


def extract(root: Path, paths: Sequence[str], current: Path) -> list[FileFacts]:
    """Facts of the files `paths` below `root`, in order; `current` names the file in the parser's hands."""
    parsed: dict[str, Parsed] = {}
    facts: dict[str, FileFacts] = {}
    for path in paths:
        facts[path] = FileFacts(path, Lang.CYTHON)
        current.write_text(path, "utf-8", "surrogateescape")
        try:
            parsed[path] = parse_cython(path, (root / path).read_bytes())
        except OSError as error:
            facts[path].status, facts[path].detail = Status.FAILED, f"cannot be read: {error.strerror or error}"
            continue
        rows = parsed[path].rows
        facts[path].lines = len(rows) - (0 if rows[-1] else 1)
        if parsed[path].trouble:
            failed = parsed[path].tree is None
            facts[path].status = Status.FAILED if failed else Status.DEGRADED
            facts[path].detail = parsed[path].trouble
    for module, members in _modules(root, parsed).items():
        files = [(path, parsed[path]) for path in members if parsed[path].tree is not None]
        _extract_module(root, module, files, facts)
    return [facts[path] for path in paths]


def _modules(root: Path, parsed: dict[str, Parsed]) -> dict[str, list[str]]:
    """Module -> its files: each .pyx with what it includes, directly or not; a file that nobody includes by itself."""
    owner: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    for path in sorted(parsed, key=lambda path: (not path.endswith(".pyx"), path)):
        if path in owner:
            continue
        module = _module_name(root, path)
        if module in groups:
            module = path
        pending, members = [path], []
        while pending:
            current = pending.pop()
            if current in owner or current not in parsed:
                continue
            owner[current] = module
            members.append(current)
            folder = posixpath.dirname(current)
            pending += [posixpath.normpath(posixpath.join(folder, name)) for name in parsed[current].includes]
        groups[module] = members
    return groups


def _module_name(root: Path, path: str) -> str:
    for end, module in _MODULES.items():
        if path == end or path.endswith(f"/{end}"):
            return module
    pure = PurePosixPath(path)
    parts = [pure.stem]
    folder = pure.parent
    while (root / folder / "__init__.py").exists() and folder.name:
        parts.insert(0, folder.name)
        folder = folder.parent
    if len(parts) == 1:
        parts = list(pure.with_suffix("").parts)
    return ".".join(parts) if pure.suffix == ".pyx" else f"{'.'.join(parts)}{pure.suffix}"


def _is_own_header(root: Path, path: str, header: str) -> bool:
    """Whether the tree has the header that the file at `path` names: beside it, or in an include folder above it."""
    return bool(header) and any(
        (root / folder / inner / header).is_file()
        for folder in PurePosixPath(path).parents
        for inner in ("", "include", "ffi/include")
    )


def _extract_module(root: Path, name: str, files: list[tuple[str, Parsed]], facts: dict[str, FileFacts]) -> None:
    module = CythonModule(name)
    try:
        for path, parsed in files:
            declare_cython(module, parsed, facts[path])
        for path, parsed in files:
            walk_cython(module, parsed, facts[path], functools.cache(functools.partial(_is_own_header, root, path)))
    except Exception as error:  # noqa: BLE001  another release of Cython, or input that it takes and we do not expect
        reason = "nested too deeply" if isinstance(error, RecursionError) else f"{type(error).__name__}: {error}"
        for path, _ in files:
            facts[path].status, facts[path].detail = Status.DEGRADED, f"line 1: facts are incomplete ({reason})"
    main = next((path for path, _ in files if path.endswith(".pyx")), files[0][0] if files else "")
    if main:
        lines = max(facts[main].lines, 1)
        last = name.rpartition(".")[2]
        facts[main].symbols.insert(0, Symbol(module_key(name), "module", last, name, 1, 1, lines))
