"""Runs the extraction: feeds files to worker processes, stores the facts that come back, and notes what each parse
consisted of. What is to be read is decided before (`Work`).

Extractors know nothing of SQLite and the store nothing of clang; this module and `xref.index` are where they meet.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from xref import python as python_part
from xref.cache import pch_folder
from xref.cpp.changes import CppWork
from xref.cpp.clang import die_on_crash
from xref.cpp.includes import IncludeScan
from xref.cpp.kept import folder_for, load_kept, make_kept, shared_folder
from xref.cpp.pch import NO_PCH, Pch, build_pch, build_shared
from xref.cpp.plan import CppPlan, UnitJob, alone
from xref.cpp.unit import UnitResult, begin_process, index_unit
from xref.garbage import collect_seldom
from xref.model import FileFacts, Status
from xref.records import PCH, PLANNED, RETRY, UNREACHED, Records, Source, UnitRecord, stat_source
from xref.store import IndexBuilder
from xref.tree.find import Tree
from xref.workers import Failure, Task, Workers

Progress = Callable[[int, int, str], None]
_POLL_SECONDS = 0.25
_CPU_SECONDS, _CPU_SECONDS_AGAIN = 90.0, 30.0
"""Of computing that a unit may take, and on its second try: TVM's slowest takes 6 s, half of its public headers in one
task 12. A parse that does not end does not end the second time either."""
_NO_PCH_WARNING = "the tree's common headers were not precompiled, so that indexing takes several times longer"


@dataclass
class Work:
    """What is to be read. `plan` and `scan` are None without C++; `python` is None when its files need no reading, and
    `cython` are the files to read. `checks`: whether the type checker is to read the Python files, or what the index
    keeps of them is in the plan's scratch folder."""

    plan: CppPlan | None
    scan: IncludeScan | None
    cpp: CppWork
    python: python_part.PythonPlan | None
    cython: tuple[str, ...]
    clang: str
    checks: bool = True


@dataclass
class Outcome:
    """`warnings`: what the user should know; `records`: how the index was made, what was kept included."""

    warnings: list[str] = field(default_factory=list)
    records: Records = field(default_factory=Records)
    pch: str = ""
    """"ok", or what was wrong with the precompiled header; "" when it was not needed."""


def extract(tree: Tree, work: Work, builder: IndexBuilder, jobs: int, scratch: Path, progress: Progress) -> Outcome:
    """Read what `work` says with `jobs` processes, and put the facts into `builder`, which knows the files."""
    extraction = _Extraction(tree, work, builder, scratch)
    with ThreadPoolExecutor(1) as checker:
        types = None
        if work.python is not None:
            types = checker.submit(python_part.run_type_checker, work.python, jobs) if work.checks else _no_trouble()
        with Workers(jobs, _initialize_worker, (work.plan,), fork=_are_few(work, jobs)) as workers:
            extraction.run(workers, types, progress)
    return extraction.outcome()


def _are_few(work: Work, jobs: int) -> bool:
    """Whether each worker gets one unit at most: then a process that has to import everything first takes a third of
    the time until an edit is in the index. Of many units a copy of this process would only take memory; and a process
    in which another thread waits for the type checker is not to be copied."""
    return work.python is None and len(work.cpp.jobs) + len(work.cpp.alone) <= jobs


def _no_trouble() -> Future[str]:
    done: Future[str] = Future()
    done.set_result("")
    return done


# in a worker process

_worker_plan: list[CppPlan] = []


def _initialize_worker(plan: CppPlan | None) -> None:
    collect_seldom()
    if plan is not None:
        begin_process()
        _worker_plan[:] = [plan]
        die_on_crash()


def _pch_task(folder: Path, otherwise: Path) -> Pch:
    return make_kept(lambda where, name: build_pch(_worker_plan[0], where, name), folder, otherwise)


def _shared_task(header: str, below: Pch, folder: Path, otherwise: Path) -> Pch:
    otherwise.mkdir(exist_ok=True)
    return make_kept(lambda where, name: build_shared(_worker_plan[0], below, header, where, name), folder, otherwise)


def _cpp_task(job: UnitJob, pch: Pch) -> UnitResult:
    return index_unit(_worker_plan[0], pch, job)


# in the one process that writes


def _unit_task(job: UnitJob, pch: Pch, cpu_seconds: float = _CPU_SECONDS) -> Task:
    return Task(job.main or "headers", _cpp_task, (job, pch), job.owned, cpu_seconds)


def _python_task(job: python_part.PythonJob) -> Task:
    return Task("python", python_part.extract_python, (job,), tuple(file.path for file in job.files))


