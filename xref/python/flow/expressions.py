"""Turns expressions into constraints; each yields the node that holds its value, or NOTHING."""

from __future__ import annotations

import ast
from typing import Any

from xref.python.context import FileContext
from xref.python.flow.annotations import annotated, callable_type, expected, limits
from xref.python.flow.code import CodeBuilder, dotted_path, outward
from xref.python.flow.operators import Operators, is_text
from xref.python.flow.summary import (
    ATTR,
    AWAIT,
    CALL,
    EXPECT,
    FILTER,
    FUNC,
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
)
from xref.python.walk import Scope
from xref.registry.python_site import literal


class Expressions(Operators):
    """Builds the constraints of one file's expressions. `code` is the code under construction."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self.handlers |= {
            ast.Attribute: self._attribute, ast.Call: self._call, ast.Lambda: self._lambda,
            ast.Subscript: self._subscript, ast.List: self._display, ast.Tuple: self._display, ast.Set: self._display,
            ast.Dict: self._dict, ast.ListComp: self._comprehension, ast.SetComp: self._comprehension,
            ast.GeneratorExp: self._comprehension, ast.DictComp: self._comprehension, ast.Await: self._await,
            ast.Yield: self._yield, ast.YieldFrom: self._yield_from, ast.Starred: self._starred,
        }  # fmt: skip

    # calls

    def _call(self, node: ast.Call) -> int:
        special = self._special_call(node)
        if special is not None:
            return special
        callee = self.value(node.func)
        target = self.call(node, callee, self.place(node.func))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format" and is_text(node.func.value):
            row = self.code.constraints[-1]
            for given in (*row[3], *(value for _, value in row[4])):
                if given != NOTHING:
                    names = ("__format__|__str__|__repr__",)
                    self.code.add(OPERATOR, self.code.node(), self.place(node.func), names, given, NOTHING)
        return target

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
                self.capture(parameters[0][0], self.code.level - method.level)
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
            bounds = [self.value(bound) for bound in (node.slice.lower, node.slice.upper, node.slice.step)]
            known = tuple(bound for bound in bounds if bound != NOTHING)
            first, last = _integer(node.slice.lower), _integer(node.slice.upper)
            self.code.add(SLICE, target, base, first, last, known, self.start(node))
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

    def store(self, target: ast.expr, value: int) -> None:
        """Assign to a target; the statements' half of this class knows how."""
        raise NotImplementedError


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
