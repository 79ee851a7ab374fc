"""Functions of Python that C++ was given: where an FFI function is called that may run them, and which are sure.

Values of all callers meet in a parameter. So where C++ does not say that it takes a function (`Any`, packed arguments),
and other things meet in the argument, one of the callers may have given the function to another call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xref.python.flow.graph import BOUND, FUNCTION
from xref.python.flow.solver import Solver

MAX_KEPT = 80
"""Functions that C++ may run on behalf of an object: more belong to a base class of everything."""


class HandedOver(NamedTuple):
    """Where `caller` calls the FFI function `key`, C++ may run the function `code`; both codes by their numbers."""

    caller: int
    position: int
    code: int
    key: str
    is_sure: bool


def handed_over(solver: Solver) -> Iterator[HandedOver]:
    """Those of a solved program: given to the call itself, or kept by an object that the call is given."""
    graph = solver.graph
    rows = {row: _is_sure(solver, row) for row in solver.handed_over}
    given = {item for (_, _, item, _), is_sure in rows.items() if is_sure}
    """Functions that some call surely gave to C++."""
    for caller, position, number, key in solver.reached:
        kept = solver.kept(number)
        if len(kept) <= MAX_KEPT:
            for item in kept:
                rows.setdefault((caller, position, item, key), item in given)
    for (caller, position, item, key), is_sure in rows.items():
        function = graph.firsts[item] if graph.kinds[item] == BOUND else item
        if position and graph.kinds[function] == FUNCTION:
            yield HandedOver(caller, position, graph.firsts[function], key, is_sure)


def _is_sure(solver: Solver, row: tuple[int, int, int, str]) -> bool:
    node = solver.untold.get(row)
    held = solver.graph.held(node) if node is not None else ()
    return row in solver.sure.handed_over and all(solver.graph.kinds[one] in (FUNCTION, BOUND) for one in held)
