"""Holds the index to the README's numbers: python bench/run_recall.py INDEX.

The README says which share of the calls that the demo's compilation made the index contains. This measures the same on
the index that `make demo` made, and fails when a number has fallen by more than a point, so that nobody loses edges
unnoticed; and when one has risen by more than a point, so that the README stays true and the next fall is seen.

Exit codes: 0 as the README says; 1 another number; 3 no index; 5 the README has no numbers.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from xref.model import ExitCode, XrefError
from xref.store import open_index
from xref.verify.recall import Recall, measure

TOLERANCE = 0.01
"""Part of all observed calls; at least one call, of which some kinds have few."""
_ROW = re.compile(r"\| `(\w+)`[^|]* \| ([\d,]+) \| ([\d.]+) % \| ([\d.]+) % \|")
ROOT = Path(__file__).parent.parent


class Stated(NamedTuple):
    """A row of the README's table: shares from 0 to 1, of calls in the index, and with those that lead there through
    functions in between.
    """

    share: float
    through: float


def stated(readme: str) -> dict[str, Stated]:
    """Kind of call -> what the README says of it. Raises `XrefError` (exit code 5) when it says nothing."""
    rows = {kind: Stated(float(share) / 100, float(through) / 100)
            for kind, _, share, through in _ROW.findall(readme)}  # fmt: skip
    if not rows:
        raise XrefError("the README has no table of recall: see bench/run_recall.py", ExitCode.UNUSABLE_INPUT)
    return rows


def differences(said: dict[str, Stated], measured: dict[str, Recall]) -> Iterator[str]:
    """What is not as the README says, in words."""
    for kind, row in said.items():
        recall = measured.get(kind)
        if recall is None or not recall.observed:
            yield f"{kind}: the README has {100 * row.share:.1f} %, and no such call was observed"
            continue
        slack = max(TOLERANCE, 1 / recall.observed) + 0.0005  # the README has one decimal
        through = (recall.found + recall.inlined + recall.binding) / recall.observed
        for what, was, now in (
            ("in the index", row.share, recall.share),
            ("with others between", row.through, through),
        ):
            if abs(now - was) > slack:
                word = "fell" if now < was else "rose (write that into the README)"
                yield f"{kind}, {what}: {word} from {100 * was:.1f} to {100 * now:.1f} % of {recall.observed}"


def main() -> int:
    """Print what was measured, and what differs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("index", type=Path, help="the index that `make demo` made, with its run")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    options = parser.parse_args()
    try:
        said = stated(options.readme.read_text(encoding="utf-8"))
        with closing(open_index(options.index)) as db:
            measured = measure(db)
    except XrefError as error:
        print(f"run_recall: {error}", file=sys.stderr)
        return error.exit_code
    for kind, recall in measured.items():
        through = recall.found + recall.inlined + recall.binding
        print(f"{kind}: {recall.found} of {recall.observed} ({100 * recall.share:.1f} %),"
              f" with others between {through} ({100 * through / max(recall.observed, 1):.1f} %)")  # fmt: skip
    wrong = list(differences(said, measured))
    for line in wrong:
        print(f"run_recall: {line}", file=sys.stderr)
    return ExitCode.NOTHING if wrong else ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main())
