"""`xref index`: finds out what a tree is and what has changed since it was indexed, has that read, links, and swaps the
index in whole.

An index knows what it was made from (`xref.records`). Where that is the same, its facts are kept; where most of it is
not, or the rules of extraction have changed, it is made anew.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path

from xref import python as python_part
from xref.cache import toolchain_file
from xref.claims import file_id
from xref.cpp.changes import CppWork, everything, what_to_parse
from xref.cpp.includes import IncludeScan
from xref.cpp.plan import plan_cpp
from xref.cpp.toolchain import Toolchain, find_toolchain
from xref.extract import Outcome, Progress, Work, extract
from xref.link import link
from xref.link.step import Touched
from xref.locking import disk_errors
from xref.model import ExitCode, Lang, Status, XrefError
from xref.records import PCH, Records, load_records, save_records
from xref.store import FORMAT, IndexBuilder, open_index, read_meta
from xref.summary import IndexSummary, summarize
from xref.trace.join import join_known_runs
from xref.tree.find import SourceFile, Tree, find_tree, submodule_notes
from xref.update import IndexUpdater

_LANG_OF = {"unit": Lang.CPP, "header": Lang.CPP, "python": Lang.PYTHON, "cython": Lang.CYTHON}
_LEAST_ROOM = 64 << 10
"""Bytes: a folder with less is full."""
_MOST_UNITS = 0.5
"""When more of the units are to be parsed again, a new index is cheaper than replacing its rows."""
_FEW_UNITS = 8
"""Of a small tree, more than this many too."""


@dataclass(frozen=True)
class IndexOptions:
    """`path` is the tree, `db` the index; `jobs` worker processes; `only` globs of files; `also` folders
    outside the usual scope; `force` rebuilds, and lets
    the index of another tree be replaced."""

    path: Path
    db: Path
    jobs: int = 2
    only: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    force: bool = False


@dataclass
class _Known:
    """What an index of this tree says of itself. `files`: path -> the columns of `_FILE`."""

    path: Path
    meta: dict[str, str]
    files: dict[str, tuple[str | int, ...]]
    records: Records


@dataclass
class _Plan:
    """The work of one run. `digests`: path -> content hash. `again`: files whose facts are read again or are gone.

    `moved`: files whose size, time or guard has changed, and nothing else. `base` is None for a new index.
    """

    whole: Tree
    tree: Tree
    identity: dict[str, str]
    base: _Known | None
    digests: dict[str, str]
    work: Work
    again: set[str] = field(default_factory=set)
    moved: list[SourceFile] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)

    @property
    def part(self) -> str:
        """What `--only` left of the tree, in words; "" for all of it."""
        return "" if self.tree is self.whole else "part of the tree"

    @property
    def guarded(self) -> bool:
        """Whether another build option stands around a file; its new time alone is no reason to write anything."""
        return self.base is not None and any(self.base.files[f.path][_GUARD] != f.guard for f in self.moved)


_FILE = "id, lang, sha256, size, mtime_ns, status, detail, guard"
_ID, _LANG, _SHA256, _SIZE, _MTIME, _STATUS, _DETAIL, _GUARD = range(8)


def run_index(options: IndexOptions, progress: Progress = lambda _done, _total, _label: None) -> IndexSummary:
    """Index a tree. Raises `XrefError`; on any failure, and on Ctrl-C, the old index stays as it was."""
    started = time.monotonic()
    whole = find_tree(options.path, also=options.also)
    tree = find_tree(options.path, options.only, options.also) if options.only else whole
    identity = _identity(tree, options)
    known = _known_index(options, identity)
    with _scratch_folder() as scratch:
        plan = _plan(whole, tree, identity, known, scratch)
        if plan.base is not None and not plan.again and not plan.guarded and _says_the_same(plan):
            return summarize(options.db, unchanged=True, seconds=time.monotonic() - started)
        _write(plan, options, scratch, progress, started)
    runs = join_known_runs(options.db)
    summary = summarize(options.db, unchanged=False, seconds=time.monotonic() - started)
    summary.warnings += runs
    summary.is_update = plan.base is not None
    summary.reread = {
        "units": len(plan.work.cpp.jobs) + len(plan.work.cpp.alone),
        "python": len(plan.work.python.files) if plan.work.python is not None else 0,
        "cython": len(plan.work.cython),
    }
    summary.reasons = plan.reasons
    return summary


def _write(plan: _Plan, options: IndexOptions, scratch: Path, progress: Progress, started: float) -> None:
    builder = IndexBuilder(options.db) if plan.base is None else IndexUpdater(options.db)
    with builder:
        _announce(plan, builder)
        outcome = extract(plan.tree, plan.work, builder, options.jobs, scratch, progress)
        builder.flush_symbols()
        progress(1, 1, "linking")
        with builder.writing() as db:
            touched = Touched(frozenset(builder.touched)) if isinstance(builder, IndexUpdater) else None
            doubts = link(db, touched)
            save_records(db, outcome.records)
            if plan.work.python is not None and plan.work.checks:
                python_part.keep_report(db, plan.work.python.scratch)
        builder.set_meta(_meta(plan, outcome, doubts, started))
        builder.publish()


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


# what there is


def _identity(tree: Tree, options: IndexOptions) -> dict[str, str]:
    """What facts depend on, the files aside: an index that was made from anything else is made anew."""
    settings = json.dumps(
        [tree.cpp_std, tree.include_dirs, tree.defines, tree.python_roots, options.only, options.also]
    )
    return {
        "tree": str(tree.root),
        "also": ",".join(options.also),
        "settings": hashlib.sha256(settings.encode("utf-8", "surrogateescape")).hexdigest(),
        "format": FORMAT,
        "xref": _package_version("xref"),
        "code": _own_code(),
        "libclang": _package_version("libclang"),
        "pyrefly": _package_version("pyrefly"),
    }


def _own_code() -> str:
    """A digest of xref's own source: other rules give other facts, also where the version is the same."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _package_version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"


