"""Compare an index with plain parses of units drawn by seed: python bench/plain_parse.py --db INDEX --seed 1.

Each unit is parsed with libclang alone: no precompiled header, no error limit, libclang's own Python binding and a walk
that shares no code with xref's. What it names (references) and calls in the unit's own file must be in the index, at
the same line and column, and the other way round; each difference is printed with its cause, or as `unexplained`.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from ctypes import byref, c_uint
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from clang.cindex import Config, Cursor, CursorKind, File, Index, TranslationUnit, c_object_p, conf

from xref.cpp.clang import library_path
from xref.cpp.makers import NAMES
from xref.model import ExitCode, XrefError
from xref.store import open_index, read_meta

UNEXPLAINED = "unexplained"
_REFERENCES = frozenset(
    (
        CursorKind.DECL_REF_EXPR,
        CursorKind.MEMBER_REF_EXPR,
        CursorKind.TYPE_REF,
        CursorKind.TEMPLATE_REF,
        CursorKind.NAMESPACE_REF,
        CursorKind.MEMBER_REF,
        CursorKind.VARIABLE_REF,
        CursorKind.OVERLOADED_DECL_REF,
        CursorKind.MACRO_INSTANTIATION,
    )
)
_FUNCTIONS = frozenset(
    (
        CursorKind.FUNCTION_DECL,
        CursorKind.CXX_METHOD,
        CursorKind.CONSTRUCTOR,
        CursorKind.DESTRUCTOR,
        CursorKind.CONVERSION_FUNCTION,
        CursorKind.FUNCTION_TEMPLATE,
    )
)


_RECOVERY = "a header is missing: with the common headers read first, clang recovers differently"
_UNSEEN = "in dependent code: operators of common headers that the unit does not include are candidates too"
_MAKERS = (" by a class", " by a struct", " by a constructor")
_INVENTED = ("__range", "__begin", "__end")
_ALLOCATIONS = ("operator new", "operator delete")


class Use(NamedTuple):
    """A name used, or a function called, at line:col of the unit; `name` without template arguments."""

    line: int
    col: int
    name: str


@dataclass
class Uses:
    """What one side says of a unit: references and calls, each with a word about how it came (the cursor's kind, or
    the role), and the number of call expressions."""

    references: dict[Use, str] = field(default_factory=dict)
    calls: dict[Use, str] = field(default_factory=dict)
    call_expressions: int = 0
    files: set[str] = field(default_factory=set)
    """The headers that the unit includes."""
    declared_in: dict[Use, set[str]] = field(default_factory=dict)
    """Where the functions stand that a call may run."""


class PlainWalk:
    """The uses in one file of a parsed unit."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.uses = Uses()

    def visit(self, cursor: Cursor) -> None:
        """Look at what is below the cursor."""
        for child in cursor.get_children():
            if cursor.kind == CursorKind.TRANSLATION_UNIT and not self._is_written_here(child):
                continue
            self._look(child)
            self.visit(child)

    def _is_written_here(self, cursor: Cursor) -> bool:
        """Clang lists the functions that it instantiates beside the file's own declarations."""
        if cursor.location.file is None or cursor.location.file.name != self.path:
            return False
        if cursor.kind not in _FUNCTIONS:
            return True
        parent = cursor.lexical_parent
        return parent is None or parent.kind in (
            CursorKind.TRANSLATION_UNIT,
            CursorKind.NAMESPACE,
            CursorKind.LINKAGE_SPEC,
            CursorKind.UNEXPOSED_DECL,
        )

    def _look(self, cursor: Cursor) -> None:
        if cursor.kind == CursorKind.CALL_EXPR:
            self.uses.call_expressions += 1
            callee = cursor.referenced
            if callee is not None and callee.kind in _FUNCTIONS:
                use = self._use(_named_at(cursor, callee), callee.spelling)
                if use is not None:
                    self.uses.calls.setdefault(use, _word(callee))
                    for name in _calls_of_defaults(cursor, callee):
                        self.uses.calls.setdefault(Use(use.line, use.col, plain_name(name)), "default argument")
        elif cursor.kind in _REFERENCES:
            for target in _targets(cursor):
                use = self._use(cursor, target.spelling)
                if use is not None:
                    defines = cursor.kind == CursorKind.VARIABLE_REF and place(target) == place(cursor)
                    self.uses.references.setdefault(use, "init_capture" if defines else _word(target))

    def _use(self, at: Cursor, name: str) -> Use | None:
        file, line, col = place(at)
        return Use(line, col, plain_name(name)) if name and file == self.path else None


