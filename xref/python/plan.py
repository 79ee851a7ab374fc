"""Decides what the Python half of the index reads: which file is which module, and how the work is cut into jobs.

A module has one name in the whole index, because a symbol's key starts with it. Files are not opened here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True)
class PythonFile:
    """One Python file of the tree: `path` is tree-relative with forward slashes, `module` its dotted name.

    No two .py files share a module name; a .pyi stub has the name of the module that it describes.
    """

    path: str
    module: str
    is_package: bool

    @property
    def is_stub(self) -> bool:
        """Whether the file only declares what another file defines."""
        return self.path.endswith(".pyi")


@dataclass(frozen=True)
class PythonPlan:
    """All Python files of a tree; `search_paths` are the tree-relative folders that hold top-level packages.

    `scratch` is a folder of our own, outside the analysed tree, for reports and tables.
    """

    root: Path
    files: tuple[PythonFile, ...]
    search_paths: tuple[str, ...]
    scratch: Path


@dataclass(frozen=True)
class PythonJob:
    """A batch of files for one worker call; picklable, and independent of every other job."""

    root: Path
    scratch: Path
    files: tuple[PythonFile, ...]


def plan_python(root: Path, paths: Sequence[str], search_paths: Sequence[str], scratch: Path) -> PythonPlan:
    """Name the module of every path in `paths` (.py and .pyi, tree-relative).

    The module is the path below the longest search path that holds it, as Python's own import system has it; a file
    below none of them, and the second file of a module name, are named after their whole path.
    """
    roots = sorted({PurePosixPath(path) for path in search_paths}, key=lambda path: -len(path.parts))
    taken: dict[str, str] = {}
    files = []
    for path in sorted(paths, key=lambda path: (path.endswith(".pyi"), path)):
        pure = PurePosixPath(path)
        home = next((home for home in roots if home in pure.parents), None)
        candidates = [_dotted(pure)]
        if home is not None:
            candidates.insert(0, _dotted(pure.relative_to(home)))
        if path.endswith(".pyi"):
            module = candidates[0]
        else:
            module = next((name for name in candidates if name and name not in taken), path)
            taken[module] = path
        files.append(PythonFile(path, module, pure.stem == "__init__"))
    files.sort(key=lambda file: file.path)
    return PythonPlan(root, tuple(files), tuple(search_paths), scratch)


def _dotted(path: PurePosixPath) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def cut_jobs(plan: PythonPlan, per_job: int) -> list[PythonJob]:
    """Batches of `per_job` neighbouring files: files of one folder share what a worker has already looked up."""
    return [
        PythonJob(plan.root, plan.scratch, plan.files[start : start + per_job])
        for start in range(0, len(plan.files), per_job)
    ]
