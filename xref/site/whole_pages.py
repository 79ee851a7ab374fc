"""The pages about the whole tree: the overview, its health, and those that folders, registries and runs make."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from xref.model import Evidence, Status
from xref.site import folders, registry_pages, run_pages, urls
from xref.site.assets import moment
from xref.site.boundary import boundary
from xref.site.calls import EVIDENCE_WORDS
from xref.site.graph_data import examples
from xref.site.keys import Key, load_keys
from xref.site.links import Line, Linker
from xref.site.outputs import Output, page
from xref.site.plan import SitePlan
from xref.site.walk_pages import url_of

_REASONS_SHOWN = 12
_PLACES_SHOWN = 8
_RUNS_SHOWN = 5
_PASSES_OF_A_FOLDER = 4
_COUNTED = re.compile(r" \(and \d+ more\)$|: \d+ of \d+ lines not read$|, first .*$| at line \d+.*$")
_CAUSES = (
    (re.compile(r"the callee is whatever the variable \S+ holds"), "the callee is whatever a variable holds"),
    (
        re.compile(r"runs the handlers of whatever \S+ it is given: too many to be edges"),
        "runs the handlers of whatever visitor it is given: too many to be edges",
    ),
    (
        re.compile(r"\d+ keys under the prefix"),
        "only a part of the key is known before run time, and too many keys have it to be edges",
    ),
    (re.compile(r"through the local \S+"), "through a local variable"),
    (re.compile(r"through the (parameter|field) \S+"), r"through a \1"),
    (re.compile(r"\d+ candidates"), "too many candidates to be edges"),
)
"""Reasons with a name or a number in them: each function has it on its page; here one cause is counted once."""
_ERRORS = re.compile(r"^\d+ errors?$")
_ERAS = {
    "register_global": "TVM_REGISTER_GLOBAL",
    "ffi_register_global": "TVM_FFI_REGISTER_GLOBAL",
    "static_init_block": "TVM_FFI_STATIC_INIT_BLOCK and reflection::GlobalDef",
}
_MEANINGS = {
    Evidence.DIRECT: "The compiler or the type checker resolved the call to exactly this function.",
    Evidence.VIRTUAL: "The call names a method that this one overrides; which override runs depends on the object.",
    Evidence.TEMPLATE: "The call stands in a template and the function is one of the candidates by name.",
    Evidence.VALUE: "The function was stored or passed on, and is called through that value.",
    Evidence.REGISTRY: "The call goes through a string key that the function is registered under, often from Python"
    " into C++.",
    Evidence.DISPATCH: "A dispatch table maps the type of a node to this function.",
    Evidence.NAME: "A guess, left out of drawings: the only method of that name, or one of several.",
    "observed": "No static fact explains it, but a recorded run made this call.",
}


class Reason(NamedTuple):
    """Why something is incomplete, how often, and the first places."""

    text: str
    total: int
    places: list[Line]


class Health(NamedTuple):
    """How complete the index is."""

    files: list[tuple[str, dict[str, int]]]
    degraded: list[Reason]
    failed: list[tuple[Line, str]]
    skipped: list[tuple[str, int]]
    stale: list[tuple[Line, str]]
    unresolved: list[Reason]
    unresolved_total: int
    dangling: list[registry_pages.KeyRow]
    warnings: list[str]


def whole_pages(db: sqlite3.Connection, linker: Linker) -> Iterator[Output]:
    """The overview, the index's health, the folders, and the pages that the browser fills."""
    plan = linker.plan
    site = plan.title()
    keys = load_keys(db)
    tree = folders.Folders(linker.plan)
    health = examine(db, linker, keys)
    yield _overview(db, linker, keys, tree, health, site)
    yield page("health.html", "health.html.j2", title="Health", site=site, root="", health=health)
    yield page(
        "graph.html", "graph.html.j2", title="Call graph", site=site, root="",
        examples=[(linker.label(one), plan.packing.code[one], linker.label(other), plan.packing.code[other])
                  for one, other in examples(plan)],
    )  # fmt: skip
    yield page("text.html", "text.html.j2", title="Words in the text", site=site, root="")
    yield from tree.pages(site)


