"""`xref index`: plans a tree, extracts facts in worker processes, stores and links them, swaps the index in whole.

Extractors know nothing of SQLite and the store nothing of clang; this module is where they meet. One process writes.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path

from xref import python as python_part
from xref.cpp.clang import die_on_crash
from xref.cpp.plan import CppPlan, UnitJob, alone, plan_cpp
from xref.cpp.toolchain import find_toolchain
from xref.cpp.unit import NO_PCH, Pch, UnitResult, build_pch, index_unit
from xref.link import link
from xref.model import ExitCode, FileFacts, Lang, Status, XrefError
from xref.store import FORMAT, IndexBuilder, disk_errors, open_index, read_meta
from xref.summary import IndexSummary, summarize
from xref.trace.join import join_known_runs
from xref.tree.find import SourceFile, Tree, find_tree
from xref.workers import Failure, Task, Workers

Progress = Callable[[int, int, str], None]
_LANG = {"unit": Lang.CPP, "header": Lang.CPP, "python": Lang.PYTHON, "cython": Lang.CYTHON}
_POLL_SECONDS = 0.25
_LEAST_ROOM = 64 << 10
"""Bytes: a folder with less is full."""
_NO_PCH_WARNING = "the tree's common headers were not precompiled, so that indexing takes several times longer"


@dataclass(frozen=True)
class IndexOptions:
    """`path` is the tree, `db` the index; `jobs` worker processes; `only` globs of files; `force` rebuilds, and lets
    the index of another tree be replaced."""

    path: Path
    db: Path
    jobs: int = 2
    only: tuple[str, ...] = ()
    force: bool = False


@dataclass
class _Run:
    """The state of one indexing run."""

    whole: Tree
    tree: Tree
    """`whole`, restricted to the files that `--only` names."""
    builder: IndexBuilder
    plan: CppPlan | None = None
    pch: Pch = NO_PCH
    retried: dict[str, str] = field(default_factory=dict)
    """Files of a failed task that were tried again, and what had happened."""
    warnings: list[str] = field(default_factory=list)
    call_expressions: int = 0


def run_index(options: IndexOptions, progress: Progress = lambda _done, _total, _label: None) -> IndexSummary:
    """Index a tree. Raises `XrefError`; on any failure, and on Ctrl-C, the old index stays as it was."""
    started = time.monotonic()
    whole = find_tree(options.path)
    tree = find_tree(options.path, options.only) if options.only else whole
    identity = _identity(tree, options)
    if _is_unchanged(options, tree, identity):
        return summarize(options.db, unchanged=True, seconds=time.monotonic() - started)
    units = [f.path for f in tree.files if f.kind in ("unit", "header") and not f.skip]
    toolchain = find_toolchain() if units else None
    with IndexBuilder(options.db) as builder, _scratch_folder() as scratch:
        run = _Run(whole, tree, builder, warnings=list(tree.notes))
        _announce(run)
        with ThreadPoolExecutor(1) as checker:
            python = _plan_python(tree, scratch)
            types = checker.submit(python_part.run_type_checker, python, options.jobs) if python is not None else None
            if toolchain is not None:
                run.plan = _plan_cpp(run, toolchain.arguments)
            with Workers(options.jobs, _initialize_worker, (run.plan,)) as workers:
                _submit_first(run, workers, scratch)
                _extract(run, workers, python, types, progress)
        builder.flush_symbols()
        progress(1, 1, "linking")
        with builder.writing() as db:
            run.warnings += link(db)
        builder.set_meta(_meta(run, identity, toolchain.version if toolchain else "none", started))
        builder.publish()
    runs = join_known_runs(options.db)
    summary = summarize(options.db, unchanged=False, seconds=time.monotonic() - started)
    summary.warnings += runs
    return summary


@contextmanager
def _scratch_folder() -> Iterator[Path]:
    """A folder for temporary files. When they find no room, an `XrefError` (exit code 5) says so."""
    folder = tempfile.gettempdir()
    try:
        with tempfile.TemporaryDirectory(prefix="xref-") as name:
            yield Path(name)
    except (OSError, RuntimeError) as error:
        is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        if not is_full and shutil.disk_usage(folder).free > _LEAST_ROOM:
            raise
        raise XrefError(
            f"no room for temporary files in {folder}: free some, or name another folder in TMPDIR",
            ExitCode.UNUSABLE_INPUT,
        ) from error


# deciding what to do


def _identity(tree: Tree, options: IndexOptions) -> dict[str, str]:
    """What an index must have been made from to be still good, the files aside."""
    settings = json.dumps([tree.cpp_std, tree.include_dirs, tree.defines, tree.python_roots, options.only])
    return {
        "tree": str(tree.root),
        "settings": hashlib.sha256(settings.encode("utf-8", "surrogateescape")).hexdigest(),
        "format": FORMAT,
        "xref": _package_version("xref"),
        "libclang": _package_version("libclang"),
        "pyrefly": _package_version("pyrefly"),
    }


def _package_version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"


def _is_unchanged(options: IndexOptions, tree: Tree, identity: dict[str, str]) -> bool:
    """Whether the index is up to date. Raises `XrefError` when it must not be replaced: it is no index (exit code 3),
    has a newer schema (3), or belongs to another tree (2); `force` overrides the last two."""
    with disk_errors(options.db):
        if not options.db.exists():
            return False
    try:
        db = open_index(options.db)
    except XrefError as error:
        if "older schema" in str(error) or (options.force and "newer schema" in str(error)):
            return False
        raise
    try:
        known = read_meta(db)
        if known.get("tree") != identity["tree"] and not options.force:
            raise XrefError(
                f"{options.db} is the index of {known.get('tree')}: name another --db, or give --force to replace it",
                ExitCode.USAGE,
            )
        if options.force or any(known.get(key) != value for key, value in identity.items()):
            return False
        return _same_files(db, tree)
    finally:
        db.close()


def _same_files(db: sqlite3.Connection, tree: Tree) -> bool:
    known = {
        path: (size, mtime, digest)
        for path, size, mtime, digest in db.execute("SELECT path, size, mtime_ns, sha256 FROM file")
    }
    if known.keys() != {f.path for f in tree.files}:
        return False
    for file in tree.files:
        size, mtime, digest = known[file.path]
        if size != file.size or (mtime != file.mtime_ns and digest != _sha256(tree.root, file)):
            return False
    return True


def _sha256(root: Path, file: SourceFile) -> str:
    """The file's digest; "" for what is skipped or cannot be read."""
    if file.skip:
        return ""
    try:
        return hashlib.sha256((root / file.path).read_bytes()).hexdigest()
    except OSError:
        return ""


