"""Score xref's Python call graph on a benchmark of small cases: python bench/callgraph.py FOLDER [--by-case].

FOLDER holds cases: a folder each, with Python files and a `callgraph.json` of {caller: [callees]}, as in PyCG's
micro-benchmark (github.com/vitsalis/PyCG, `micro-benchmark/snippets`), which `--fetch` clones into FOLDER first. A case
is sound when every expected edge is found, complete when every edge found is expected (the terms of the PyCG paper).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from xref.link import link
from xref.model import Lang
from xref.python import extract_python, plan_python, python_jobs, run_type_checker
from xref.store import IndexBuilder

SOURCE = "https://github.com/vitsalis/PyCG"
_LAMBDA = re.compile(r"<lambda>(?:#(\d+))?")
_BUILTIN_TYPES = {"str": "PyStr", "dict": "PyDict", "list": "PyList", "tuple": "PyTuple", "set": "PySet",
                  "int": "PyNum", "float": "PyNum", "bytes": "PyBytes"}  # fmt: skip
Edges = set[tuple[str, str]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Index each case by itself, and print how its edges compare."""
    parser = argparse.ArgumentParser(description=__doc__.split(":", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fetch", action="store_true", help=f"clone {SOURCE} into the folder first")
    parser.add_argument("--by-case", action="store_true", help="also print each false and each missed edge")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose path holds this text")
    parser.add_argument("--inside", action="store_true", help="count only edges to functions of the case itself")
    options = parser.parse_args(arguments)
    if options.fetch and not options.folder.exists():
        subprocess.run(["git", "clone", "--quiet", "--depth=1", SOURCE, str(options.folder)], check=True)
    expected = {path.parent: edges_of(path) for path in sorted(options.folder.rglob("callgraph.json"))}
    expected = {case: edges for case, edges in expected.items() if options.only in case.as_posix()}
    if not expected:
        print(f"callgraph: no callgraph.json below {options.folder}", file=sys.stderr)
        return 1
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(expected, pool.map(index_case, expected), strict=True))
    counts: dict[str, Counter[str]] = {}
    for case, all_wanted in expected.items():
        wanted, got = all_wanted, found[case]
        if options.inside:
            wanted, got = _inside(case, wanted), _inside(case, got)
        false, missed = got - wanted, wanted - got
        row = {"cases": 1, "complete": not false, "sound": not missed, "exact": got == wanted}
        row |= {"right": len(got & wanted), "false": len(false), "missed": len(missed)}
        counts.setdefault(case.relative_to(options.folder).parent.as_posix(), Counter()).update(row)
        if options.by_case and (false or missed):
            print(f"{case.relative_to(options.folder)}: false {sorted(false)} missed {sorted(missed)}")
    _report(counts)
    return 0


def _report(counts: dict[str, Counter[str]]) -> None:
    total = sum(counts.values(), Counter[str]())
    columns = ("cases", "complete", "sound", "exact", "right", "false", "missed")
    width = max(map(len, counts))
    print(" ".join([" " * width, *(f"{column:>8}" for column in columns)]))
    for name, row in [*sorted(counts.items()), ("total", total)]:
        print(" ".join([f"{name:<{width}}", *(f"{row[column]:>8}" for column in columns)]))
    right, false, missed = total["right"], total["false"], total["missed"]
    print(f"edges: precision {right / max(right + false, 1):.3f}, recall {right / max(right + missed, 1):.3f}")


def edges_of(path: Path) -> Edges:
    """The expected edges of a case."""
    graph = json.loads(path.read_text("utf-8"))
    return {(caller, callee) for caller, callees in graph.items() for callee in callees}


def _inside(case: Path, edges: Edges) -> Edges:
    tops = {path.relative_to(case).with_suffix("").parts[0] for path in case.rglob("*.py")}
    return {(caller, callee) for caller, callee in edges if callee.partition(".")[0] in tops}


def index_case(case: Path) -> Edges:
    """The edges that xref finds in one case, in the benchmark's names."""
    with tempfile.TemporaryDirectory(prefix="xref-callgraph-") as folder:
        scratch = Path(folder)
        paths = sorted(path.relative_to(case).as_posix() for path in case.rglob("*.py"))
        plan = plan_python(case, paths, ["."], scratch / "python")
        trouble = run_type_checker(plan, jobs=1)
        if trouble:
            raise RuntimeError(f"{case}: {trouble}")
        with IndexBuilder(scratch / "index.db") as builder:
            for path in paths:
                builder.add_file(path, Lang.PYTHON, "", 0, 0)
            for job in python_jobs(plan):
                for facts in extract_python(job):
                    builder.add_facts(facts)
                    builder.set_status(facts.path, facts.status, facts.detail, facts.lines)
            builder.flush_symbols()
            with builder.writing() as db:
                link(db)
            builder.publish()
        with contextlib.closing(sqlite3.connect(scratch / "index.db")) as db:
            return set(_named(db))


def _named(db: sqlite3.Connection) -> Edges:
    """Calls of functions; the class itself as callee says that nothing of its own runs when it is called. Code of a
    class's body belongs to the class, as in the benchmark."""
    rows = db.execute(
        "SELECT a.key, b.key FROM calls c JOIN symbols a ON a.id = c.caller_id JOIN symbols b ON b.id = c.callee_id"
        " WHERE c.evidence <> 'name' AND NOT (b.kind = 'class' AND b.path IS NOT NULL)"
    )
    return {(_name(caller), _name(callee)) for caller, callee in rows}


def _name(key: str) -> str:
    module, _, suffix = key.removeprefix("py:").partition(":")
    suffix = _LAMBDA.sub(lambda match: f"<lambda{match[1] or 1}>", suffix)
    suffix = re.sub(r"#\d+", "", suffix)
    if module == "builtins":
        owner, _, method = suffix.partition(".")
        if method and owner in _BUILTIN_TYPES:
            return f"<**{_BUILTIN_TYPES[owner]}**>.{method}"
        return f"<builtin>.{owner}"
    return f"{module}.{suffix}" if suffix else module


if __name__ == "__main__":
    sys.exit(main())