def _key_pages(db: sqlite3.Connection, linker: Linker) -> Iterator[Output]:
    yield from registry_pages.pages(linker, load_keys(db), linker.plan.title())


def _run_pages(db: sqlite3.Connection, linker: Linker) -> Iterator[Output]:
    yield from run_pages.pages(db, linker, linker.plan.title())


PARTS: Mapping[str, Callable[[sqlite3.Connection, Linker], Iterator[Output]]] = {
    "overview": whole_pages, "keys": _key_pages, "runs": _run_pages
}  # fmt: skip
"""All pages that are not about one file or its symbols, in parts that can be made at the same time."""


def _overview(db: sqlite3.Connection, linker: Linker, keys: Sequence[Key], tree: folders.Folders, health: Health,
              site: str) -> Output:  # fmt: skip
    plan = linker.plan
    evidence: dict[str, int] = dict(db.execute("SELECT evidence, count(*) FROM calls GROUP BY evidence"))
    evidence["observed"] = plan.graph.count("observed")
    langs = [lang for lang in ("cpp", "python", "cython") if lang in tree.by_path[""].sizes]
    crossing = db.execute(
        "SELECT count(*), count(DISTINCT via), count(DISTINCT caller_id) FROM calls c"
        " JOIN symbols s ON s.id = c.caller_id WHERE evidence = 'registry' AND s.lang <> 'cpp'"
    ).fetchone()
    passes = [key for key in keys if key.registry == "pass" and key.definitions]
    return page(
        "index.html",
        "overview.html.j2",
        title="Overview",
        site=site,
        root="",
        about=_about(plan.meta),
        totals=tree.by_path[""].total,
        references=db.execute("SELECT count(*) FROM refs").fetchone()[0],
        calls=sum(count for kind, count in evidence.items() if kind != "observed"),
        subsystems=[(lang, tree.by_path[""].sizes[lang], _subsystems(linker, tree, lang)) for lang in langs],
        registries=registry_pages.counts(keys),
        crossing=crossing,
        boundary=boundary(db, linker),
        walks=[(walk, url_of(walk)) for walk in plan.walks],
        passes=_passes(linker, passes),
        pass_total=len(passes),
        operators=_operators(linker, keys),
        op_total=sum(key.registry == "op" and bool(key.definitions) for key in keys),
        runs=[(run, urls.run_url(run.id)) for run in plan.runs[:_RUNS_SHOWN]],
        run_total=len(plan.runs),
        health=health,
        evidence=[(kind, EVIDENCE_WORDS[kind], meaning, evidence.get(kind, 0)) for kind, meaning in _MEANINGS.items()],
    )


def _about(meta: dict[str, str]) -> list[str]:
    """Where the index comes from, as far as it says."""
    commit, era = meta.get("commit", ""), meta.get("era", "")
    makers = [
        meta.get("clang", "").replace(" version", ""),
        f"pyrefly {meta['pyrefly']}" if meta.get("pyrefly") else "",
    ]
    by = " and ".join(filter(None, makers))
    return [
        part
        for part in (
            f"commit {commit[:12]}" if commit else "",
            f"registers its functions with {_ERAS[era]}" if era in _ERAS else "",
            f"indexed {moment(meta.get('indexed_at', ''))}" + (f" with {by}" if by else ""),
        )
        if part
    ]


def _subsystems(linker: Linker, tree: folders.Folders, lang: str) -> list[tuple[str, str, folders.Size]]:
    return [(path or "(top)", linker.folder(path), size) for path, size in tree.subsystems(lang)]