class _Extraction:
    """The state of one extraction."""

    def __init__(self, tree: Tree, work: Work, builder: IndexBuilder, scratch: Path) -> None:
        self._tree = tree
        self._work = work
        self._builder = builder
        self._scratch = scratch
        self._started_ns = time.time_ns()
        self._prefix = str(tree.root).rstrip("/") + "/"
        self._normal: dict[str, str] = {}
        self._records = list(work.cpp.kept)
        self._origins = dict.fromkeys(work.cpp.alone, (UNREACHED, ""))
        """How the jobs that are not in the plan came about."""
        self._retried: dict[str, str] = {}
        """Files of a failed task that were tried again, and what had happened."""
        self._warnings: list[str] = []
        self._pch = NO_PCH
        self._waiting: dict[str, list[UnitJob]] = {}
        """Header -> the units that wait for it to be precompiled."""

    def run(self, workers: Workers, types: Future[str] | None, progress: Progress) -> None:
        """Feed the workers and store what comes back, until nothing is left to do."""
        self._submit_first(workers)
        python = self._work.python
        waiting = types is not None
        while workers.busy or waiting:
            if waiting and types is not None and python is not None and (types.done() or not workers.busy):
                reason = types.result()
                if reason:
                    self._warnings.append(f"Python types are missing: {reason}")
                workers.submit(_python_task(job) for job in python_part.python_jobs(python))
                waiting = False
            for task, result, problem in workers.finished(_POLL_SECONDS):
                self._receive(workers, task, result, problem)
                progress(workers.done, workers.total, task.label)

    def outcome(self) -> Outcome:
        """What the extraction gave, apart from facts."""
        return Outcome(self._retry_warnings() + self._warnings, self._remember(), self._pch_state())

    def _submit_first(self, workers: Workers) -> None:
        """Queue the precompiled header, then what does not wait for it: headers, which take longest, before units."""
        work = self._work
        jobs = work.cpp.jobs
        pch: Pch | None = NO_PCH
        if work.plan is not None and any(job.may_use_pch for job in jobs):
            pch = self._provide_pch(workers, work.plan)
        workers.submit(_unit_task(job, NO_PCH) for job in (*jobs, *work.cpp.alone) if not job.use_pch)
        if work.cython:
            workers.submit([Task("cython", python_part.extract_cython, (self._tree.root, work.cython), work.cython)])
        if pch is not None:
            self._submit_units(workers, pch)

    def _provide_pch(self, workers: Workers, plan: CppPlan) -> Pch | None:
        """The precompiled header that is kept; None when a worker is to make it."""
        if not plan.pch_headers:
            return Pch("", "no common header")
        folder = folder_for(plan, self._work.clang, pch_folder())
        kept = load_kept(folder)
        if kept is None:
            workers.submit([Task("common headers", _pch_task, (folder, self._scratch), ())])
        return kept

    def _submit_units(self, workers: Workers, pch: Pch) -> None:
        self._pch = pch
        jobs = [job for job in self._work.cpp.jobs if job.use_pch]
        if pch.path and self._work.plan is not None:
            for job in jobs:
                if job.shared:
                    self._waiting.setdefault(job.shared, []).append(job)
            self._provide_shared(workers, folder_for(self._work.plan, self._work.clang, pch_folder()))
        else:
            jobs = [replace(job, shared="") for job in jobs]
        workers.submit(_unit_task(job, pch.without_files) for job in jobs if not job.shared)

    def _provide_shared(self, workers: Workers, common: Path) -> None:
        """Have the headers that some units share precompiled, those that are not kept: these units wait for it."""
        below = self._pch.without_files
        for number, header in enumerate(sorted(self._waiting)):
            folder = shared_folder(common, below, header)
            kept = load_kept(folder)
            if kept is not None:
                self._submit_waiting(workers, header, replace(kept, below=below))
            else:
                arguments = (header, below, folder, self._scratch / f"shared{number}")
                workers.submit([Task(header, _shared_task, arguments, ())])

    def _submit_waiting(self, workers: Workers, header: str, pch: Pch) -> None:
        """Queue the units that waited for the header; where it cannot be precompiled they do without."""
        usable = pch if pch.path else self._pch.without_files
        workers.submit(_unit_task(job, usable) for job in self._waiting.pop(header))

    def _receive(self, workers: Workers, task: Task, result: object, problem: Failure | None) -> None:
        if problem is not None:
            self._failed(workers, task, problem)
            return
        if isinstance(result, Pch):
            if task.run is _shared_task:
                self._submit_waiting(workers, task.arguments[0], result)
                return
            if not result.path:
                self._warnings.append(f"{_NO_PCH_WARNING}: {result.problem}")
            self._submit_units(workers, result)
            return
        if isinstance(result, UnitResult):
            self._note(task.arguments[0], task.arguments[1], result)
            again = [alone(path) for path in result.unreached]
            self._origins.update((job, (UNREACHED, "")) for job in again)
            workers.submit((_unit_task(job, NO_PCH) for job in again), first=True)
            facts = result.facts
        else:
            assert isinstance(result, list)
            facts = result
        for one in facts:
            self._store(one)

    def _failed(self, workers: Workers, task: Task, problem: Failure) -> None:
        """Try the task's files once more, each by itself, so that one costs only itself; then they are failed."""
        if task.run is _pch_task:
            self._warnings.append(f"{_NO_PCH_WARNING}: {problem.words}")
            self._submit_units(workers, Pch("", problem.words))
            return
        if task.run is _shared_task:
            self._submit_waiting(workers, task.arguments[0], Pch("", problem.words))
            return
        is_unit = task.run is _cpp_task
        if is_unit:
            self._note_failure(task.arguments[0], problem.words)
        again = [] if self._retried.keys() & set(task.paths) else _file_by_file(task, problem)
        if again:
            self._retried.update(dict.fromkeys(task.paths, problem.words))
            if is_unit:
                self._origins.update((one.arguments[0], (RETRY, problem.words)) for one in again)
            else:
                self._warnings.append(f"{task.label}: {problem.words}; tried again file by file")
            workers.submit(again, first=True)
            return
        for path in task.paths:
            self._builder.set_status(path, Status.FAILED, problem.words, 0)

    def _store(self, facts: FileFacts) -> None:
        self._builder.add_facts(facts)
        status, detail = facts.status, facts.detail
        if facts.path in self._retried and status is Status.OK:
            status, detail = Status.DEGRADED, f"read on a second try, by itself; before, {self._retried[facts.path]}"
        self._builder.set_status(facts.path, status, detail, facts.lines)

    # what to remember of each parse

    def _note(self, job: UnitJob, pch: Pch, result: UnitResult) -> None:
        origin, problem = self._origins.get(job, (PLANNED, ""))
        delivered = tuple(facts.path for facts in result.facts)
        seen = {*map(self._relative, result.seen), *delivered}
        used_pch = job.may_use_pch and bool(pch.path)
        if not result.seen:  # no tree
            seen |= self._reachable(job.owned)
        self._records.append(
            UnitRecord(job, origin, delivered, tuple(seen), self._not_found(result.missing), used_pch,
                       result.call_expressions, problem)
        )  # fmt: skip

    def _note_failure(self, job: UnitJob, words: str) -> None:
        """A parse that gave nothing: what it would have consisted of is known from the text only."""
        origin, _ = self._origins.get(job, (PLANNED, ""))
        used_pch = job.may_use_pch and bool(self._pch.path)
        self._records.append(UnitRecord(job, origin, (), tuple(self._reachable(job.owned)), (), used_pch, 0, words))

    def _reachable(self, paths: tuple[str, ...]) -> set[str]:
        return self._work.scan.reachable(paths) if self._work.scan is not None else set(paths)

    def _not_found(self, missing: list[str]) -> tuple[str, ...]:
        """The headers whose appearing would change the outcome; not those that lie where this unit does not look."""
        scan = self._work.scan
        return tuple(sorted({name for name in missing if scan is not None and not scan.find(name)}))

    def _relative(self, name: str) -> str:
        """A file as records name it: relative to the tree for its source files, else as libclang does.

        That has `..` behind symbolic links (/lib/gcc/../../include on a system where /lib is one): only the system can
        follow it.
        """
        path = self._normal.get(name)
        if path is None:
            inner = os.path.normpath(name).removeprefix(self._prefix)
            is_source = self._work.plan is not None and inner in self._work.plan.known
            path = self._normal[name] = inner if is_source else name
        return path

    def _remember(self) -> Records:
        records = Records(units=self._records)
        plan = self._work.plan
        if plan is not None and self._pch.path:
            job = UnitJob("", plan.pch_headers, "c++", False)
            seen = tuple({self._relative(name) for name in self._pch.seen})
            missing = self._not_found(list(self._pch.missing))
            records.units = [unit for unit in records.units if unit.origin != PCH]
            records.units.append(UnitRecord(job, PCH, (), seen, missing, problem=self._pch.problem))
        for path in {path for unit in records.units for path in unit.seen}:
            records.sources[path] = self._source(path)
        return records

    def _source(self, path: str) -> Source:
        if self._work.plan is None or path not in self._work.plan.known or self._work.scan is None:
            return stat_source(path, self._started_ns)
        return Source(path, resolution=self._work.scan.resolution(path))

    def _retry_warnings(self) -> list[str]:
        again = {unit.job.main for unit in self._records if unit.origin == RETRY}
        labels = {unit.job.main or "headers": unit.problem for unit in self._records
                  if unit.origin == PLANNED and unit.problem and again.intersection(unit.job.owned)}  # fmt: skip
        return [f"{label}: {words}; tried again file by file" for label, words in sorted(labels.items())]

    def _pch_state(self) -> str:
        return self._pch.problem or ("ok" if self._pch.path else "")


def _file_by_file(task: Task, problem: Failure) -> list[Task]:
    """A task for each file of the failed one, units without the precompiled header; none where it would end alike."""
    if len(task.paths) == 1 and not problem.crashed:
        return []
    if task.run is _cpp_task:
        return [_unit_task(alone(path), NO_PCH, _CPU_SECONDS_AGAIN) for path in task.paths]
    if task.run is python_part.extract_python:
        batch: python_part.PythonJob = task.arguments[0]
        return [_python_task(replace(batch, files=(file,))) for file in batch.files]
    return []
