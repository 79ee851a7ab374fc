"""Finds the templates and makes the one Jinja environment of the site: everything is escaped unless a renderer did it.

`script_data` is the only way data gets into a script file.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from xref.model import ExitCode, XrefError

ASSETS = ("xref.css", "xref.js")
"""Files that are copied as they are; xref's own, the site ships no script or style by others."""

_SCRIPT_UNSAFE = re.compile("[<>&\u2028\u2029\x7f-\x9f\ud800-\udfff]")


@cache
def templates_folder() -> Path:
    """The folder of templates: inside the package of a wheel, else the one of the checkout.

    Raises `XrefError` (exit code 5) when neither is there.
    """
    packaged = Path(str(resources.files("xref"))) / "templates"
    for folder in (packaged, Path(__file__).parents[2] / "templates"):
        if (folder / ASSETS[0]).is_file():
            return folder
    raise XrefError(
        f"{packaged} is missing: this copy of xref is not complete; install it again", ExitCode.UNUSABLE_INPUT
    )


@cache
def environment() -> jinja2.Environment:
    """The templates, compiled once per process. An unknown name in a template is an error, never an empty string."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates_folder()),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    env.filters["number"] = number
    env.filters["count"] = counted
    env.filters["language"] = language
    env.filters["duration"] = duration
    return env


def number(value: int) -> str:
    """12345 -> "12,345"."""
    return f"{value:,}"


_PLURALS = {"entry": "entries", "class": "classes", "pass": "passes", "registry": "registries"}


def counted(value: int, noun: str) -> str:
    """A number with its noun in the right form: "1 caller", "3,412 callers"."""
    word = noun if value == 1 else _PLURALS.get(noun, noun + "s")
    return f"{value:,} {word}"


def language(lang: str) -> str:
    """How a page calls a language."""
    return {"cpp": "C++", "python": "Python", "cython": "Cython"}.get(lang, lang)


def duration(nanoseconds: int | None) -> str:
    """Nanoseconds in the unit that people read: "12.3 ms"; "" when unknown."""
    if nanoseconds is None:
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:,.3g} {unit}" if nanoseconds < 1000 * size else f"{nanoseconds / size:,.0f} s"
    return f"{nanoseconds} ns"


def script_data(call: str, *arguments: Any) -> str:
    """A classic script that hands data to `call(...)`: JSON in which nothing can end a script or a line.

    Browsers refuse to fetch a data file from disk, so every data file is such a script.
    """
    parts = [json.dumps(argument, ensure_ascii=False, separators=(",", ":")) for argument in arguments]
    text = _SCRIPT_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", ",".join(parts))
    return f"{call}({text});\n"


def render(template: str, **values: Any) -> str:
    """One page. `values` are plain text, rows, or `Markup` that its maker has escaped."""
    return environment().get_template(template).render(**values)


__all__ = [
    "ASSETS",
    "Markup",
    "counted",
    "duration",
    "environment",
    "language",
    "number",
    "render",
    "script_data",
    "templates_folder",
]
