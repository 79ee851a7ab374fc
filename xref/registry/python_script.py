"""The script parser's dispatch: `@dispatch.register(token="tirx", type_name="For")` (tvm/script/parser, v0.10 on).

The key is `parser:<token>:<node of Python's syntax tree>`, for an operator `parser:op:<class>:<operator>`.
"""

from __future__ import annotations

import ast

from xref.model import KeyDef, KeyUse
from xref.registry.python_site import PYTHON, KeyFacts, Site, among

SCRIPT = "script"
_CORE = tuple(f"tvm.script.{home}.dispatch" for home in ("parser.core", "parser._core", "parser"))
REGISTER_FORMS = {"register": _CORE}
OPERATOR_FORMS = {"register_op": _CORE}
GET_FORMS = {"get": _CORE}


def key_facts(site: Site, facts: KeyFacts) -> None:
    """Add the handler that `site` registers, or the look-up of one."""
    if among(site.name, REGISTER_FORMS):
        token, node = site.argument(0, "token"), site.argument(1, "type_name")
        if token is None or node is None or site.decorated is None:
            return
        for text, line, _ in site.texts(token):
            for kind, *_ in site.texts(node):
                facts.definitions.append(KeyDef(SCRIPT, f"parser:{text}:{kind}", PYTHON, line, site.decorated[0]))
    elif among(site.name, OPERATOR_FORMS) and site.decorated is not None:
        operand, operator = site.argument(0, "operand_type"), site.argument(1, "op_node_type")
        if operand is not None and operator is not None:
            name = f"parser:op:{ast.unparse(operand)}:{ast.unparse(operator).rpartition('.')[2]}"
            facts.definitions.append(KeyDef(SCRIPT, name, PYTHON, site.line, site.decorated[0]))
    elif among(site.name, GET_FORMS):
        node = site.argument(1, "type_name")
        token = site.argument(0, "token")
        if node is not None and token is not None and not site.texts(token):
            facts.uses.append(KeyUse(SCRIPT, "parser:*", PYTHON, site.line, site.column, site.within, calls=True))