# planning


def _announce(run: _Run) -> None:
    """Give every source file its row; those out of scope get their final status now."""
    for file in run.tree.files:
        lang = _LANG[file.kind]
        run.builder.add_file(file.path, lang, _sha256(run.tree.root, file), file.size, file.mtime_ns, file.guard)
        if file.skip:
            run.builder.set_status(file.path, Status.SKIPPED, file.skip, 0)


def _plan_python(tree: Tree, scratch: Path) -> python_part.PythonPlan | None:
    paths = [f.path for f in tree.files if f.kind == "python" and not f.skip]
    folder = scratch / "python"
    folder.mkdir()
    return python_part.plan_python(tree.root, paths, tree.python_roots, folder) if paths else None


def _plan_cpp(run: _Run, toolchain: tuple[str, ...]) -> CppPlan:
    tree = run.whole
    arguments = [
        f"-std={tree.cpp_std}",
        *(f"-I{folder}" for folder in tree.include_dirs),
        *(f"-D{define}" for define in tree.defines),
        *toolchain,
        "-ferror-limit=0",
        "-w",
        "-fno-spell-checking",
    ]
    units = [f.path for f in tree.files if f.kind == "unit" and not f.skip]
    headers = [f.path for f in tree.files if f.kind == "header" and not f.skip]
    wanted = frozenset(f.path for f in run.tree.files if not f.skip)
    return plan_cpp(tree.root, units, headers, tree.include_dirs, arguments, wanted)


# extraction

_worker_plan: list[CppPlan] = []


def _initialize_worker(plan: CppPlan | None) -> None:
    if plan is not None:
        _worker_plan.append(plan)
        die_on_crash()


def _pch_task(folder: Path) -> Pch:
    return build_pch(_worker_plan[0], folder)


def _cpp_task(job: UnitJob, pch: Pch) -> UnitResult:
    return index_unit(_worker_plan[0], pch, job)


def _unit_task(job: UnitJob, pch: Pch) -> Task:
    return Task(job.main or "headers", _cpp_task, (job, pch), job.owned)


def _python_task(job: python_part.PythonJob) -> Task:
    return Task("python", python_part.extract_python, (job,), tuple(file.path for file in job.files))


