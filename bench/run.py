"""Index a tree with xref and with clangd in one session, and print how they compare: python bench/run.py [TREE].

Both see the same C++ units with the same flags and the same number of workers; xref also reads the Python and the
Cython, and links the registries, within the time that is shown. xref runs first: clangd finds the files in memory.
Then files of the tree, which is a copy, are edited one by one, and both bring their index up to date.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from clangd_index import ClangdRun, find_clangd, index_with_clangd, write_compile_commands
from edits import Edit, choose

from xref.demo.tree import demo_tree
from xref.model import XrefError
from xref.tree.find import Tree, find_tree

QUERY_RUNS = 5
QUESTION = "who calls FuseTIR"


@dataclass(frozen=True)
class Command:
    """One finished command: wall and CPU seconds, and the peak resident MiB of the largest of its processes."""

    code: int
    wall_s: float
    cpu_s: float
    peak_mib: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when a measurement could not be made."""
    parser = argparse.ArgumentParser(description=__doc__.split(":", 1)[0])
    parser.add_argument("tree", nargs="?", type=Path, help="the tree to index (default: the demo's)")
    parser.add_argument("--jobs", "-j", type=int, default=2, help="workers of each (default 2)")
    parser.add_argument("--no-clangd", action="store_true", help="only xref")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    clangd = None if options.no_clangd else find_clangd()
    if clangd is None and not options.no_clangd:
        print("no clangd to compare with: apt-get install clangd, set CLANGD, or give --no-clangd", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="xref-bench-") as scratch:
        folder = Path(scratch)
        try:
            tree = find_tree(shutil.copytree(options.tree or demo_tree(), folder / "tree", symlinks=True))
        except (XrefError, OSError) as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
        units = [
            file.path for file in tree.files if file.kind == "unit" and not file.skip and file.path.endswith(".cc")
        ]
        print(f"{tree.root}: {tree.project} {tree.version}, {len(units)} C++ units, -j{options.jobs}", flush=True)
        write_compile_commands(folder, tree.root, units, _flags(tree))
        try:
            figures = _measure_xref(tree, folder / "xref.db", options.jobs)
            peer = index_with_clangd(clangd, folder, options.jobs) if clangd else None
            _report(figures, peer)
            edits = [
                _measure_edit(edit, tree.root, folder, clangd, options.jobs) for edit in choose(folder / "xref.db")
            ]
        except RuntimeError as error:
            print(f"bench: {error}", file=sys.stderr)
            return 1
    for edit in edits:
        print(_told(edit))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        record = {"xref": figures, "clangd": peer and asdict(peer), "edits": [asdict(edit) for edit in edits]}
        options.json.write_text(json.dumps(record, indent=1) + "\n")
    return 0


@dataclass(frozen=True)
class Reindexed:
    """Seconds of wall time until each index held the edit; None for what the peer does not read."""

    edit: Edit
    xref_s: float
    clangd_s: float | None


def _measure_edit(edit: Edit, root: Path, folder: Path, clangd: str | None, jobs: int) -> Reindexed:
    edit.apply(root)
    updated = _xref(["index", str(root), "--db", str(folder / "xref.db"), "--quiet", f"-j{jobs}"])
    if updated.code not in (0, 4):
        raise RuntimeError(f"xref index ended with {updated.code} after an edit of {edit.path}")
    peer = index_with_clangd(clangd, folder, jobs, keep=True) if clangd and edit.is_cpp else None
    return Reindexed(edit, updated.wall_s, peer and peer.wall_s)


def _told(measured: Reindexed) -> str:
    edit = measured.edit
    units = f", {edit.units} units see it" if edit.units > 1 else ""
    peer = f", clangd {measured.clangd_s:.2f} s" if measured.clangd_s is not None else ""
    ratio = f", xref/clangd {measured.xref_s / measured.clangd_s:.2f}" if measured.clangd_s else ""
    return f"{edit.name} edited ({edit.path}{units}): {measured.xref_s:.2f} s{peer}{ratio}"


