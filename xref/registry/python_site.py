"""What a registry mechanism is shown of Python code: one call or decorator, with its names already resolved.

A mechanism is a function from a `Site` to key facts; it compares resolved names with its table of forms, so that an
alias is found wherever it was imported from, and a name that merely looks alike is not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from xref.model import Id, KeyDef, KeyUse

PYTHON = "python"


@dataclass(slots=True)
class KeyFacts:
    """Definitions and uses of keys found so far in one file."""

    definitions: list[KeyDef] = field(default_factory=list)
    uses: list[KeyUse] = field(default_factory=list)
    unreadable: list[tuple[ast.expr, Id, str]] = field(default_factory=list)
    """What could not be read: the expression, the symbol around it, and the reason."""


class Text(NamedTuple):
    """A string that an expression can be, and the line of what decides it: the literal, a table's row, a call."""

    text: str
    line: int
    origin: str = ""
    """The row of another file's table that gives the string: `path:line`."""


Setter = tuple[int, str, int, int]
"""Of a function that sets an attribute of operators: the index of its parameter for the operator, the attribute's name
("" when a parameter gives it), that parameter's index (-1 for none), and the index of the value's (-1 for none)."""


@dataclass(frozen=True, slots=True)
class Site:
    """A call, or a decorator without parentheses (`call` is None then).

    `name`: dotted name of the callee, through every import ("tvm_ffi.registry.register_object"). `decorated`: id and
    name of the function or class below the decorator. `within`: the enclosing symbol. `called`: whether the result is
    called at once. `line`, `column`: of the callee's own name. `position` and `symbol` give an expression's line and
    column, and the id of the symbol that it names, if any. `values` gives what an expression may stand for: the values
    that a variable is assigned, the branches of a conditional, else itself. `wrapper`: the type-key prefix of a
    wrapping decorator. `setter`: how the callee sets an attribute of an operator (xref.registry.python_ops). `body`:
    the function of the file, or the only value of the variable, that an expression names. `texts`: all strings that an
    expression can be, none when one of them is unknown (xref.python.constants); `own_texts`: likewise, but what callers
    give for a parameter counts as unknown. `coped`: whether a handler around the call copes with a missing name.
    """

    name: str
    call: ast.Call | None
    decorated: tuple[Id, str] | None
    within: Id
    called: bool
    line: int
    column: int
    position: Callable[[ast.expr], tuple[int, int]]
    symbol: Callable[[ast.expr], Id | None]
    values: Callable[[ast.expr], list[ast.expr]]
    wrapper: str = ""
    setter: Setter | None = None
    body: Callable[[ast.expr], ast.AST | None] = lambda _: None
    texts: Callable[[ast.expr], list[Text]] = lambda _: []
    own_texts: Callable[[ast.expr], list[Text]] = lambda _: []
    coped: bool = False

    def argument(self, position: int, keyword: str = "") -> ast.expr | None:
        """The argument at `position`, or passed as `keyword`; None when absent or hidden behind `*args`."""
        if self.call is None:
            return None
        for at, argument in enumerate(self.call.args):
            if isinstance(argument, ast.Starred):
                break
            if at == position:
                return argument
        return next((k.value for k in self.call.keywords if keyword and k.arg == keyword), None)

    def names(self, argument: ast.expr) -> list[str]:
        """The names that an argument may be, with a final `*` where one goes on at run time."""
        names: list[str] = []
        for value in self.values(argument):
            known = [text.text for text in self.own_texts(value)]
            prefix = self.prefix(value) if not known else ""
            names += known or ([f"{prefix}*"] if prefix else [])
        return list(dict.fromkeys(names))

    def prefix(self, node: ast.expr) -> str:
        """The beginning of a string that is completed at run time; it may be a constant's (`PREFIX + name`)."""
        begin = literal_prefix(node)
        if begin:
            return begin
        first = node.left if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) else None
        if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.FormattedValue):
            first = node.values[0].value
        known = self.own_texts(first) if first is not None else []
        if first is None or len(known) != 1:
            return self.prefix(first) if isinstance(first, ast.BinOp) else ""
        if isinstance(node, ast.JoinedStr):
            return known[0].text + literal_prefix(ast.JoinedStr(node.values[1:]))
        assert isinstance(node, ast.BinOp)
        return known[0].text + literal_prefix(node.right)


def among(name: str, forms: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether the dotted `name` is one of `forms`: last component -> modules that ever held it."""
    home, _, last = name.rpartition(".")
    return home in forms.get(last, ())


def literal(node: ast.expr | None) -> str | None:
    """The string that `node` is, adjacent literals and `+` of literals joined; None when part of it is computed."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = literal(node.left), literal(node.right)
        return left + right if left is not None and right is not None else None
    if isinstance(node, ast.JoinedStr):
        parts = [literal(part) for part in node.values]
        return "".join(part for part in parts if part is not None) if None not in parts else None
    return None


def literal_prefix(node: ast.expr | None) -> str:
    """The literal beginning of a string that is completed at run time: by `+`, an f-string, or `%` and `.format`."""
    whole = literal(node)
    if whole is not None:
        return whole
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left = literal(node.left)
        return left + literal_prefix(node.right) if left is not None else literal_prefix(node.left)
    if isinstance(node, ast.JoinedStr):
        text = ""
        for part in node.values:
            whole = literal(part)
            if whole is None:
                return text
            text += whole
        return text
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return (literal(node.left) or "").partition("%")[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return (literal(node.func.value) or "").partition("{")[0]
    return ""


def is_true(node: ast.expr | None) -> bool:
    """Whether `node` is the constant True."""
    return isinstance(node, ast.Constant) and node.value is True
