"""What a call does in the solver: binds arguments to parameters, makes objects, leads results back."""

from __future__ import annotations

from typing import NamedTuple

from xref.python.flow.summary import NOTHING


class Site(NamedTuple):
    """A call, or what acts like one. Nodes are the graph's. `number` is the same for every frame that the code is
    analysed in; `position` is 0 where nothing is to be reported."""

    number: int
    code: int
    position: int
    target: int
    positional: tuple[int, ...] = ()
    keywords: tuple[tuple[str, int], ...] = ()
    starred: tuple[int, ...] = ()
    doubled: tuple[int, ...] = ()
    callee: int = NOTHING
    is_decoration: bool = False
    how: str = ""
    """The special method that is called, where no parentheses show a call."""
    is_guess: bool = False
    """What runs here only runs if something else does not, and we do not know that."""
    follows: str = ""
    """The comparison at the same place whose result is tested for truth, as `operate` takes it."""
    is_key: bool = False
    """A dict or set asks its key."""
    is_rest: bool = False
    """The receiver is of a class that it is declared to be of, but is not known to be made of."""

    def bare(self, target: int) -> Site:
        """A call of which nothing is written, at the same place, whose result goes to the node `target`."""
        return self._replace(positional=(), keywords=(), starred=(), doubled=(), target=target, callee=NOTHING)

    def silent(self) -> Site:
        """The same call, without a report."""
        return self._replace(position=0)
