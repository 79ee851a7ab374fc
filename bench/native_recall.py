"""How many of the C++ calls that really ran does an index know: python bench/native_recall.py RECORD... --db INDEX.

A RECORD is a callgrind output file (`valgrind --tool=callgrind`, a library with its symbols), or lines of demangled
`caller <tab> callee`, gzipped or not; several are one record. Names are compared in one spelling: no parameters, no
template arguments, no return type; a lambda counts as the function around it, a compiler's clone as its original.

Judged are the distinct calls between two different functions of TVM, the machinery of object lifetime aside, since the
compiler places those calls. A call is found when the index has it, or a chain of at most five calls whose inner
functions never appear in the record: those were inlined. Each miss is printed with what the index knows about it.

An optimizer inlines a function at one call and not at the next, and a name without template arguments stands for many
functions, so that an inlined function may appear in the record all the same. A chain counts as inlining when the
compiler could have inlined each inner function: its body stands in a header, or in the file that the caller stands in.
Such misses are reported apart: `inlined here, called elsewhere` when the record shows no call of an inner function by
the caller, `inlined here, called by the same function too` when it shows one (at another place of the caller, or in
another instance of a template).
"""

from __future__ import annotations

import argparse
import gzip
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

from xref.model import ExitCode, XrefError
from xref.store import open_index

TARGET = 0.97
"""Recall below this fails (exit code 1)."""
MAX_CHAIN = 5
"""Calls from the observed caller to the observed callee, through inlined functions."""
_UNITS = (".cc", ".cpp", ".cu", ".mm", ".c")
"""Files that are compiled by themselves: only their own functions can be inlined from them."""
LIFETIME = ("DecRef", "IncRef", "Deleter_")
_CLONE = re.compile(r"\s*\[clone [^\]]*\]|\[abi:\w+\]|'\d+$|\.(isra|part|constprop|cold|lto_priv)(\.\d+)*")
_OPERATOR = re.compile(r"operator\s*(\(\)|\[\]|->\*?|<=>|<<=?|>>=?|<=|>=|<|>|[-+*/%^&|~!=,]+)")
_QUALIFIERS = frozenset(("const", "volatile", "noexcept", "&", "&&", "*", "[static]"))
_COMPRESSED = re.compile(r"\((\d+)\)(?: (.*))?$")
_ANONYMOUS = "\x01"
"""Stands for `(anonymous)` while brackets are removed."""


class Pair(NamedTuple):
    """A call between two functions, by their names in the common spelling."""

    caller: str
    callee: str


def spell(name: str) -> str:
    """The common spelling of a demangled name, or of a qualified name of the index."""
    name = _CLONE.sub("", name)
    name = name.replace("(anonymous namespace)", _ANONYMOUS).replace("(anonymous)", _ANONYMOUS)
    text = "".join(_outside_brackets(name)).replace(_ANONYMOUS, "(anonymous)").split("::{lambda}")[0]
    words = [word for word in text.split() if word not in _QUALIFIERS]
    for at, word in enumerate(words):
        if word.endswith("operator"):  # a conversion: its type is part of the name, qualified in a demangled one only
            return " ".join((word, *(part.rsplit("::", 1)[-1] for part in words[at + 1 :])))
    return words[-1].lstrip("*&") if words else ""


def _outside_brackets(name: str) -> Iterator[str]:
    depth = at = 0
    while at < len(name):
        operator = _OPERATOR.match(name, at) if name.startswith("operator", at) else None
        if operator:
            if not depth:
                yield f"operator{operator.group(1)}"
            at = operator.end()
            continue
        character = name[at]
        if character in "<({":
            if not depth and name.startswith("{lambda", at):
                yield "{lambda}"
            depth += 1
        elif character in ">)}":
            depth -= 1
        elif not depth:
            yield character
        at += 1


