"""Turns the statements of one file into the constraints of its summary (xref.python.flow.summary)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from xref.python.context import FileContext
from xref.python.flow.annotations import annotated
from xref.python.flow.code import NO_PARAMETERS, dotted_path
from xref.python.flow.docstrings import DocumentedTypes, documented_types
from xref.python.flow.expressions import Expressions
from xref.python.flow.summary import (
    ATTR,
    CALL,
    CLASS,
    CLASS_DECORATION,
    DELATTR,
    FUNC,
    FUNCTION_DECORATION,
    HINT,
    IMPORT,
    INSTANCE,
    ITER,
    MATCH,
    NOTHING,
    OPERATOR,
    RAISE,
    SETATTR,
    UNPACK,
    WITH,
    Summary,
    pack,
)
from xref.python.survey import bound_import, dotted, import_base

_STATIC = {"staticmethod": "static", "classmethod": "class", "property": "property", "cached_property": "property",
           "functools.cached_property": "property", "abc.abstractproperty": "property"}  # fmt: skip
_IGNORED = frozenset({"overload", "typing.overload", "abstractmethod", "abc.abstractmethod", "override", "final",
                      "typing.final", "typing.override", "typing_extensions.override"})  # fmt: skip
_OVERLOADS = frozenset({"overload", "typing.overload", "typing_extensions.overload"})
_IMPLICIT = {"__new__": "static", "__init_subclass__": "class", "__class_getitem__": "class"}
_PARTS = {"getter": "property", "setter": "setter", "deleter": "deleter"}
"""Decorators that add a function to a property -> the function's form."""
_FOR_TYPE_CHECKERS = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING"})
"""Tests that hold only for a type checker: what is defined behind them never runs, though classes still say what
annotations mean.
"""
_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_State = dict[str, int] | None


