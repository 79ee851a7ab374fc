"""Turns operators, tests and what they tell of their operands into constraints."""

from __future__ import annotations

import ast

from xref.python.context import FileContext
from xref.python.flow.code import dotted_path
from xref.python.flow.summary import FILTER, INSTANCE, NOTHING, OPERATOR
from xref.python.flow.values import Values

_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitXor: "xor", ast.BitAnd: "and",
    ast.MatMult: "matmul",
}  # fmt: skip
_COMPARE = {ast.Eq: ("__eq__", "__eq__"), ast.NotEq: ("__ne__|__eq__", "__ne__|__eq__"), ast.Lt: ("__lt__", "__gt__"),
            ast.LtE: ("__le__", "__ge__"), ast.Gt: ("__gt__", "__lt__"), ast.GtE: ("__ge__", "__le__")}  # fmt: skip
_UNARY = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__", ast.Not: "__bool__"}
_TEXT = "text"


class Operators(Values):
    """Operators of one file."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self.handlers |= {
            ast.BinOp: self._binary, ast.UnaryOp: self._unary, ast.Compare: self._compare, ast.BoolOp: self._bool,
            ast.IfExp: self._conditional, ast.NamedExpr: self._named, ast.JoinedStr: self._joined,
        }  # fmt: skip

    def condition(self, node: ast.expr) -> None:
        """Evaluate a test: an object may have a say in its truth."""
        if isinstance(node, ast.BoolOp):
            self._bool(node, is_test=True)
        else:
            self._truth(node, self.value(node))

    def _truth(self, node: ast.expr, value: int) -> None:
        if value != NOTHING and not isinstance(node, ast.BoolOp):
            names: tuple[str, ...] = ("__bool__|__len__",)
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
                names = (*names, "", "", _COMPARE[type(node.ops[0])][0])
            self.code.add(OPERATOR, self.code.node(), self.start(node), names, value, NOTHING)

    def narrow(self, test: ast.expr, holds: bool) -> None:
        """Behind `isinstance(x, C)`, x is an object of C if that holds, else none; likewise `issubclass`."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.narrow(test.operand, not holds)
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
            for part in test.values:
                self.narrow(part, holds)
        elif (
            isinstance(test, ast.Call)
            and isinstance(test.func, ast.Name)
            and test.func.id in ("isinstance", "issubclass")
            and len(test.args) == 2
            and self.code.env is not None
            and (path := dotted_path(test.args[0]))
        ):
            classes, known = self._classes(test.args[1]), self.value(test.args[0])
            narrowed = self.code.node()
            of_class = test.func.id == "issubclass"
            if known != NOTHING:
                self.code.add(FILTER, narrowed, known, tuple(classes), holds, of_class)
            for one in classes if holds and not of_class else ():
                if one != NOTHING:
                    self.code.add(INSTANCE, narrowed, one)
            self.code.env[path] = narrowed

    def _classes(self, node: ast.expr) -> list[int]:
        if isinstance(node, ast.Tuple):
            return [found for element in node.elts for found in self._classes(element)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return [*self._classes(node.left), *self._classes(node.right)]
        return [self.value(node)]

    def _narrowed(self, test: ast.expr, holds: bool, node: ast.expr) -> int:
        """The value of an expression that is only evaluated when a test holds, or does not."""
        before = dict(self.code.env or {})
        self.narrow(test, holds)
        marks = {path: new for path, new in (self.code.env or {}).items() if before.get(path) != new}
        value = self.value(node)
        self._widen(before, marks)
        return value

    # operators

    def _binary(self, node: ast.BinOp) -> int:
        return self.operate(node, node.op, self.value(node.left), self.value(node.right), "")

    def operate(self, node: ast.AST, op: ast.operator, left: int, right: int, in_place: str) -> int:
        """`left op right`."""
        target = self.code.node()
        if left == right == NOTHING:
            return target
        name = _BINARY[type(op)]
        names = (f"__{in_place}{name}__|__{name}__" if in_place else f"__{name}__", f"__r{name}__")
        self.code.add(OPERATOR, target, self.start(node), names, left, right)
        return target

    def _unary(self, node: ast.UnaryOp) -> int:
        if isinstance(node.op, ast.Not):
            self.condition(node.operand)
            return NOTHING
        value = self.value(node.operand)
        target = self.code.node()
        if value != NOTHING:
            self.code.add(OPERATOR, target, self.start(node), (_UNARY[type(node.op)],), value, NOTHING)
        return target

    def _compare(self, node: ast.Compare) -> int:
        left = self.value(node.left)
        target = self.code.node()
        for op, operand in zip(node.ops, node.comparators, strict=True):
            right = self.value(operand)
            if type(op) in _COMPARE:
                if left != NOTHING or right != NOTHING:
                    names = (*_COMPARE[type(op)], _TEXT) if is_text(operand) else _COMPARE[type(op)]
                    self.code.add(OPERATOR, target, self.start(node), names, left, right)
            elif isinstance(op, (ast.In, ast.NotIn)) and right != NOTHING:
                names = ("__contains__|__iter__|__getitem__", "")
                self.code.add(OPERATOR, self.code.node(), self.start(node), names, right, left)
            left = right
        return target

    def _bool(self, node: ast.BoolOp, is_test: bool = False) -> int:
        target = self.code.node()
        env = self.code.env
        before = dict(env) if env is not None else {}
        marks: dict[str, int] = {}
        for number, part in enumerate(node.values):
            value = self.value(part)
            self.code.copy(value, target)
            if is_test or number < len(node.values) - 1:
                self._truth(part, value)
            known = dict(self.code.env or {})
            self.narrow(part, isinstance(node.op, ast.And))
            marks.update((path, new) for path, new in (self.code.env or {}).items() if known.get(path) != new)
        self._widen(before, marks)
        return target

    def _widen(self, before: dict[str, int], marks: dict[str, int]) -> None:
        """Take back what was only known within an expression."""
        env = self.code.env
        if env is None:
            return
        for path, narrowed in marks.items():
            if env.get(path) == narrowed:
                if path in before:
                    env[path] = before[path]
                else:
                    del env[path]

    def _conditional(self, node: ast.IfExp) -> int:
        self.condition(node.test)
        target = self.code.node()
        self.code.copy(self._narrowed(node.test, True, node.body), target)
        self.code.copy(self._narrowed(node.test, False, node.orelse), target)
        return target

    def _named(self, node: ast.NamedExpr) -> int:
        value = self.stored(node.value)
        self.bind(node.target.id, value)
        return value

    def _joined(self, node: ast.JoinedStr) -> int:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.value(part.value)
                if value != NOTHING:
                    form = {114: "__repr__", 97: "__repr__", 115: "__str__|__repr__"}.get(
                        part.conversion, "__format__|__str__|__repr__"
                    )
                    self.code.add(OPERATOR, self.code.node(), self.start(part.value), (form,), value, NOTHING)
                self.value(part.format_spec)
        return NOTHING


def is_text(node: ast.expr) -> bool:
    """Whether it is a literal text."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