def _submit_first(run: _Run, workers: Workers, folder: Path) -> None:
    """Queue the precompiled header, and what does not wait for it."""
    jobs = run.plan.jobs if run.plan is not None else ()
    if run.plan is not None and run.plan.pch_headers and any(job.use_pch for job in jobs):
        workers.submit([Task("common headers", _pch_task, (folder,), ())])
    else:
        _submit_units(run, workers, Pch("", "no common header"))
    workers.submit(_unit_task(job, NO_PCH) for job in jobs if not job.use_pch)
    cython = tuple(f.path for f in run.tree.files if f.kind == "cython" and not f.skip)
    if cython:
        workers.submit([Task("cython", python_part.extract_cython, (run.tree.root, cython), cython)])


def _submit_units(run: _Run, workers: Workers, pch: Pch) -> None:
    run.pch = pch
    if run.plan is not None:
        workers.submit(_unit_task(job, pch) for job in run.plan.jobs if job.use_pch)


def _extract(
    run: _Run, workers: Workers, python: python_part.PythonPlan | None, types: Future[str] | None, progress: Progress
) -> None:
    """Feed the workers and store what comes back, until nothing is left to do."""
    waiting = types is not None
    while workers.busy or waiting:
        if waiting and types is not None and python is not None and (types.done() or not workers.busy):
            reason = types.result()
            if reason:
                run.warnings.append(f"Python types are missing: {reason}")
            workers.submit(_python_task(job) for job in python_part.python_jobs(python))
            waiting = False
        for task, result, problem in workers.finished(_POLL_SECONDS):
            _receive(run, workers, task, result, problem)
            progress(workers.done, workers.total, task.label)


def _receive(run: _Run, workers: Workers, task: Task, result: object, problem: Failure | None) -> None:
    if problem is not None:
        _failed(run, workers, task, problem)
        return
    if isinstance(result, Pch):
        if not result.path:
            run.warnings.append(f"{_NO_PCH_WARNING}: {result.problem}")
        _submit_units(run, workers, result)
        return
    if isinstance(result, UnitResult):
        run.call_expressions += result.call_expressions
        workers.submit(_unit_task(alone(path), NO_PCH) for path in result.unreached)
        facts = result.facts
    else:
        assert isinstance(result, list)
        facts = result
    for one in facts:
        _store(run, one)


def _failed(run: _Run, workers: Workers, task: Task, problem: Failure) -> None:
    """Try the task's files once more, each by itself, so that one of them costs only itself; then they are failed."""
    if task.run is _pch_task:
        run.warnings.append(f"{_NO_PCH_WARNING}: {problem.words}")
        _submit_units(run, workers, Pch("", problem.words))
        return
    again = [] if run.retried.keys() & set(task.paths) else _file_by_file(task, problem)
    if again:
        run.retried.update(dict.fromkeys(task.paths, problem.words))
        run.warnings.append(f"{task.label}: {problem.words}; tried again file by file")
        workers.submit(again)
        return
    for path in task.paths:
        run.builder.set_status(path, Status.FAILED, problem.words, 0)


def _file_by_file(task: Task, problem: Failure) -> list[Task]:
    """A task for each file of the failed one, units without the precompiled header; none where it would end alike."""
    if len(task.paths) == 1 and not problem.crashed:
        return []
    if task.run is _cpp_task:
        return [_unit_task(alone(path), NO_PCH) for path in task.paths]
    if task.run is python_part.extract_python:
        batch: python_part.PythonJob = task.arguments[0]
        return [_python_task(replace(batch, files=(file,))) for file in batch.files]
    return []


def _store(run: _Run, facts: FileFacts) -> None:
    run.builder.add_facts(facts)
    status, detail = facts.status, facts.detail
    if facts.path in run.retried and status is Status.OK:
        status, detail = Status.DEGRADED, f"read on a second try, by itself; before, {run.retried[facts.path]}"
    run.builder.set_status(facts.path, status, detail, facts.lines)


def _meta(run: _Run, identity: dict[str, str], clang: str, started: float) -> list[tuple[str, str]]:
    tree = run.tree
    return [
        *identity.items(),
        ("clang", clang),
        ("project", tree.project),
        ("only", "" if tree is run.whole else "part of the tree"),
        ("tvm_version", tree.version),
        ("commit", tree.commit),
        ("era", tree.era),
        ("flags", " ".join(run.plan.arguments) if run.plan is not None else ""),
        ("indexed_at", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())),
        ("seconds", f"{time.monotonic() - started:.1f}"),
        ("call_expressions", str(run.call_expressions)),
        ("pch", run.pch.problem or ("none" if not run.pch.path else "ok")),
        ("warnings", json.dumps(run.warnings)),
    ]
