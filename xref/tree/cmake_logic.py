"""The syntax and the conditions of CMake: text to commands, if() arguments to clauses in words.

A condition is kept as a disjunction of clauses, each a set of literals that must all hold. Every literal knows whether
it holds in a default build, so that what is built anyway needs no mention.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

MAX_CLAUSES = 16
"""A condition that would grow beyond this is cut to its first clauses: guards are for reading."""

MAX_TOKENS = 120
"""A longer condition is no condition that a person wrote: it is not read, so that nesting cannot exhaust the stack."""

_TOKEN = re.compile(
    r"""\#\[(?P<ceq>=*)\[.*?\](?P=ceq)\]      # bracket comment
      | \#[^\n]*                              # comment
      | \[(?P<eq>=*)\[(?P<bracket>.*?)\](?P=eq)\]
      | "(?P<quoted>(?:[^"\\]|\\.)*)"
      | (?P<paren>[()])
      | (?P<bare>(?:[^\s()\#"\\]|\\.)+)
    """,
    re.VERBOSE | re.DOTALL,
)
_PLATFORM = frozenset(("WIN32", "MSVC", "APPLE", "UNIX", "ANDROID", "MINGW", "IOS"))
_FALSE = re.compile(r"(0|OFF|NO|FALSE|N|IGNORE|NOTFOUND|NONE|.*-NOTFOUND|)$", re.IGNORECASE)
_COMPARISONS = {
    "STREQUAL": "=", "EQUAL": "=", "MATCHES": " matches ", "GREATER": ">", "LESS": "<", "GREATER_EQUAL": ">=",
    "LESS_EQUAL": "<=", "STRLESS": "<", "STRGREATER": ">", "IN_LIST": " in ", "VERSION_EQUAL": "=",
    "VERSION_LESS": "<", "VERSION_GREATER": ">", "VERSION_GREATER_EQUAL": ">=", "VERSION_LESS_EQUAL": "<=",
    "PATH_EQUAL": "=", "IS_NEWER_THAN": " newer than ",
}  # fmt: skip
_TESTS = {"EXISTS": "exists", "IS_DIRECTORY": "is a folder", "TARGET": "is a target", "COMMAND": "is a command",
          "DEFINED": "is set", "POLICY": "is a policy", "TEST": "is a test", "IS_ABSOLUTE": "is absolute",
          "IS_SYMLINK": "is a link"}  # fmt: skip
_NAME = re.compile(r"\$(?:ENV)?\{([^{}]+)\}")


class Argument(NamedTuple):
    """One argument of a command as written; a quoted one is not split into a list."""

    text: str
    quoted: bool = False


class Command(NamedTuple):
    """`name(arguments)`; the name in lower case, since CMake's commands ignore case."""

    name: str
    arguments: tuple[Argument, ...]


class Literal(NamedTuple):
    """An elementary condition in words. `by_default`: whether it holds when nothing is configured; None: unknown.
    `settable`: whether it is about an option or the platform, which a user can choose."""

    text: str
    positive: bool
    by_default: bool | None
    settable: bool

    def negated(self) -> Literal:
        return self._replace(
            positive=not self.positive, by_default=None if self.by_default is None else not self.by_default
        )

    def words(self) -> str:
        return self.text if self.positive else f"not {self.text}"


Clause = frozenset[Literal]
Condition = tuple[Clause, ...]
"""Any of the clauses holds; `ALWAYS` is one empty clause."""
ALWAYS: Condition = (frozenset(),)

Lookup = Callable[[str], str | None]
"""The value of a variable in a default build; None when it has none that is known."""


def commands(text: str) -> Iterator[Command]:
    """The commands of a CMake file in order; text that is no command is passed over, as a reader would."""
    name = ""
    depth = 0
    arguments: list[Argument] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "paren" and match["paren"] == "(":
            depth += 1
            if depth > 1:
                arguments.append(Argument("("))
        elif kind == "paren":
            depth = max(depth - 1, 0)
            if depth:
                arguments.append(Argument(")"))
            elif name:
                yield Command(name, tuple(arguments))
                name, arguments = "", []
        elif kind == "bare" and not depth:
            name, arguments = match["bare"].lower(), []
        elif kind == "bare":
            arguments.append(Argument(match["bare"]))
        elif kind == "quoted":
            arguments.append(Argument(re.sub(r'\\(["\\$#() ;@])', r"\1", match["quoted"]), quoted=True))
        elif kind == "bracket":
            arguments.append(Argument(match["bracket"], quoted=True))


def parse_condition(arguments: Sequence[Argument], lookup: Lookup, is_option: Callable[[str], bool]) -> Condition:
    """The condition of an if(): CMake's precedence (tests, comparisons, NOT, AND, OR). Never fails: what it cannot
    read becomes one literal with the text as written."""
    parser = _Parser(list(arguments), lookup, is_option)
    result = parser.either()
    if parser.rest:
        text = " ".join(argument.text for argument in arguments)
        return (frozenset((Literal(text, positive=True, by_default=None, settable=False),)),)
    return result


def both(left: Condition, right: Condition) -> Condition:
    """left AND right."""
    found = dict.fromkeys(one | other for one in left for other in right)
    return tuple(clause for clause in found if not _contradicts(clause))[:MAX_CLAUSES]


def negate(condition: Condition) -> Condition:
    """NOT condition."""
    result = ALWAYS
    for clause in condition:
        result = both(result, tuple(frozenset((literal.negated(),)) for literal in sorted(clause)))
    return result


def simplify(clauses: Iterable[Clause]) -> Condition:
    """Drop clauses that another one covers; merge A with (not A and B) into A or B, until nothing changes."""
    found = set(clauses)
    while True:
        for one in sorted(found, key=len):
            if len(one) == 1:
                opposite = next(iter(one)).negated()
                found = {other - {opposite} if opposite in other else other for other in found}
        kept = {one for one in found if not any(other < one for other in found)}
        if kept == found:
            return tuple(sorted(kept, key=_order))
        found = kept


def in_words(clauses: Iterable[Clause]) -> str:
    """What a user must set to have any of the clauses, as words; "" when a default build has one of them.

    Literals that hold by default are left out, and those that nobody can set (a library that was found) when others
    remain. Several clauses of several literals are given by the options that they share.
    """
    reduced = simplify(_settable(frozenset(item for item in clause if not item.by_default)) for clause in clauses)
    if not reduced or frozenset() in reduced:
        return ""
    if len(reduced) == 1 or all(len(clause) == 1 for clause in reduced):
        return " or ".join(_clause_words(clause) for clause in reduced)
    shared = _shared_options(reduced)
    return shared or " or ".join(_clause_words(clause) for clause in reduced[:2])


def leading_name(text: str) -> str:
    """The variable that a literal's words begin with."""
    found = re.match(r"\w*", text)
    return found[0] if found else ""


def is_false(value: str) -> bool:
    """Whether CMake takes `value` as false: 0, OFF, NO, FALSE, N, IGNORE, empty, NOTFOUND; TVM's "none" too."""
    return bool(_FALSE.match(value))


def _settable(clause: Clause) -> Clause:
    chosen = frozenset(literal for literal in clause if literal.settable)
    return chosen or clause


def _shared_options(clauses: Condition) -> str:
    """The names that every clause needs, whatever the value."""
    names = [frozenset(leading_name(literal.text) for literal in clause if literal.positive) for clause in clauses]
    return " and ".join(sorted(frozenset.intersection(*names)))


def _clause_words(clause: Clause) -> str:
    return " and ".join(literal.words() for literal in sorted(clause, key=lambda item: (not item.positive, item.text)))


def _order(clause: Clause) -> tuple[int, str]:
    return len(clause), _clause_words(clause)


def _contradicts(clause: Clause) -> bool:
    return any(literal.negated() in clause for literal in clause)


class _Parser:
    """A recursive descent over the arguments of an if()."""

    def __init__(self, tokens: list[Argument], lookup: Lookup, is_option: Callable[[str], bool]) -> None:
        self.rest = tokens
        self.lookup = lookup
        self.is_option = is_option

    def either(self) -> Condition:
        result = self.all_of()
        while self._accept("OR"):
            result = (*result, *self.all_of())[:MAX_CLAUSES]
        return result

    def all_of(self) -> Condition:
        result = self.one()
        while self._accept("AND"):
            result = both(result, self.one())
        return result

    def one(self) -> Condition:
        if len(self.rest) > MAX_TOKENS:
            return ALWAYS
        if self._accept("NOT"):
            return negate(self.one())
        if self._accept("("):
            inner = self.either()
            self._accept(")")
            return inner
        if not self.rest:
            return ALWAYS
        token = self.rest.pop(0)
        if not token.quoted and token.text in _TESTS and self.rest:
            operand = self.rest.pop(0)
            return self._literal(f"{_name(operand.text)} {_TESTS[token.text]}", self._test(token.text, operand))
        if len(self.rest) > 1 and not self.rest[0].quoted and self.rest[0].text in _COMPARISONS:
            operator, right = self.rest.pop(0).text, self.rest.pop(0)
            return self._comparison(token, operator, right)
        return self._truth(token)

    def _accept(self, word: str) -> bool:
        if self.rest and self.rest[0].text == word and not self.rest[0].quoted:
            self.rest.pop(0)
            return True
        return False

    def _literal(self, text: str, by_default: bool | None) -> Condition:
        name = leading_name(text)
        settable = name in _PLATFORM or self.is_option(name)
        return (frozenset((Literal(text, positive=True, by_default=by_default, settable=settable),)),)

    def _value(self, token: Argument) -> str | None:
        """The token's text in a default build: a reference, or the name of a variable, stands for its value."""
        if "${" in token.text:
            names = _NAME.findall(token.text)
            return self.lookup(names[0]) if len(names) == 1 and _NAME.fullmatch(token.text) else None
        known = None if token.quoted else self.lookup(token.text)
        return token.text if known is None else known

    def _truth(self, token: Argument) -> Condition:
        name = _name(token.text)
        if name in _PLATFORM:
            return self._literal(name, None)
        if "${" not in token.text and (token.text.upper() in ("TRUE", "ON", "YES", "1")):
            return ALWAYS
        value = self.lookup(name)
        return self._literal(name, value is not None and not is_false(value))

    def _test(self, test: str, operand: Argument) -> bool | None:
        value = self._value(operand)
        if test == "DEFINED":
            return self.lookup(_name(operand.text)) is not None
        return False if test == "IS_DIRECTORY" and value is not None and is_false(value) else None

    def _comparison(self, left: Argument, operator: str, right: Argument) -> Condition:
        name = _name(left.text)
        if operator == "MATCHES" and "IS_FALSE_PATTERN" in right.text:
            return negate(self._truth(Argument(name)))
        if operator == "MATCHES" and "IS_TRUE_PATTERN" in right.text:
            return self._truth(Argument(name))
        if operator == "STREQUAL" and self.is_option(name) and is_false(right.text):
            return negate(self._truth(Argument(name)))
        by_default = None
        if operator == "STREQUAL" and (self.is_option(name) or self.lookup(name) is not None):
            by_default = self._value(left) == self._value(right)
        return self._literal(f"{name}{_COMPARISONS[operator]}{_name(right.text)}", by_default)


def _name(text: str) -> str:
    """`X` of `${X}`, `"${X}"` and `X`; other text as it is."""
    whole = _NAME.fullmatch(text)
    return whole[1] if whole else text
