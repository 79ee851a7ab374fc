"""Answers as text: one fact a line, path:line first, so that `grep`, an editor or a terminal can use it as it is.

A line stays within the width where a name can be shortened from the left (`…transform::FuseTIR`); a shortened name is a
question that xref understands.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from xref.model import Evidence, duration, shorten
from xref.query.converters import FRONTEND
from xref.query.hierarchy import grouped
from xref.query.keys import KeyAnswer, KeyCount
from xref.query.language import Answer
from xref.query.names import SymbolRow, components, params_of
from xref.query.path import PathAnswer
from xref.query.types import OBSERVED, CallSite, Match, place_of
from xref.query.why import LANGUAGES

WIDTH = 100
_LEAST_NAME = 24
_UNRESOLVED_SHOWN = 5
_CANDIDATES_SHOWN = 30
_PLACES_SHOWN = 8


def answer_lines(answer: Answer, limit: int = 0, width: int = WIDTH) -> Iterator[str]:
    """The lines of an answer on standard output. `limit` cuts each list of calls or references (0: no cut)."""
    if answer.path is not None:
        yield from _path_lines(answer.path, width)
    places = answer.verb == "where"
    matches = answer.matches[:limit] if places and limit else answer.matches
    for number, match in enumerate(matches):
        if number and not places:
            yield ""
        yield from _match_lines(match, answer.verb, limit, width)
    yield from _cut_line(len(answer.matches) - len(matches))
    for number, key in enumerate(answer.keys):
        if number or answer.matches:
            yield ""
        yield from key_lines(key, limit, width)
    if answer.candidates:
        yield from _candidate_lines(answer, width)


def trouble_lines(answer: Answer) -> Iterator[str]:
    """What goes to standard error when the question was not answered."""
    if answer.candidates:
        yield (
            f"{len(answer.candidates)} symbols are called {answer.name}: ask again with a longer name"
            " (Class::f, module.f), with its parameters, or with path:line"
        )
    elif answer.path is None and not (answer.matches or answer.keys):
        what = "key" if answer.verb == "key" else "symbol or key"
        yield f"no {what} is called {answer.name}"
        if answer.near:
            yield "near: " + ", ".join(answer.near)


def title(symbol: SymbolRow) -> str:
    """`tvm::relax::transform::FuseTIR()`: the qualified name with parameters: types in C++, names in Python."""
    if "(" not in symbol.signature or symbol.kind in ("lambda", "macro", "class"):
        return symbol.qualname
    params = params_of(symbol.name, symbol.signature)
    if symbol.lang == "cpp":
        params = [param.replace(" *", "*").replace(" &", "&") for param in params]
    else:
        params = [re.split(r"[:=]", param)[0].strip() for param in params]
    return f"{symbol.qualname}({', '.join(params)})"


def _heading(match: Match) -> str:
    symbol = match.symbol
    return f"{LANGUAGES.get(symbol.lang, symbol.lang)} {symbol.kind}  {title(symbol)}"


def _match_lines(match: Match, verb: str, limit: int, width: int) -> Iterator[str]:
    symbol = match.symbol
    if verb == "where":
        yield from _where_lines(match, width)
        return
    yield from _wrapped(_heading(match), width, "")
    declared = "  (declared only)" if symbol.path and not symbol.is_definition else ""
    yield f"  {place_of(symbol.path, symbol.line)}{declared}"
    if match.public != symbol.qualname:
        yield f"  imported as {match.public}"
    if match.through:
        yield f"  shown because it calls the key {match.through}"
    for key in match.keys:
        guard = f"  built under {key.guard}" if key.guard else ""
        yield f"  {key.path}:{key.line}  registers {key.registry} key {key.name}{guard}"
    calls = ""
    for use in match.uses if verb in ("callers", "overview") else ():
        if calls != (calls := f"  {place_of(symbol.path, use.line)}  calls key {use.key}"):
            yield calls
        if use.registered:
            yield f"    {use.registered}  registers it"
        yield f"    {use.place or '(outside the tree)'}  is {use.name}"
    if verb == "overview":
        yield from _overview_lines(match, width)
    elif verb == "hierarchy":
        yield from _relative_lines(match, limit, width)
    elif verb == "refs":
        yield from _ref_lines(match, limit, width)
    else:
        yield from _call_lines(match, verb, limit, width)


def _overview_lines(match: Match, width: int) -> Iterator[str]:
    others = [place for place in match.places if (place.path, place.line) != (match.symbol.path, match.symbol.line)]
    for place in others[:_PLACES_SHOWN]:
        yield f"  {place.path}:{place.line}  {place.kind}"
    if len(others) > _PLACES_SHOWN:
        yield f"  … {len(others) - _PLACES_SHOWN} more (`xref where` lists them)"
    for base in match.bases:
        yield f"  {base}"
    summary = _summary(match.symbol.doc)
    if summary:
        yield from _wrapped(f"doc: {summary}", width, "  ")
    counts = match.counts
    yield f"  calls of it: {counts['callers']}; calls from it: {counts['callees']}; references: {counts['refs']}"


def _summary(doc: str) -> str:
    """The first paragraph of a comment, up to doxygen's \\param and its like."""
    first = re.split(r"\n\s*\n|[\\@](?:sa|param|tparam|returns?|note|see|code)\b", doc.strip(), maxsplit=1)[0]
    return shorten(re.sub(r"[\\@]brief\s+", "", first), 300)