class Builder(Expressions):
    """Builds the summary of one file."""

    def __init__(self, context: FileContext) -> None:
        super().__init__(context)
        self._breaks: list[list[_State]] = []
        self._continues: list[list[_State]] = []
        self._statements: dict[type, Callable[[Any], None]] = {
            ast.Expr: self._expression, ast.Assign: self._assign, ast.AnnAssign: self._ann_assign,
            ast.AugAssign: self._aug_assign, ast.Return: self._return, ast.If: self._if, ast.For: self._for,
            ast.AsyncFor: self._for, ast.While: self._while, ast.With: self._with, ast.AsyncWith: self._with,
            ast.Try: self._try, ast.TryStar: self._try, ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function, ast.ClassDef: self._class, ast.Import: self._import,
            ast.ImportFrom: self._import_from, ast.Raise: self._raise, ast.Assert: self._assert,
            ast.Delete: self._delete, ast.Match: self._match, ast.Break: self._break, ast.Continue: self._continue,
        }  # fmt: skip

    def build(self) -> Summary:
        """The summary. Raises `RecursionError` for a file that is nested too deeply."""
        context = self.context
        root = context.walk.root
        module = self.enter("module", root)
        tree = root.node
        assert isinstance(tree, ast.Module)
        self.block(tree.body)
        for position, pairs in sorted(context.hints.items()):
            module.add(HINT, pack(*position), tuple(pairs), ())
        for position, calls in sorted(context.doubtful.items()):
            rows = tuple((call.caller, call.callee, str(call.evidence), call.via) for call in calls)
            module.add(HINT, pack(*position), (), rows)
        self.leave(module, "")
        table = context.tree.modules.get(context.file.module)
        file = context.file
        exports = table["exports"] if table is not None else None
        return Summary(
            file.module, file.is_package, file.is_stub, tuple(self.codes),
            tuple(table["stars"]) if table is not None else (), tuple(exports) if exports is not None else None,
            tuple(map(tuple, table["fills"])) if table is not None else (),  # type: ignore[arg-type]
            table["redirects"] if table is not None else {},
        )  # fmt: skip

    def block(self, body: Sequence[ast.stmt]) -> None:
        """The statements of a block, in order. Code behind a jump is built too: it is only unlikely to be reached."""
        for statement in body:
            handler = self._statements.get(type(statement))
            if handler is not None:
                if self.code.env is None:
                    self.code.env = {}
                handler(statement)

    # simple statements

    def _expression(self, node: ast.Expr) -> None:
        self.value(node.value)

    def _assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, (ast.Tuple, ast.List)) and self._assign_parts(node.targets, node.value):
            return
        value = self.stored(node.value)
        for target in node.targets:
            self.store(target, value)

    def _assign_parts(self, targets: list[ast.expr], value: ast.Tuple | ast.List) -> bool:
        """`a, (b, *c) = f, (g, h, i)`, part by part; False when the shapes do not say what goes where."""
        if any(isinstance(element, ast.Starred) for element in value.elts):
            return False
        if not all(isinstance(t, (ast.Tuple, ast.List)) for t in targets):
            return False
        nodes = [self._parts(element) for element in value.elts]
        for target in targets:
            assert isinstance(target, (ast.Tuple, ast.List))
            self._distribute(target, nodes)
        return True

    def _parts(self, node: ast.expr) -> Any:
        if isinstance(node, (ast.Tuple, ast.List)) and not any(isinstance(e, ast.Starred) for e in node.elts):
            return [self._parts(element) for element in node.elts]
        return self.stored(node)

    def _joined_parts(self, parts: Any) -> int:
        if isinstance(parts, int):
            return parts
        items = [(number, self._joined_parts(part)) for number, part in enumerate(parts)]
        return self._container("list", [item for item in items if item[1] != NOTHING])

    def _distribute(self, target: ast.expr, parts: Any) -> None:
        if not isinstance(target, (ast.Tuple, ast.List)) or isinstance(parts, int):
            self.store(target, self._joined_parts(parts))
            return
        elements = target.elts
        star = next((at for at, e in enumerate(elements) if isinstance(e, ast.Starred)), None)
        if star is None:
            for element, part in zip(elements, parts, strict=False):
                self._distribute(element, part)
            return
        after = len(elements) - star - 1
        for element, part in zip(elements[:star], parts, strict=False):
            self._distribute(element, part)
        middle = elements[star]
        assert isinstance(middle, ast.Starred)
        self._distribute(middle.value, self._joined_parts(list(parts[star : len(parts) - after])))
        for element, part in zip(elements[star + 1 :], parts[len(parts) - after :], strict=False):
            self._distribute(element, part)

    def store(self, target: ast.expr, value: int) -> None:
        """Assign a value to a target."""
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, ast.Attribute):
            self._store_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            self.store_item(target, value)
        elif isinstance(target, ast.Starred):
            self.store(target.value, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            star = next((at for at, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
            for number, element in enumerate(target.elts):
                part = NOTHING
                if value != NOTHING:
                    part = self.code.node()
                    index = number if star is None or number < star else None
                    self.code.add(UNPACK, part, value, index, self.start(target))
                    if isinstance(element, ast.Starred):
                        part = self._container("list", [(None, part)])
                self.store(element, part)

    def _store_attribute(self, target: ast.Attribute, value: int) -> None:
        base = self.value(target.value)
        self.code.add(SETATTR, base, target.attr, value, self.place(target), NOTHING)
        path = dotted_path(target)
        self.code.kill_part(f".{target.attr}.")
        if path and value != NOTHING and self.code.env is not None:
            self.code.env[path] = value

    def _ann_assign(self, node: ast.AnnAssign) -> None:
        declared = annotated(self.code, node.annotation, self)
        value = self.stored(node.value)
        if declared != NOTHING:
            both = self.code.node()
            self.code.copy(declared, both)
            self.code.copy(value, both)
            value = both
        if node.value is not None or declared != NOTHING:
            self.store(node.target, value)

    def _aug_assign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            old = self.load(node.target.id)
        elif isinstance(node.target, ast.Attribute):
            old = self._attribute(node.target)
        else:
            old = self._subscript(node.target)
        result = self.operate(node, node.op, old, self.value(node.value), "i")
        both = self.code.node()
        self.code.copy(result, both)
        self.code.copy(old, both)
        self.store(node.target, both)

    def _return(self, node: ast.Return) -> None:
        value = self.stored(node.value)
        if self.code.absent and value != NOTHING:
            made = self.code.node()
            self.code.copy(value, made)
            self.code.without.append((self.code.absent, made))
        else:
            self.code.copy(value, self.code.result)
        if isinstance(node.value, ast.Name) and node.value.id == "NotImplemented":
            self.code.declines = True
        self.code.env = None

    def _raise(self, node: ast.Raise) -> None:
        for part in (node.exc, node.cause):
            if part is not None:
                value = self.value(part)
                if value != NOTHING and not isinstance(part, ast.Call):
                    self.code.add(RAISE, value, self.place(part))
        self.code.env = None

    def _assert(self, node: ast.Assert) -> None:
        self.condition(node.test)
        self.narrow(node.test, True)
        self.value(node.msg)

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                self.code.add(
                    OPERATOR, self.code.node(), self.start(target), ("__delitem__",), self.value(target.value), NOTHING
                )
            elif isinstance(target, ast.Attribute):
                base = self.value(target.value)
                if base != NOTHING:
                    self.code.add(DELATTR, base, target.attr, self.place(target))
            elif isinstance(target, ast.Name) and self._is_only_name(target.id):
                value = self.load(target.id)
                if value != NOTHING:
                    self.code.add(DELATTR, value, "", self.start(target))

    def _is_only_name(self, name: str) -> bool:
        """Whether a variable is all that holds an object: a constructor's result, used for its attributes alone."""
        if self.code.kind != "function" or name not in self.code.scope.bindings:
            return False
        values = self.code.scope.stores.get(name, [])
        if len(values) != 1 or not isinstance(values[0], ast.Call) or not self.is_own_class(values[0].func):
            return False
        body = self.code.scope.node
        assert body is not None
        uses = [one for one in ast.walk(body) if isinstance(one, ast.Name) and one.id == name]
        bases = {id(one.value) for one in ast.walk(body) if isinstance(one, ast.Attribute)}
        loads = [one for one in uses if isinstance(one.ctx, ast.Load)]
        return len(uses) - len(loads) == 2 and all(id(one) in bases for one in loads)  # it is set once, deleted once

    def _break(self, _node: ast.Break) -> None:
        if self._breaks:
            self._breaks[-1].append(self.code.env)
        self.code.env = None

    def _continue(self, _node: ast.Continue) -> None:
        if self._continues:
            self._continues[-1].append(self.code.env)
        self.code.env = None

    # ways that part and meet

    def _snapshot(self) -> _State:
        env = self.code.env
        return dict(env) if env is not None else None

    def _if(self, node: ast.If) -> None:
        if dotted(node.test) in _FOR_TYPE_CHECKERS:
            self.block([one for one in node.body if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))])
            self.block(node.orelse)
            return
        self.condition(node.test)
        before = self._snapshot()
        self.narrow(node.test, True)
        absent, self.code.absent = self.code.absent, self._absent(node.test) or self.code.absent
        self.block(node.body)
        self.code.absent = absent
        after = self.code.env
        self.code.env = before
        self.narrow(node.test, False)
        self.block(node.orelse)
        self.code.merge([after, self.code.env])

    def _absent(self, test: ast.expr) -> str:
        """The parameter that is None where `parameter is None` holds; "" for other tests."""
        if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is) and isinstance(test.left, ast.Name)):
            return ""
        other, name = test.comparators[0], test.left.id
        is_none = isinstance(other, ast.Constant) and other.value is None
        return name if is_none and len(self.code.versions.get(name, ())) == 1 else ""

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, head: Callable[[], None]) -> None:
        code = self.code
        if code.env is None:
            code.env = {}
        joins: dict[str, int] = {}
        code.kill_paths("")
        for name in _assigned(node):
            if code.binds(name) or name in code.env:
                joins[name] = code.node()
                code.copy(code.env.get(name, NOTHING), joins[name])
                code.env[name] = joins[name]
        start = dict(code.env)
        self._breaks.append([])
        self._continues.append([])
        head()
        self.block(node.body)
        ends = [code.env, *self._continues.pop()]
        for end in ends:
            for name, join in joins.items():
                if end is not None:
                    code.copy(end.get(name, NOTHING), join)
        code.env = start
        self.block(node.orelse)
        code.merge([code.env, *self._breaks.pop()])

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        iterated = self.code.node()
        source = self.value(node.iter)
        self.code.add(ITER, iterated, source, self.start(node.iter), isinstance(node, ast.AsyncFor))
        self._loop(node, lambda: self.store(node.target, iterated))

    def _while(self, node: ast.While) -> None:
        def head() -> None:
            self.condition(node.test)
            self.narrow(node.test, True)

        self._loop(node, head)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            entered = self.code.node()
            source = self.value(item.context_expr)
            is_async = isinstance(node, ast.AsyncWith)
            self.code.add(WITH, entered, source, self.start(item.context_expr), is_async)
            if item.optional_vars is not None:
                self.store(item.optional_vars, entered)
        self.block(node.body)

    def _try(self, node: ast.Try | ast.TryStar) -> None:
        before = self._snapshot()
        self.block(node.body)
        body_end = self._snapshot()
        ends: list[_State] = []
        self.block(node.orelse)
        ends.append(self.code.env)
        for handler in node.handlers:
            self.code.merge([before, body_end])
            if self.code.env is None:
                self.code.env = {}
            caught = self.value(handler.type)
            if handler.name:
                value = NOTHING
                if caught != NOTHING:
                    value = self.code.node()
                    self.code.add(INSTANCE, value, caught)
                self.bind(handler.name, value)
            self.block(handler.body)
            ends.append(self.code.env)
        self.code.merge(ends)
        if node.finalbody:
            alive = self.code.env is not None
            if not alive:
                self.code.merge([before, body_end])
            self.block(node.finalbody)
            if not alive:
                self.code.env = None

    def _match(self, node: ast.Match) -> None:
        subject = self.value(node.subject)
        before = self._snapshot()
        ends: list[_State] = [before]
        for case in node.cases:
            self.code.env = dict(before) if before is not None else {}
            self._pattern(case.pattern, subject)
            if case.guard is not None:
                self.condition(case.guard)
            self.block(case.body)
            ends.append(self.code.env)
        self.code.merge(ends)

    def _pattern(self, node: ast.pattern | None, subject: int) -> None:
        code = self.code
        if isinstance(node, ast.MatchAs):
            self._pattern(node.pattern, subject)
            if node.name:
                self.bind(node.name, subject)
        elif isinstance(node, ast.MatchOr):
            for part in node.patterns:
                self._pattern(part, subject)
        elif isinstance(node, ast.MatchSequence):
            for number, part in enumerate(node.patterns):
                element = code.node()
                code.add(UNPACK, element, subject, number, self.start(node))
                if isinstance(part, ast.MatchStar):
                    if part.name:
                        self.bind(part.name, self._container("list", [(None, element)]))
                else:
                    self._pattern(part, element)
        elif isinstance(node, ast.MatchMapping):
            for key, part in zip(node.keys, node.patterns, strict=True):
                self._pattern(part, self._subscript(_item(node, key, subject, self)))
        elif isinstance(node, ast.MatchClass):
            self._class_pattern(node, subject)
        elif isinstance(node, ast.MatchValue):
            self.value(node.value)

    def _class_pattern(self, node: ast.MatchClass, subject: int) -> None:
        code = self.code
        matched = code.node()
        kind = self.value(node.cls)
        if kind != NOTHING:
            code.add(INSTANCE, matched, kind)
        code.copy(subject, matched)
        for number, part in enumerate(node.patterns):
            element = code.node()
            code.add(MATCH, element, matched, number)
            self._pattern(part, element)
        for name, part in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            element = code.node()
            code.add(ATTR, element, matched, name, self.start(node))
            self._pattern(part, element)

    # imports

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            name, module = bound_import(alias)
            target = self.code.node()
            self.code.add(IMPORT, target, module, "", 0)
            self.bind(name, target)

    def _import_from(self, node: ast.ImportFrom) -> None:
        base = import_base(node, self.context.file.module, self.context.file.is_package)
        for alias in node.names:
            if alias.name == "*":
                if self.code is self.root:
                    self.code.kill_paths("")
                continue
            target = self.code.node()
            self.code.add(IMPORT, target, base, alias.name, self.start(alias))
            self.bind(alias.asname or alias.name, target)

    # definitions

    def _function(self, node: _FunctionNode) -> None:
        scope = self.scopes[id(node)]
        outer = self.code
        names = [dotted(decorator) for decorator in node.decorator_list]
        form = next((_STATIC[name] for name in names if name in _STATIC), "")
        if outer.kind == "class" and not form:
            form = _IMPLICIT.get(node.name, "")
        accessor = next((name for name in names if name.rpartition(".")[2] in _PARTS), "")
        calls = [
            (decorator, self.value(decorator), self._decorator_place(decorator))
            for decorator, name in zip(node.decorator_list, names, strict=True)
            if name not in _STATIC and name not in _IGNORED and not (accessor and name == accessor)
        ]
        inner = self.enter("function", scope)
        inner.is_async = isinstance(node, ast.AsyncFunctionDef)
        inner.is_decorated = bool(calls)
        breaks, continues, self._breaks, self._continues = self._breaks, self._continues, [], []
        documented = self._documented(node)
        defaults = self.parameters(inner, node.args, documented.parameters)
        self.code = outer
        returns = annotated(outer, node.returns or documented.result, self)
        self.code = inner
        self.expect(outer, node.returns, inner.result)
        if returns != NOTHING:
            inner.returns = returns
        self.block(node.body)
        self.leave(inner, scope.suffix)
        self._breaks, self._continues = breaks, continues
        value = outer.node()
        part = accessor.rpartition(".")[2]
        outer.add(FUNC, value, inner.number, defaults, _PARTS[part] if part else form)
        value = self._decorate(calls, value, FUNCTION_DECORATION)
        if any(name in _OVERLOADS for name in names):
            return
        if accessor:
            part_of = next(one for one, name in zip(node.decorator_list, names, strict=True) if name == accessor)
            known = self.value(part_of.value) if isinstance(part_of, ast.Attribute) else NOTHING
            if known != NOTHING:
                both = outer.node()
                outer.copy(known, both)
                outer.copy(value, both)
                value = both
        self.bind(node.name, value)

    def _documented(self, node: _FunctionNode) -> DocumentedTypes:
        """What the docstring says of types; a constructor's parameters may stand in that of its class."""
        text = ast.get_docstring(node, clean=False)
        if text is None and node.name == "__init__" and isinstance(self.code.scope.node, ast.ClassDef):
            text = ast.get_docstring(self.code.scope.node, clean=False)
            return DocumentedTypes(documented_types(text).parameters, None)
        return documented_types(text)

    def _decorator_place(self, node: ast.expr) -> int:
        return self.start(node) if isinstance(node, ast.Call) else self.place(node)

    def _decorate(self, calls: list[tuple[ast.expr, int, int]], value: int, what: int) -> int:
        for _, callee, position in reversed(calls):
            made = self.code.node()
            self.code.add(CALL, made, callee, (value,), (), (), (), position, what)
            value = made
        return value

    def _class(self, node: ast.ClassDef) -> None:
        scope = self.scopes[id(node)]
        outer = self.code
        calls = [(d, self.value(d), self._decorator_place(d)) for d in node.decorator_list if dotted(d) not in _IGNORED]
        bases = tuple(self.value(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases)
        for base in node.bases:
            if isinstance(base, ast.Subscript):
                self.value(base)  # `__class_getitem__` runs
        keywords = tuple((word.arg, self.stored(word.value)) for word in node.keywords if word.arg)
        inner = self.enter("class", scope)
        inner.is_decorated = bool(calls)
        fields = [s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        inner.parameters = NO_PARAMETERS._replace(positional=tuple((name, NOTHING) for name in fields))
        self.block(node.body)
        self.leave(inner, scope.suffix)
        value = outer.node()
        line, byte = self.context.source.name_position(node)
        position = pack(line, self.context.source.column(line, byte))
        outer.add(CLASS, value, inner.number, bases, keywords, position)
        self.bind(node.name, self._decorate(calls, value, CLASS_DECORATION))


def _item(node: ast.MatchMapping, key: ast.expr, subject: int, builder: Builder) -> ast.Subscript:
    """`subject[key]`, as if it were written, with the subject under a name of its own."""
    assert builder.code.env is not None
    builder.code.env["<subject>"] = subject
    base = ast.copy_location(ast.Name("<subject>", ast.Load()), node)
    return ast.copy_location(ast.Subscript(base, key, ast.Load()), node)


def _assigned(node: ast.AST) -> dict[str, None]:
    """The names that a loop assigns, nested scopes left out."""
    found: dict[str, None] = {}
    pending: list[ast.AST] = [node]
    while pending:
        at = pending.pop()
        if isinstance(at, ast.Name):
            if not isinstance(at.ctx, ast.Load):
                found[at.id] = None
            continue
        if isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[at.name] = None
            continue
        if isinstance(at, ast.Lambda):
            continue
        if isinstance(at, (ast.MatchAs, ast.MatchStar)) and at.name:
            found[at.name] = None
        elif isinstance(at, ast.alias):
            found[bound_import(at)[0] if not at.asname else at.asname] = None
        pending.extend(ast.iter_child_nodes(at))
    return found


def build_summary(context: FileContext) -> Summary:
    """The value-flow summary of a walked file."""
    return Builder(context).build()
