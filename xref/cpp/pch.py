"""Precompiled headers: of what many units include, so that it is read once. None holds function bodies: the facts of a
header come from a parse of its own.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from xref.cpp.clang import (
    DETAILED_PREPROCESSING_RECORD,
    FOR_SERIALIZATION,
    INCOMPLETE,
    KEEP_GOING,
    SKIP_FUNCTION_BODIES,
    Diagnostic,
    Index,
    ParseError,
    TranslationUnit,
)
from xref.cpp.plan import CppPlan, is_standard
from xref.model import shorten

NOT_FOUND = re.compile(r"'(.+)' file not found")
_OPTIONS = DETAILED_PREPROCESSING_RECORD | INCOMPLETE | FOR_SERIALIZATION | SKIP_FUNCTION_BODIES | KEEP_GOING
"""Both this parse and each unit's must keep the detailed preprocessing record, else libclang rejects the file."""


@dataclass(frozen=True)
class Pch:
    """A precompiled header on disk, and the errors met while making it; the path is "" where there is none, for these.
    `below`: the one that it adds to, which is read with it."""

    path: str
    problem: str = ""
    missing: tuple[str, ...] = ()
    """Headers that the precompiled header could not include: every unit that uses it lacks them too."""
    seen: tuple[str, ...] = ()
    """The files that it consists of, as libclang names them; not those of the one below."""
    below: Pch | None = None

    @property
    def without_files(self) -> Pch:
        """The same, to be sent with each of hundreds of tasks."""
        return replace(self, seen=())


NO_PCH = Pch("")


def build_pch(plan: CppPlan, folder: Path, name: str = "common.pch") -> Pch:
    """Precompile the tree's common headers without function bodies. A header that does not parse is left out.

    Clang believes in the result while none of its files has another size or time, common.h in `folder` included, which
    therefore has always the same time.
    """
    headers = list(plan.pch_headers)
    source, target = folder / "common.h", folder / name
    while headers:
        _write_in_whole(source, "".join(map(_include_of, headers)))
        try:
            with Index(False).parse(str(source), ["-x", "c++-header", *plan.arguments], _OPTIONS) as unit:
                errors = unit.errors()
                bad = _culprits(plan, headers, errors) if not missing_headers(errors) else set()
                if not bad:
                    unit.save(target)
                    problem = summary(errors, plan.root) if errors else ""
                    return Pch(str(target), problem, tuple(missing_headers(errors)), files_of(unit, source))
        except (ParseError, OSError) as error:
            return Pch("", str(error))
        headers = [h for h in headers if h not in bad]
    return Pch("", "no common header")


def build_shared(plan: CppPlan, below: Pch, header: str, folder: Path, name: str) -> Pch:
    """Precompile what one header of the tree (relative to it) adds to the common ones, without function bodies.

    One that has errors is of no use: a unit would have to be parsed without it to see them at their place.
    """
    source, target = folder / "common.h", folder / name
    arguments = ["-x", "c++-header", *plan.arguments, "-include-pch", below.path]
    try:
        _write_in_whole(source, include_line(f"{plan.root}/{header}"))
        with Index(False).parse(str(source), arguments, _OPTIONS) as unit:
            if errors := unit.errors():
                return Pch("", summary(errors, plan.root), seen=files_of(unit, source))
            unit.save(target)
            return Pch(str(target), seen=files_of(unit, source), below=below)
    except (ParseError, OSError) as error:
        return Pch("", str(error))


def include_line(path: str) -> str:
    """The directive that includes `path`; "" for the file name that no directive can hold."""
    for opening, closing in ('""', "<>"):
        if closing not in path and "\n" not in path:
            return f"#include {opening}{path}{closing}\n"
    return ""


def _include_of(header: str) -> str:
    """The directive for a common header; the standard library may be older than the code that names its header."""
    line = f"#include <{header}>\n"
    return f"#if __has_include(<{header}>)\n{line}#endif\n" if is_standard(header) else line


def files_of(unit: TranslationUnit, own: object) -> tuple[str, ...]:
    """The files that the unit consists of, but `own`, which xref made."""
    return tuple(name for name in unit.included() if name != str(own))


def _write_in_whole(path: Path, content: str) -> None:
    """Write a file that other processes may be reading."""
    partial = path.with_name(f"{path.name}.partial{os.getpid()}")
    partial.write_text(content, encoding="utf-8")
    os.utime(partial, (1, 1))
    partial.replace(path)


def _culprits(plan: CppPlan, headers: list[str], errors: list[Diagnostic]) -> set[str]:
    """Of `headers`, those that an error message stands in; none when the errors are elsewhere."""
    return {h for h in headers for e in errors if e.file.endswith("/" + h) and e.file.startswith(plan.root)}


def missing_headers(errors: list[Diagnostic]) -> list[str]:
    """The headers that were not found, as written."""
    found = (NOT_FOUND.search(e.message) for e in errors)
    return list(dict.fromkeys(match.group(1) for match in found if match))


def summary(errors: list[Diagnostic], root: str) -> str:
    """How many errors there are, and the first, in words; paths are told from `root`."""
    first = errors[0]
    where = f"{Path(first.file).name}:{first.line}: " if first.file else ""
    message = first.message.replace(f"{root}/", "")
    return shorten(f"{len(errors)} error{'s' if len(errors) > 1 else ''}, first {where}{message}", 200)