def _where_lines(match: Match, width: int) -> Iterator[str]:
    symbol = match.symbol
    kind = f"{LANGUAGES.get(symbol.lang, symbol.lang)} {symbol.kind}"
    places = [(place.path, place.line, place.kind) for place in match.places]
    if not places:
        places = [(symbol.path or "", symbol.line, "defined outside the tree" if symbol.path is None else "implicit")]
    for path, line, word in places:
        lead = f"{place_of(path or None, line)}  {word}  {kind}  "
        yield lead + shorten_name(title(symbol), width - len(lead))
    if match.public != symbol.qualname:
        yield f"    imported as {match.public}"
    for base in match.bases:
        yield f"    {base}"
    for key in match.keys:
        yield f"    {key.path}:{key.line}  registers {key.registry} key {key.name}"


def _call_lines(match: Match, verb: str, limit: int, width: int) -> Iterator[str]:
    near = sum(site.depth == 1 for site in match.calls)
    if near:
        noun = verb.removesuffix("s") if near == 1 else verb
        yield f"  {near} {noun}" if verb == "callers" else f"  {near} call{'s' if near > 1 else ''} from it"
    shown = match.calls[:limit] if limit else match.calls
    depth, inside = 1, ""
    before: list[str] = []
    for site in shown:
        if site.inside != inside:
            inside = site.inside
            yield f"   in {inside or title(match.symbol)}"
        if site.depth != depth:
            depth = site.depth
            count = sum(other.depth == depth for other in match.calls)
            yield f"  {count} at {depth} calls' distance"
        lines = _one_call(site, width)
        if lines != before:  # several calls of one function in one line of code
            yield from lines
        before = lines
    yield from _cut_line(len(match.calls) - len(shown))
    for distance, count in match.cut.items():
        yield f"  … {count} symbols at distance {distance} were not followed further"
    if match.why_none:
        yield from _wrapped(match.why_none, width, "  ")
    if verb == "callees" and match.calls:
        for path, line, text, reason in match.unresolved[:_UNRESOLVED_SHOWN]:
            yield f"    {path}:{line}  unresolved  {text}  ({reason})"
        yield from _cut_line(
            len(match.unresolved) - len(match.unresolved[:_UNRESOLVED_SHOWN]), "unresolved calls (--json lists all)"
        )


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _cut_line(count: int, what: str = "(--limit 0 shows all)") -> Iterator[str]:
    if count > 0:
        yield f"    … {count} more {what}"


def _took(site: CallSite, run: str) -> str:
    """The time of a run's calls; "" when it was not measured."""
    time = duration(site.run_ns.get(run))
    return f" {time}" if time else ""


def _one_call(site: CallSite, width: int) -> list[str]:
    """`path:line  evidence  name`, then what the edge goes by and what runs counted."""
    lead = f"    {place_of(site.path or None, site.line)}  {site.evidence}  "
    extra = ""
    if site.via and site.evidence != Evidence.DIRECT:  # there it is the receiver's type: the name says enough
        extra = f"  ({site.via})" if site.evidence == OBSERVED else f"  via {site.via}"
    extra += f"  -> {site.toward}" if site.toward else ""
    extra += "".join(f"  {run}: {count}x{_took(site, run)}" for run, count in site.runs.items())
    name = shorten_name(site.name, width - len(lead))
    where = f"  {site.place}" if site.place else ""
    line = lead + name + where + extra
    if len(line) <= width or not (where or extra):
        return [line]
    return [lead + name, "      " + (where + extra).strip()]


def shorten_name(name: str, room: int) -> str:
    """`name` without as many leading components as it takes to fit `room` characters, marked by an ellipsis."""
    if len(name) <= max(room, _LEAST_NAME):
        return name
    bare, paren, params = name.partition("(") if not name.startswith("(") else (name, "", "")
    parts = components(bare)
    joint = "::" if "::" in bare else "."
    short = name
    while len(parts) > 2 and len(short) > max(room, _LEAST_NAME):  # a method without its class says too little
        parts.pop(0)
        short = "…" + joint.join(parts) + paren + params
    return short


def _ref_lines(match: Match, limit: int, width: int) -> Iterator[str]:
    roles: dict[str, int] = {}
    for ref in match.refs:
        roles[ref.role] = roles.get(ref.role, 0) + 1
    counts = ", ".join(f"{count} {role}" for role, count in sorted(roles.items(), key=lambda item: (-item[1], item[0])))
    yield f"  {len(match.refs)} references" + (f": {counts}" if counts else "")
    shown = match.refs[:limit] if limit else match.refs
    for ref in shown:
        lead = f"    {ref.path}:{ref.line}:{ref.col}  {ref.role}  "
        yield (lead + shorten_name(ref.within, width - len(lead))).rstrip()
    yield from _cut_line(len(match.refs) - len(shown))


