"""Finds the templates and makes the one Jinja environment of the site: everything is escaped unless a renderer did it.

`script_data` is the only way data gets into a script file.
"""

from __future__ import annotations

import json
import marshal
import re
import zlib
from base64 import b64decode, b64encode
from functools import cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from xref.model import ExitCode, XrefError, duration

ASSETS = ("xref.css", "xref.js", "search.js", "searchbox.js", "code.js", "drawing.js", "callgraph.js", "graph.js",
          "explore.js", "runs.js")  # fmt: skip
"""Files that are copied as they are; xref's own, the site ships no script or style by others."""


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
    env.globals["has_walks"] = False
    env.filters["number"] = number
    env.filters["count"] = counted
    env.filters["language"] = language
    env.filters["duration"] = duration
    env.filters["prose"] = prose
    env.filters["command"] = command
    env.filters["moment"] = moment
    env.filters["breakable"] = breakable
    env.filters["humps"] = humps
    return env


_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d)?(?:\.\d+)?Z")


def moment(text: str) -> str:
    """A time as indexes and runs have it, for people: `2026-01-02 03:04 UTC`."""
    return _MOMENT.sub(r"\1 \2 UTC", text)


def command(line: str) -> str:
    """A command without the folder of its program, which says nothing of what was compiled."""
    program, space, rest = line.partition(" ")
    return program.rpartition("/")[2] + space + rest


def prose(text: str) -> Markup:
    """Text by hand, whose `words` in backquotes are code."""
    parts = text.split("`")
    return Markup().join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts))


_SEPARATOR = re.compile(r"(?<=::)|(?<=\w\.)(?=\w)")


def breakable(text: str) -> Markup:
    """A qualified name that a narrow screen breaks between its parts, not within a word."""
    return Markup("<wbr>").join(_SEPARATOR.split(text))


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[._])(?=\w)")


def humps(text: str) -> Markup:
    """A name that a narrow column breaks before a capital letter or after a separator, not anywhere."""
    return Markup("<wbr>").join(_HUMP.split(text))


def number(value: int) -> str:
    """12345 -> "12,345"."""
    return f"{value:,}"


_PLURALS = {"entry": "entries", "class": "classes", "pass": "passes", "registry": "registries", "prefix": "prefixes"}


def counted(value: int, noun: str) -> str:
    """A number with its noun in the right form: "1 caller", "3,412 callers"."""
    word = noun if value == 1 else _PLURALS.get(noun, noun + "s")
    return f"{value:,} {word}"


def language(lang: str) -> str:
    """How a page calls a language."""
    return {"cpp": "C++", "python": "Python", "cython": "Cython"}.get(lang, lang)


def script_data(name: str, value: Any) -> str:
    """The data file `name`: a classic script, since browsers refuse to fetch data from disk.

    It hands JSON to `xref.put`, deflated and in base64: a third of the size, and no text of the tree stands in it.
    """
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    packer = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(data) + packer.flush()
    return f'xref.put("{name}","{b64encode(packed).decode("ascii")}");\n'


_DATA = re.compile(r'xref\.put\("([^"\\]+)","([A-Za-z0-9+/=]*)"\);\n')


def read_script_data(text: str) -> Any:
    """What `script_data` wrote. Raises `ValueError` when `text` is something else."""
    match = _DATA.fullmatch(text)
    if match is None:
        raise ValueError("not a data file of the site")
    try:
        return json.loads(zlib.decompress(b64decode(match[2]), -zlib.MAX_WBITS))
    except zlib.error as error:
        raise ValueError(str(error)) from error


def digest(value: Any, digits: int = 8) -> str:
    """Letters and digits that differ, nearly surely, when `value` does; it must be of plain data and dataclasses."""
    try:
        data = marshal.dumps(value, 2)  # later formats depend on who else holds a value
    except ValueError:  # rows with names: their `repr` takes several times as long
        data = repr(value).encode("utf-8", "surrogatepass")
    return b64encode(blake2b(data, digest_size=12).digest(), b"-_").decode()[:digits]


def render(template: str, **values: Any) -> str:
    """One page. `values` are plain text, rows, or `Markup` that its maker has escaped."""
    return environment().get_template(template).render(**values)


__all__ = [
    "ASSETS",
    "Markup",
    "counted",
    "digest",
    "duration",
    "environment",
    "language",
    "number",
    "read_script_data",
    "render",
    "script_data",
    "templates_folder",
]
