"""Where each page of the site stands. Every address is made here, relative to the site's folder.

Names of the analysed tree are not trusted to be safe in a URL, in an attribute, or on another file system: a segment
keeps letters, digits and `._+-`, every other byte becomes `~xx`. The mapping is injective, so two files never share a
page, and addresses need no further quoting anywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from hashlib import blake2b

from xref.model import Id

CODE_DIGITS = 7
"""Digits of a symbol's short code. 36**7 codes: two of 100,000 symbols clash with probability 0.06; see `codes`."""

_FULL_DIGITS = 13
_FILE_DIGITS = 10
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-")
_PLAIN = re.compile(r"[a-zA-Z0-9_+-][a-zA-Z0-9._+-]*", re.ASCII)
_LONGEST = 180
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


def safe_segment(name: str) -> str:
    """`name` as one path segment made of `[A-Za-z0-9._+~-]`; surrogate escapes stand for bytes that are not UTF-8."""
    if len(name) <= _LONGEST and _PLAIN.fullmatch(name):
        return name  # as nearly all are
    data = name.encode("utf-8", "surrogateescape")
    text = "".join(chr(byte) if byte in _SAFE else f"~{byte:02x}" for byte in data)
    if text.startswith(".") or not text:
        text = "~2e" + text[1:]
    if len(text) > _LONGEST:
        text = f"{text[:100]}~~{blake2b(data, digest_size=12).hexdigest()}"
    return text


def _folder(name: str) -> str:
    """A folder's segment: never ends like a page (`x.html` is the page of a file `x`), nor in a dot."""
    text = safe_segment(name)
    for ending in (".html", "."):
        if text.endswith(ending):
            return f"{text[: -len(ending)]}~2e{ending[1:]}"
    return text


def _path(root: str, path: str, ending: str) -> str:
    *folders, name = path.split("/")
    return "/".join([root, *map(_folder, folders), safe_segment(name) + ending])


@cache
def source_url(path: str) -> str:
    """The page of a source file."""
    return _path("source", path, ".html")


@cache
def outline_url(path: str) -> str:
    """The page that lists a file's symbols, and holds those too small for a page of their own.

    Made of the path alone, as a number: a quarter of a million links lead there, and paths in them would be 10 MB. Two
    of a hundred thousand files share a page with a probability of 10**-6.
    """
    data = path.encode("utf-8", "surrogateescape")
    return f"f/{base36(int.from_bytes(blake2b(data, digest_size=8).digest()), _FILE_DIGITS)}.html"


def folder_url(path: str) -> str:
    """The page of a folder of the tree; "" is the tree itself. No source file is named `index`."""
    return "/".join(["source", *(map(_folder, path.split("/")) if path else ()), "index.html"])


def registry_url(registry: str, page: int = 1) -> str:
    """A page of the keys of a registry; pages count from 1."""
    return f"keys/{safe_segment(registry)}{f'.{page}' if page > 1 else ''}.html"


def run_url(run: str) -> str:
    """The page of a recorded run."""
    return f"runs/{safe_segment(run)}.html"


def symbol_url(code: str) -> str:
    """The page of a symbol that has one of its own. A folder for each first digit: a thousand would be 5 MB of disk."""
    return f"s/{code[0]}/{code[1:]}.html"


def outside_url(code: str) -> str:
    """The page shared by symbols from outside the tree whose codes begin alike. 216 pages: nearly every edit mentions a
    dozen of these symbols, and each page that one stands on is made again, with all the calls that it lists."""
    return f"outside/{code[0]}{_BASE36.index(code[1]) // 6}.html"


def more_url(code: str, part: str, page: int) -> str:
    """A further page of a list that is too long for the symbol's page; pages count from 2."""
    return f"s/{code[0]}/{code[1:]}.{part}.{page}.html"


def cards_url(shard: int) -> str:
    """The data of some hover cards."""
    return f"cards/{shard}.js"


def heat_url(run: str) -> str:
    """How often a run came by each line."""
    return f"runs/{safe_segment(run)}.heat.js"


def calls_url(run: str) -> str:
    """The calls and passes of a run, for its flame view and for comparisons."""
    return f"runs/{safe_segment(run)}.calls.js"


def kind_of(url: str) -> str:
    """Which kind of page stands at an address, in a word or two; a kind is what one template makes."""
    folder, _, name = url.rpartition("/")
    top = url.partition("/")[0]
    if not folder:
        return "overview" if name == "index.html" else name.removesuffix(".html")
    if name == "index.html":
        return {"source": "folder", "keys": "registries"}.get(top, top)
    if top == "s":
        return "further page" if name.count(".") > 1 else "symbol"
    if top == "runs" and name != "compare.html":
        return "differences" if name.endswith(".ir.html") else "run"
    return {"walks": "walk", "keys": "registry", "runs": "comparison", "f": "symbols"}.get(top, top)


def root_of(url: str) -> str:
    """What leads from a page back to the site's folder: "" or "../" for each folder."""
    return "../" * url.count("/")


def base36(number: int, digits: int) -> str:
    """`number` in base 36, padded with zeros to `digits`."""
    text = ""
    for _ in range(digits):
        number, digit = divmod(number, 36)
        text = _BASE36[digit] + text
    return text


def codes(ids: Iterable[Id]) -> dict[Id, str]:
    """A short code for each symbol: the last digits of its id in base 36, all digits for those that would clash.

    Made of the id alone, so that addresses survive a new index of an edited tree.
    """
    short = {id_: base36(id_, CODE_DIGITS) for id_ in ids}
    clashing = {code for code, count in Counter(short.values()).items() if count > 1}
    return {id_: base36(id_, _FULL_DIGITS) if code in clashing else code for id_, code in short.items()}
