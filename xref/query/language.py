"""The question language: English phrases as a table of terms, each leading to a verb, and the verbs themselves.

`ask` takes a question, `run` a verb and its names; both give an `Answer`, which `text` and `json` write.
A name that means several things is answered for each while they are few, else its candidates are listed.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from xref.model import ExitCode, XrefError
from xref.query import answers
from xref.query import keys as query_keys
from xref.query.converters import FRONTEND
from xref.query.hierarchy import KINDS, hierarchy
from xref.query.names import SymbolRow, find
from xref.query.near import near_keys, near_names
from xref.query.path import PathAnswer, find_path
from xref.query.types import Match
from xref.query.why import unresolved_inside, why_no_callees, why_no_callers

TERMS: tuple[tuple[str, str], ...] = (
    ("who calls {a}", "callers"),
    ("what calls {a}", "callers"),
    ("who invokes {a}", "callers"),
    ("where is {a} called", "callers"),
    ("where is {a} called from", "callers"),
    ("callers of {a}", "callers"),
    ("calls to {a}", "callers"),
    ("what does {a} call", "callees"),
    ("who does {a} call", "callees"),
    ("what is called by {a}", "callees"),
    ("callees of {a}", "callees"),
    ("calls from {a}", "callees"),
    ("who uses key {a}", "key"),
    ("where is {a} used", "refs"),
    ("who uses {a}", "refs"),
    ("what uses {a}", "refs"),
    ("references to {a}", "refs"),
    ("references of {a}", "refs"),
    ("refs to {a}", "refs"),
    ("uses of {a}", "refs"),
    ("where is {a} registered", "key"),
    ("who registers {a}", "key"),
    ("what registers {a}", "key"),
    ("what is key {a}", "key"),
    ("who converts {a}", "converter"),
    ("who converts {a} {b}", "converter"),
    ("what converts {a}", "converter"),
    ("which function converts {a}", "converter"),
    ("which function converts {a} {b}", "converter"),
    ("where is {a} defined", "where"),
    ("where is {a} declared", "where"),
    ("where is {a}", "where"),
    ("definition of {a}", "where"),
    ("definitions of {a}", "where"),
    ("find {a}", "where"),
    ("hierarchy of {a}", "hierarchy"),
    ("bases of {a}", "hierarchy"),
    ("what does {a} derive from", "hierarchy"),
    ("subclasses of {a}", "hierarchy"),
    ("what derives from {a}", "hierarchy"),
    ("overrides of {a}", "hierarchy"),
    ("what overrides {a}", "hierarchy"),
    ("who overrides {a}", "hierarchy"),
    ("what does {a} override", "hierarchy"),
    ("path from {a} to {b}", "path"),
    ("how does {a} reach {b}", "path"),
    ("how does {a} get to {b}", "path"),
    ("how does {a} call {b}", "path"),
    ("does {a} reach {b}", "path"),
    ("does {a} call {b}", "path"),
    ("how do i get from {a} to {b}", "path"),
    ("from {a} to {b}", "path"),
    ("what is {a}", "overview"),
    ("tell me about {a}", "overview"),
    ("callers {a}", "callers"),
    ("callees {a}", "callees"),
    ("refs {a}", "refs"),
    ("where {a}", "where"),
    ("hierarchy {a}", "hierarchy"),
    ("key {a}", "key"),
    ("path {a} {b}", "path"),
)
"""Phrases, tried in this order: of two that fit, the more special stands first. `{a}` and `{b}` are names."""

EXAMPLES = (
    "who calls {a}",
    "what does {a} call",
    "where is {a}",
    "uses of {a}",
    "path from {a} to {b}",
    "who registers {a}",
)
"""The phrases that an error message offers."""

MAX_NAMES = 6
"""Up to so many different qualified names one question is answered for; more, and the candidates are listed."""

MAX_MATCHES = 24
"""As `MAX_NAMES`, counting each overload."""

_WRAPPERS = 3
_NOT_CALLED = frozenset(
    (
        *("namespace", "module", "enum", "enumerator", "field", "variable", "typedef", "attribute", "property"),
        *("constant", "parameter", "local", "alias", "concept", "template_parameter"),
    )
)
_NAME = r"(?:(?:the\s+)?(?:(?:c\+\+|python)\s+)?(?:function|method|class|pass|macro|key)\s+)?(\S+)"
_INNER_BLANKS = re.compile(r"\([^()]*\)|\{[^{}]*\}|<[^<>]*>|\boperator\s+\w+")
_BLANK = "\x00"


@dataclass(frozen=True, slots=True)
class Options:
    """What narrows an answer: a language, kinds of evidence, distance in calls, roles of references, a registry."""

    lang: str | None = None
    evidence: Collection[str] | None = None
    depth: int = 1
    max_hops: int = 12
    roles: Collection[str] = ()
    registry: str | None = None


@dataclass(slots=True)
class Answer:
    """An answer in words still unwritten. `candidates` are what an ambiguous name may mean, `near` what a typo may."""

    question: str
    verb: str
    name: str
    matches: list[Match] = field(default_factory=list)
    keys: list[query_keys.KeyAnswer] = field(default_factory=list)
    path: PathAnswer | None = None
    candidates: list[SymbolRow] = field(default_factory=list)
    near: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 when the question was answered, 1 when the name is unknown or ambiguous, or there is no path."""
        found = self.matches or self.keys or (self.path and self.path.search.hops)
        return ExitCode.DONE if found else ExitCode.NOTHING


