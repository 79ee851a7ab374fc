"""Parses one unit and yields the facts of the files it owns: the work of one task of a worker process.

The status of each file is decided here: what libclang could not read is named, never passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from xref.cpp.clang import (
    DETAILED_PREPROCESSING_RECORD,
    INCOMPLETE,
    KEEP_GOING,
    Diagnostic,
    Index,
    ParseError,
    TranslationUnit,
)
from xref.cpp.conditionals import Conditionals
from xref.cpp.lost import note_lost_calls
from xref.cpp.names import Paths
from xref.cpp.pch import NO_PCH, NOT_FOUND, Pch, files_of, include_line, missing_headers, summary
from xref.cpp.plan import CppPlan, UnitJob
from xref.cpp.stack import start_thread
from xref.cpp.visitor import Visitor
from xref.cpp.walk import Inputs
from xref.model import FileFacts, Lang, Status
from xref.registry.cpp import CppRegistries

_UMBRELLA = ".xref-umbrella.cc"
"""The file in memory that includes the headers of a job. clang's -include cannot name a path with a quote."""
_WITH_INSTANCES = DETAILED_PREPROCESSING_RECORD | KEEP_GOING
_PARSE_OPTIONS = _WITH_INSTANCES | INCOMPLETE
"""As if more code followed, so that the function templates that a unit uses are not instantiated at its end. The walk
sees templates as written; the bodies of their instances took an eighth of all parsing. Headers are parsed with them:
what they use, defaulted functions above all, clang defines, and the walk sees what that runs."""
_STACK_BYTES = 512 << 20
"""Virtual memory for the walk's stack, and for what libclang does on it in one go with a deep tree."""
_MAX_CLASHING = 20
_MAX_UNREAD_SHARE = 1 / 3
"""A file of which more lies in ranges that the preprocessor left out is degraded."""

_Result = TypeVar("_Result")


@dataclass(slots=True)
class UnitResult:
    """The facts of a unit's files; `unreached` are owned headers that the unit turned out not to include.

    `seen` are the files that the parse consisted of, as libclang names them, those of the common headers apart;
    `missing` the headers that it did not find, as written.
    """

    facts: list[FileFacts] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)
    call_expressions: int = 0
    seen: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


_CUDA = (
    *(f"-D__{word}__=" for word in ("device", "global", "host", "shared", "constant", "managed", "forceinline")),
    "-D__launch_bounds__(...)=",
    "-D__grid_constant__=",
)
"""CUDA's keywords (CUDA C++ Programming Guide, "C++ Language Extensions"): without a CUDA toolkit libclang cannot parse
CUDA, but it reads it as C++ once they are gone, kernel launches apart."""
_seen_externals: set[str] = set()
"""Keys of symbols that this process has named in facts that it delivered."""
_index: list[Index] = []
_deep: list[ThreadPoolExecutor] = []


def begin_process() -> None:
    """Forget what the process has delivered that this one is a copy of: its facts went elsewhere, and its thread is
    not here."""
    _seen_externals.clear()
    _index.clear()
    _deep.clear()


def index_unit(plan: CppPlan, pch: Pch, job: UnitJob) -> UnitResult:
    """Parse and walk one unit. Raises nothing for bad input: a unit without a tree is a failed file."""
    return _with_deep_stack(lambda: _index_unit(plan, pch, job))


def _with_deep_stack(work: Callable[[], _Result]) -> _Result:
    """Run `work` on a thread whose stack holds the deepest nest of calls that a unit may have.

    One thread for the life of the process: a second one's stack may come before the first one's has gone.
    """
    if not _deep:
        _deep.append(start_thread(_STACK_BYTES))
    return _deep[0].submit(work).result()


def _index_unit(plan: CppPlan, pch: Pch, job: UnitJob) -> UnitResult:
    sources = {path: _read(plan, path) for path in job.owned}
    result = _best_parse(plan, pch, job, sources)
    _seen_externals.update(symbol.key for facts in result.facts for symbol in facts.externals)
    return result


def _best_parse(plan: CppPlan, pch: Pch, job: UnitJob, sources: dict[str, bytes]) -> UnitResult:
    result: UnitResult | None = None
    errors: list[Diagnostic] = []
    if pch.below is not None:
        try:
            result, errors = _parse_and_walk(plan, pch, job, sources)
        except ParseError:
            result = None
        if result is not None and not errors:
            result.seen += pch.seen
            return result
        pch = pch.below
    if job.may_use_pch and pch.path:
        try:
            result, errors = _parse_and_walk(plan, pch, job, sources)
        except ParseError:
            errors = []
        if result is not None and (not errors or missing_headers(errors) or pch.missing):
            return result
    # no tree, or an error that may be the precompiled header's own doing (v0.18: "non-virtual member function marked
    # final"; v0.21: "no viable conversion from Any to Module"): keep the parse with fewer
    try:
        plain, plain_errors = _parse_and_walk(plan, NO_PCH, job, sources)
    except ParseError as error:
        return result or _failed(job, sources, str(error))
    return result if result is not None and len(errors) <= len(plain_errors) else plain


