"""Measures the Python call graph by what ran: python bench/python_recall.py RECORD... --db INDEX.

A record is what bench/record_python_edges.py writes. Judged are the distinct edges both ends of which the indexed tree
has; that is decided by `ast`, from the tree's files, and never by the index. Each edge that the index lacks is printed
with its cause, and counted by cause. Calls that compiled code made are seen as made by the Python function below it on
the stack: `through the binding` counts those that the index has as a path through Cython's functions, `through C++`
those that it has as a path through functions of Cython and C++. Such a path says that the index leads from the one to
the other, as somebody who follows calls goes; what C++ runs through a pointer is wide, so these are counted apart.
"""

from __future__ import annotations

import argparse
import ast
import json
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from xref.graph import STRENGTH
from xref.model import Evidence, ExitCode, Id, XrefError
from xref.store import open_index, read_meta

ROOTS = ("python", "3rdparty/tvm-ffi/python", "ffi/python", "")
"""Folders of a tree that packages lie in."""
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")
BINDING = "through the binding"
COMPILED = "through C++"
_APART = (COMPILED, BINDING)
"""What is found as a path alone."""


class End(NamedTuple):
    """One end of an edge: the file in the tree, the name as in a qualified name, the line of `def` (0: not told)."""

    path: str
    name: str
    line: int


class Edge(NamedTuple):
    """A call that ran."""

    caller: End
    callee: End


class Result(NamedTuple):
    """`observed`: edges between functions of the tree. `found`: each with its evidence, "" for one that is missing.
    `outside`: number of edges of which the tree lacks an end.
    """

    found: dict[Edge, str]
    outside: int

    def share(self, *without: str) -> float:
        """The part that the index has by other evidence than that, from 0 to 1."""
        return sum(bool(one) and one not in without for one in self.found.values()) / max(1, len(self.found))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the recall without and with guesses, then the missing edges by cause."""
    parser = argparse.ArgumentParser(description=__doc__.split(":", 1)[0])
    parser.add_argument("records", type=Path, nargs="+", metavar="RECORD")
    parser.add_argument("--db", type=Path, default=Path("data/xref.db"))
    parser.add_argument("--limit", type=int, default=10, help="missing edges to print of each cause")
    options = parser.parse_args(arguments)
    try:
        with closing(open_index(options.db)) as db:
            tree = Tree(Path(read_meta(db).get("tree", ".")))
            index = Index(db)
            result = score(read_records(options.records), tree, index)
            for line in report(result, index, options.limit):
                print(line)
    except XrefError as error:
        print(f"python_recall: {error}", file=sys.stderr)
        return error.exit_code
    return ExitCode.DONE


def read_records(paths: Iterable[Path]) -> set[tuple[tuple[str, str, int], tuple[str, str, int]]]:
    """The edges of all records. Raises `XrefError` (exit code 5) for a file that is none."""
    found = set()
    for path in paths:
        try:
            record = json.loads(path.read_bytes())
            found.update(((a, b, c), (d, e, f)) for a, b, c, d, e, f in record["edges"])
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise XrefError(f"{path} is no record: {error}", ExitCode.UNUSABLE_INPUT) from error
    return found


class Tree:
    """What functions the tree's files have, by `ast`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, tuple[str, dict[str, dict[int, int]]] | None] = {}

    def end(self, file: str, qualname: str, line: int) -> End | None:
        """The function, class body or module that the record names; None when the tree has none of that name.

        `line` is where its decorators begin: it decides between functions of one name, if the files are the same.
        """
        found = self._file(file)
        if found is None:
            return None
        path, functions = found
        name = qualname.replace(".<locals>", "")
        if name == "<module>":
            return End(path, "", 0)
        lines = functions.get(name)
        return None if lines is None else End(path, name, lines.get(line, 0))

    def _file(self, file: str) -> tuple[str, dict[str, dict[int, int]]] | None:
        if file not in self._files:
            paths = (f"{root}/{file}".lstrip("/") for root in ROOTS)
            path = next((one for one in paths if (self._root / one).is_file()), None)
            self._files[file] = None if path is None else (path, _functions(self._root / path))
        return self._files[file]


def _functions(path: Path) -> dict[str, dict[int, int]]:
    """Name of each function, lambda and class -> the line where its decorators begin -> the line of its name."""
    found: dict[str, dict[int, int]] = defaultdict(dict)

    def visit(node: ast.AST, around: str) -> None:
        name = ""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = node.name
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        elif isinstance(node, ast.Lambda):
            name, first = "<lambda>", node.lineno
        if name:
            around = f"{around}.{name}" if around else name
            found[around][first] = node.lineno  # type: ignore[attr-defined]
        for child in ast.iter_child_nodes(node):
            visit(child, around)

    try:
        visit(ast.parse(path.read_bytes()), "")
    except (SyntaxError, ValueError, RecursionError):
        return {}
    return found