def _known_index(options: IndexOptions, identity: dict[str, str]) -> _Known | None:
    """The index to start from; None when it must be made anew. Raises `XrefError` when it must not be replaced: it is
    no index (exit code 3), has a newer schema (3), or belongs to another tree (2); `force` overrides the last two."""
    with disk_errors(options.db):
        if not options.db.exists():
            return None
    try:
        db = open_index(options.db)
    except XrefError as error:
        if "older schema" in str(error) or (options.force and "newer schema" in str(error)):
            return None
        raise
    with closing(db):
        meta = read_meta(db)
        if meta.get("tree") != identity["tree"] and not options.force:
            raise XrefError(
                f"{options.db} is the index of {meta.get('tree')}: name another --db, or give --force to replace it",
                ExitCode.USAGE,
            )
        if options.force or any(meta.get(key) != value for key, value in identity.items()):
            return None
        return _Known(options.db, meta, _known_files(db), load_records(db))


def _known_files(db: sqlite3.Connection) -> dict[str, tuple[str | int, ...]]:
    return {path: tuple(row) for path, *row in db.execute(f"SELECT path, {_FILE} FROM file")}


def _sha256(root: Path, file: SourceFile) -> str:
    """The file's digest; "" for what is skipped or cannot be read."""
    if file.skip:
        return ""
    try:
        return hashlib.sha256((root / file.path).read_bytes()).hexdigest()
    except OSError:
        return ""


# what to do


def _plan(whole: Tree, tree: Tree, identity: dict[str, str], known: _Known | None, scratch: Path) -> _Plan:
    if known is not None and not _keep_their_ids(tree, known):
        known = None
    digests = {file.path: _digest(tree, file, known) for file in tree.files}
    changed = {file.path for file in tree.files if _differs(file, digests[file.path], known)}
    if known is not None:
        changed |= known.files.keys() - digests.keys()
    work = _cpp_work(whole, tree, known, changed)
    reasons = dict(work.cpp.reasons.most_common())
    if work.cpp.jobs or work.cpp.alone:
        _complete(work, find_toolchain(toolchain_file()))
    if work.plan is not None and known is not None and _is_mostly_new(work, known):
        known, work.cpp = None, everything(work.plan)
    _add_python(work, tree, known, changed, scratch)
    plan = _Plan(whole, tree, identity, known, digests, work, reasons=reasons)
    if known is not None:
        python = {file.path for file in work.python.files} if work.python is not None else set()
        plan.again = changed | work.cpp.owned | python | set(work.cython)
        plan.moved = [file for file in tree.files if file.path not in plan.again and _has_moved(file, known)]
    return plan


def _keep_their_ids(tree: Tree, known: _Known) -> bool:
    """Whether each file has the id that a new index would give it; see `file_id`."""
    taken: set[int] = set()
    for file in tree.files:
        number = file_id(file.path, taken)
        taken.add(number)
        if file.path in known.files and known.files[file.path][_ID] != number:
            return False
    return True


def _digest(tree: Tree, file: SourceFile, known: _Known | None) -> str:
    """The file's content hash; the known one of a file with the same size and time."""
    if known is not None and file.path in known.files:
        row = known.files[file.path]
        if (row[_SIZE], row[_MTIME]) == (file.size, file.mtime_ns) and not file.skip and row[_SHA256]:
            return str(row[_SHA256])
    return _sha256(tree.root, file)


def _differs(file: SourceFile, digest: str, known: _Known | None) -> bool:
    """Whether the file's facts may have changed by itself."""
    row = known.files.get(file.path) if known is not None else None
    if row is None:
        return True
    skipped = row[_DETAIL] if row[_STATUS] == Status.SKIPPED else ""
    return (row[_LANG], row[_SHA256], skipped) != (_LANG_OF[file.kind], digest, file.skip)


def _has_moved(file: SourceFile, known: _Known) -> bool:
    row = known.files[file.path]
    return (row[_SIZE], row[_MTIME], row[_GUARD]) != (file.size, file.mtime_ns, file.guard)


