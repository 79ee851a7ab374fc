"""objects.inv: the inventory by which Sphinx (intersphinx), mkdocstrings and xref's MkDocs plugin link to symbols.

Names are those that people write: in Python the defining path and each public one, in C++ the full scope. Overloads
share a name; the definition with the most references stands for it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

from xref.model import Id, Lang
from xref.site.plan import SitePlan

FILE = "objects.inv"
_ROLES = {
    (Lang.PYTHON, "function"): "function", (Lang.PYTHON, "method"): "method", (Lang.PYTHON, "class"): "class",
    (Lang.PYTHON, "module"): "module", (Lang.PYTHON, "property"): "property", (Lang.PYTHON, "field"): "attribute",
    (Lang.PYTHON, "variable"): "data",
    (Lang.CPP, "function"): "function", (Lang.CPP, "method"): "function", (Lang.CPP, "constructor"): "function",
    (Lang.CPP, "destructor"): "function", (Lang.CPP, "conversion"): "function", (Lang.CPP, "class"): "class",
    (Lang.CPP, "struct"): "class", (Lang.CPP, "union"): "union", (Lang.CPP, "enum"): "enum",
    (Lang.CPP, "enumerator"): "enumerator", (Lang.CPP, "typedef"): "type", (Lang.CPP, "field"): "member",
    (Lang.CPP, "variable"): "member",
}  # fmt: skip
"""(language, kind) -> the type of Sphinx's domain. A macro belongs to C, whose domain is the one that has macros."""

_UNPLAIN = re.compile(r"[\s{}()]")


Entry = tuple[str, str, str, str]
"""Domain, role, name, address below the site."""


def entries_of(plan: SitePlan) -> list[Entry]:
    """What objects.inv holds, in order."""
    best: dict[tuple[str, str, str], Id] = {}
    for id_, name in plan.names.items():
        target = plan.aliases.get(id_, id_)
        of = plan.names.get(target, name)
        role = _role(of.lang, of.kind)
        if role is None or target not in plan.packing.address or of.file < 0 or not _plain(name.qualname):
            continue
        key = (*role, name.qualname)
        if key not in best or _order(plan, target) < _order(plan, best[key]):
            best[key] = target
    return [(*key, plan.packing.address[id_]) for key, id_ in sorted(best.items())]


def inventory(plan: SitePlan, entries: Sequence[Entry]) -> bytes:
    """The content of objects.inv, version 2 of Sphinx's format: four lines of text, then the entries, deflated.

    Written here: sphobjinv, with which the tests read it, makes three objects of each of TVM's 50,000 entries.
    """
    project, version = (
        " ".join(plan.meta.get(part, "").split()) or other
        for part, other in (("project", "tree"), ("tvm_version", "0"))
    )
    head = (
        f"# Sphinx inventory version 2\n# Project: {project}\n# Version: {version}\n"
        "# The remainder of this file is compressed using zlib.\n"
    )
    rows = "".join(f"{name} {domain}:{role} 1 {uri} -\n" for domain, role, name, uri in entries)
    return head.encode("utf-8", "replace") + zlib.compress(rows.encode("utf-8", "replace"))


def _role(lang: str, kind: str) -> tuple[str, str] | None:
    if kind == "macro":
        return "c", "macro"
    lang = Lang.PYTHON if lang == Lang.CYTHON else lang
    role = _ROLES.get((Lang(lang), kind))
    return (("py" if lang == Lang.PYTHON else "cpp"), role) if role else None


def _plain(name: str) -> bool:
    """Whether Sphinx can hold the name: its lines are divided by blanks."""
    return bool(name) and not _UNPLAIN.search(name)


def _order(plan: SitePlan, id_: Id) -> tuple[object, ...]:
    return not plan.names[id_].defined, -plan.refs.get(id_, 0), id_
