"""Pipelines of passes by name: the table PIPELINE_MAP of a dialect, and who runs what stands in it.

`tvm.compile(mod, relax_pipeline="zero")` picks one (tvm/relax/pipeline.py, tvm/tirx/compilation_pipeline.py and, from
v0.16 to v0.23, tvm/tir/pipeline.py); other modules add theirs. The key is `<dialect>:<name>`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from xref.model import Id, KeyDef, KeyUse
from xref.registry.python_site import PYTHON, KeyFacts, Site, among, literal

PIPELINE = "pipeline"
TABLE = "PIPELINE_MAP"
_HOMES = {
    "tvm.relax.pipeline": "relax",
    "tvm.tirx.compilation_pipeline": "tirx",
    "tvm.tir.pipeline": "tir",
    "tvm.relax": "relax",
    "tvm.tirx": "tirx",
    "tvm.tir": "tir",
}
"""Module that holds a table or hands its functions on -> the dialect."""
REGISTER_FORMS = {"register_pipeline": tuple(_HOMES)}
GET_FORMS = {"get_pipeline": tuple(_HOMES), "get_tir_pipeline": tuple(_HOMES)}


def dialect(table: str) -> str:
    """The dialect of the table with the dotted name, "" when it is no such table."""
    home, _, name = table.rpartition(".")
    return _HOMES.get(home, "") if name == TABLE else ""


def key_facts(site: Site, facts: KeyFacts) -> None:
    """Add the pipeline that `site` registers, or the one that it names."""
    if among(site.name, REGISTER_FORMS) and site.decorated is not None:
        name = literal(site.argument(0, "name"))
        if name:
            key = f"{_HOMES[site.name.rpartition('.')[0]]}:{name}"
            facts.definitions.append(KeyDef(PIPELINE, key, PYTHON, site.line, site.decorated[0]))
    elif among(site.name, GET_FORMS):
        given = site.argument(0, "name")
        name = literal(given)
        if name and given is not None:
            line, column = site.position(given)
            key = f"{_HOMES[site.name.rpartition('.')[0]]}:{name}"
            facts.uses.append(KeyUse(PIPELINE, key, PYTHON, line, column, site.within))


def table_facts(
    root: ast.Module, facts: KeyFacts, dotted: Callable[[ast.expr], str], symbol: Callable[[ast.expr], Id | None]
) -> None:
    """Add the pipelines that a module puts into a table. `dotted` gives the dotted name that an expression means."""
    for node in root.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        if isinstance(target, ast.Subscript):
            home, rows = dialect(dotted(target.value)), [(target.slice, value)]
        elif isinstance(target, ast.Name) and isinstance(value, ast.Dict):
            home, rows = dialect(dotted(target)), [(k, v) for k, v in zip(value.keys, value.values, strict=True) if k]
        else:
            continue
        for key, function in rows:
            if home and (name := literal(key)):
                facts.definitions.append(KeyDef(PIPELINE, f"{home}:{name}", PYTHON, key.lineno, symbol(function)))


def call_facts(site: Site, table: str, facts: KeyFacts) -> None:
    """Add the use that `PIPELINE_MAP[name](..)` is: it runs whichever pipeline is named."""
    home = dialect(table)
    if home:
        facts.uses.append(KeyUse(PIPELINE, f"{home}:*", PYTHON, site.line, site.column, site.within, calls=True))