class Index:
    """The calls of an index, as they are asked for."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._callees: dict[Id, dict[Id, str]] = {}
        self._reached: dict[tuple[Id, str], set[Id]] = {}

    @cached_property
    def _modules(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT path, qualname FROM symbols WHERE kind = 'module' AND lang = 'python'"))

    @cached_property
    def _compiled(self) -> dict[str, set[Id]]:
        """What is not Python: by what a path through it counts as, the narrower first."""
        rows = self._db.execute("SELECT id, lang FROM symbols WHERE lang <> 'python'").fetchall()
        return {BINDING: {id_ for id_, lang in rows if lang == "cython"}, COMPILED: {id_ for id_, _ in rows}}

    def symbols(self, end: End) -> list[Id]:
        """The symbols that an end may be; several where one name has several definitions and no line tells."""
        module = self._modules.get(end.path)
        if module is None:
            return []
        qualname = f"{module}.{end.name}" if end.name else module
        rows = self._db.execute(
            "SELECT id, line FROM symbols WHERE qualname = ? AND path = ? AND lang = 'python' ORDER BY line",
            (qualname, end.path),
        ).fetchall()
        exact = [id_ for id_, line in rows if line == end.line]
        return exact or [id_ for id_, _ in rows]

    def evidence(self, edge: Edge) -> str:
        """The strongest evidence of an edge; "" when the index lacks it. Making an object is a call of its class."""
        callees = {*self.symbols(edge.callee)}
        owner, _, name = edge.callee.name.rpartition(".")
        if owner and name in _CONSTRUCTORS:
            callees.update(self.symbols(End(edge.callee.path, owner, 0)))
        callers = self.symbols(edge.caller)
        known = [self._of(one)[callee] for one in callers for callee in callees & self._of(one).keys()]
        if known:
            return min(known, key=lambda word: STRENGTH.get(word, 99))
        starts = {one for caller in callers for one in self._sure(caller)}
        return next((word for word in self._compiled if self._leads(starts, callees, word)), "")

    def _of(self, caller: Id) -> dict[Id, str]:
        if caller not in self._callees:
            known = self._callees[caller] = {}
            for callee, evidence in self._db.execute(
                "SELECT callee_id, evidence FROM calls WHERE caller_id = ?", (caller,)
            ):
                if callee not in known or STRENGTH.get(evidence, 99) < STRENGTH.get(known[callee], 99):
                    known[callee] = evidence
        return self._callees[caller]

    def _leads(self, starts: set[Id], callees: set[Id], word: str) -> bool:
        """Whether a path of compiled functions leads from one of `starts` to one of `callees`."""
        return any(not callees.isdisjoint(self._reach(one, word)) for one in starts & self._compiled[word])

    def _reach(self, start: Id, word: str) -> set[Id]:
        """All that a compiled function calls, itself or through others."""
        if (start, word) not in self._reached:
            seen, pending = {start}, [start]
            while pending:
                new = self._sure(pending.pop()) - seen
                seen |= new
                pending += new & self._compiled[word]
            self._reached[start, word] = seen
        return self._reached[start, word]

    def _sure(self, caller: Id) -> set[Id]:
        return {callee for callee, evidence in self._of(caller).items() if evidence != Evidence.NAME}

    def cause(self, edge: Edge) -> str:
        """Why an edge may be missing, as far as the index tells."""
        callee = edge.callee.name.rpartition(".")[2]
        if not self.symbols(edge.caller) or not self.symbols(edge.callee):
            return "an end that the index lacks"
        if callee.startswith("__") and callee.endswith("__") and callee not in (*_CONSTRUCTORS, "__call__"):
            return f"a special method on an object that is not known: {callee}"
        if callee in ("asobject", "_with_append_backtrace"):
            return "called by the binding"
        if callee == "<lambda>" or edge.callee.name.count(".") > 1 or ".<lambda>" in edge.callee.name:
            return "a function made by another, or a lambda"
        text = self._unresolved(edge, callee)
        return f"unresolved there: {text}" if text else "a function that is passed, stored or called back"

    def _unresolved(self, edge: Edge, callee: str) -> str:
        for caller in self.symbols(edge.caller):
            for text, reason in self._db.execute(
                "SELECT text, reason FROM unresolved WHERE in_symbol_id = ?", (caller,)
            ):
                if text.rpartition(".")[2] == callee:
                    return str(reason)
        return ""


def score(rows: Iterable[tuple[tuple[str, str, int], tuple[str, str, int]]], tree: Tree, index: Index) -> Result:
    """Look each edge up."""
    found: dict[Edge, str] = {}
    outside = 0
    for caller, callee in sorted(rows):
        first, second = tree.end(*caller), tree.end(*callee)
        if first is None or second is None:
            outside += 1
        else:
            edge = Edge(first, second)
            found[edge] = index.evidence(edge)
    return Result(found, outside)


def report(result: Result, index: Index, limit: int) -> Iterator[str]:
    """The result in words."""
    total = len(result.found)
    yield f"{total:,} distinct edges between functions of the tree ({result.outside:,} more have an end outside it)"
    evidence = Counter(one for one in result.found.values() if one)
    yield "  " + ", ".join(f"{word} {number:,}" for word, number in evidence.most_common())
    guess = str(Evidence.NAME)
    for shown, without in (("", _APART), (f" {BINDING}", (COMPILED,)), (f" {BINDING} and {COMPILED}", ())):
        paths = f", with paths{shown}" if shown else ""
        sure, all_found = 100 * result.share(guess, *without), 100 * result.share(*without)
        yield f"  {sure:.1f} % without guesses, {all_found:.1f} % with them{paths}"
    for title, wanted in (("missing", ""), ("only guessed", guess)):
        causes: dict[str, list[Edge]] = defaultdict(list)
        for edge, known in result.found.items():
            if known == wanted:
                causes[index.cause(edge) if not wanted else edge.callee.name.rpartition(".")[2]].append(edge)
        yield f"{title}: {sum(map(len, causes.values())):,}"
        for cause, edges in sorted(causes.items(), key=lambda item: (-len(item[1]), item[0])):
            yield f"  {len(edges):>5} {cause}"
            if not wanted:
                for edge in edges[:limit]:
                    yield f"          {_shown(edge.caller)} -> {_shown(edge.callee)}"


def _shown(end: End) -> str:
    return f"{end.path}:{end.name or '<module>'}"


if __name__ == "__main__":
    sys.exit(main())
