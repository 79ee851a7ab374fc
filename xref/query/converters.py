"""Operators of other frameworks as their users write them: `aten.conv2d`, `torch.ops.aten.conv2d.default`, `onnx Conv`.

The registry `frontend` names its keys as the tables of TVM's importers do (`torch:conv2d.default`, `onnx:Conv`; Relay's
`pytorch:aten::conv2d`). What people have at hand is what torch.export, TorchScript or a viewer of ONNX files prints.
"""

from __future__ import annotations

import re
import sqlite3

FRONTEND = "frontend"
_PYTORCH = frozenset({"torch", "pytorch", "ops", "aten"})
_NAMESPACES = {"torch": _PYTORCH, "pytorch": _PYTORCH}
"""Framework -> what may stand before the name of an operator; of any other, its own name alone."""
_PARTS = re.compile(r"[\s.:/]+")


def converters(db: sqlite3.Connection, text: str) -> list[tuple[str, str]]:
    """The (registry, name) of the keys of the operator that `text` names, with its framework or namespace before it.

    PyTorch's overloads (`conv2d.default`) count as the operator, and the operator as each overload: TVM's two
    importers list one or the other.
    """
    asked = [part for part in _PARTS.split(text.strip()) if part]
    if len(asked) < 2:
        return []
    found: list[tuple[int, str]] = []
    for (name,) in db.execute("SELECT DISTINCT name FROM key_def WHERE registry = ? ORDER BY name", (FRONTEND,)):
        framework, _, operator = name.partition(":")
        namespaces = _NAMESPACES.get(framework, {framework})
        wanted = _without(asked, namespaces)
        own = _without(_PARTS.split(operator), namespaces)
        is_namespaced = len(wanted) < len(asked)
        if wanted and (wanted == own or (is_namespaced and (wanted == own[: len(wanted)] or own == wanted[:-1]))):
            found.append((wanted != own, name))
    return [(FRONTEND, name) for _, name in sorted(found)]


def _without(parts: list[str], namespaces: frozenset[str] | set[str]) -> list[str]:
    """The parts behind the leading ones that are `namespaces`."""
    at = next((i for i, part in enumerate(parts) if part not in namespaces), len(parts))
    return parts[at:]
