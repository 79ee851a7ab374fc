"""Parses Cython with Cython's own front end: one file at a time, nothing of it evaluated, nothing else read from disk.

Cython's parser opens included files by itself, and computes `DEF` and `IF` expressions while it parses, with calls and
attribute look-ups: text from an analysed tree must not get that far. So `include` lines are blanked (each included file
is parsed on its own, and owns its facts), and `DEF X = ...`, `IF` become a plain assignment and a plain `if`.
"""

from __future__ import annotations

import importlib
import io
import re
from dataclasses import dataclass
from typing import Any, cast

_INCLUDE = re.compile(r"^([ \t]*)include[ \t]+(?P<quote>[\"'])(?P<path>[^\"'\n]+)(?P=quote)", re.MULTILINE)
_CONSTANT = re.compile(r"^([ \t]*)DEF[ \t]+", re.MULTILINE)
_CONDITION = re.compile(r"^([ \t]*)(IF|ELIF|ELSE)\b", re.MULTILINE)


@dataclass(slots=True)
class Parsed:
    """A parsed file: its tree (None: it could not be parsed at all), its lines, and the parser's complaint, with line.

    `includes` are the paths of its include statements, as written.
    """

    tree: Any
    rows: list[str]
    trouble: str
    includes: list[str]


def parse_cython(path: str, data: bytes) -> Parsed:
    """Parse the text of a .pyx, .pxi or .pxd file. Never raises for what the file contains."""
    try:
        text = data.decode("utf-8")
        trouble = ""
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        text = data.decode("utf-8", "replace")
        trouble = f"line {line}: byte 0x{data[error.start]:02x} is not UTF-8; read with it replaced"
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    rows = text.split("\n")
    includes = [match["path"] for match in _INCLUDE.finditer(text)]
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        return Parsed(None, rows, f"line {line}: a NUL byte", includes)
    text = _INCLUDE.sub(r"\1pass", text)
    text = _CONSTANT.sub(r"\1", text)
    text = _CONDITION.sub(lambda match: match[1] + match[2].lower(), text)
    try:
        tree, complaint = _front_end(path, text)
    except (RecursionError, MemoryError):
        return Parsed(None, rows, "line 1: nested too deeply for Cython's parser", includes)
    return Parsed(tree, rows, trouble or complaint, includes)


def _front_end(path: str, text: str) -> tuple[Any, str]:
    # As Any: Cython ships partial types that differ between its releases.
    names = ("Errors", "Main", "Options", "Parsing", "Scanning", "Symtab")
    errors_of, main, settings, parsing, scanning, symtab = (
        cast("Any", importlib.import_module(f"Cython.Compiler.{name}")) for name in names
    )
    options = settings.CompilationOptions(settings.default_options, include_path=[], cplus=True, language_level=3)
    context = main.Context.from_options(options)
    scope = symtab.ModuleScope("module", None, context)
    scope.cpp = True
    errors_of.init_thread()
    with errors_of.local_errors(ignore=True) as errors:
        try:
            source = scanning.StringSourceDescriptor(path, text)
            scanner = scanning.PyrexScanner(
                io.StringIO(text), source, source_encoding="utf-8", scope=scope, context=context
            )
            tree = parsing.p_module(scanner, path.endswith(".pxd"), "module")
        except errors_of.CompileError as error:
            return None, _complaint(error)
        return tree, _complaint(errors[0]) if errors else ""


def _complaint(error: Any) -> str:
    position = getattr(error, "position", None)
    line = position[1] if position else 1
    message = getattr(error, "message_only", "") or str(error)
    return f"line {line}: {message}"
