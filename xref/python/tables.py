"""Tables of objects that a module writes out, for other modules that register something for each row.

TVM's PTX dialect (tvm/backend/cuda/ptx/table.py, after v0.26) is a list of some three hundred rows
`InstructionEntry(name=.., ..)`; another module registers an operator for each, under a name that a property of the
class puts together. What is kept of a row is what a name can be made of: attributes and properties that are strings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from xref.python.declarations import FUNCTION_NODES
from xref.python.evaluate import Evaluation, Record, UnknownError

Row = tuple[str, int, dict[str, str]]
"""The key in a dictionary ("" in a list), the line, and the attributes that are strings."""
Given = tuple[str, list[str]]
"""A call of a module's own statements: the callee, and each argument's dotted name ("" of what has none)."""
_PROPERTIES = frozenset({"property", "cached_property"})


class _Class:
    """A class whose objects hold what they are made with: its fields in order, their defaults, its properties."""

    def __init__(self, node: ast.ClassDef) -> None:
        self.fields: list[str] = []
        self.defaults: dict[str, ast.expr] = {}
        self.properties: dict[str, tuple[str, ast.expr]] = {}
        for part in node.body:
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                self.fields.append(part.target.id)
                if part.value is not None:
                    self.defaults[part.target.id] = part.value
            elif isinstance(part, FUNCTION_NODES) and any(_last(d) in _PROPERTIES for d in part.decorator_list):
                code = [s for s in part.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
                if len(code) == 1 and isinstance(code[0], ast.Return) and code[0].value is not None and part.args.args:
                    self.properties[part.name] = part.args.args[0].arg, code[0].value


class _Module(Evaluation[None]):
    """Evaluates the tables of one module, by names that it assigns once."""

    def __init__(self, assigned: dict[str, ast.expr], classes: dict[str, _Class]) -> None:
        super().__init__()
        self._assigned, self._classes = assigned, classes

    def named(self, node: ast.Name, _known: dict[str, Any], context: None, depth: int) -> Any:
        """A variable of the module; a table's loop variables are in `known`, which a variable does not see."""
        if node.id not in self._assigned:
            raise UnknownError
        return self.value(self._assigned[node.id], {}, context, depth)

    def member(self, _node: ast.Attribute, _context: None) -> Any:
        """What stands in other modules is not known."""
        raise UnknownError

    def made(self, node: ast.Call, known: dict[str, Any], context: None, depth: int) -> Record:
        """An object of a class of the module."""
        found = self._classes.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if found is None or any(isinstance(part, ast.Starred) for part in node.args):
            raise UnknownError
        given = dict(found.defaults)
        given.update(zip(found.fields, node.args, strict=False))
        given.update((word.arg, word.value) for word in node.keywords if word.arg)

        def attribute(name: str) -> Any:
            if name in given:
                return self.value(
                    given[name], known if given[name] is not found.defaults.get(name) else {}, context, depth
                )
            if name not in found.properties:
                raise UnknownError
            this, value = found.properties[name]
            return self.value(value, {this: record}, context, depth)

        record = Record(node.lineno, attribute)
        return record

    def rows(self, name: str) -> list[Row]:
        """The rows of the table that the module calls `name`; none when one of them is not known."""
        try:
            table = self.value(self._assigned[name], {}, None)
        except UnknownError:
            return []
        if not isinstance(table, dict):
            table = [("", row) for row in table] if isinstance(table, list) else []
        else:
            table = list(table.items())
        if not all(isinstance(row, Record) and isinstance(key, str) for key, row in table):
            return []
        names = sorted({name for found in self._classes.values() for name in (*found.fields, *found.properties)})
        return [(key, row.line, _strings(row, names)) for key, row in table]


def _strings(row: Record, names: Iterable[str]) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            value = row.attribute(name)
        except UnknownError:
            continue
        if isinstance(value, str):
            found[name] = value
    return found


def tables(statements: Iterable[ast.stmt]) -> dict[str, list[Row]]:
    """The tables of objects among a module's statements, by the name of the variable that holds each."""
    classes: dict[str, _Class] = {}
    values: dict[str, list[ast.expr]] = {}
    for node in statements:
        if isinstance(node, ast.ClassDef):
            classes[node.name] = _Class(node)
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        for target in targets:
            if isinstance(target, ast.Name) and value is not None:
                values.setdefault(target.id, []).append(value)
    assigned = {name: found[0] for name, found in values.items() if len(found) == 1}
    makers = {name for name, found in classes.items() if found.fields}
    of_rows = {name for name, value in assigned.items() if _makes(value, makers)}
    of_rows |= {name for name, value in assigned.items() if _goes_over(value, of_rows)}
    module = _Module(assigned, classes)
    return {name: rows for name in sorted(of_rows) if (rows := module.rows(name))}


def _makes(value: ast.expr, makers: set[str]) -> bool:
    """Whether the expression is a table in which objects of the classes `makers` are made."""
    if not makers or not isinstance(value, (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)):
        return False
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in makers for n in ast.walk(value)
    )


def _goes_over(value: ast.expr, tables: set[str]) -> bool:
    """Whether the expression makes another table of one of `tables`."""
    loops = value.generators if isinstance(value, (ast.DictComp, ast.ListComp)) else []
    return any(isinstance(loop.iter, ast.Name) and loop.iter.id in tables for loop in loops)


def given(call: ast.Call, callee: str) -> Given | None:
    """What a module's statement gives to the function `callee`; None when it gives nothing that has a name."""
    names = [_dotted(part) for part in call.args]
    return (callee, names) if any(names) else None


def read_table(rows: list[Row], path: str) -> Any:
    """The value of a table that `tables` has read from the file at `path`: a list or a dictionary of records."""
    records = [(key, _record(attributes, f"{path}:{line}", line)) for key, line, attributes in rows]
    return dict(records) if records and records[0][0] else [record for _, record in records]


def _record(attributes: dict[str, str], origin: str, line: int) -> Record:
    def attribute(name: str) -> str:
        if name not in attributes:
            raise UnknownError
        return attributes[name]

    return Record(line, attribute, origin)


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _last(node: ast.expr) -> str:
    return _dotted(node).rpartition(".")[2]