def _cpp_work(whole: Tree, tree: Tree, known: _Known | None, changed: set[str]) -> Work:
    """The C++ half; the options of the compiler's own headers are added when something is to be parsed."""
    units = [f.path for f in whole.files if f.kind == "unit" and not f.skip]
    headers = [f.path for f in whole.files if f.kind == "header" and not f.skip]
    if not any(f.kind in ("unit", "header") and not f.skip for f in tree.files):
        return Work(None, None, CppWork(), None, (), "none")
    arguments = [
        f"-std={whole.cpp_std}",
        *(f"-I{folder}" for folder in whole.include_dirs),
        *(f"-D{define}" for define in whole.defines),
    ]
    scan = IncludeScan(whole.root, frozenset((*units, *headers)), whole.include_dirs)
    wanted = frozenset(f.path for f in tree.files if not f.skip)
    pch = next((u.job.owned for u in known.records.units if u.origin == PCH), ()) if known is not None else ()
    plan = plan_cpp(whole.root, units, headers, whole.include_dirs, arguments, wanted, scan, pch)
    cpp = everything(plan) if known is None else what_to_parse(plan, scan, known.records, changed)
    return Work(plan, scan, cpp, None, (), known.meta["clang"] if known is not None else "none")


def _complete(work: Work, toolchain: Toolchain) -> None:
    assert work.plan is not None
    arguments = (*work.plan.arguments, *toolchain.arguments, "-ferror-limit=0", "-w", "-fno-spell-checking")
    work.plan = replace(work.plan, arguments=arguments)
    work.clang = toolchain.version


def _is_mostly_new(work: Work, known: _Known) -> bool:
    """Whether most units are to be parsed again, or were parsed by another libclang, or with other compiler headers."""
    assert work.plan is not None
    if not work.cpp.jobs and not work.cpp.alone:
        return False
    if (known.meta["clang"], known.meta["flags"]) != (work.clang, " ".join(work.plan.arguments)):
        return True
    return len(work.cpp.jobs) > max(_MOST_UNITS * len(work.plan.jobs), _FEW_UNITS)


def _add_python(work: Work, tree: Tree, known: _Known | None, changed: set[str], scratch: Path) -> None:
    """The Python half: the type checker reads all files or none, for any may say what a name in another is. After an
    edit that only moves the words of files, what is kept of these is enough.
    """
    paths = {kind: [f.path for f in tree.files if f.kind == kind and not f.skip] for kind in ("python", "cython")}
    suffixes = {"python": (".py", ".pyi"), "cython": (".pyx", ".pxi", ".pxd")}
    stale = {kind: known is None or any(p.endswith(suffixes[kind]) for p in changed) for kind in paths}
    if stale["python"] and paths["python"]:
        folder = scratch / "python"
        folder.mkdir()
        work.python = python_part.plan_python(tree.root, paths["python"], tree.python_roots, folder)
        if known is not None:
            with closing(open_index(known.path)) as db:
                narrow = python_part.narrowed(db, work.python, changed)
            if narrow is not None:
                work.python, work.checks = narrow, False
    if stale["cython"]:
        work.cython = tuple(paths["cython"])


# what to write


def _announce(plan: _Plan, builder: IndexBuilder) -> None:
    """Give every source file its row; those out of scope get their final status now."""
    if isinstance(builder, IndexUpdater) and plan.base is not None:
        for path in sorted(plan.base.files.keys() - plan.digests.keys()):
            builder.remove_file(path)
        for file in plan.moved:
            builder.keep_file(file.path, file.size, file.mtime_ns, file.guard)
    for file in plan.tree.files:
        if plan.base is not None and file.path not in plan.again:
            continue
        digest = plan.digests[file.path]
        builder.add_file(file.path, _LANG_OF[file.kind], digest, file.size, file.mtime_ns, file.guard)
        if file.skip:
            builder.set_status(file.path, Status.SKIPPED, file.skip, 0)


def _says_the_same(plan: _Plan) -> bool:
    assert plan.base is not None
    return all(plan.base.meta.get(key) == value for key, value in _description(plan.tree, plan.part))


def _description(tree: Tree, part: str) -> list[tuple[str, str]]:
    return [
        ("project", tree.project),
        ("only", part),
        ("tvm_version", tree.version),
        ("commit", tree.commit),
        ("era", tree.era),
        ("notes", json.dumps(tree.notes)),
        ("submodules_missing", json.dumps(tree.missing_submodules)),
    ]


def _meta(plan: _Plan, outcome: Outcome, doubts: list[str], started: float) -> list[tuple[str, str]]:
    records = outcome.records.units
    lost = submodule_notes(plan.tree, {name for unit in records for name in unit.missing})
    items = [
        *plan.identity.items(),
        *_description(plan.tree, plan.part),
        ("indexed_at", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())),
        ("seconds", f"{time.monotonic() - started:.1f}"),
        ("call_expressions", str(sum(unit.call_expressions for unit in records))),
        ("warnings", json.dumps([*plan.tree.notes, *lost, *outcome.warnings, *doubts])),
    ]
    work = plan.work
    if plan.base is None or work.cpp.jobs or work.cpp.alone:
        flags = " ".join(work.plan.arguments) if work.plan is not None else ""
        items += [("clang", work.clang), ("flags", flags)]
    if plan.base is None or outcome.pch:
        items.append(("pch", outcome.pch or "none"))
    return items
