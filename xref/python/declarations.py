"""Names what one syntax tree declares: classes, functions, variables, fields, with the keys that identify them.

Both passes over a file (the survey of the whole tree, then the extraction) call `declare`, so that they agree on every
key. Only statements are visited; lambdas are numbered by the extraction, nothing outside the file refers to them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from xref.model import Id, symbol_id

FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)
_PROPERTY_DECORATORS = frozenset({"property", "cached_property", "getter", "setter", "deleter", "abstractproperty"})


def module_key(module: str) -> str:
    """The key of a module's own symbol."""
    return f"py:{module}"


def member_key(module: str, suffix: str) -> str:
    """The key of a symbol inside `module`; `suffix` is its qualname there, with `#2` for a second definition."""
    return f"py:{module}:{suffix}" if suffix else f"py:{module}"


def alias_key(qualname: str) -> str:
    """The key of a public path made by an import in an __init__.py."""
    return f"py-alias:{qualname}"


@dataclass(slots=True)
class Declared:
    """One declaration. `qual` is the qualname inside the module, `suffix` the same with `#2` and so on when it is not
    the first; `line` and `byte` (0-based offset) point at the keyword of a def or class, else at the name itself.
    """

    kind: str
    name: str
    qual: str
    suffix: str
    line: int
    byte: int
    end_line: int
    parent: str
    node: ast.AST
    is_overload: bool = False
    """A signature for the type checker (`@typing.overload`): it declares the function that follows it."""


@dataclass(slots=True)
class Declarations:
    """What a module declares: `items` in source order, `by_node` by id() of the def, class, or name node."""

    module: str
    items: list[Declared]
    by_node: dict[int, Declared]
    quals: dict[str, Declared]

    def id_of(self, suffix: str) -> Id:
        """The symbol id of the declaration (or "" for the module)."""
        return symbol_id(member_key(self.module, suffix))


def declare(module: str, tree: ast.Module) -> Declarations:
    """All declarations of a module, in source order except that a scope's functions and classes precede its variables:
    a name that is also a function is that function, whatever is assigned to it later.
    """
    result = Declarations(module, [], {}, {})
    counts: dict[str, int] = {}
    pending: list[tuple[list[ast.stmt], str, str, str]] = [(tree.body, "", "", "module")]
    while pending:
        body, qual, suffix, kind = pending.pop(0)
        statements = list(scope_statements(body))
        for node in statements:
            if isinstance(node, (*FUNCTION_NODES, ast.ClassDef)):
                item = _definition(node, qual, suffix, kind, counts)
                _add(result, item)
                pending.append((node.body, item.qual, item.suffix, item.kind))
        if kind in ("module", "class"):
            for node in statements:
                for target in _assigned_names(node):
                    _add_variable(result, target, target.id, qual, suffix, "field" if kind == "class" else "variable")
    for item in list(result.items):
        if isinstance(item.node, FUNCTION_NODES) and item.kind in ("method", "property"):
            _add_self_fields(result, item)
    result.items.sort(key=lambda item: (item.line, item.byte))
    return result


def _definition(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, qual: str, suffix: str, scope: str,
    counts: dict[str, int],
) -> Declared:  # fmt: skip
    own = f"{qual}.{node.name}" if qual else node.name
    full = f"{suffix}.{node.name}" if suffix else node.name
    is_overload = any(_decorator_name(d) == "overload" for d in node.decorator_list)
    number = counts.get(full, 0) + 1
    if not is_overload:
        counts[full] = number
    if isinstance(node, ast.ClassDef):
        kind = "class"
    elif scope == "class":
        kind = "property" if any(_decorator_name(d) in _PROPERTY_DECORATORS for d in node.decorator_list) else "method"
    else:
        kind = "function"
    end = node.end_lineno or node.lineno
    return Declared(kind, node.name, own, full if number == 1 else f"{full}#{number}",
                    node.lineno, node.col_offset, end, suffix, node, is_overload)  # fmt: skip


def _add(result: Declarations, item: Declared) -> None:
    result.items.append(item)
    result.by_node[id(item.node)] = item
    if item.suffix not in result.quals or result.quals[item.suffix].is_overload:
        result.quals[item.suffix] = item


def _add_variable(result: Declarations, node: ast.expr, name: str, qual: str, suffix: str, kind: str) -> None:
    own = f"{qual}.{name}" if qual else name
    full = f"{suffix}.{name}" if suffix else name
    if full in result.quals:
        return
    byte = node.col_offset if isinstance(node, ast.Name) else (node.end_col_offset or 0) - len(name.encode())
    line = node.lineno if isinstance(node, ast.Name) else node.end_lineno or node.lineno
    _add(result, Declared(kind, name, own, full, line, byte, line, suffix, node))


def _add_self_fields(result: Declarations, method: Declared) -> None:
    """`self.x = ...` in a method declares the field x of its class, unless the class has an x already."""
    node = method.node
    assert isinstance(node, FUNCTION_NODES)
    if any(_decorator_name(d) in ("staticmethod", "classmethod") for d in node.decorator_list):
        return
    first = [*node.args.posonlyargs, *node.args.args][:1]
    owner = result.quals.get(method.parent)
    if not first or owner is None:
        return
    for statement in scope_statements(node.body):
        for target in _targets(statement):
            for leaf in _leaves(target):
                if (
                    isinstance(leaf, ast.Attribute)
                    and isinstance(leaf.value, ast.Name)
                    and (leaf.value.id == first[0].arg)
                ):
                    _add_variable(result, leaf, leaf.attr, owner.qual, owner.suffix, "field")


def _decorator_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def scope_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a scope in source order: inside if, try, with, loops and match, not inside defs and classes."""
    stack = [iter(body)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            continue
        yield node
        if isinstance(node, (*FUNCTION_NODES, ast.ClassDef)):
            continue
        inner: list[ast.stmt] = []
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            for child in getattr(node, name, ()):
                inner += child.body if isinstance(child, (ast.ExceptHandler, ast.match_case)) else [child]
        if inner:
            stack.append(iter(inner))


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return [node.target]
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return [node.target]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [item.optional_vars for item in node.items if item.optional_vars is not None]
    return []


def _leaves(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _leaves(element)
    elif isinstance(target, ast.Starred):
        yield from _leaves(target.value)
    else:
        yield target


def _assigned_names(node: ast.stmt) -> Iterator[ast.Name]:
    for target in _targets(node):
        for leaf in _leaves(target):
            if isinstance(leaf, ast.Name):
                yield leaf
