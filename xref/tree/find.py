"""Find out what a tree is: its project, version, era, flags, and every source file with a reason when it is left out.

Nothing of the tree is executed, imported or obeyed: versions are read as text, git's files are read without git, and
symbolic links are recorded, not followed. Flags come from `flags`, build guards from `cmake`, version and
era from `version`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from xref.model import ExitCode, XrefError
from xref.tree import gitfiles
from xref.tree.cmake import build_guards
from xref.tree.flags import FFI_PARTS, cpp_standard, defines, find_headers, read_text
from xref.tree.version import era_of, release

MAX_FILE_BYTES = 16 << 20
"""A larger file is generated or data: skipped with that reason. The largest source file of TVM has 0.4 MB."""

_KINDS = {
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".cu", ".mm"), "unit"),
    **dict.fromkeys((".h", ".hpp", ".hh", ".cuh"), "header"),
    ".py": "python", ".pyx": "cython", ".pxi": "cython", ".pxd": "cython",
    ".c": "unit", ".m": "unit",
}  # fmt: skip
_PLAIN_C = {".c": "plain C", ".m": "Objective-C"}
_NEVER_WALKED = frozenset((
    ".git", ".hg", ".svn", "__pycache__", "node_modules", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache",
    ".tox", ".nox", ".eggs", ".idea", ".vscode", ".ipynb_checkpoints",
))  # fmt: skip
_BUILD_FOLDER = re.compile(r"(build|cmake-build|bazel|_skbuild|dist|out)([-_.].*)?$")
_BUILD_MARKS = ("CMakeCache.txt", "pyvenv.cfg", "build.ninja")
_OTHER_OUT = {
    **dict.fromkeys(("test", "tests", "testing", "unittests", "cpptest"), "tests"),
    **dict.fromkeys(("example", "examples", "gallery", "demo", "demos", "tutorials"), "examples"),
    **dict.fromkeys(("doc", "docs"), "documentation"),
    **dict.fromkeys(("benchmark", "benchmarks", "bench"), "benchmarks"),
    **dict.fromkeys(("ci", "docker", "maint", "scripts", "tools"), "project automation"),
}
_TVM_OUT = {**_OTHER_OUT, "apps": "an application on top of TVM", "cmake": "build rules", "web": "the web runtime",
            "jvm": "the Java binding", "golang": "the Go binding", "rust": "the Rust binding",
            "vta": "the VTA accelerator", "addons": "an add-on of tvm-ffi", "conda": "packaging"}  # fmt: skip
_VENDORED = frozenset(("3rdparty", "third_party", "thirdparty", "external", "extern", "vendor"))


@dataclass(frozen=True)
class SourceFile:
    """One source file of the tree. `path` is tree-relative with forward slashes; bytes that are not UTF-8 are written
    as backslash escapes (such a file is always skipped). `kind`: "unit" (C++, CUDA, Objective-C++), "header", "python"
    or "cython". `size` in bytes. `guard`: the CMake options that build it, "" when built by default or unknown.
    `skip`: "", or why the file is out of scope.
    """

    path: str
    kind: str
    size: int
    mtime_ns: int
    guard: str = ""
    skip: str = ""


@dataclass(frozen=True)
class Tree:
    """What a checkout is.

    `project`: "tvm", "tvm-ffi" or "other" (a project on top of tvm-ffi). `version`, `commit`: "" when unknown. `era` by
    the registration macros of its units: "register_global" (TVM_REGISTER_GLOBAL, to v0.20), "ffi_register_global"
    (TVM_FFI_REGISTER_GLOBAL, v0.21), "static_init_block" (TVM_FFI_STATIC_INIT_BLOCK, v0.22 on), "mixed" or "none".
    `include_dirs` are absolute, existing, in order; `defines` are NAME=VALUE; `python_roots` are the tree-relative
    folders whose children are top-level packages. `notes`: what the user should know, with the remedy.
    """

    root: Path
    project: str
    version: str
    commit: str
    era: str
    missing_submodules: tuple[str, ...]
    files: tuple[SourceFile, ...]
    cpp_std: str
    include_dirs: tuple[str, ...]
    defines: tuple[str, ...]
    python_roots: tuple[str, ...]
    notes: tuple[str, ...]


def find_tree(path: Path, only: Sequence[str] = (), also: Sequence[str] = ()) -> Tree:
    """What the folder `path` holds. `only` restricts the files to those that match one of the globs (`*` crosses
    slashes; a folder's name means all below it); what the tree is does not depend on it. `also` are tree-relative
    folders outside the usual scope (tests/python, apps) whose files are to be indexed as well.

    Raises `XrefError`: exit code 5 when there is no such folder, or no C++ and no Python in it; 2 when `only` leaves
    no file, or a folder of `also` holds none.
    """
    root = _checked_root(path)
    walk = _Walk(root, tuple(folder.removeprefix("./").rstrip("/") for folder in also))
    project = _project(root)
    walk.run(project)
    files = sorted(walk.files, key=lambda file: file.path)
    if not any(not file.skip for file in files):
        raise XrefError(_nothing_found(root, files), ExitCode.UNUSABLE_INPUT)
    files = _with_guards(root, files)
    for folder in walk.also:
        if not any(is_below(file.path, (folder,)) and not file.skip for file in files):
            raise XrefError(
                f"--also {folder}: no source file below it in {root}; give folders of the tree, such as tests/python",
                ExitCode.USAGE,
            )
    commit, tag = gitfiles.head(root)
    version = release(root, project, tag)
    sources = [file.path for file in files if file.kind in ("unit", "header") and not file.skip]
    headers = find_headers(root, project, version, sources, walk.vendored)
    missing = gitfiles.missing_submodules(root)
    chosen = [file for file in files if _matches(file.path, only)]
    if not any(not file.skip for file in chosen):
        raise XrefError(
            f"--only {' '.join(only)} leaves no file of {root} to index: give globs like 'src/relax/*'", ExitCode.USAGE
        )
    return Tree(
        root=root, project=project, version=version, commit=commit, era=era_of(root, files), missing_submodules=missing,
        files=tuple(chosen), cpp_std=cpp_standard(version, read_text(root / "CMakeLists.txt")),
        include_dirs=headers.include_dirs, defines=defines(), python_roots=_python_roots(project, files),
        notes=(*_checkout_notes(root, project), *headers.notes, *walk.notes()),
    )  # fmt: skip


def _checked_root(path: Path) -> Path:
    try:
        root = path.expanduser().resolve(strict=True)
    except FileNotFoundError:
        raise XrefError(f"{path}: no such folder; give the folder of a TVM checkout", ExitCode.UNUSABLE_INPUT) from None
    except (OSError, RuntimeError) as error:
        raise XrefError(
            f"{path} cannot be opened ({error}): give the folder of a TVM checkout", ExitCode.UNUSABLE_INPUT
        ) from error
    if not root.is_dir():
        raise XrefError(f"{path} is not a folder: give the folder of a TVM checkout", ExitCode.UNUSABLE_INPUT)
    try:
        str(root).encode()
    except UnicodeEncodeError:
        words = f"{path}: the folder's path is not UTF-8, which an index cannot hold: rename it"
        raise XrefError(words, ExitCode.UNUSABLE_INPUT) from None
    if not os.access(root, os.R_OK | os.X_OK):
        raise XrefError(f"{path} cannot be read: change its permissions", ExitCode.UNUSABLE_INPUT)
    return root


def _nothing_found(root: Path, files: list[SourceFile]) -> str:
    if not files:
        return f"{root} holds no C++ and no Python: give the folder of a TVM checkout"
    reason = f"{files[0].path}: {files[0].skip}"
    return f"{root}: none of its {len(files)} source files is in scope ({reason}): give the folder of a TVM checkout"


def _project(root: Path) -> str:
    """By what only that project has. A wheel's copy of TVM may lack headers, a trimmed one its Python."""
    if (root / "python/tvm/__init__.py").is_file() or (root / "include/tvm/ir").is_dir():
        return "tvm"
    if (root / "include" / "tvm/ffi/c_api.h").is_file() and (root / "src/ffi").is_dir():
        return "tvm-ffi"
    return "tvm" if (root / "src/relax/ir").is_dir() or (root / "src/relay/ir").is_dir() else "other"


def is_below(path: str, folders: Sequence[str]) -> bool:
    """Whether a tree-relative path lies in one of the folders."""
    return any(path.startswith(f"{folder}/") for folder in folders)


def scope(path: str, project: str, also: Sequence[str] = ()) -> str:
    """Why the file `path` (tree-relative) of a `project` is not to be indexed, in words; "" when it is, by itself or
    because it lies in a folder of `also`."""
    suffix = os.path.splitext(path)[1]
    if is_below(path, also):
        return f"{_PLAIN_C[suffix]}: only C++ is indexed" if suffix in _PLAIN_C else ""
    kind = _KINDS[suffix]
    parts = path.split("/")
    if project == "other":
        if len(parts) > 1 and parts[0] in _OTHER_OUT:
            return f"{_OTHER_OUT[parts[0]]}: not indexed"
    else:
        ffi = next((part for part in FFI_PARTS if project == "tvm" and path.startswith(f"{part}/")), "")
        inner = path[len(ffi) + 1 :].split("/") if ffi else parts
        if inner[0] not in ("src", "include", "python"):
            out = _TVM_OUT.get(inner[0]) or ("project automation" if inner[0].startswith(".") else "")
            return f"{out or 'outside src, include and python'}: not indexed"
        if kind in ("python", "cython") and inner[0] != "python":
            return "Python outside the Python packages: not indexed"
    return f"{_PLAIN_C[suffix]}: only C++ is indexed" if suffix in _PLAIN_C else ""


@dataclass
class _Walk:
    """One pass over the tree in name order; `files` and the notes are what it found."""

    root: Path
    also: tuple[str, ...] = ()
    files: list[SourceFile] = field(default_factory=list)
    vendored: list[str] = field(default_factory=list)
    _linked: list[str] = field(default_factory=list)
    _unreadable: list[str] = field(default_factory=list)
    _builds: list[str] = field(default_factory=list)
    _paths: set[str] = field(default_factory=set)

    def run(self, project: str) -> None:
        pending = [""]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(self.root / folder) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self._unreadable.append(f"{_written(folder)} ({error.strerror})")
                continue
            for entry in listed:
                relative = f"{folder}/{entry.name}" if folder else entry.name
                try:
                    if entry.is_symlink():
                        self._link(relative)
                    elif entry.is_dir(follow_symlinks=False):
                        if self._walks_into(relative, entry.name, folder, project):
                            pending.append(relative)
                    elif os.path.splitext(entry.name)[1] in _KINDS:
                        self._file(relative, entry.stat(follow_symlinks=False), project)
                except OSError as error:
                    self._unreadable.append(f"{_written(relative)} ({error.strerror})")

    def _walks_into(self, relative: str, name: str, parent: str, project: str) -> bool:
        if name in _NEVER_WALKED or name.endswith(".egg-info"):
            return False
        inside = self.root / relative
        is_build = (not parent and _BUILD_FOLDER.match(name)) or any((inside / mark).exists() for mark in _BUILD_MARKS)
        if is_build:
            self._builds.append(_written(relative))
            return False
        if os.path.basename(parent) in _VENDORED and not (project == "tvm" and relative in FFI_PARTS):
            self.vendored.append(_written(relative))
            return False
        return True

    def _file(self, relative: str, info: os.stat_result, project: str) -> None:
        path = _written(relative)
        if not stat.S_ISREG(info.st_mode):
            skip = "not a regular file (a pipe, socket or device)"
        elif path != relative:
            skip = "the file name is not UTF-8"
        elif info.st_size > MAX_FILE_BYTES:
            skip = f"larger than {MAX_FILE_BYTES >> 20} MiB: generated, or data"
        elif not os.access(self.root / relative, os.R_OK):
            skip = "cannot be read (permission denied)"
        else:
            skip = scope(relative, project, self.also)
        self._add(path, info.st_size, info.st_mtime_ns, skip)

    def _add(self, path: str, size: int, mtime_ns: int, skip: str) -> None:
        """One row. Two names may be written alike (a byte that is not UTF-8, and its escape): the later gets a mark."""
        kind = _KINDS[os.path.splitext(path)[1]]
        while path in self._paths:
            path += "'"
        self._paths.add(path)
        self.files.append(SourceFile(path, kind, size, mtime_ns, skip=skip))

    def _link(self, relative: str) -> None:
        """A link to a source file is a skipped row; one to anything else a note. Neither is followed."""
        target = _written(os.readlink(self.root / relative))
        if os.path.splitext(relative)[1] in _KINDS:
            info = os.lstat(self.root / relative)
            self._add(_written(relative), 0, info.st_mtime_ns, f"symbolic link to {target}: not followed")
        elif os.path.isdir(self.root / relative) or not os.path.exists(self.root / relative):
            self._linked.append(f"{_written(relative)} -> {target}")

    def notes(self) -> Iterator[str]:
        """What was left out as a whole."""
        for found, what in (
            (self._linked, "links to folders, or to nothing, not followed (index their target by itself)"),
            (self._unreadable, "could not be read and are not in the index: change their permissions"),
            (self._builds, "build output or an environment, not indexed"),
            (self.vendored, "third-party code, not indexed (index one of these folders by itself to see it)"),
        ):
            if found:
                yield f"{what}: {_some(found)}"


def _written(relative: str) -> str:
    """A path as text: bytes that are not UTF-8 become backslash escapes."""
    return os.fsencode(relative).decode("utf-8", "backslashreplace")


def _some(names: Sequence[str], limit: int = 8) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _matches(path: str, only: Sequence[str]) -> bool:
    if not only:
        return True
    globs = [glob.removeprefix("./").rstrip("/") for glob in only]
    return any(
        fnmatchcase(path, glob) or fnmatchcase(path, f"{glob}/*") or fnmatchcase(path, glob.replace("**/", ""))
        for glob in globs
    )


def _python_roots(project: str, files: Sequence[SourceFile]) -> tuple[str, ...]:
    """Folders, tree-relative ("." for the root), whose children are top-level packages or modules."""
    paths = [file.path for file in files if file.kind in ("python", "cython") and not file.skip]
    if project != "other":
        known = ("python", *(f"{part}/python" for part in FFI_PARTS))
        return tuple(name for name in known if any(path.startswith(f"{name}/") for path in paths))
    packages = {os.path.dirname(path) for path in paths if os.path.basename(path) == "__init__.py"} - {""}
    roots = set()
    for path in paths:
        folder = os.path.dirname(path)
        while folder in packages:
            folder = os.path.dirname(folder)
        roots.add(folder)
    # A folder without __init__.py inside a package (a namespace package, a script's folder) is no root of its own.
    own = [name for name in roots if not any(_inside(name, package) for package in packages)]
    return tuple(sorted(name or "." for name in own))


def _inside(folder: str, package: str) -> bool:
    return folder == package or folder.startswith(f"{package}/")


def _checkout_notes(root: Path, project: str) -> Iterator[str]:
    """What makes the folder less than a checkout."""
    if project == "tvm" and not (root / "include/tvm").is_dir():
        yield "include/tvm is missing: not a whole TVM checkout, so that nearly every C++ file will be degraded"
    if (root / "__init__.py").is_file():
        yield f"the folder is itself a Python package: index {root.parent} to have its modules under their full names"


def submodule_notes(tree: Tree, headers: Collection[str]) -> list[str]:
    """That submodules are missing, if something needs them: `headers` are those that were included and not found."""
    if not headers or not tree.missing_submodules:
        return []
    what = f"submodules not checked out: {_some(tree.missing_submodules)}; headers not found: {_some(sorted(headers))}"
    return [f"{what} (run `git submodule update --init --recursive` in {tree.root} to get those of submodules)"]


def _with_guards(root: Path, files: Sequence[SourceFile]) -> list[SourceFile]:
    """`files` with the CMake options that build each unit; a CMake file outside the tree is not read."""

    def read(path: str) -> str:
        inside = (root / path).resolve().is_relative_to(root)
        return read_text(root / path) if inside else ""

    guards = build_guards([file.path for file in files if file.kind == "unit" and not file.skip], read)
    return [replace(file, guard=guards[file.path]) if guards.get(file.path) else file for file in files]
