"""Decides which parses of a tree an earlier index still answers for.

A parse comes out the same when nothing that it consisted of has changed: the content of its files, where their #include
lines lead (a header may newly appear in front of the one that was found), headers that were not found and now are, and
the precompiled header. Options and libclang are compared elsewhere: when they differ, nothing is kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from xref.cpp.includes import IncludeScan
from xref.cpp.plan import CppPlan, UnitJob
from xref.records import PCH, PLANNED, RETRY, Records, UnitRecord, is_same


@dataclass
class CppWork:
    """What is to be parsed, and what is kept. `alone` are jobs of single headers whose unit is kept.

    `reasons`: why in words -> number of parses.
    """

    jobs: list[UnitJob] = field(default_factory=list)
    alone: list[UnitJob] = field(default_factory=list)
    kept: list[UnitRecord] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def owned(self) -> set[str]:
        """The files whose facts will be read again."""
        return {path for job in (*self.jobs, *self.alone) for path in job.owned}


def everything(plan: CppPlan) -> CppWork:
    """All parses of the plan."""
    return CppWork(jobs=list(plan.jobs))


def what_to_parse(plan: CppPlan, scan: IncludeScan, old: Records, changed: set[str]) -> CppWork:
    """The parses to be made after an index that remembers `old`, when the tree's files `changed` (or went) since."""
    return _Decision(plan, scan, old, changed).decide()


class _Decision:
    def __init__(self, plan: CppPlan, scan: IncludeScan, old: Records, changed: set[str]) -> None:
        self._plan = plan
        self._scan = scan
        self._old = old
        self._counts: Counter[str] = Counter()
        self._why = {path: f"{path} changed" for path in changed}
        for path, source in old.sources.items():
            if path in self._why:
                continue
            if source.resolution:
                if scan.resolution(path) != source.resolution:
                    self._why[path] = f"#include lines of {path} lead elsewhere"
            elif not is_same(source):
                self._why[path] = f"{path} changed"
        self._pch_reason = self._reason_for_pch()

    def _reason_for_pch(self) -> str:
        record = next((unit for unit in self._old.units if unit.origin == PCH), None)
        if record is None:
            return "there was no precompiled header" if self._plan.pch_headers else ""
        if record.job.owned != self._plan.pch_headers:
            return "the common headers are others"
        return self._reason(record)

    def _reason(self, record: UnitRecord) -> str:
        """Why the parse may come out differently; "" when it cannot."""
        if record.used_pch and self._pch_reason:
            return self._pch_reason
        # of several reasons the one that most parses have
        reasons = [self._why[path] for path in record.seen if path in self._why]
        if reasons:
            return max(reasons, key=lambda reason: (self._shared[reason], reason))
        appeared = next((name for name in record.missing if self._scan.find(name)), "")
        return f"{appeared} is there now" if appeared else ""

    @property
    def _shared(self) -> Counter[str]:
        if not self._counts:
            for unit in self._old.units:
                self._counts.update({self._why[path] for path in unit.seen if path in self._why})
        return self._counts

    def decide(self) -> CppWork:
        work = CppWork()
        planned = {unit.job: unit for unit in self._old.units if unit.origin == PLANNED}
        mains = {unit.job.main for unit in planned.values()}
        others = [unit for unit in self._old.units if unit.origin not in (PLANNED, PCH)]
        owner = {path: job for job in self._plan.jobs for path in job.owned}
        current = set(self._plan.jobs)
        again: dict[UnitJob, str] = {}
        for job in self._plan.jobs:
            record = planned.get(job)
            if record is None:
                name = job.main or "headers"
                again[job] = f"{name} has other headers to read" if job.main in mains else f"{name} is new"
            elif reason := self._reason(record):
                again[job] = reason
        for record in others:
            unit = owner.get(record.job.main)
            if record.origin == RETRY and unit is not None and unit not in again and (reason := self._reason(record)):
                again[unit] = reason
        for record in others:
            unit = owner.get(record.job.main)
            if unit is None or unit in again:
                continue
            if reason := self._reason(record):
                work.alone.append(record.job)
                work.reasons[reason] += 1
            else:
                work.kept.append(record)
        work.kept += [record for job, record in planned.items() if job in current and job not in again]
        work.kept += [unit for unit in self._old.units if unit.origin == PCH]
        work.jobs = list(again)
        work.reasons.update(again.values())
        return work