def parse_question(text: str) -> tuple[str, tuple[str, ...]]:
    """`who calls FuseTIR` -> ("callers", ("FuseTIR",)); a bare name asks for the overview.

    Names have no blanks but inside brackets and after `operator`. Raises `XrefError` (exit code 2) when the words are
    none of `TERMS`.
    """
    words = text.replace("`", " ").rstrip(" ?")
    while (joined := _INNER_BLANKS.sub(lambda match: re.sub(r"\s+", _BLANK, match[0]), words)) != words:
        words = joined
    for phrase, verb in (*TERMS, ("{a}", "overview")):
        if match := _pattern(phrase).fullmatch(words.strip()):
            return verb, tuple(name.replace(_BLANK, " ").strip("\"'") for name in match.groups())
    forms = ", ".join(f'"{phrase}"'.replace("{a}", "X").replace("{b}", "Y") for phrase in EXAMPLES)
    raise XrefError(f"cannot read the question {text!r}: ask {forms} or a bare name", ExitCode.USAGE)


def _pattern(phrase: str) -> re.Pattern[str]:
    words = [_NAME if word in ("{a}", "{b}") else re.escape(word) for word in phrase.split()]
    return re.compile(r"\s+".join(words), re.IGNORECASE)


def ask(db: sqlite3.Connection, question: str, options: Options | None = None) -> Answer:
    """The answer to a question in words. Raises `XrefError` (exit code 2) when it cannot be read."""
    verb, names = parse_question(question)
    return run(db, verb, names, options, question=question)


def run(
    db: sqlite3.Connection,
    verb: str,
    names: tuple[str, ...],
    options: Options | None = None,
    *,
    question: str | None = None,
) -> Answer:
    """The answer of one verb of `VERBS` about one name (`path`: two)."""
    # an argument that is not UTF-8 is no name of the index, and SQLite could not even be asked
    names = tuple(name.encode("utf-8", "replace").decode("utf-8") for name in names)
    answer = Answer(question or " ".join((verb, *names)), verb, names[0])
    VERBS[verb](db, answer, names, options or Options())
    return answer


def _candidates(db: sqlite3.Connection, answer: Answer, name: str, options: Options) -> list[SymbolRow]:
    """The symbols called `name`, functions and classes alone if there are any; near names go into the answer."""
    found = find(db, name, options.lang)
    if not found:
        answer.near = near_names(db, name)
        return []
    symbols = found.symbols
    if answer.verb in ("callers", "callees", "path"):
        symbols = [symbol for symbol in symbols if symbol.kind not in _NOT_CALLED] or symbols
    elif answer.verb == "hierarchy":
        symbols = [symbol for symbol in symbols if symbol.kind in KINDS] or symbols
    if answer.verb != "path" and not symbols:
        answer.keys = [query_keys.key(db, *key) for key in found.keys]
    return symbols