def _passes(linker: Linker, passes: Sequence[Key]) -> list[tuple[str, list[tuple[str, str | None]]]]:
    """Pass names by the folder that registers them."""
    grouped: dict[str, list[tuple[str, str | None]]] = {}
    for key in passes:
        at = key.definitions[0]
        href = linker.address(at.symbol) or linker.key("pass", key.name)
        grouped.setdefault(at.path.rpartition("/")[0], []).append((key.name, href))
    large = {folder: names for folder, names in grouped.items() if len(names) >= _PASSES_OF_A_FOLDER}
    elsewhere = sorted(name for folder, names in grouped.items() if folder not in large for name in names)
    ordered = sorted(large.items(), key=lambda item: (-len(item[1]), item[0]))
    return [*ordered, ("elsewhere", elsewhere)] if elsewhere else ordered


def _operators(linker: Linker, keys: Sequence[Key]) -> list[tuple[str, list[tuple[str, str | None]]]]:
    """Operators by the namespace in their name, the fullest first."""
    grouped: dict[str, list[tuple[str, str | None]]] = {}
    for key in keys:
        if key.registry == "op" and key.definitions:
            space, _, name = key.name.rpartition(".")
            grouped.setdefault(space or "without a namespace", []).append((name, linker.key("op", key.name)))
    return sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0]))


def examine(db: sqlite3.Connection, linker: Linker, keys: Sequence[Key]) -> Health:
    """How complete the index is, with every reason."""
    plan = linker.plan
    by_lang: dict[str, dict[str, int]] = {}
    for lang, status, count in db.execute("SELECT lang, status, count(*) FROM files GROUP BY 1, 2 ORDER BY 1, 2"):
        by_lang.setdefault(lang, {})[status] = count
    degraded: dict[str, list[Line]] = {}
    for file in plan.files:
        if file.status == Status.DEGRADED:
            degraded.setdefault(reason_of(file.detail), []).append(linker.place(file.path, 0))
    causes: dict[str, list[str]] = {}
    counts: dict[str, int] = dict(db.execute("SELECT reason, count(*) FROM unresolved GROUP BY 1 ORDER BY 1"))
    for reason in counts:
        causes.setdefault(cause_of(reason), []).append(reason)
    return Health(
        sorted(by_lang.items()),
        _by_count([Reason(text, len(places), places) for text, places in degraded.items()]),
        [(linker.place(file.path, 0), file.detail) for file in plan.files if file.status == Status.FAILED],
        db.execute(
            "SELECT detail, count(*) FROM files WHERE status = 'skipped' GROUP BY 1 ORDER BY 2 DESC, 1"
        ).fetchall(),
        [(linker.place(file.path, 0), file.state) for file in plan.files if file.state != "same"],
        _by_count(
            [
                Reason(text, sum(counts[reason] for reason in reasons), _places(db, linker, reasons))
                for text, reasons in causes.items()
            ]
        ),
        sum(counts.values()),
        [registry_pages.key_row(linker, key) for key in registry_pages.dangling(keys)],
        _warnings(plan),
    )


def reason_of(detail: str) -> str:
    """Why a file was read in part, without what only that file has: numbers, lines, the first of several errors."""
    return _ERRORS.sub("errors where the compiler did not understand the code", _COUNTED.sub("", detail))


def cause_of(reason: str) -> str:
    """Why a call could not be resolved, without the names and numbers of that one."""
    for pattern, words in _CAUSES:
        if found := pattern.fullmatch(reason):
            return found.expand(words)
    return reason


def _by_count(reasons: list[Reason]) -> list[Reason]:
    return sorted(reasons, key=lambda reason: (-reason.total, reason.text))


def _places(db: sqlite3.Connection, linker: Linker, reasons: Sequence[str]) -> list[Line]:
    rows = db.execute(
        "SELECT DISTINCT path, line FROM unresolved WHERE reason IN (SELECT value FROM json_each(?))"
        " ORDER BY path, line LIMIT ?",
        (json.dumps(reasons), _PLACES_SHOWN),
    )
    return [linker.place(path, line) for path, line in rows]


def _warnings(plan: SitePlan) -> list[str]:
    """What the indexer warned of, without the name of the folder that the tree stood in."""
    try:
        found = json.loads(plan.meta.get("warnings", "[]"))
    except ValueError:
        return []
    return [str(text).replace(plan.meta.get("tree", ""), "the tree") for text in found if isinstance(text, str)]
