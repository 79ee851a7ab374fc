"""Turns expressions into constraints; each yields the node that holds its value, or NOTHING."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from xref.python.context import FileContext
from xref.python.flow.annotations import annotated, callable_type, expected, limits
from xref.python.flow.code import CodeBuilder, dotted_path, outward
from xref.python.flow.summary import (
    ATTR,
    AWAIT,
    CALL,
    CONST,
    EXPECT,
    FILTER,
    FUNC,
    GLOBAL,
    INSTANCE,
    ITER,
    KNOWN,
    LEVEL_BITS,
    NAMED,
    NEW,
    NODE_MASK,
    NOTHING,
    OPERATOR,
    SETATTR,
    SETSUB,
    SLICE,
    SUB,
    SUPER,
    Parameters,
    pack,
)
from xref.python.walk import Scope
from xref.registry.python_site import literal, literal_prefix

_BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitXor: "xor", ast.BitAnd: "and",
    ast.MatMult: "matmul",
}  # fmt: skip
_COMPARE = {ast.Eq: ("__eq__", "__eq__"), ast.NotEq: ("__ne__|__eq__", "__ne__|__eq__"), ast.Lt: ("__lt__", "__gt__"),
            ast.LtE: ("__le__", "__ge__"), ast.Gt: ("__gt__", "__lt__"), ast.GtE: ("__ge__", "__le__")}  # fmt: skip
_UNARY = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__", ast.Not: "__bool__"}
_TEXT = "text"
_LONGEST_CONSTANT = 60


class Expressions:
    """Builds the constraints of one file's expressions. `code` is the code under construction."""

    def __init__(self, context: FileContext) -> None:
        self.context = context
        self.codes: list[Any] = []
        self.scopes: dict[int, Scope] = {id(scope.node): scope for scope in context.walk.scopes}
        self.code: CodeBuilder
        self.root: CodeBuilder
        self._handlers: dict[type, Callable[[Any], int]] = {
            ast.Name: self._name, ast.Attribute: self._attribute, ast.Call: self._call, ast.Lambda: self._lambda,
            ast.BinOp: self._binary, ast.UnaryOp: self._unary, ast.Compare: self._compare, ast.BoolOp: self._bool,
            ast.IfExp: self._conditional, ast.Subscript: self._subscript, ast.List: self._display,
            ast.Tuple: self._display, ast.Set: self._display, ast.Dict: self._dict, ast.NamedExpr: self._named,
            ast.ListComp: self._comprehension, ast.SetComp: self._comprehension,
            ast.GeneratorExp: self._comprehension, ast.DictComp: self._comprehension, ast.Await: self._await,
            ast.Yield: self._yield, ast.YieldFrom: self._yield_from, ast.Starred: self._starred,
            ast.JoinedStr: self._joined,
        }  # fmt: skip

    def value(self, node: ast.expr | None) -> int:
        """The node with the expression's value; constants have none."""
        handler = self._handlers.get(type(node))
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
                self._capture(name, levels)
                return outward(levels, at.cell(name))
        return outward(levels, self.global_node(name))

    def _capture(self, name: str, levels: int) -> None:
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

    # calls

    def _call(self, node: ast.Call) -> int:
        special = self._special_call(node)
        if special is not None:
            return special
        callee = self.value(node.func)
        return self.call(node, callee, self.place(node.func))

    def call(self, node: ast.Call, callee: int, position: int) -> int:
        """A call whose callee is known as a node."""
        code = self.code
        positional: list[int] = []
        starred: list[int] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                starred.append(self.value(argument.value))
            elif starred:
                starred.append(self._wrapped(self.stored(argument)))
            else:
                positional.append(self.stored(argument))
        keywords = tuple((word.arg, self.stored(word.value)) for word in node.keywords if word.arg)
        doubled = tuple(self.value(word.value) for word in node.keywords if not word.arg)
        update = self._updated_paths(node)
        target = code.node()
        code.add(CALL, target, callee, tuple(positional), keywords, tuple(starred), doubled, position, 0)
        code.kill_paths("")
        if update and code.env is not None:
            code.env.update(update)
        return target

    def _updated_paths(self, node: ast.Call) -> dict[str, int]:
        """`d.update({"a": f})`: what d["a"] is afterwards."""
        func = node.func
        if not (isinstance(func, ast.Attribute) and func.attr == "update" and len(node.args) == 1):
            return {}
        given, path = node.args[0], dotted_path(func.value)
        if not path or not isinstance(given, ast.Dict):
            return {}
        return {
            f"{path}[{key.value!r}]": value
            for key, item in zip(given.keys, given.values, strict=True)
            if isinstance(key, ast.Constant) and (value := self.value(item)) != NOTHING
        }

    def _wrapped(self, value: int) -> int:
        target = self.code.node()
        self.code.add(NEW, target, "list", ((None, value),))
        return target

    def _special_call(self, node: ast.Call) -> int | None:
        """super(), and getattr and setattr with a name that is known, or begins with known text."""
        func = node.func
        if not isinstance(func, ast.Name) or self.code.binds(func.id) or self.root.binds(func.id):
            return None
        if func.id == "super":
            return self._super(node)
        if func.id not in ("getattr", "setattr") or len(node.args) < 2:
            return None
        self.call(node, self.value(func), self.place(func))
        name = literal(node.args[1])
        target = self.code.node()
        base = self.value(node.args[0])
        if func.id == "setattr":
            if len(node.args) > 2:
                computed = NOTHING if name is not None else self.stored(node.args[1])
                self.code.add(SETATTR, base, name, self.stored(node.args[2]), self.place(func), computed)
            return target
        if name is not None:
            self.code.add(ATTR, target, base, name, self.place(func))
        else:
            self.code.add(NAMED, target, base, self.stored(node.args[1]), self.place(func))
        if len(node.args) > 2:
            self.code.copy(self.value(node.args[2]), target)
        return target

    def _super(self, node: ast.Call) -> int:
        self.call(node, self.value(node.func), self.place(node.func))
        levels, at = 0, self.code
        method = at
        while at.outer is not None and at.kind != "class":
            method, at, levels = at, at.outer, levels + 1
        if at.kind != "class":
            return NOTHING
        if len(node.args) == 2:
            first = self.value(node.args[1])
        else:
            parameters = method.parameters.positional
            if not parameters:
                return NOTHING
            first = outward(self.code.level - method.level, method.cell(parameters[0][0]))
            if method is not self.code:
                self._capture(parameters[0][0], self.code.level - method.level)
        target = self.code.node()
        self.code.add(SUPER, target, levels, first)
        return target

    def _lambda(self, node: ast.Lambda) -> int:
        scope = self.scopes[id(node)]
        inner = self.enter("lambda", scope)
        defaults = self.parameters(inner, node.args)
        self.code.copy(self.stored(node.body), inner.result)
        self.leave(inner, scope.suffix)
        target = self.code.node()
        self.code.add(FUNC, target, inner.number, defaults, "")
        return target

    # codes

    def enter(self, kind: str, scope: Scope) -> CodeBuilder:
        """Start a code inside the current one."""
        outer = self.code if hasattr(self, "code") else None
        inner = CodeBuilder(len(self.codes), kind, scope, outer)
        self.codes.append(None)
        if outer is None:
            self.root = inner
        self.code = inner
        return inner

    def leave(self, inner: CodeBuilder, suffix: str) -> None:
        """Finish a code and go back to the one around it."""
        self.codes[inner.number] = inner.finish(suffix)
        if inner.outer is not None:
            self.code = inner.outer

    def parameters(
        self, inner: CodeBuilder, args: ast.arguments, documented: dict[str, ast.expr] | None = None
    ) -> tuple[tuple[int, int], ...]:
        """Make the parameters of `inner`, with the types that they are documented to have where they have no
        annotation; returns their defaults, as nodes of the code around it.
        """
        outer = inner.outer
        assert outer is not None

        def make(arg: ast.arg, wrap: str = "") -> int:
            node = given = inner.node()
            annotation = arg.annotation or (documented or {}).get(arg.arg)
            if annotation is not None and not wrap:
                self.code = outer
                found = annotated(outer, annotation, self)
                allowed = limits(annotation)
                classes = [self.value(one) for one in allowed or ()]
                self.code = inner
                if allowed and NOTHING not in classes:
                    node = inner.node()
                    inner.add(FILTER, node, given, tuple(map(_from_outside, classes)), True, False)
                if found != NOTHING:
                    inner.copy(_from_outside(found), node)
                self.expect(outer, arg.annotation, node)
            inner.assign(arg.arg, node)
            return given

        listed = [*args.posonlyargs, *args.args]
        positional = tuple((arg.arg, make(arg)) for arg in listed)
        keyword_only = tuple((arg.arg, make(arg)) for arg in args.kwonlyargs)
        rest = make(args.vararg, "list") if args.vararg else NOTHING
        words = make(args.kwarg, "dict") if args.kwarg else NOTHING
        first = len(positional) - len(args.defaults)
        inner.parameters = Parameters(positional, keyword_only, rest, words, len(args.posonlyargs), first)
        self.code = outer
        defaults = []
        for number, default in enumerate(args.defaults):
            value = self.stored(default)
            if value != NOTHING:
                defaults.append((positional[first + number][1], value))
        for (_, node), given in zip(keyword_only, args.kw_defaults, strict=True):
            value = self.stored(given) if given is not None else NOTHING
            if value != NOTHING:
                defaults.append((node, value))
        self.code = inner
        return tuple(defaults)

    # attributes, items, containers

    def _attribute(self, node: ast.Attribute) -> int:
        env = self.code.env
        if env is not None:
            path = dotted_path(node)
            if path in env:
                base = self.value(node.value)
                if base != NOTHING:
                    self.code.add(KNOWN, base, node.attr, self.place(node))
                return env[path]
        base = self.value(node.value)
        target = self.code.node()
        self.code.add(ATTR, target, base, node.attr, self.place(node))
        return target

    def _subscript(self, node: ast.Subscript) -> int:
        env = self.code.env
        if env is not None:
            path = dotted_path(node)
            if path in env:
                return env[path]
        listed = callable_type(node)
        if listed is not None:
            return self._callable(listed)
        base = self.value(node.value)
        target = self.code.node()
        if isinstance(node.slice, ast.Slice):
            for bound in (node.slice.lower, node.slice.upper, node.slice.step):
                self.value(bound)
            self.code.add(SLICE, target, base, _integer(node.slice.lower), _integer(node.slice.upper))
            self.code.add(OPERATOR, target, self.start(node), ("__getitem__",), base, NOTHING)
            return target
        key = index_key(node.slice)
        self.code.add(SUB, target, base, key, NOTHING if key is not None else self.value(node.slice), self.start(node))
        return target

    def store_item(self, target: ast.Subscript, value: int) -> None:
        """`target = value`."""
        base = self.value(target.value)
        key = index_key(target.slice)
        key_node = NOTHING if key is not None else self.value(target.slice)
        self.code.add(SETSUB, base, key, key_node, value, self.start(target))
        path = dotted_path(target)
        env = self.code.env
        if key is None:
            self.code.kill_paths("")
        elif env is not None:
            self.code.kill_part(f"[{key!r}]")
            if path and value != NOTHING:
                env[path] = value

    def _display(self, node: ast.List | ast.Tuple | ast.Set) -> int:
        items: list[tuple[int | None, int]] = []
        known = True
        for number, element in enumerate(node.elts):
            if isinstance(element, ast.Starred):
                known = False
                items.append((None, self._elements(element.value)))
                continue
            value = self._listed(element)
            if value != NOTHING:
                items.append((number if known and not isinstance(node, ast.Set) else None, value))
        return self._container("set" if isinstance(node, ast.Set) else "list", items)

    def _listed(self, node: ast.expr) -> int:
        """An element of a display: a text that may be a name counts."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            return self.stored(node)
        return self.value(node)

    def _callable(self, listed: list[ast.expr]) -> int:
        """`Callable[[A, B], R]`: what holds the objects that such a function is given."""
        nodes = [annotated(self.code, one, self) for one in listed]
        items = [(at, node if node != NOTHING else self.code.node()) for at, node in enumerate(nodes)]
        return self._container("callable", items)

    def is_own_class(self, node: ast.expr) -> bool:
        """Whether the expression names a class of the tree."""
        target = self.context.resolver.resolve(node, self.code.scope)
        return target is not None and self.context.tree.kind(target) == "class"

    def expect(self, outer: CodeBuilder, annotation: ast.expr | None, node: int) -> None:
        """A parameter or result of the current code is annotated: functions there are called as the type says."""
        inner = self.code
        self.code = outer
        found = [self.value(one) for one in expected(annotation)]
        self.code = inner
        for source in found:
            if source != NOTHING:
                inner.add(EXPECT, node, _from_outside(source))

    def _container(self, kind: str, items: list[Any]) -> int:
        target = self.code.node()
        self.code.add(NEW, target, kind, tuple(items))
        return target

    def _elements(self, node: ast.expr) -> int:
        target = self.code.node()
        self.code.add(ITER, target, self.value(node), self.start(node), False)
        return target

    def _dict(self, node: ast.Dict) -> int:
        items: list[Any] = []
        for key, item in zip(node.keys, node.values, strict=True):
            if key is None:
                items.append(("**", self.value(item)))
                continue
            constant = index_key(key)
            if constant is None:
                self.value(key)
            value = self._listed(item)
            if value != NOTHING:
                items.append((constant, value))
        plain = [item for item in items if item[0] != "**"]
        target = self._container("dict", plain)
        for _, source in (item for item in items if item[0] == "**"):
            merged = self.code.node()
            self.code.add(SUB, merged, source, None, NOTHING, 0)
            self.code.add(SETSUB, target, None, NOTHING, merged, 0)
        return target

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> int:
        code = self.code
        if code.env is None:
            code.env = {}
        before = dict(code.env)
        for generator in node.generators:
            iterated = code.node()
            code.add(ITER, iterated, self.value(generator.iter), self.start(generator.iter), bool(generator.is_async))
            for leaf in ast.walk(generator.target):
                if isinstance(leaf, ast.Name):
                    code.inner_names.add(leaf.id)
            self.store(generator.target, iterated)
            for condition in generator.ifs:
                self.condition(condition)
                self.narrow(condition, True)
        if isinstance(node, ast.DictComp):
            self.value(node.key)
            element = self.value(node.value)
        else:
            element = self.value(node.elt)
        after = code.env
        code.env = before
        for name, value in after.items():  # a walrus binds in the function
            if name in before and before[name] != value and name in code.scope.bindings:
                code.env[name] = value
        return self._container("dict" if isinstance(node, ast.DictComp) else "list", [(None, element)])

    def store(self, target: ast.expr, value: int) -> None:
        """Assign to a target; the statements' half of this class knows how."""
        raise NotImplementedError

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
                    names = (*_COMPARE[type(op)], _TEXT) if _is_text(operand) else _COMPARE[type(op)]
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

    def _await(self, node: ast.Await) -> int:
        target = self.code.node()
        self.code.add(AWAIT, target, self.value(node.value), self.start(node))
        return target

    def _yield(self, node: ast.Yield) -> int:
        code = self.code
        if code.yields == NOTHING:
            code.yields = code.node()
        code.copy(self.stored(node.value), code.yields)
        return NOTHING

    def _yield_from(self, node: ast.YieldFrom) -> int:
        code = self.code
        if code.yields == NOTHING:
            code.yields = code.node()
        inner = self.value(node.value)
        code.add(ITER, code.yields, inner, self.start(node.value), False)
        target = code.node()
        code.add(AWAIT, target, inner, self.start(node.value))
        return target

    def _starred(self, node: ast.Starred) -> int:
        return self._elements(node.value)

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


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def index_key(node: ast.expr) -> str | int | float | bool | None:
    """The constant that indexes a container; None when it is not known."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        return -number if isinstance(number, int) else None
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float)):
        return node.value
    return None


def _from_outside(node: int) -> int:
    """A node as the code within the one that knows it writes it."""
    return outward(1, node) if node <= NODE_MASK else node + (1 << LEVEL_BITS)


def _integer(node: ast.expr | None) -> int | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None
