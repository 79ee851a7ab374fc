"""Answers as JSON objects (docs/cli.md, "JSON"): keys stay, new ones may come, a change of meaning raises `schema`."""

from __future__ import annotations

from typing import Any

from xref.query.hierarchy import grouped
from xref.query.keys import KeyAnswer
from xref.query.language import Answer
from xref.query.names import SymbolRow
from xref.query.path import PathAnswer
from xref.query.types import CallSite, Match

SCHEMA = 1
Object = dict[str, Any]


def answer_object(answer: Answer, limit: int = 0) -> Object:
    """The whole answer; `limit` cuts each list of callers, callees or references (0: no cut) and tells its `total`."""
    result: Object = {"schema": SCHEMA, "question": answer.question, "verb": answer.verb}
    if answer.path is not None:
        return result | _path(answer.path)
    if answer.verb == "key":
        result["keys"] = [key_object(key) for key in answer.keys]
    else:
        matches = answer.matches[:limit] if limit and answer.verb == "where" else answer.matches
        result["matches"] = [_match(match, answer.verb, limit) for match in matches]
        if answer.keys:
            result["keys"] = [key_object(key) for key in answer.keys]
    if answer.candidates:
        result["candidates"] = [symbol_object(symbol) for symbol in answer.candidates]
    if answer.near:
        result["near"] = answer.near
    return result


def symbol_object(symbol: SymbolRow) -> Object:
    """How every answer names a symbol. `path` is null outside the tree; line 0 is unknown."""
    return {
        "symbol": symbol.qualname,
        "lang": symbol.lang,
        "kind": symbol.kind,
        "signature": symbol.signature,
        "path": symbol.path,
        "line": symbol.line,
    }


def _match(match: Match, verb: str, limit: int) -> Object:
    result = symbol_object(match.symbol) | {
        "public": match.public,
        "keys": list(dict.fromkeys(key.name for key in match.keys)),
        "registrations": [
            {"registry": k.registry, "name": k.name, "side": k.side, "path": k.path, "line": k.line, "guard": k.guard}
            for k in match.keys
        ],
    }
    if verb in ("callers", "callees"):
        calls = match.calls[:limit] if limit else match.calls
        result |= {verb: [_call(site) for site in calls], "total": len(match.calls), "why_none": match.why_none}
        if match.cut:
            result["cut"] = {str(distance): count for distance, count in match.cut.items()}
    if verb == "callers":
        result |= {"through": match.through or None}
    if verb == "callees":
        result["unresolved"] = _unresolved(match.unresolved)
    if verb in ("callers", "overview"):
        result["crossings"] = [crossing._asdict() for crossing in match.uses]
    if verb in ("where", "overview"):
        result |= {
            "doc": match.symbol.doc,
            "locations": [place._asdict() for place in match.places],
            "aliases": match.aliases,
            "relations": match.bases,
        }
    if verb == "overview":
        result["counts"] = match.counts
    if verb == "hierarchy":
        result |= _relatives(match, limit)
    if verb == "refs":
        refs = match.refs[:limit] if limit else match.refs
        result |= {"refs": [ref._asdict() for ref in refs], "total": len(match.refs)}
    return result


def _relatives(match: Match, limit: int) -> Object:
    shown = {word: relatives[:limit] if limit else relatives for word, relatives in grouped(match.relatives).items()}
    return {
        "relatives": [
            {"relation": word, "depth": relative.depth} | symbol_object(relative.symbol)
            for word, relatives in shown.items()
            for relative in relatives
        ],
        "total": len(match.relatives),
    }


def _call(site: CallSite) -> Object:
    result: Object = {
        "name": site.name,
        "path": site.path,
        "line": site.line,
        "col": site.col,
        "evidence": site.evidence,
        "via": site.via,
        "runs": site.runs,
        "run_ns": site.run_ns,
    }
    if site.place:
        result["place"] = site.place
    if site.inside:
        result["inside"] = site.inside
    if site.depth > 1:
        result |= {"depth": site.depth, "toward": site.toward}
    return result


def key_object(key: KeyAnswer) -> Object:
    """A key with its definitions, uses and relations."""
    definitions = []
    for row in key.defs:
        target = key.runs.get(row.symbol_id) if row.symbol_id is not None else None
        definitions.append(
            {
                "side": row.side,
                "path": row.path,
                "line": row.line,
                "guard": row.guard,
                "note": row.note,
                "runs": symbol_object(target) if target else None,
            }
        )
    return {
        "registry": key.registry,
        "name": key.name,
        "definitions": definitions,
        "uses": [use._asdict() for use in key.uses],
        "relations": [{"kind": kind, "other": other} for kind, other in key.relations],
        "parts": [part._asdict() for part in key.parts],
    }


def _path(path: PathAnswer) -> Object:
    hops = []
    for hop in path.search.hops:
        ends = [path.names.get(id_) for id_ in (hop.caller, hop.callee)]
        caller, callee = (end.qualname if end else None for end in ends)
        hops.append(
            {
                "from": caller,
                "to": callee,
                "path": hop.path,
                "line": hop.line,
                "evidence": hop.evidence,
                "via": hop.via,
            }
        )
    return {
        "from": [symbol_object(symbol) for symbol in path.start],
        "to": [symbol_object(symbol) for symbol in path.goal],
        "hops": hops,
        "why_none": path.why_none,
        "begins": [symbol_object(symbol) for symbol in path.begins],
        "unresolved": _unresolved(path.unresolved),
    }


def _unresolved(rows: list[tuple[str, int, str, str]]) -> list[Object]:
    return [{"path": path, "line": line, "text": text, "reason": reason} for path, line, text, reason in rows]
