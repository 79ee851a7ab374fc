"""Turns Python files into facts: one call per batch, in a worker process. Never raises for what a file contains."""

from __future__ import annotations

from xref.model import FileFacts, Lang, Status
from xref.python.attributes import add_attribute_reads
from xref.python.calls import CallCollector
from xref.python.context import FileContext
from xref.python.declarations import declare
from xref.python.flow.build import build_summary
from xref.python.flow.summary import dump_summary
from xref.python.kept import KeptReport, Said, dump_said, load_kept
from xref.python.keys import KeyCollector
from xref.python.names import Tree, load_tree
from xref.python.plan import PythonFile, PythonJob
from xref.python.pysa import Report, load_report
from xref.python.references import add_references
from xref.python.resolve import Resolver
from xref.python.scip import Scip, load_scip
from xref.python.scratch import read_trouble
from xref.python.source import Source, read_source
from xref.python.symbols import add_symbols, module_symbol
from xref.python.walk import walk


def extract_python(job: PythonJob) -> list[FileFacts]:
    """The facts of each file of `job`, in order."""
    tree = load_tree(job.scratch)
    trouble = read_trouble(job.scratch)
    report = (load_kept(job.scratch) or load_report(job.scratch)) if not trouble else None
    scip = load_scip(job.scratch) if not trouble else None
    return [_extract(job, file, tree, report, scip, trouble) for file in job.files]


def _extract(
    job: PythonJob, file: PythonFile, tree: Tree, report: Report | None, scip: Scip | None, trouble: str
) -> FileFacts:
    if file.path in tree.failed:
        failed = FileFacts(file.path, Lang.PYTHON, Status.FAILED, tree.failed[file.path])
        failed.symbols.append(module_symbol(file, 1))
        return failed
    source = read_source(job.root / file.path)
    facts = FileFacts(file.path, Lang.PYTHON, source.status, source.detail, source.lines)
    if source.tree is None:
        facts.symbols.append(module_symbol(file, facts.lines))
        return facts
    if report is None or not report.knows(file.path):
        report = None
        _degrade(facts, trouble or "no types: the type checker did not read this file")
    try:
        _fill(file, source, tree, report, scip, facts)
    except RecursionError:
        _degrade(facts, f"nested too deeply; the facts are incomplete ({_deepest(source)})")
    except Exception as error:  # noqa: BLE001  whatever it is, it costs this file only
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{place.tb_frame.f_code.co_name}:{place.tb_lineno}" if place is not None else "?"
        facts.status = Status.FAILED
        facts.detail = (
            f"line 1: xref failed on this file ({type(error).__name__}: {error} in {where}); please report it"
        )
    return facts


def _fill(
    file: PythonFile, source: Source, tree: Tree, report: Report | None, scip: Scip | None, facts: FileFacts
) -> None:
    assert source.tree is not None
    walked = walk(file.module, file.is_package, source.tree, declare(file.module, source.tree))
    resolver = Resolver(tree, walked)
    said = _said(file.path, report, scip)
    context = FileContext(file, source, tree, walked, resolver, report, said, facts)
    add_symbols(context)
    CallCollector(context).collect()
    add_references(context)
    KeyCollector(context).collect()
    add_attribute_reads(context)
    facts.flow = dump_summary(build_summary(context))
    if report is not None and source.is_plain:
        facts.kept = dump_said(source.whole, said)


def _said(path: str, report: Report | None, scip: Scip | None) -> Said:
    if report is None:
        return Said([], {}, {})
    if isinstance(report, KeptReport):
        return report.said(path)
    return Said(list(report.sites(path)), report.receivers(path), scip.occurrences(path) if scip is not None else {})


def _degrade(facts: FileFacts, reason: str) -> None:
    facts.status = Status.DEGRADED
    facts.detail = f"{facts.detail}; {reason}" if facts.detail else reason


def _deepest(source: Source) -> str:
    longest = max(range(len(source.rows)), key=lambda index: len(source.rows[index])) + 1
    return f"line {longest} is the longest"
