"""Calls of which libclang shows nothing, in a statement that did not compile or a part that it leaves out: by tokens.

`unk::F(x)` with `unk` undeclared is dropped with the whole statement, and so is a range-for over it with its body, or
the definition of a method of a class that is missing. In the statements that clang reports an error of, each name that
is written as a call's and of which the walk has no fact is a row in `unresolved`; so also in what libclang has no
cursors for, the value of a variable template and `switch (f(); x)`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from xref.cpp.clang import CXCursor, Diagnostic
from xref.cpp.dependent import NOT_COMPILED
from xref.cpp.tokens import IDENTIFIER, Token, file_tokens, left_out_lines
from xref.cpp.walk import Walk
from xref.model import FileFacts, Id, Unresolved, shorten

NOT_SHOWN = "in code that libclang does not show"
_CLOSED_BY = {"(": ")", "[": "]", "{": "}"}
_TYPE_OR_NAMESPACE = frozenset(("class", "struct", "union", "enum", "namespace", "extern"))
_BEFORE_BODY = frozenset((")", "const", "override", "final", "noexcept", "mutable", "try", "&", "&&", "else", "do"))
"""What stands before the body of a function, a loop or a branch."""


def note_lost_calls(walk: Walk, root: CXCursor, errors: Iterable[Diagnostic]) -> None:
    """Add a row for each lost call in the owned files of the unit `root`; they count as call expressions."""
    lines: dict[str, set[int]] = defaultdict(set)
    for error in errors:
        lines[walk.paths.relative_name(error.file) if error.file else ""].add(error.line)
    hidden: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for path, first, last in walk.hidden:
        hidden[path].append((first, last))
    for path, facts in walk.facts.items():
        if not lines.get(path) and path not in hidden:
            continue
        name = walk.paths.absolute(path)
        left_out = left_out_lines(root, name)
        tokens = [token for token in file_tokens(root, name) if token.line not in left_out]
        lost = dict.fromkeys(_in_ranges(tokens, hidden[path]), NOT_SHOWN)
        lost.update(
            (at, NOT_COMPILED) for at in _in_statements(tokens, lines[path], walk.function_ranges.get(path, ()))
        )
        _note(walk, path, facts, tokens, lost)


def _note(walk: Walk, path: str, facts: FileFacts, tokens: list[Token], lost: dict[int, str]) -> None:
    """Add a row for each of the names (by index, with the reason) of which nothing is known."""
    source, known = walk.source_of(path), _Known(facts)
    for at, reason in lost.items():
        token, first = tokens[at], tokens[_first(tokens, at)]
        if not known.has(token, first):
            within = _innermost(walk.function_ranges.get(path, ()), token.offset)
            written = source[first.offset : tokens[_closing(tokens, at + 1)].offset + 1].decode("utf-8", "replace")
            facts.unresolved.append(Unresolved(token.line, token.col, within, shorten(written), reason))
            walk.call_expressions += 1


class _Known:
    """The facts that a walk has of a file's calls, by place."""

    def __init__(self, facts: FileFacts) -> None:
        self._named = {(ref.line, ref.col) for ref in facts.refs}
        self._texts: dict[tuple[int, int], list[str]] = defaultdict(list)
        texts = [(row.line, row.col, row.text) for row in facts.unresolved]
        texts += [(row.line, row.col, row.text) for row in facts.dependent]
        for line, col, text in texts:
            self._texts[line, col].append(text)

    def has(self, name: Token, start: Token) -> bool:
        """Whether the name has a fact, or the expression that it ends: `x.name(..)` stands at x."""
        places = {(name.line, name.col), (start.line, start.col)}
        return (name.line, name.col) in self._named or any(
            name.text in text for place in places for text in self._texts.get(place, ())
        )


def _in_ranges(tokens: list[Token], ranges: Iterable[tuple[int, int]]) -> Iterator[int]:
    """The index of each name before a `(` whose offset is within one of the ranges."""
    for first, last in ranges:
        for at in range(len(tokens) - 1):
            if first <= tokens[at].offset < last and _is_called(tokens, at):
                yield at


def _is_called(tokens: list[Token], at: int) -> bool:
    return tokens[at].kind == IDENTIFIER and tokens[at + 1].text == "("


def _in_statements(tokens: list[Token], lines: set[int], functions: Sequence[tuple[int, int, Id]]) -> Iterator[int]:
    """The index of each name before a `(` in a statement with an error in one of `lines`, and in the block that such a
    statement opens. Outside functions it may be a declarator, unless it stands in that block or behind a `=`."""
    until = -1  # the last token of such a block
    for start, end in _statements(tokens):
        has_error = any(tokens[i].line in lines for i in range(start, end + 1))
        if has_error or start <= until:
            assigned = next((i for i in range(start, end) if tokens[i].text == "="), end)
            for at in range(start, end):
                is_code = at > assigned or start <= until
                if _is_called(tokens, at) and (is_code or _innermost(functions, tokens[at].offset) is not None):
                    yield at
        if has_error and end > start and tokens[end].text == "{" and tokens[end - 1].text in _BEFORE_BODY:
            until = max(until, _closing(tokens, end))


def _statements(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """(first, last) of each run of tokens that `;` ends, or a brace that opens or closes a block. What stands in other
    brackets, the body of a lambda in them too, is of the statement around them."""
    start = 0
    expected: list[str] = []
    for at, token in enumerate(tokens):
        if expected and token.text == expected[-1]:
            expected.pop()
        elif token.text in ("(", "[") or (token.text == "{" and (expected or not _is_block(tokens, start, at))):
            expected.append(_CLOSED_BY[token.text])
        elif not expected and token.text in (";", "{", "}"):
            yield start, at
            start = at + 1


def _is_block(tokens: list[Token], start: int, at: int) -> bool:
    """Whether the brace opens a block, a class or a namespace; else it holds a value: `x = {1}`, `T{1}`."""
    if at == start or tokens[at - 1].text in _BEFORE_BODY:
        return True
    head = {token.text for token in tokens[start:at]}
    return bool(head & _TYPE_OR_NAMESPACE) or {")", "->"} <= head


def _closing(tokens: list[Token], opening: int) -> int:
    """The index of the bracket that closes the one at `opening`."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at].text in _CLOSED_BY) - (tokens[at].text in _CLOSED_BY.values())
        if not depth:
            return at
    return len(tokens) - 1


def _first(tokens: list[Token], at: int) -> int:
    """The index at which the expression begins that the name at `at` ends: x of `x->y.name`, `f(1).name`."""
    while at > 1 and tokens[at - 1].text in ("::", ".", "->"):
        at -= 2
        if tokens[at].text not in (")", "]"):
            continue
        depth = 1
        while depth and at > 0:
            at -= 1
            depth += (tokens[at].text in (")", "]")) - (tokens[at].text in ("(", "["))
        if at > 0 and tokens[at - 1].kind == IDENTIFIER:
            at -= 1
    return at


def _innermost(ranges: Iterable[tuple[int, int, Id]], offset: int) -> Id | None:
    around = [r for r in ranges if r[0] <= offset <= r[1]]
    return min(around, key=lambda r: r[1] - r[0])[2] if around else None