def _each(
    db: sqlite3.Connection,
    answer: Answer,
    name: str,
    options: Options,
    one: Callable[[SymbolRow], Match],
) -> None:
    symbols = _candidates(db, answer, name, options)
    if len({symbol.qualname for symbol in symbols}) > MAX_NAMES or len(symbols) > MAX_MATCHES:
        answer.candidates = symbols
        return
    answer.matches = [one(symbol) for symbol in symbols]


def _callers(db: sqlite3.Connection, answer: Answer, names: tuple[str, ...], options: Options) -> None:
    def one(symbol: SymbolRow) -> Match:
        match = answers.callers(db, symbol)
        match.why_none = why_no_callers(db, match)
        answers.narrow(db, match, "callers", options.evidence, options.depth)
        return match

    _each(db, answer, names[0], options, one)
    if options.lang is None:
        for symbol, key in answers.wrappers(db, answer.matches, _WRAPPERS):
            wrapper = one(symbol)
            wrapper.through = key
            answer.matches.append(wrapper)


def _callees(db: sqlite3.Connection, answer: Answer, names: tuple[str, ...], options: Options) -> None:
    def one(symbol: SymbolRow) -> Match:
        match = answers.callees(db, symbol)
        match.why_none = why_no_callees(db, match)
        answers.narrow(db, match, "callees", options.evidence, options.depth)
        match.unresolved = unresolved_inside(db, symbol)
        return match

    _each(db, answer, names[0], options, one)


def _where(db: sqlite3.Connection, answer: Answer, names: tuple[str, ...], options: Options) -> None:
    answer.matches = [answers.where(db, symbol) for symbol in _candidates(db, answer, names[0], options)]


def _hierarchy(db: sqlite3.Connection, answer: Answer, names: tuple[str, ...], options: Options) -> None:
    _each(db, answer, names[0], options, lambda symbol: hierarchy(db, symbol))


def _refs(db: sqlite3.Connection, answer: Answer, names: tuple[str, ...], options: Options) -> None:
    _each(db, answer, names[0], options, lambda symbol: answers.refs(db, symbol, options.roles))


def _overview(db: sqlite3.Connection, answer: Answer, names: tuple[str, ...], options: Options) -> None:
    _each(db, answer, names[0], options, lambda symbol: answers.overview(db, symbol))


def _key(db: sqlite3.Connection, answer: Answer, names: tuple[str, ...], options: Options) -> None:
    query_keys.check_registry(db, options.registry)
    _keys(db, answer, names[0], options.registry)


def _keys(db: sqlite3.Connection, answer: Answer, name: str, registry: str | None) -> None:
    keys = query_keys.find_keys(db, name, registry)
    answer.keys = [query_keys.key(db, registry, name) for registry, name in keys]
    if not keys:
        answer.near = near_keys(db, name)


def _converter(db: sqlite3.Connection, answer: Answer, names: tuple[str, ...], _options: Options) -> None:
    answer.verb, answer.name = "key", " ".join(names)
    _keys(db, answer, answer.name, FRONTEND)


def _path(db: sqlite3.Connection, answer: Answer, names: tuple[str, ...], options: Options) -> None:
    ends = []
    for name in names:
        answer.name = name
        symbols = _candidates(db, answer, name, options)
        if not symbols:
            return
        ends.append(symbols)
    answer.path = find_path(db, ends[0], ends[1], options.evidence, options.max_hops)


VERBS: dict[str, Callable[[sqlite3.Connection, Answer, tuple[str, ...], Options], None]] = {
    "callers": _callers,
    "callees": _callees,
    "where": _where,
    "hierarchy": _hierarchy,
    "refs": _refs,
    "path": _path,
    "key": _key,
    "converter": _converter,
    "overview": _overview,
}
