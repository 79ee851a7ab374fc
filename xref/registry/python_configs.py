"""Options of passes on the Python side: set by `PassContext(config={"k": v})`, read by `config.get("k")`.

`config` is what a PassContext holds (tvm/ir/transform.py). A read is known by the receiver's name, `config`, and by the
dot in the option: every option of TVM has its dialect in front.
"""

from __future__ import annotations

import ast

from xref.model import KeyUse
from xref.registry.python_site import PYTHON, KeyFacts, Site, among, literal

CONFIG = "pass_config"
FORMS = {
    "PassContext": ("tvm.transform", "tvm.ir.transform"),
    "build_config": ("tvm.relay", "tvm.relay.transform", "tvm.relay.transform.transform"),
}
_HOLDERS = frozenset({"config", "cfg", "pass_config"})
_READERS = frozenset({"get"})


def key_facts(site: Site, facts: KeyFacts) -> None:
    """Add the options that `site` sets."""
    if not among(site.name, FORMS):
        return
    given = site.argument(5, "config")
    if isinstance(given, ast.Dict):
        for key in given.keys:
            _use(site, facts, key)


def method_facts(site: Site, facts: KeyFacts) -> None:
    """Add the option that `x.config.get("k")` reads."""
    if site.name not in _READERS or site.call is None or not isinstance(site.call.func, ast.Attribute):
        return
    holder = site.call.func.value
    name = holder.attr if isinstance(holder, ast.Attribute) else holder.id if isinstance(holder, ast.Name) else ""
    key = site.argument(0, "key")
    if name in _HOLDERS and "." in (literal(key) or ""):
        _use(site, facts, key, optional=True)


def _use(site: Site, facts: KeyFacts, key: ast.expr | None, *, optional: bool = False) -> None:
    text = literal(key)
    if text and key is not None:
        line, column = site.position(key)
        facts.uses.append(KeyUse(CONFIG, text, PYTHON, line, column, site.within, optional=optional))
