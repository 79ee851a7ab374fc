"""The C++ cases: each is a file of tests/cases/cpp (or a folder, for several files), its expectations beside it.

Expectations are the source lines that yield facts, each with its facts below it, so that a reader can check them
without running anything. Run this file to rewrite them, then review the difference line by line:

    python -m tests.cpp.cpp_cases            all cases
    python -m tests.cpp.cpp_cases lambdas    one

Comments at the top of a case's file steer the rendering: `// show: refs locals includes` adds references, local symbols
and include rows, `// std: c++20` chooses the standard.
"""

from __future__ import annotations

import re
import sqlite3
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xref.cpp import unit as cpp_unit
from xref.cpp.pch import Pch
from xref.cpp.plan import CppPlan, UnitJob, alone, plan_cpp
from xref.cpp.unit import index_unit
from xref.link import link
from xref.model import FileFacts, Lang
from xref.store import IndexBuilder, open_index

ROOT = Path(__file__).parents[1] / "cases" / "cpp"
INCLUDE = "include"
HEADER = (".h", ".inc")
HIDDEN_KINDS = ("namespace", "local", "parameter", "template_parameter")
SUFFIX = ".expected.txt"
NO_PCH = Pch("")


@dataclass(frozen=True)
class Case:
    """One case: its name, its files (relative to ROOT) and what its first comments ask for."""

    name: str
    files: tuple[str, ...]
    show: frozenset[str]
    std: str

    @property
    def expected(self) -> Path:
        """The file with the expectations."""
        return ROOT / f"{self.name}{SUFFIX}"


def all_cases() -> list[Case]:
    """Every case, by name."""
    found = []
    for path in sorted(ROOT.iterdir()):
        if path.name == INCLUDE or path.name.endswith(SUFFIX):
            continue
        inside = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        text = "".join(p.read_text("utf-8") for p in inside)
        show = frozenset(word for line in re.findall(r"^// show: (.*)$", text, re.MULTILINE) for word in line.split())
        std = re.search(r"^// std: (\S+)$", text, re.MULTILINE)
        name = path.name if path.is_dir() else path.stem
        files = tuple(p.relative_to(ROOT).as_posix() for p in inside)
        found.append(Case(name, files, show, std.group(1) if std else "c++17"))
    return found


def plan_case(case: Case, root: Path = ROOT) -> CppPlan:
    """The plan for the files of a case; only they yield facts, the shared headers are merely known."""
    shared = [p.relative_to(root).as_posix() for p in sorted((root / INCLUDE).rglob("*.h"))]
    units = [f for f in case.files if not f.endswith(HEADER)]
    headers = [f for f in case.files if f.endswith(HEADER)]
    arguments = [f"-std={case.std}", f"-I{root / INCLUDE}", "-nostdinc", "-nostdinc++", "-ferror-limit=0", "-w"]
    return plan_cpp(root, units, [*headers, *shared], [str(root / INCLUDE)], arguments, frozenset(case.files))


def extract(plan: CppPlan, pch: Pch = NO_PCH) -> list[FileFacts]:
    """The facts of all files of the plan, as a fresh worker process would give them."""
    cpp_unit._seen_externals.clear()
    facts: list[FileFacts] = []
    pending: list[UnitJob] = list(plan.jobs)
    while pending:
        result = index_unit(plan, pch, pending.pop(0))
        facts += result.facts
        pending += [alone(path) for path in result.unreached]
    return facts


def build(facts: list[FileFacts], path: Path, known: frozenset[str] = frozenset()) -> Path:
    """An index of `facts`, linked."""
    with IndexBuilder(path) as builder:
        for name in sorted({f.path for f in facts} | known):
            builder.add_file(name, Lang.CPP, "", 0, 0)
        for one in facts:
            builder.add_facts(one)
            builder.set_status(one.path, one.status, one.detail, one.lines)
        builder.flush_symbols()
        with builder.writing() as db:
            link(db)
        builder.publish()
    return path


def render(case: Case, db: sqlite3.Connection) -> str:
    """The case's facts as the text that its expectations hold."""
    names = _names(db)
    rows: dict[tuple[str, int], list[str]] = defaultdict(list)
    for path, line, text in _facts(case, db, names):
        rows[path, line].append(text)
    out = []
    for path, status, detail in db.execute("SELECT path, status, detail FROM files ORDER BY path"):
        if path not in case.files:
            continue
        out.append(f"== {path}" + (f"  {status}: {detail}" if status != "ok" else ""))
        source = (ROOT / path).read_text("utf-8").splitlines()
        for line in sorted(at for name, at in rows if name == path):
            out.append(f"{line:4} | {source[line - 1]}".rstrip())
            out += [f"       {text}" for text in rows[path, line]]
    return "\n".join(out) + "\n"


