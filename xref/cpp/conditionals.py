"""The #if structure of a C++ file: under which conditions a line is compiled, in words.

Only the nesting of directives is read here, token by token in the preprocessor's own line terms; what the code between
them means is libclang's business.
"""

from __future__ import annotations

import re
from bisect import bisect_right

_DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif|define)\b(.*)", re.DOTALL)
_NOT_CODE = re.compile(
    r"""
    //(?:\\\r?\n|[^\n])*                          # a comment to the end of the line, or of its continuation
    | /\*.*?(?:\*/|\Z)
    | \bu?8?U?L?R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z)
    | "(?:\\.|[^"\\\n])*"                         # kept: what looks like a comment inside is none
    | '(?:\\.|[^'\\\n])*'
    """,
    re.DOTALL | re.VERBOSE,
)

NEVER = "0"
"""The condition of code that is switched off."""


class Conditionals:
    """The conditions open at each line of one file. The include guard, and `__cplusplus`, are not conditions."""

    def __init__(self, source: str) -> None:
        self._lines: list[int] = [0]
        self._guards: list[tuple[str, ...]] = [()]
        stack: list[list[str]] = []  # the branches of each open #if so far; the last one is open
        guard_name = ""
        for line, kind, rest in _directives(source):
            if kind == "define":
                if guard_name and rest.split()[:1] == [guard_name] and len(stack) == 1:
                    stack[0] = [""]
                    guard_name = ""
                else:
                    continue
            elif kind in ("if", "ifdef", "ifndef"):
                words = _words(kind, rest)
                may_be_guard = words.startswith("not ") and not stack and len(self._lines) == 1
                guard_name = words.removeprefix("not ") if may_be_guard else ""
                stack.append([words])
            elif not stack:
                continue
            elif kind == "endif":
                stack.pop()
            else:
                stack[-1].append(_words(kind, rest))
            self._lines.append(line)
            self._guards.append(tuple(words for branches in stack if (words := _open_branch(branches))))

    def at(self, line: int) -> str:
        """The conditions under which `line` is compiled, joined by " and "; "" for none."""
        return " and ".join(self.all_at(line))

    def all_at(self, line: int) -> tuple[str, ...]:
        """The conditions of the #if around `line`, outermost first."""
        return self._guards[bisect_right(self._lines, line) - 1]


def _directives(source: str) -> list[tuple[int, str, str]]:
    """(line, keyword, rest) of each conditional directive and #define."""
    result = []
    lines = _NOT_CODE.sub(_blank, source).split("\n")
    i = 0
    while i < len(lines):
        text, start = lines[i].rstrip("\r"), i
        if "#" in text and text.lstrip().startswith("#"):
            while text.endswith("\\") and i + 1 < len(lines):
                i += 1
                text = text[:-1] + " " + lines[i].rstrip("\r")
            match = _DIRECTIVE.match(text)
            if match:
                result.append((start + 1, match.group(1), " ".join(match.group(2).split())))
        i += 1
    return result


def _blank(match: re.Match[str]) -> str:
    """A comment or a raw string as the line breaks in it; other literals as they are."""
    text = match.group()
    if text.startswith(('"', "'")):
        return text
    return " " + "\n" * text.count("\n")


def _words(kind: str, rest: str) -> str:
    if kind in ("ifdef", "elifdef"):
        return rest
    if kind in ("ifndef", "elifndef"):
        return f"not {rest}"
    if kind == "else":
        return "else"
    simple = re.fullmatch(r"(!?)\s*defined\s*\(?\s*(\w+)\s*\)?", rest)
    if simple:
        return f"not {simple.group(2)}" if simple.group(1) else simple.group(2)
    return rest


def _open_branch(branches: list[str]) -> str:
    """The open branch of an #if in words: an #else is what the branches before it are not."""
    current = branches[-1]
    if current in ("__cplusplus", ""):
        return ""
    if current != "else":
        return current
    negated = [b[4:] if b.startswith("not ") else f"not ({b})" if " " in b else f"not {b}" for b in branches[:-1] if b]
    return " and ".join(negated)
