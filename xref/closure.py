"""What can be reached along edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

Node = TypeVar("Node")


def closure(edges: Mapping[Node, Iterable[Node]], start: Iterable[Node]) -> list[Node]:
    """`start` and everything that `edges` leads to, each once, the nearest first."""
    order = list(dict.fromkeys(start))
    seen = set(order)
    for node in order:
        for target in edges.get(node, ()):
            if target not in seen:
                seen.add(target)
                order.append(target)
    return order
