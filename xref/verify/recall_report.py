"""`xref verify --runs` in words and in JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from xref.verify.recall import Recall

_WHAT = {
    "python": "Python function to Python function",
    "ffi": "Python function to the function that its key runs",
    "callback": "FFI function to the Python function that C++ entered inside it",
    "native": "C++ function to C++ function",
}


def recall_object(recalls: dict[str, Recall]) -> dict[str, Any]:
    """What `--json` writes."""
    return {
        "schema": 1,
        "kinds": {
            kind: {
                "observed": one.observed, "found": one.found, "share": round(one.share, 4), "inlined": one.inlined,
                "binding": one.binding, "outside": one.outside, "evidence": dict(one.evidence.most_common()),
                "missing": [row._asdict() for row in one.missing],
            }
            for kind, one in recalls.items()
        },
    }  # fmt: skip


def recall_lines(recalls: dict[str, Recall], limit: int | None) -> Iterator[str]:
    """The same in words, with at most `limit` missing calls of each kind (None: all)."""
    yield "observed calls between symbols of the index, and how many of them it contains"
    for kind, one in recalls.items():
        evidence = ", ".join(f"{word} {number:,}" for word, number in one.evidence.most_common())
        share = f"{one.found:,} of {one.observed:,}" + (f" ({100 * one.share:.1f} %)" if one.observed else "")
        yield f"  {kind:9} {share}{': ' if evidence else ''}{evidence}"
        yield f"            {_WHAT[kind]}"
        if one.inlined:
            yield f"            {one.inlined:,} more lead there through functions that the compiler may have inlined"
        if one.binding:
            yield f"            {one.binding:,} more lead there through the binding, which converts arguments by them"
        if one.outside:
            yield f"            {one.outside:,} more have a caller that is not in the index, and are not judged"
    for kind, one in recalls.items():
        if one.missing:
            yield f"missing, {kind}: {len(one.missing):,}"
            yield from _reasons(one)
            for row in one.missing[:limit]:
                site = f"  {row.path}:{row.line}" if row.path else ""
                yield f"  {row.calls:>7}x  {row.caller} -> {row.callee}{site}"
            if limit is not None and len(one.missing) > limit:
                yield f"  … {len(one.missing) - limit:,} more (--limit 0 shows all)"


def _reasons(one: Recall) -> Iterator[str]:
    # What stands in brackets is the text of one call.
    reasons = Counter(row.reason.partition(" (")[0] for row in one.missing)
    for reason, number in reasons.most_common():
        yield f"  {number:>6,} {reason}"