def _names(db: sqlite3.Connection) -> dict[int | None, str]:
    """Symbol id -> qualified name; with parameters where symbols share it, with the line where that is not enough."""
    rows = db.execute("SELECT id, qualname, kind, signature, line FROM symbols").fetchall()
    names: dict[int | None, str] = {None: "-"}
    for id_, qualname, kind, signature, line in rows:
        start = min((signature.find(mark) for mark in "<(" if mark in signature), default=len(signature))
        longer = qualname + (signature[start:] or ("" if line else f" [{kind}]"))
        for name in (qualname, longer, f"{longer} at {line}" if line else longer):
            names[id_] = name
            if sum(1 for row in rows if row[1] == qualname) == 1:
                break
            if name == longer and sum(1 for row in rows if row[1] == qualname and row[3] == signature) == 1:
                break
    return names


def _facts(case: Case, db: sqlite3.Connection, names: dict[int | None, str]) -> Iterator[tuple[str, int, str]]:
    """(path, line, fact in words), in the order in which they are shown below a line."""
    kinds = dict(db.execute("SELECT id, kind FROM symbols"))
    for id_, kind, path, line, end in db.execute(
        "SELECT symbol_id, kind, path, line, end_line FROM locations ORDER BY path, line, col, kind,"
        " (SELECT qualname FROM symbols WHERE id = symbol_id)"
    ):
        if kinds[id_] not in HIDDEN_KINDS or ("locals" in case.show and kinds[id_] != "namespace"):
            end_text = f" ..{end}" if end > line else ""
            yield path, line, f"{'def' if kind == 'definition' else 'decl'} {kinds[id_]} {names[id_]}{end_text}"
    for source, kind, target, path, line in db.execute(
        "SELECT r.from_id, r.kind, r.to_id, s.path, s.line FROM relations r JOIN symbols s ON s.id = r.from_id"
        " ORDER BY s.path, s.line, s.col, r.kind, (SELECT qualname FROM symbols WHERE id = r.to_id)"
    ):
        yield path, line, f"{names[source]} {kind} {names[target]}"
    if "includes" in case.show:
        for path, line, target in db.execute("SELECT path, line, target_path FROM includes ORDER BY path, line"):
            yield path, line, f"include {target or '(outside the tree)'}"
    if "refs" in case.show:
        for id_, path, line, col, role, within in db.execute(
            "SELECT symbol_id, path, line, col, role, in_symbol_id FROM refs"
            " WHERE role NOT IN ('definition', 'declaration') ORDER BY path, line, col, role"
        ):
            if kinds.get(id_) != "namespace":
                yield path, line, f"ref :{col} {role} {names[id_]}" + (f" in {names[within]}" if within else "")
    for caller, callee, evidence, path, line, via in db.execute(
        "SELECT c.caller_id, c.callee_id, c.evidence, c.path, c.line, c.via FROM calls c"
        " ORDER BY c.path, c.line, c.col, c.evidence, (SELECT key FROM symbols WHERE id = c.callee_id)"
    ):
        yield path, line, f"call {names[caller]} -> {names[callee]}  {evidence}" + (f" via {via}" if via else "")
    for path, line, within, text, reason in db.execute(
        "SELECT path, line, in_symbol_id, text, reason FROM unresolved ORDER BY path, line, col, text"
    ):
        yield path, line, f"unresolved {text!r} in {names[within]}: {reason}"
    for registry, name, path, line, id_, guard, note in db.execute(
        "SELECT registry, name, path, line, symbol_id, guard, note FROM key_defs ORDER BY path, line, registry, name"
    ):
        guarded = f" if {guard}" if guard else ""
        yield path, line, f"key {registry} {name!r} runs {names[id_]} ({note}){guarded}"
    for registry, name, path, line, within, status in db.execute(
        "SELECT registry, name, path, line, in_symbol_id, status FROM key_uses ORDER BY path, line, registry, name"
    ):
        yield path, line, f"use {registry} {name!r} in {names[within]}: {status}"


def run_case(case: Case) -> str:
    """Extract, store, link and render one case."""
    with tempfile.TemporaryDirectory() as folder:
        plan = plan_case(case)
        path = build(extract(plan), Path(folder) / "case.db", plan.known)
        db = open_index(path)
        try:
            return render(case, db)
        finally:
            db.close()


def main(wanted: list[str]) -> None:
    """Rewrite the expectations of the named cases, or of all."""
    for case in all_cases():
        if not wanted or case.name in wanted:
            case.expected.write_text(run_case(case), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
