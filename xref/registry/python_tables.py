"""Tables of functions that Python modules fill: converters of other frameworks' operators, and BYOC patterns.

"Which function converts aten.conv2d, or ONNX's Conv?": frontends (tvm/relax/frontend, tvm/relay/frontend) hold them in
dictionaries of strings to methods, classes or converters. The registry `frontend` has one key a row:
`<framework>:<operator>`. Patterns by which graphs are cut for a library (`register_patterns([("cudnn.conv2d", ..)])`)
are keys of the registry `pattern`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from xref.model import Id, KeyDef
from xref.registry.python_site import PYTHON, KeyFacts, Site, among, literal

FRONTEND, PATTERN = "frontend", "pattern"
REGISTER_FORMS = {
    "register_patterns": ("tvm.relax.backend", "tvm.relax.backend.pattern_registry"),
    "register_pattern_table": ("tvm.relay.op.contrib", "tvm.relay.op.contrib.register"),
}
_HOMES = ("tvm.relax.frontend.", "tvm.relay.frontend.")
VERSIONS = "_impl_v"
_FEWEST = 8
"""Rows of a table that converts operators: a smaller dictionary of functions serves something else."""
_LARGEST_SHARE_UNKNOWN = 0.5


def framework(module: str) -> str:
    """The framework whose operators the module converts, "" for any other module."""
    for home in _HOMES:
        if module.startswith(home):
            return module[len(home) :].partition(".")[0]
    return ""


def table_facts(
    framework: str,
    table: ast.Dict,
    facts: KeyFacts,
    symbol: Callable[[ast.expr], Id | None],
    versions: Callable[[ast.expr], list[tuple[str, Id]]],
) -> None:
    """Add the rows of a table of converters: strings as keys, and as values what names a function or class.

    `versions` gives the methods of a class whose names begin with `VERSIONS`, and what follows it. The importer of ONNX
    chooses one of them by the model's opset (`OnnxOpConverter.get_converter`), so each is what the key may run.
    """
    rows = [(literal(key), key, value) for key, value in zip(table.keys, table.values, strict=True) if key is not None]
    texts = [row for row in rows if row[0]]
    if len(texts) < _FEWEST or len(texts) < len(table.keys) * _LARGEST_SHARE_UNKNOWN:
        return
    found = [(text, key, _converter(value, symbol)) for text, key, value in texts]
    known = [row for row in found if row[2][0] is not None]
    if len(known) < len(found) * _LARGEST_SHARE_UNKNOWN:
        return
    for (text, key, (converter, note)), (_, _, value) in zip(found, texts, strict=True):
        assert key is not None
        name = f"{framework}:{text}"
        facts.definitions.append(KeyDef(FRONTEND, name, PYTHON, key.lineno, converter, "", note))
        facts.definitions += [
            KeyDef(FRONTEND, name, PYTHON, key.lineno, method, "", f"from opset {version} on")
            for version, method in versions(_class_of(value))
        ]


def _class_of(value: ast.expr) -> ast.expr:
    """The class of a row: `Conv`, or `Conv` in `Conv.get_converter(opset)`."""
    callee = value.func if isinstance(value, ast.Call) else None
    return callee.value if isinstance(callee, ast.Attribute) else value


def _converter(value: ast.expr, symbol: Callable[[ast.expr], Id | None]) -> tuple[Id | None, str]:
    """What a row names: a function, a method, a class; of a call, what is called (`Conv.get_converter(opset)`)."""
    if isinstance(value, ast.Call):
        callee = value.func
        found = symbol(callee)
        if found is None and isinstance(callee, ast.Attribute):
            found = symbol(callee.value)
        return found, f"what {ast.unparse(value)} returns"[:120]
    return symbol(value), ""


def key_facts(site: Site, facts: KeyFacts) -> None:
    """Add the patterns that `site` registers, as far as they are written there."""
    if not among(site.name, REGISTER_FORMS):
        return
    given = site.argument(0, "patterns")
    if site.decorated is not None:
        name = literal(given)
        if name:
            facts.definitions.append(KeyDef(PATTERN, name, PYTHON, site.line, site.decorated[0]))
        return
    rows = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given] if given is not None else []
    for row in rows:
        written = row.value if isinstance(row, ast.Starred) else row
        found = _patterns(site, written)
        facts.definitions += found
        if not found:
            facts.unreadable.append((written, site.within, "patterns whose names are known only at run time"))


def _patterns(site: Site, row: ast.expr) -> list[KeyDef]:
    """The patterns of a row: the tuple `(name, pattern, .., check)`, or all such tuples that a function or a variable
    of the file makes. The last part that names a function is what the pattern runs."""
    found: list[KeyDef] = []
    for part in _tuples(site, row):
        runs = next((symbol for other in part.elts[:0:-1] if (symbol := site.symbol(other)) is not None), None)
        for text, line, _ in site.texts(part.elts[0]):
            if "." in text:
                found.append(KeyDef(PATTERN, text, PYTHON, line, runs))
    return found


def _tuples(site: Site, row: ast.expr) -> list[ast.Tuple]:
    if isinstance(row, ast.Tuple) and len(row.elts) > 1:
        return [row]
    name = row.func if isinstance(row, ast.Call) else row
    body = site.body(name)
    return [n for n in ast.walk(body) if isinstance(n, ast.Tuple) and len(n.elts) > 1] if body is not None else []