def place(cursor: Cursor) -> tuple[str, int, int]:
    """(file name, line, column) where the cursor's token is written: a macro's argument stands in the invocation."""
    file, line, col, offset = c_object_p(), c_uint(), c_uint(), c_uint()
    conf.lib.clang_getFileLocation(cursor.location, byref(file), byref(line), byref(col), byref(offset))
    name = File(file).name if file else ""
    return name, line.value, col.value


def plain_name(name: str) -> str:
    """`Array<T>` -> `Array`; operators stay whole, conversions become `operator`."""
    if name.startswith("operator"):
        return name if not name[8:9].isspace() or name[9:] in ("new", "delete", "new[]", "delete[]") else "operator"
    return name.split("<", 1)[0]


def _word(target: Cursor) -> str:
    parent = target.semantic_parent
    if parent is not None and parent.spelling.startswith("(lambda at"):
        return "closure"
    return str(target.kind.name).lower()


def _calls_of_defaults(call: Cursor, callee: Cursor) -> Iterator[str]:
    """The names of the functions that the values of left out parameters call. Such an argument has no place."""
    template = conf.lib.clang_getSpecializedCursorTemplate(callee)
    declared = template if template is not None else callee
    parameters = [child for child in declared.get_children() if child.kind == CursorKind.PARM_DECL]
    for argument, parameter in zip(call.get_arguments(), parameters, strict=False):
        if not place(argument)[1]:
            pending = [child for child in parameter.get_children() if child.kind.is_expression()]
            for at in pending:
                pending += [c for c in at.get_children() if c.kind.is_expression() and c.kind != CursorKind.LAMBDA_EXPR]
                if at.kind == CursorKind.CALL_EXPR and at.referenced is not None and at.referenced.kind in _FUNCTIONS:
                    yield at.referenced.spelling


def _targets(cursor: Cursor) -> Iterator[Cursor]:
    if cursor.kind == CursorKind.OVERLOADED_DECL_REF:
        for i in range(conf.lib.clang_getNumOverloadedDecls(cursor)):
            yield conf.lib.clang_getOverloadedDecl(cursor, i)
    elif cursor.referenced is not None and cursor.referenced.kind != CursorKind.OVERLOADED_DECL_REF:
        yield cursor.referenced


def _named_at(call: Cursor, callee: Cursor) -> Cursor:
    """Where the callee is named: a reference in the call's callee part; else the call itself."""
    pending = list(call.get_children())
    for at in pending:
        if at.kind in (CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR) and at.spelling == callee.spelling:
            return at if place(at)[0] else call
        if at.kind in (CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR):
            pending += list(at.get_children())
    return call


def plain_uses(path: str, arguments: Sequence[str]) -> Uses:
    """The uses in a unit as a plain parse has them. Raises `clang.cindex.TranslationUnitLoadError`."""
    unit = Index.create().parse(
        path, ["-x", "c++", *arguments], options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD | 0x200
    )
    walk = PlainWalk(path)
    walk.visit(unit.cursor)
    walk.uses.files = {os.path.normpath(include.include.name) for include in unit.get_includes()}
    return walk.uses


