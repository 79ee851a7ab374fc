"""Chooses the headers that are precompiled beside the common ones, each for the units that begin with it.

The common headers are those that so many units include that an edit of one has nearly everything parsed again anyway.
Others are included by few of all units, and take most of the time of these: the sixty units of TVM's meta schedule read
87 headers each by way of one, in 0.9 s of 1.1 (main, clang 18). A unit takes one header that it includes itself at its
head, where nothing that it defines can change what the header says; so it depends on no file that it would not see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from xref.closure import closure
from xref.cpp.includes import IncludeScan

LEAST_UNITS = 3
"""Fewer do not pay for making it."""
LEAST_BYTES = 40_000
"""Of text that the header adds to the common ones: less is parsed sooner than loaded."""


def shared_headers(
    units: list[str], graph: Mapping[str, list[str]], common: set[str], scan: IncludeScan
) -> dict[str, str]:
    """Unit -> the header to precompile for it, of `units`; `graph` leads from a file to those that it includes, and
    `common` are the headers that are precompiled for all."""
    held = set(closure(graph, sorted(common)))
    leading = {unit: [header for header in scan.leading(unit) if header not in held] for unit in units}
    users = Counter(header for headers in leading.values() for header in set(headers))
    adds = {
        header: sum(scan.size(path) for path in closure(graph, [header]) if path not in held)
        for header, count in users.items()
        if count >= LEAST_UNITS
    }
    chosen: dict[str, str] = {}
    for unit, headers in leading.items():
        fit = [header for header in headers if adds.get(header, 0) >= LEAST_BYTES]
        if fit:
            chosen[unit] = max(fit, key=lambda header: (adds[header], header))
    taken = Counter(chosen.values())
    return {unit: header for unit, header in chosen.items() if taken[header] >= LEAST_UNITS}