def _flags(tree: Tree) -> list[str]:
    return [f"-std={tree.cpp_std}", *(f"-I{folder}" for folder in tree.include_dirs), *(f"-D{d}" for d in tree.defines)]


def _measure_xref(tree: Tree, db: Path, jobs: int) -> dict[str, float]:
    index = ["index", str(tree.root), "--db", str(db), "--quiet", f"-j{jobs}"]
    built = _xref([*index, "--force"])
    if built.code not in (0, 4):
        raise RuntimeError(f"xref index ended with {built.code}")
    again = _xref(index)
    questions = [_xref(["query", QUESTION, "--db", str(db)], quiet=True) for _ in range(QUERY_RUNS)]
    figures: dict[str, float] = {
        "wall_s": built.wall_s, "cpu_s": built.cpu_s, "peak_mib": built.peak_mib, "unchanged_s": again.wall_s,
        "query_s": statistics.median(question.wall_s for question in questions),
        "query_peak_mib": max(question.peak_mib for question in questions), "disk_mib": db.stat().st_size / 2**20,
    }  # fmt: skip
    return figures | _counts(db)


def _counts(db: Path) -> dict[str, float]:
    """Rows of the index; `unit_` counts only what stands in the units' own files, not in headers."""
    with closing(sqlite3.connect(db)) as connection:

        def one(sql: str) -> int:
            return int(connection.execute(sql).fetchone()[0])

        in_units = "path IN (SELECT path FROM files WHERE lang = 'cpp' AND path LIKE '%.cc')"
        return {
            "refs": one("SELECT count(*) FROM refs"),
            "unit_refs": one(f"SELECT count(*) FROM refs WHERE {in_units}"),
            "calls": one("SELECT count(*) FROM calls"),
            "unit_direct_calls": one(f"SELECT count(*) FROM calls WHERE evidence = 'direct' AND {in_units}"),
            "unresolved": one("SELECT count(*) FROM unresolved"),
            "failed_files": one("SELECT count(*) FROM files WHERE status = 'failed'"),
            "degraded_files": one("SELECT count(*) FROM files WHERE status = 'degraded'"),
        }


def _xref(arguments: Sequence[str], quiet: bool = False) -> Command:
    """Run one xref command; the peak is the largest process among it and its workers (wait4 reports the maximum)."""
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "xref", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if quiet else None,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - started
    return Command(process.returncode, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024)


def _report(xref: dict[str, float], clangd: ClangdRun | None) -> None:
    row = "{:<16}{:>9.1f} {:>9.1f} {:>10.0f} {:>9.0f}"
    print(f"{'':<16}{'wall s':>9} {'CPU s':>9} {'peak MiB':>10} {'disk MiB':>9}")
    print(row.format("xref", xref["wall_s"], xref["cpu_s"], xref["peak_mib"], xref["disk_mib"]))
    if clangd is not None:
        name = f"clangd {clangd.version}"
        print(row.format(name[:16], clangd.wall_s, clangd.cpu_s, clangd.peak_mib, clangd.disk_mib))
        wall, cpu = xref["wall_s"] / clangd.wall_s, xref["cpu_s"] / clangd.cpu_s
        print(f"{'xref/clangd':<16}{wall:>9.2f} {cpu:>9.2f} {xref['peak_mib'] / clangd.peak_mib:>10.2f}")
    print("peak MiB is that of the largest process")
    print(f"unchanged tree: {xref['unchanged_s']:.2f} s")
    print(f"a question, as a whole process: {xref['query_s']:.2f} s, {xref['query_peak_mib']:.0f} MiB")
    print(f"references: {xref['refs']:,.0f}, of them {xref['unit_refs']:,.0f} in the units' own files")
    print(f"calls: {xref['calls']:,.0f}; direct ones in the units' own files: {xref['unit_direct_calls']:,.0f}")
    print(f"unresolved calls: {xref['unresolved']:,.0f}")
    print(f"files failed: {xref['failed_files']:.0f}, degraded: {xref['degraded_files']:.0f}")


if __name__ == "__main__":
    sys.exit(main())