def _relative_lines(match: Match, limit: int, width: int) -> Iterator[str]:
    """Each group as a tree: the deeper, the further in."""
    for word, relatives in grouped(match.relatives).items():
        yield f"  {word}: {len(relatives)}"
        shown = relatives[:limit] if limit else relatives
        for relative in shown:
            lead = "  " * (relative.depth + 1) + f"{place_of(relative.symbol.path, relative.symbol.line)}  "
            yield lead + shorten_name(title(relative.symbol), width - len(lead))
        yield from _cut_line(len(relatives) - len(shown))
    if not match.relatives:
        yield "  nothing above it and nothing below it in the index"


def key_lines(key: KeyAnswer, limit: int = 0, width: int = WIDTH) -> Iterator[str]:
    """A key: each definition with its guard and what it runs, then the uses by status, then its relations."""
    yield f"{key.registry} key  {key.name}"
    for row in key.defs:
        guard = f"  built under {row.guard}" if row.guard else ""
        note = f"  ({row.note})" if row.note else ""
        yield f"  {row.path}:{row.line}  defined in {LANGUAGES.get(row.side, row.side)}{guard}{note}"
        target = key.runs.get(row.symbol_id) if row.symbol_id is not None else None
        if target:
            yield f"    {place_of(target.path, target.line)}  {target.kind}  {title(target)}"
    if not key.defs:
        yield "  no definition in the tree"
    for part in key.parts:
        guard = f"  built under {part.guard}" if part.guard else ""
        lead = f"  {part.path}:{part.line}  {part.name.removeprefix(key.name)}{guard}  "
        yield (lead + (shorten_name(part.runs, width - len(lead)) if part.runs else part.note)).rstrip()
    if not key.uses and key.registry == FRONTEND:
        yield "  used by way of the table that it stands in: ask who calls what it runs"
    elif not key.uses:
        yield "  no use found (one whose name is computed at run time from its first letter on is not followed)"
    shown = key.uses[:limit] if limit else key.uses
    for use in shown:
        lead = f"  {use.path}:{use.line}  {use.status} use  "
        yield (lead + shorten_name(use.within, width - len(lead))).rstrip()
    yield from _cut_line(len(key.uses) - len(shown))
    for kind, other in key.relations:
        yield f"  {kind} {other}"


def key_list_lines(keys: list[KeyCount], *, dangling: bool) -> Iterator[str]:
    """One key a line: registry, name, definitions and uses, and the first place."""
    for key in keys:
        count = f"{key.dangling} dangling" if dangling else f"{key.definitions} def  {key.uses} use"
        yield f"{key.path}:{key.line}  {key.registry}  {key.name}  {count}"


def _candidate_lines(answer: Answer, width: int) -> Iterator[str]:
    for symbol in answer.candidates[:_CANDIDATES_SHOWN]:
        lead = f"{place_of(symbol.path, symbol.line)}  {LANGUAGES.get(symbol.lang, symbol.lang)} {symbol.kind}  "
        yield lead + shorten_name(title(symbol), width - len(lead))
    more = len(answer.candidates) - _CANDIDATES_SHOWN
    if more > 0:
        yield f"… {more} more"


def _path_lines(path: PathAnswer, width: int) -> Iterator[str]:
    hops = path.search.hops
    if not hops:
        yield from _no_path_lines(path, width)
        return
    yield f"{len(hops)} call{'s' if len(hops) > 1 else ''}"
    first = path.names.get(hops[0].caller)
    if first:
        yield f"  {place_of(first.path, first.line)}  {title(first)}"
    for hop in hops:
        callee = path.names.get(hop.callee)
        lead = f"  {place_of(hop.path, hop.line)}  {hop.evidence}  "
        name = title(callee) if callee else "?"
        via = f"  via {hop.via}" if hop.via else ""
        line = lead + shorten_name(name, width - len(lead)) + via
        if len(line) <= width or not via:
            yield line
        else:
            yield from (line.removesuffix(via), f"     {via}")
    last = path.names.get(hops[-1].callee)
    if last:
        yield f"  {place_of(last.path, last.line)}  {title(last)}"


def _no_path_lines(path: PathAnswer, width: int) -> Iterator[str]:
    yield from _wrapped(f"no path: {path.why_none}", width, "")
    for word, symbols in (
        ("from", path.start),
        ("to", path.goal),
        ("what leads to the second begins at", path.begins),
    ):
        for number, symbol in enumerate(symbols[:_PLACES_SHOWN]):
            if not number:
                yield f"  {word}"
            lead = f"    {place_of(symbol.path, symbol.line)}  "
            yield lead + shorten_name(title(symbol), width - len(lead))
        yield from _cut_line(len(symbols) - _PLACES_SHOWN, "(--json lists all)")
    if path.unresolved:
        yield "  unresolved calls in what the first leads to"
        for place, line, text, reason in path.unresolved[:_PLACES_SHOWN]:
            yield from _wrapped(f"{place}:{line}  {text}  ({reason})", width, "    ")
        yield from _cut_line(len(path.unresolved) - _PLACES_SHOWN, "(--json lists all)")
