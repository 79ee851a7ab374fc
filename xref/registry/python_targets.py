"""Target tags registered from Python, and targets that Python names: `Target("nvidia/nvidia-a100")`, `Target("llvm")`.

From v0.24 on TVM registers its tags in Python, in loops and small helpers; before, in C++ (xref.registry.cpp_entries).
"""

from __future__ import annotations

from xref.model import KeyDef, KeyUse
from xref.registry.python_site import PYTHON, KeyFacts, Site, among, literal

KIND, TAG = "target_kind", "target_tag"
_TARGET = ("tvm.target", "tvm.target.target", "tvm")
REGISTER_FORMS = {"register_tag": (*_TARGET, "tvm.target.tag", "tvm.target.tag_registry.registry")}
GET_FORMS = {"Target": _TARGET}


def key_facts(site: Site, facts: KeyFacts) -> None:
    """Add the tag that `site` registers, or the target that it names."""
    if among(site.name, REGISTER_FORMS):
        name = site.argument(0, "name")
        texts = site.texts(name) if name is not None else []
        facts.definitions += [KeyDef(TAG, text, PYTHON, line) for text, line, _ in texts]
        if name is not None and not texts:
            facts.unreadable.append((name, site.within, "the name of the tag is known only at run time"))
    elif among(site.name, GET_FORMS):
        given = site.argument(0, "target")
        words = (literal(given) or "").split()
        if given is not None and words:
            line, column = site.position(given)
            registry = TAG if "/" in words[0] else KIND
            facts.uses.append(KeyUse(registry, words[0], PYTHON, line, column, site.within, optional=True))