def _failed(job: UnitJob, sources: dict[str, bytes], reason: str) -> UnitResult:
    """No tree: the unit's own file is lost, its headers may still parse alone."""
    lost = [path for path in job.owned if path == job.main]
    facts = [FileFacts(path, Lang.CPP, Status.FAILED, reason, _line_count(sources[path])) for path in lost]
    return UnitResult(facts, [path for path in job.owned if path != job.main])


def _read(plan: CppPlan, path: str) -> bytes:
    try:
        return (Path(plan.root) / path).read_bytes()
    except OSError:
        return b""


def _line_count(source: bytes) -> int:
    return source.count(b"\n") + (1 if source and not source.endswith(b"\n") else 0)


def _parse_and_walk(
    plan: CppPlan, pch: Pch, job: UnitJob, sources: dict[str, bytes], instances: bool = False
) -> tuple[UnitResult, list[Diagnostic]]:
    if not _index:
        _index.append(Index())
    arguments = (
        ["-x", "c++", *plan.arguments, *_CUDA] if job.language == "cuda" else ["-x", job.language, *plan.arguments]
    )
    if pch.path:
        arguments += ["-include-pch", pch.path]
    main, content = f"{plan.root}/{job.main}", None
    lines = [include_line(f"{plan.root}/{header}") for header in job.included]
    if any(lines) or not job.main:
        main, content = f"{plan.root}/{_UMBRELLA}", "".join(lines)
    options = _WITH_INSTANCES if instances or job.included else _PARSE_OPTIONS
    with _index[0].parse(main, arguments, options, content) as unit:
        owned = {path: FileFacts(path, Lang.CPP, lines=_line_count(sources[path])) for path in job.owned}
        visitor = Visitor(Inputs(plan.root, plan.known, owned, sources, CppRegistries(), set(_seen_externals)))
        visitor.walk(unit.cursor)
        if visitor.needs_instances and not instances:
            # what is instantiated needs a body, and only the common headers never have one
            return _parse_and_walk(plan, pch.below or pch, job, sources, instances=True)
        errors = unit.errors()
        note_lost_calls(visitor, unit.cursor, errors)
        clashing = _clashing(plan, job, errors) if not job.main else frozenset()
        result = UnitResult(
            call_expressions=visitor.call_expressions,
            seen=list(files_of(unit, main if content is not None else "")),
            missing=missing_headers(errors),
        )
        for path, facts in owned.items():
            if path != job.main and (path in clashing or _is_unreached(facts, sources[path])):
                result.unreached.append(path)
                continue
            _finish(plan, job, facts, sources[path], unit, errors, pch.missing)
            result.facts.append(facts)
    return result, errors


def _clashing(plan: CppPlan, job: UnitJob, errors: list[Diagnostic]) -> frozenset[str]:
    """The headers of an umbrella with errors of their own that no #include of theirs explains: they may parse alone.

    None when they are many: then a header that all of them need is missing, and no other order of includes helps.
    """
    paths = Paths(plan.root, plan.known)
    missing = {paths.relative_name(e.file) for e in errors if NOT_FOUND.search(e.message)}
    found = ({paths.relative_name(e.file) for e in errors} - missing) & set(job.owned)
    return frozenset(found) if len(found) <= _MAX_CLASHING else frozenset()


def _is_unreached(facts: FileFacts, source: bytes) -> bool:
    return not facts.refs and not facts.symbols and not facts.includes and bool(source.strip())


def _finish(
    plan: CppPlan,
    job: UnitJob,
    facts: FileFacts,
    source: bytes,
    unit: TranslationUnit,
    errors: list[Diagnostic],
    pch_missing: tuple[str, ...],
) -> None:
    """Decide the file's status, say the #if around its keys, and drop rows that macros made twice."""
    facts.refs = list(dict.fromkeys(facts.refs))
    facts.calls = list(dict.fromkeys(facts.calls))
    facts.dependent = list(dict.fromkeys(facts.dependent))
    facts.instances = list(dict.fromkeys(facts.instances))
    facts.parts = list(dict.fromkeys(facts.parts))
    conditionals = Conditionals(source.decode("utf-8", "replace"))
    facts.key_defs = [d._replace(guard=conditionals.at(d.line)) for d in dict.fromkeys(facts.key_defs)]
    facts.key_uses = list(dict.fromkeys(facts.key_uses))
    absolute = f"{plan.root}/{facts.path}"
    skipped = unit.skipped_lines(absolute)
    unread = sum(end - start - 1 for start, end in skipped)
    paths = Paths(plan.root, plan.known)
    own = [e for e in errors if paths.relative_name(e.file) == facts.path]
    relevant = errors if facts.path == job.main else own
    missing = missing_headers(relevant) or (missing_headers(errors) if own else [])
    if relevant and not missing:
        missing = list(pch_missing)
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        facts.status, facts.detail = Status.DEGRADED, f"missing header {missing[0]}{more}"
    elif facts.lines and unread > facts.lines * _MAX_UNREAD_SHARE:
        start = max(skipped, key=lambda r: r[1] - r[0])[0]
        guard = conditionals.at(start) or "a condition"
        facts.status = Status.DEGRADED
        facts.detail = f"guarded by {guard}: {unread} of {facts.lines} lines not read"
    elif relevant:
        facts.status, facts.detail = Status.DEGRADED, summary(relevant, plan.root)
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        facts.status, facts.detail = Status.DEGRADED, f"not UTF-8 at line {line}; read with replacement characters"