def indexed_uses(db: sqlite3.Connection, path: str) -> Uses:
    """The uses in a unit as the index has them."""
    uses = Uses()
    rows = db.execute(
        "SELECT r.line, r.col, s.name, r.role, s.kind, s.path FROM refs r JOIN symbols s ON s.id = r.symbol_id"
        " WHERE r.path = ? AND r.role NOT IN ('definition', 'declaration', 'include')",
        (path,),
    )
    for line, col, name, role, kind, declared in rows:
        use = Use(line, col, plain_name(name))
        uses.references[use] = f"{role} of a {kind}"
        uses.declared_in.setdefault(use, set()).add(declared or "")
    rows = db.execute(
        "SELECT c.line, c.col, s.name, c.evidence, s.kind, f.kind FROM calls c JOIN symbols s ON s.id = c.callee_id"
        " JOIN symbols f ON f.id = c.caller_id"
        " WHERE c.path = ? AND c.evidence NOT IN ('virtual', 'registry', 'dispatch')",
        (path,),
    )
    for line, col, name, evidence, kind, caller in rows:
        uses.calls[Use(line, col, plain_name(name))] = f"{evidence} call of a {kind} by a {caller}"
    return uses


def differences(plain: Uses, indexed: Uses, lacking: bool = False) -> Iterator[tuple[str, str, Use, str]]:
    """(side that has it, references or calls, the use, the cause). `lacking`: the unit misses a header."""
    for what in ("references", "calls"):
        ours, theirs = getattr(indexed, what), getattr(plain, what)
        for use in sorted(theirs.keys() - ours.keys()):
            yield "plain", what, use, _why_plain_only(use, theirs[use], indexed, what, lacking)
        for use in sorted(ours.keys() - theirs.keys()):
            cause = _why_index_only(use, ours[use], plain, what, lacking)
            if cause.startswith(UNEXPLAINED) and _is_unseen(indexed.declared_in.get(use, set()), plain.files):
                cause = _UNSEEN
            yield "index", what, use, cause


def _is_unseen(declared: set[str], files: set[str]) -> bool:
    """Whether what is declared in headers is so in headers that the unit does not include."""
    headers = {path for path in declared if path.endswith((".h", ".hpp"))}
    return (
        bool(headers)
        and "" not in declared
        and not any(file.endswith(f"/{path}") for path in headers for file in files)
    )


def _why_plain_only(use: Use, word: str, indexed: Uses, what: str, lacking: bool) -> str:
    at_place = {other for other in getattr(indexed, what) if (other.line, other.col) == (use.line, use.col)}
    if what == "calls" and indexed.references.get(use, "").startswith("read of a "):
        return "in an operand of sizeof, decltype, noexcept or typeid: named, not called"
    if word == "init_capture":
        return "`[x = ..]` defines x"
    if word == "closure":
        return "a closure's own member: xref names the lambda"
    if any(other.name.startswith("{") for other in at_place):
        return "a lambda, called by its purpose in xref"
    if ":" in use.name:
        return "what `auto` stands for: nobody wrote a template parameter"
    if use.name.startswith(_INVENTED):
        return "a variable that the compiler makes of a range-for"
    return _RECOVERY if lacking else f"{UNEXPLAINED}: {word}"


