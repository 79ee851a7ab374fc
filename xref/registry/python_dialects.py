"""Dialects of TVMScript, which make module names that no file has: `register_dialect("tirx", "tvm.tirx.script")` lets
`tvm.script.tirx`, `tvm.script.parser.tirx` and `tvm.script.ir_builder.tirx` stand for modules of the dialect's own
package (python/tvm/script/__init__.py, `_redirect_target`; from v0.24 on, before it the modules existed).
"""

from __future__ import annotations

import ast

from xref.registry.python_site import among, literal

FORMS = {"register_dialect": ("tvm.script",)}
REDIRECTS = {"tvm.script": "", "tvm.script.parser": ".parser", "tvm.script.ir_builder": ".builder"}
"""Package whose attribute `<dialect>` is redirected -> what is appended to the dialect's package."""


def redirected_modules(name: str, call: ast.Call) -> dict[str, str]:
    """Module name -> the module that it stands for, as made by a call of the function with the dotted `name`."""
    if not among(name, FORMS) or len(call.args) < 2:
        return {}
    dialect, package = literal(call.args[0]), literal(call.args[1])
    if not dialect or not package:
        return {}
    return {f"{home}.{dialect}": package + suffix for home, suffix in REDIRECTS.items()}