def callgrind_pairs(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(caller, callee) of each call in a callgrind output file (its format: the Callgrind manual, "Format
    Specification"; a name is written once, then by number)."""
    names: dict[str, str] = {}
    caller = callee = ""
    for line in lines:
        kind, _, value = line.rstrip("\n").partition("=")
        if kind not in ("fn", "cfn", "calls"):
            continue
        if kind == "calls":
            yield caller, callee
            continue
        found = _COMPRESSED.match(value)
        if found:
            number, written = found.groups()
            if written is not None:
                names[number] = written
            value = names.get(number, "")
        if kind == "fn":
            caller = value
        else:
            callee = value


def record_pairs(path: Path) -> Iterator[tuple[str, str]]:
    """(caller, callee), demangled, of each line of a record of either form. Raises OSError."""
    with _open(path) as lines:
        first = lines.readline()
        if first.startswith(("# callgrind format", "version:", "creator:")):
            yield from callgrind_pairs(lines)
            return
        for line in (first, *lines):
            fields = line.rstrip("\n").split("\t")
            if len(fields) > 1:
                yield fields[0], fields[1]


def _open(path: Path) -> IO[str]:
    return gzip.open(path, "rt", errors="replace") if path.suffix == ".gz" else path.open(errors="replace")


@dataclass
class Observed:
    """The calls of a record that can be judged, and every function that appears in it."""

    pairs: set[Pair] = field(default_factory=set)
    appeared: set[str] = field(default_factory=set)

    def add(self, calls: Iterable[tuple[str, str]]) -> None:
        """Add a record's calls."""
        for caller, callee in {(spell(a), spell(b)) for a, b in set(calls)}:
            self.appeared.update((caller, callee))
            in_tvm = caller.startswith("tvm::") and callee.startswith("tvm::")
            if in_tvm and caller != callee and not _is_lifetime(caller) and not _is_lifetime(callee):
                self.pairs.add(Pair(caller, callee))


def _is_lifetime(name: str) -> bool:
    last = name.rsplit("::", 1)[-1]
    return last.startswith("~") or last in LIFETIME


def _is_compiler_made(name: str) -> bool:
    """Constructors and assignments, which may be implicit."""
    parts = name.split("::")
    return parts[-1] == "operator=" or (len(parts) > 1 and parts[-1] == parts[-2])


class Known:
    """What an index says of C++ functions, by name in the common spelling."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.bodies: dict[str, bool] = {}
        """Function -> whether its body was read."""
        self.files: dict[str, set[str]] = {}
        """Function -> the files in which its bodies stand, "" for all headers. What a compiler makes by itself (line 0)
        stands where its class stands."""
        spelled: dict[int, str] = {}
        for id_, qualname, defined, made, path in db.execute(
            "SELECT s.id, s.qualname, s.is_definition AND s.path IS NOT NULL, s.line = 0 AND c.path IS NOT NULL,"
            " coalesce(s.path, c.path) FROM symbols s LEFT JOIN symbols c ON c.id = s.parent_id WHERE s.lang = 'cpp'"
        ):
            name = spelled[id_] = spell(qualname)
            self.bodies[name] = self.bodies.get(name, False) or bool(defined)
            if defined or made:
                self.files.setdefault(name, set()).add(path if path.endswith(_UNITS) else "")
        self.calls: dict[str, set[str]] = {}
        for caller, callee in db.execute("SELECT DISTINCT caller_id, callee_id FROM calls WHERE evidence <> 'name'"):
            if caller in spelled and callee in spelled:
                self.calls.setdefault(spelled[caller], set()).add(spelled[callee])
        self.unresolved: dict[str, list[str]] = {}
        for within, text in db.execute("SELECT in_symbol_id, text FROM unresolved WHERE in_symbol_id IS NOT NULL"):
            if within in spelled:
                self.unresolved.setdefault(spelled[within], []).append(text)

    def reaches(self, pair: Pair, appeared: set[str]) -> bool:
        """Whether the call is known, directly or through functions that are not in `appeared`."""
        frontier, seen = {pair.caller}, {pair.caller}
        for _ in range(MAX_CHAIN):
            step: set[str] = set().union(*(self.calls.get(name, ()) for name in frontier))
            if pair.callee in step:
                return True
            frontier = {name for name in step if name not in seen and name not in appeared}
            seen |= frontier
        return False

    def inlinable(self, caller: str, barred: set[str]) -> set[str]:
        """The functions that the caller reaches through calls of functions whose bodies its compiler saw, none of them
        in `barred`. A caller in a header is compiled with whatever unit the chain enters first."""
        frontier = {(caller, file) for file in self.files.get(caller, ())}
        seen, found = set(frontier), set()
        for _ in range(MAX_CHAIN):
            step = set()
            for name, unit in frontier:
                called = self.calls.get(name, set())
                found |= called
                for inner in called - barred:
                    visible = {file for file in self.files.get(inner, ()) if not file or not unit or file == unit}
                    step |= {(inner, file or unit) for file in visible}
            frontier = step - seen
            seen |= frontier
        return found

    def why_missed(self, pair: Pair) -> str:
        """What the index does know about a missed call."""
        for end, name in zip(("caller", "callee"), pair, strict=True):
            if name not in self.bodies:
                return f"{end} not in the index"
        if not self.bodies[pair.caller]:
            return "the caller's body was not read"
        last = re.escape(pair.callee.rsplit("::", 1)[-1])
        if any(re.search(rf"(?<!\w){last}(?!\w)", text) for text in self.unresolved.get(pair.caller, ())):
            return "an unresolved call in the caller spells the callee's name"
        if pair.caller in self.unresolved:
            return "the caller has unresolved calls"
        return "no call of it in the caller"


INLINED_HERE = "inlined here, called elsewhere"
INLINED_ONCE = "inlined here, called by the same function too"
INLINED = (INLINED_HERE, INLINED_ONCE)


def explain(missed: list[Pair], observed: Observed, known: Known) -> dict[Pair, str]:
    """Why each call was missed."""
    called: dict[str, set[str]] = {}
    for pair in observed.pairs:
        called.setdefault(pair.caller, set()).add(pair.callee)
    reasons: dict[Pair, str] = {}
    for caller in dict.fromkeys(pair.caller for pair in missed):
        elsewhere, once = known.inlinable(caller, called[caller]), known.inlinable(caller, set())
        for pair in (pair for pair in missed if pair.caller == caller):
            if pair.callee in elsewhere:
                reasons[pair] = INLINED_HERE
            else:
                reasons[pair] = INLINED_ONCE if pair.callee in once else known.why_missed(pair)
    return reasons


def judge(observed: Observed, known: Known) -> tuple[set[Pair], list[Pair]]:
    """The judged calls, and those missed, sorted. Implicit constructors and assignments that the index does not know
    are not judged."""
    judged = {
        pair
        for pair in observed.pairs
        if not any(_is_compiler_made(name) and name not in known.bodies for name in pair)
    }
    return judged, sorted(pair for pair in judged if not known.reaches(pair, observed.appeared))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the misses and the recall; 1 when it is below `TARGET`, 5 when the records hold nothing to judge."""
    parser = argparse.ArgumentParser(description=__doc__.split(":", 1)[0])
    parser.add_argument("records", type=Path, nargs="+", metavar="RECORD")
    parser.add_argument("--db", type=Path, default=Path("data/xref.db"))
    options = parser.parse_args(arguments)
    observed = Observed()
    try:
        for path in options.records:
            observed.add(record_pairs(path))
        with closing(open_index(options.db)) as db:
            known = Known(db)
    except (XrefError, OSError) as error:
        print(f"native_recall: {error}", file=sys.stderr)
        return error.exit_code if isinstance(error, XrefError) else ExitCode.UNUSABLE_INPUT
    judged, missed = judge(observed, known)
    if not judged:
        print("native_recall: no call between two functions of TVM: was the library stripped?", file=sys.stderr)
        return ExitCode.UNUSABLE_INPUT
    reasons = explain(missed, observed, known)
    for pair, reason in sorted(reasons.items(), key=lambda item: (item[1], item[0])):
        print(f"missed\t{reason}\t{pair.caller}\t{pair.callee}")
    for reason, count in Counter(reasons.values()).most_common():
        print(f"{count:6} {reason}")
    recall = 1 - len(missed) / len(judged)
    print(f"recall {recall:.4f}: {len(judged) - len(missed)} of {len(judged)} judged calls")
    elsewhere = sum(reason == INLINED_HERE for reason in reasons.values())
    inlined = sum(reason in INLINED for reason in reasons.values())
    print(f"{1 - (len(missed) - elsewhere) / len(judged):.4f} where inlining is told by the caller")
    print(f"{1 - (len(missed) - inlined) / len(judged):.4f} where inlining is told call by call")
    return ExitCode.DONE if recall >= TARGET else ExitCode.NOTHING


if __name__ == "__main__":
    sys.exit(main())
