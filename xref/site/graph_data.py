"""The whole call graph as data for the browser: drawings of functions that have none made at build, paths between two.

Nodes are numbered in the order of the code; edges stand by caller. `templates/callgraph.js` reads it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import compress

from xref.graph import ENCLOSES
from xref.model import Evidence, Id
from xref.site import urls
from xref.site.assets import script_data
from xref.site.callgraph import KINDS
from xref.site.calls import EVIDENCE_WORDS
from xref.site.drawable import GIVEN, HUB_CALLERS, in_tests
from xref.site.facts import STRENGTH
from xref.site.names import LOCAL_KINDS
from xref.site.outputs import Output
from xref.site.plan import SitePlan

EDGES, RAN = "graph/edges.js", "graph/ran.js"
_DIGIT = bytes((ord("0") + number) % 256 for number in range(256))
"""A byte as the character with that number after "0"."""
HOPS = 6
"""Calls of an example's chain at most: enough to see keys and dispatch, few enough to be read."""
_LANGS = ("cpp", "python", "cython")


def examples(plan: SitePlan) -> list[tuple[Id, Id]]:
    """Functions to begin with, each with one that a chain of calls leads to: where the walks begin, and how far their
    calls reach; without walks, what a key joins in two languages."""
    chosen: list[tuple[Id, Id]] = []
    for walk in plan.walks:
        steps = [step.symbol for step in walk.steps if step.symbol in plan.packing.address]
        reached = _reached(plan, steps[0], set(steps[1:])) if steps else {}
        far = [step for step in steps if step in reached]
        if far:
            chosen.append((steps[0], max(far, key=lambda step: reached[step])))
    if not chosen:
        pairs = sorted(
            (-sum(plan.observed.get((edge.caller, edge.callee), {}).values()), -plan.callers.get(edge.caller, 0),
             plan.names[edge.caller].qualname, edge.caller, edge.callee)
            for id_ in plan.drawn for edge in plan.graph.callees(id_)
            if edge.evidence == Evidence.REGISTRY and edge.callee in plan.packing.address
        )  # fmt: skip
        chosen = [pair[3:] for pair in pairs[:1]]
    return chosen


def _reached(plan: SitePlan, start: Id, goals: set[Id]) -> dict[Id, int]:
    """How many calls lead to each of `goals`, where as many do as the page looks for."""
    found: dict[Id, int] = {}
    seen, frontier = {start}, [start]
    for hops in range(1, HOPS + 1):
        further = []
        for id_ in frontier:
            for edge in plan.graph.callees(id_):
                if edge.callee not in seen and edge.evidence != Evidence.NAME:
                    seen.add(edge.callee)
                    further.append(edge.callee)
        found |= {id_: hops for id_ in further if id_ in goals}
        frontier = further
        if len(found) == len(goals) or not frontier:
            break
    return found


def graph_files(plan: SitePlan) -> Iterator[Output]:
    """The graph, and how often each run took which edge."""
    names = plan.names
    nodes = sorted(
        (id_ for id_ in plan.graph.ids if id_ in plan.packing.address and names[id_].kind not in LOCAL_KINDS),
        key=lambda id_: (names[id_].file, names[id_].line, id_),
    )
    number = {id_: at for at, id_ in enumerate(nodes)}
    number_at = [number.get(id_, -1) for id_ in plan.graph.ids]
    kinds = sorted({names[id_].kind for id_ in nodes})
    edges = plan.graph.leaving(nodes)
    own = [names[id_].file for id_ in nodes]
    to = [number_at[callee] for callee in edges.callee]
    good = [target >= 0 and target != source for target, source in zip(to, edges.source, strict=True)]
    to, sources = list(compress(to, good)), list(compress(edges.source, good))
    counts = Counter(sources)
    ends = zip(compress(edges.file, good), sources, strict=True)
    words = {**EVIDENCE_WORDS, ENCLOSES: "written inside it"}
    yield Output(EDGES, script_data(EDGES, {
        "codes": " ".join(plan.packing.code[id_] for id_ in nodes),
        "labels": "\n".join(plan.names[id_].short.replace("\n", " ") for id_ in nodes),
        "params": {number[id_]: text for id_, text in plan.parameters.items() if id_ in number},
        "pages": " ".join(_page_of(plan, id_) for id_ in nodes),
        "kinds": kinds,
        "kind": [kinds.index(plan.names[id_].kind) for id_ in nodes],
        "lang": "".join(str(_LANGS.index(plan.names[id_].lang)) for id_ in nodes),
        "file": [plan.names[id_].file for id_ in nodes],
        "away": sorted(plan.away),
        "wide": [number[id_] for id_ in sorted(plan.dispatchers) if id_ in number],
        "tests": [at for at, file in enumerate(plan.files) if in_tests(file.path)],
        "given": [KINDS.index(kind) for kind in GIVEN],
        "quiet": "".join("1" if plan.names[id_].is_quiet else "0" for id_ in nodes),
        "files": [file.path if urls.source_url(file.path) == f"source/{file.path}.html"
                  else [file.path, urls.source_url(file.path)] for file in plan.files],
        "outlines": " ".join(urls.outline_url(file.path)[2:].removesuffix(".html") for file in plan.files),
        "evidence": [[kind, words[kind], STRENGTH.get(kind, 99)] for kind in KINDS],
        "weak": KINDS.index(Evidence.NAME), "hub": HUB_CALLERS,
        "out": [counts[at] for at in range(len(nodes))], "to": to,
        "ev": bytes(compress(edges.kind, good)).translate(_DIGIT).decode(),
        "macro": bytes(compress(edges.macro, good)).translate(_DIGIT).decode(),
        "line": list(compress(edges.line, good)),
        "at": [0 if file == own[source] else file + 1 for file, source in ends],
        "via": {at: via for at, via in enumerate(compress(edges.via, good)) if via},
    }))  # fmt: skip
    yield Output(RAN, script_data(RAN, _ran(plan, number)))


def _page_of(plan: SitePlan, id_: Id) -> str:
    """Where a symbol stands: "" on its own page, "-" among its file's symbols, else the code of the page's symbol."""
    page, mark, _ = plan.packing.address[id_].partition("#")
    if not mark:
        return "."
    if page.startswith("s/"):
        return page[2:].removesuffix(".html").replace("/", "")
    return "-" if page.startswith("f/") else page


def _ran(plan: SitePlan, number: dict[Id, int]) -> dict[str, list[int]]:
    """Run -> caller, callee, count, caller, callee, count, ..."""
    result: dict[str, list[int]] = {run.id: [] for run in plan.runs}
    for (caller, callee), counts in sorted(plan.observed.items()):
        if caller in number and callee in number:
            for run, count in counts.items():
                result.setdefault(run, []).extend((number[caller], number[callee], count))
    return result
