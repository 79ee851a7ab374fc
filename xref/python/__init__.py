"""The Python half of the index: plans the files, runs the type checker, extracts facts in workers; Cython likewise.

Order of use: `plan_python`, `run_type_checker`, `python_jobs`, then `extract_python` on each job in any process.
"""

from __future__ import annotations

from xref.python.cython import extract_cython
from xref.python.extract import extract_python
from xref.python.kept import keep_report, narrowed
from xref.python.plan import PythonFile, PythonJob, PythonPlan, cut_jobs, plan_python
from xref.python.typecheck import ensure_survey, run_type_checker

__all__ = [
    "PythonFile",
    "PythonJob",
    "PythonPlan",
    "extract_cython",
    "extract_python",
    "keep_report",
    "narrowed",
    "plan_python",
    "python_jobs",
    "run_type_checker",
]

FILES_PER_JOB = 24
"""Large enough that loading the tree's tables does not show, small enough that two workers end together."""


def python_jobs(plan: PythonPlan, per_job: int = FILES_PER_JOB) -> list[PythonJob]:
    """The batches that cover the plan. Makes the survey of the tree when `run_type_checker` has not been called."""
    ensure_survey(plan)
    return cut_jobs(plan, per_job)