def _why_index_only(use: Use, word: str, plain: Uses, what: str, lacking: bool) -> str:
    if use.name.startswith("{"):
        return "a lambda, called by its purpose in xref"
    if use.name.startswith("~") and word.startswith("direct"):
        return "the end of a local variable or temporary: its destructor is written, the call is not"
    if what == "calls" and any(Use(use.line, use.col, maker) in plain.calls for maker in NAMES):
        return "make_object<T>: T's constructor, or the class for one that the compiler declares"
    if what == "calls" and word.startswith("direct") and word.endswith(_MAKERS) and use not in plain.references:
        return "what constructing an object runs: its fields and bases, by no call expression"
    if use.name.startswith(_ALLOCATIONS) or (what == "references" and use.name.startswith("~")):
        return "what delete and new run: a destructor, a class's own operator delete or new, by no call expression"
    if use.name == "(anonymous)":
        return "the union without a name that a member is found through: libclang has no name for it"
    if any((o.line, o.col) == use[:2] for o in plain.references if o.name.startswith(_INVENTED)):  # at the colon
        return "what a range-for runs: begin(), end(), the comparison and the step, which libclang does not show"
    if any(w == "init_capture" and o.line == use.line and o.col < use.col for o, w in plain.references.items()):
        return "the value of `[x = ..]`: libclang lists what is in it, not the construction that it is"
    if what == "references" and word.startswith("call of") and use in plain.calls:
        return "an implicit construction, conversion or operator is a reference too"
    if what == "calls" and word.startswith("direct") and use in plain.references:
        return "an argument did not compile: clang drops the call and keeps the name, which is written as a call"
    if what == "calls" and word.startswith(("template", "value")):
        return f"{word.split(' ', 1)[0]}: a candidate, or a function's address; no call expression of it"
    if lacking:
        return _RECOVERY
    return f"{UNEXPLAINED}: {word}"


def draw(db: sqlite3.Connection, count: int, degraded: int, seed: int) -> list[str]:
    """`count` units by seed, `degraded` of them (or all there are) with a missing header."""
    rows = db.execute(
        "SELECT path, detail LIKE 'missing header%' FROM files WHERE lang = 'cpp' AND status IN ('ok', 'degraded')"
        " AND (path LIKE '%.cc' OR path LIKE '%.cpp') ORDER BY path"
    ).fetchall()
    lacking = [path for path, lacks in rows if lacks]
    whole = [path for path, lacks in rows if not lacks]
    generator = random.Random(seed)
    chosen = generator.sample(lacking, min(degraded, len(lacking)))
    return sorted(chosen + generator.sample(whole, min(count - len(chosen), len(whole))))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the differences by cause; 1 when some are unexplained."""
    parser = argparse.ArgumentParser(description=__doc__.split(":", 1)[0])
    parser.add_argument("--db", type=Path, default=Path("data/xref.db"))
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--degraded", type=int, default=10, help="units with a missing header among them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", default="1/1", help="N/M: only the N-th of M parts of the drawn units")
    options = parser.parse_args(arguments)
    try:
        Config.set_library_file(str(library_path()))
        with closing(open_index(options.db)) as db:
            part, parts = map(int, options.part.split("/"))
            units = draw(db, options.count, options.degraded, options.seed)[part - 1 :: parts]
            return compare(db, units)
    except XrefError as error:
        print(f"plain_parse: {error}", file=sys.stderr)
        return error.exit_code


def _lacks_header(db: sqlite3.Connection, unit: str) -> bool:
    found = db.execute("SELECT 1 FROM files WHERE path = ? AND detail LIKE 'missing header%'", (unit,)).fetchone()
    return found is not None


def compare(db: sqlite3.Connection, units: Iterable[str]) -> int:
    """Compare the units one by one, and print what differs."""
    meta = read_meta(db)
    root, flags = meta["tree"], meta["flags"].split()
    causes: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for unit in units:
        plain, indexed = plain_uses(f"{root}/{unit}", flags), indexed_uses(db, unit)
        totals.update(
            units=1, references=len(plain.references), calls=len(plain.calls), call_expressions=plain.call_expressions
        )
        for side, what, use, cause in differences(plain, indexed, _lacks_header(db, unit)):
            causes[f"{what} of the {side} only: {cause}"] += 1
            if cause.startswith(UNEXPLAINED):
                print(f"{unit}:{use.line}:{use.col}\t{what} of the {side} only\t{use.name}\t{cause}")
    for cause, count in causes.most_common():
        print(f"{count:6} {cause}")
    print(", ".join(f"{count} {what.replace('_', ' ')}" for what, count in totals.items()))
    return ExitCode.NOTHING if any(UNEXPLAINED in cause for cause in causes) else ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main())
