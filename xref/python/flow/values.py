"""The nodes of values: constants, and names as Python's scoping has them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from xref.python.context import FileContext
from xref.python.flow.code import CodeBuilder, outward
from xref.python.flow.summary import CONST, GLOBAL, NOTHING, pack
from xref.python.walk import Scope
from xref.registry.python_site import literal_prefix

_LONGEST_CONSTANT = 60


class Values:
    """Names and constants of one file. `code` is the code under construction; `handlers` build other expressions."""

    def __init__(self, context: FileContext) -> None:
        self.context = context
        self.codes: list[Any] = []
        self.scopes: dict[int, Scope] = {id(scope.node): scope for scope in context.walk.scopes}
        self.code: CodeBuilder
        self.root: CodeBuilder
        self.handlers: dict[type, Callable[[Any], int]] = {ast.Name: self._name}

    def value(self, node: ast.expr | None) -> int:
        """The node with the expression's value; constants have none."""
        handler = self.handlers.get(type(node))
        return handler(node) if handler is not None else NOTHING

    def stored(self, node: ast.expr | None) -> int:
        """Like `value`, with a node for a constant that may be a key or the name of an attribute."""
        constant = self._constant(node)
        if constant is None:
            return self.value(node)
        if isinstance(constant, tuple):
            self.value(node)
        target = self.code.node()
        self.code.add(CONST, target, constant)
        return target

    def place(self, node: ast.expr) -> int:
        """The position of an expression's own name, packed."""
        return pack(*self.context.position(node))

    def start(self, node: ast.AST) -> int:
        """The position where a node starts, packed."""
        line: int = node.lineno  # type: ignore[attr-defined]
        return pack(line, self.context.source.column(line, node.col_offset))  # type: ignore[attr-defined]

    def _constant(self, node: ast.expr | None) -> str | int | tuple[str] | None:
        """A constant, or what a text is known to begin with; `__name__` is the module's name."""
        if isinstance(node, (ast.JoinedStr, ast.BinOp, ast.Name)):
            text, complete = self._text(node)
            if not text or len(text) > _LONGEST_CONSTANT:
                return None
            return text if complete else (text,)
        if isinstance(node, ast.Constant) and not isinstance(node.value, bool):
            if isinstance(node.value, str) and len(node.value) <= _LONGEST_CONSTANT:
                return node.value
            if isinstance(node.value, int):
                return node.value
        return None

    def _text(self, node: ast.expr) -> tuple[str, bool]:
        """How a text begins, and whether that is all of it."""
        if isinstance(node, ast.Name):
            return (self.context.file.module, True) if self._is_module_name(node) else ("", False)
        if isinstance(node, ast.Constant):
            return (node.value, True) if isinstance(node.value, str) else ("", False)
        if isinstance(node, ast.FormattedValue) and node.conversion == -1 and node.format_spec is None:
            return self._text(node.value)
        parts: list[ast.expr] = []
        if isinstance(node, ast.JoinedStr):
            parts = node.values
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
        if not parts:
            return literal_prefix(node), False
        whole = ""
        for part in parts:
            text, complete = self._text(part)
            whole += text
            if not complete:
                return whole, False
        return whole, True

    # names

    def _name(self, node: ast.Name) -> int:
        if self._is_module_name(node):
            target = self.code.node()
            self.code.add(CONST, target, self.context.file.module)
            return target
        return self.load(node.id)

    def _is_module_name(self, node: ast.Name) -> bool:
        return node.id == "__name__" and not self.code.binds(node.id) and not self.root.binds(node.id)

    def load(self, name: str) -> int:
        """The node of a name as seen here."""
        code = self.code
        if code.env is not None and name in code.env:
            return code.env[name]
        if code.kind != "class" and code.binds(name) and code is not self.root:
            return code.cell(name)
        levels, at = 0, code
        while at.outer is not None:
            at, levels = at.outer, levels + 1
            if at.kind == "class":
                continue
            if at is self.root:
                break
            if at.binds(name):
                self.capture(name, levels)
                return outward(levels, at.cell(name))
        return outward(levels, self.global_node(name))

    def capture(self, name: str, levels: int) -> None:
        """Note that the codes between here and the one that binds a name see it."""
        at: CodeBuilder | None = self.code
        while at is not None and levels > 0:
            at.captured.add(name)
            at, levels = at.outer, levels - 1

    def global_node(self, name: str) -> int:
        """The module's node of a name; bound elsewhere when the module does not bind it."""
        root = self.root
        if name not in root.cells and not root.binds(name):
            root.add(GLOBAL, root.cell(name), name)
        return root.cell(name)

    def bind(self, name: str, value: int) -> None:
        """Assign a value to a name, as this code's scope has it."""
        code = self.code
        if name in code.scope.outer_names and code is not self.root:
            target, levels, at = self.root, code.level, code
            while at.outer is not None and at.outer is not self.root:
                at = at.outer
                if at.kind != "class" and at.binds(name):
                    target, levels = at, code.level - at.level
                    break
            code.copy(value, outward(levels, target.cell(name)))
            if code.env is not None and value != NOTHING:
                code.env[name] = value
            return
        code.assign(name, value)
