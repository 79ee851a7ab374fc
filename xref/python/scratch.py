"""The files in a plan's scratch folder: how the plan, the survey and the type checker's reports reach the workers."""

from __future__ import annotations

import json
import marshal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xref.python.plan import PythonFile, PythonPlan

PLAN = "plan.json"
SURVEY = "survey.marshal"
CURRENT = "survey.current"
"""The file that the survey is reading: what to blame when its process dies."""
DEADLY = "survey.deadly"
"""Files that killed a survey, separated by NUL."""
CALLS = "calls.json"
"""The call graphs of the plan's files, one JSON document behind the other."""
RECEIVERS = "receivers.marshal"
"""The classes of expressions in the plan's files, one marshalled table behind the other."""
SCIP = "index.scip"
TYPES = "types.marshal"
KEPT = "kept.marshal.z"
"""What the index keeps of the survey and the types (xref.python.kept)."""
SAID = "said.marshal"
"""What was kept of the plan's files, where the type checker does not run."""
TROUBLE = "types.trouble"
"""Why there are no types, as written by `run_type_checker`; empty when there are."""


def save_plan(plan: PythonPlan) -> None:
    """Write `plan` into its scratch folder, which is made if needed."""
    plan.scratch.mkdir(parents=True, exist_ok=True)
    rows = {
        "root": str(plan.root),
        "files": [(file.path, file.module, file.is_package) for file in plan.files],
        "search_paths": plan.search_paths,
    }
    (plan.scratch / PLAN).write_text(json.dumps(rows), encoding="ascii")


def load_plan(scratch: Path) -> PythonPlan:
    """The plan that `save_plan` wrote."""
    rows = json.loads((scratch / PLAN).read_text(encoding="ascii"))
    files = tuple(PythonFile(*row) for row in rows["files"])
    return PythonPlan(Path(rows["root"]), files, tuple(rows["search_paths"]), scratch)


def save_survey(scratch: Path, modules: Mapping[str, Any], failed: Mapping[str, str]) -> None:
    """Write the survey: module -> its table, and the files that have none -> why."""
    (scratch / SURVEY).write_bytes(marshal.dumps((dict(modules), dict(failed))))


def read_trouble(scratch: Path) -> str:
    """Why there are no types; "" when there are."""
    path = scratch / TROUBLE
    return path.read_text("utf-8") if path.exists() else "no types: the type checker was not run"
