"""The FFI uses that the index finds are checked against a count made in the plainest way: names, file by file."""

from __future__ import annotations

import ast
from pathlib import Path

from python_case import CASES, copy_case, index

FILLED = {"_ffi_api": "relax.transform", "relax_ffi": "relax"}
"""Local name of an FFI module in the case's transform.py -> its namespace."""


def test_attributes_of_ffi_modules_are_all_found_and_nothing_else(tmp_path: Path) -> None:
    path = "python/tvm/relax/transform/transform.py"
    tree = ast.parse((CASES / "ffi_v20" / path).read_text("utf-8"))
    parameters = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and any(arg.arg in FILLED for arg in node.args.args)
        for inner in ast.walk(node)
    }
    counted = {
        (node.end_lineno, f"{FILLED[node.value.id]}.{node.attr}")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in FILLED
        if id(node) not in parameters and node.attr != "defined_here"
    }
    uses = index(copy_case("ffi_v20", tmp_path / "tree"), tmp_path / "scratch")[path].key_uses
    rows = (CASES / "ffi_v20" / path).read_text("utf-8").splitlines()
    through_a_module = {
        (use.line, use.name)
        for use in uses
        if use.registry == "ffi"
        and any(f"{name}.{use.name.rpartition('.')[2]}" in rows[use.line - 1] for name in FILLED)
    }
    assert len(counted) == 4
    assert through_a_module == counted
