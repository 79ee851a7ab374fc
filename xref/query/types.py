"""What answers are made of: plain rows and lists that `answers` fills and `text`, `json` write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from xref.model import Evidence, Id
from xref.query.names import SymbolRow

OBSERVED = "observed"
"""Evidence of a call that a run saw and that no static fact explains; no row of `calls` has it."""

OUTSIDE = "(outside the index)"
EVIDENCE = (*Evidence, OBSERVED)
"""The words that `--evidence` takes."""


def place_of(path: str | None, line: int) -> str:
    """path:line; the path alone when the line is unknown (a member that the compiler declares by itself)."""
    return "(outside the tree)" if path is None else f"{path}:{line}" if line else path


class KeyDefRow(NamedTuple):
    """A row of the view `key_defs`."""

    registry: str
    name: str
    side: str
    path: str
    line: int
    symbol_id: Id | None
    guard: str
    note: str


@dataclass(slots=True)
class CallSite:
    """The other end of a call: a caller or a callee, the site in `path`, and how often each run took it.

    `depth` counts the calls from the symbol asked about; `toward` is the next symbol on the way (depth > 1).
    `place` is where a callee is defined, "" outside the tree. `inside` names the inner function that makes the call.
    """

    id: Id
    name: str
    lang: str
    path: str
    line: int
    col: int
    evidence: str
    via: str
    runs: dict[str, int] = field(default_factory=dict)
    run_ns: dict[str, int] = field(default_factory=dict)
    depth: int = 1
    toward: str = ""
    place: str = ""
    inside: str = ""


class RefRow(NamedTuple):
    """A reference, and the qualname of the symbol around it ("" at file level)."""

    path: str
    line: int
    col: int
    role: str
    within: str


class Place(NamedTuple):
    """A row of the view `locations`."""

    kind: str
    path: str
    line: int
    end_line: int


class Crossing(NamedTuple):
    """A call through a key that a symbol makes at `line` of its file: the key, what it runs, and the registration.

    `place` and `registered` are path:line, or "" when unknown.
    """

    key: str
    line: int
    name: str
    place: str
    registered: str


class Relative(NamedTuple):
    """A class or method above or below another: `word` says how (`bases`, `overridden by`), `depth` how far."""

    word: str
    depth: int
    symbol: SymbolRow


@dataclass(slots=True)
class Match:
    """One symbol of an answer. What a verb does not ask for stays empty.

    `keys` run or name the symbol; `uses` are the calls that it makes through keys. `through` names the key by which a
    symbol is shown although the question does not name it. `why_none` is a sentence, or None when there is an answer
    in the symbol's own language.
    """

    symbol: SymbolRow
    public: str = ""
    keys: list[KeyDefRow] = field(default_factory=list)
    uses: list[Crossing] = field(default_factory=list)
    through: str = ""
    calls: list[CallSite] = field(default_factory=list)
    cut: dict[int, int] = field(default_factory=dict)
    why_none: str | None = None
    refs: list[RefRow] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    bases: list[str] = field(default_factory=list)
    relatives: list[Relative] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    unresolved: list[tuple[str, int, str, str]] = field(default_factory=list)
