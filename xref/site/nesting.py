"""Whether the tags of a page nest as HTML wants: the part of being well-formed that a regular expression can follow.

The tests parse pages with html5lib, which knows every rule and takes seconds for a megabyte; this takes a tenth of one,
so that `python -m xref.site.check` can read a whole site.
"""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_NEEDS_QUOTES = re.compile(r"=[^\s=`]+[=`]")
_VOID = frozenset(("meta", "link", "br", "img", "input", "hr", "base", "wbr", "col"))
_MAY_STAY_OPEN = frozenset(
    ("html", "head", "body", "p", "li", "tr", "td", "th", "thead", "tbody", "option", "dt", "dd")
)
_ENDS_PARAGRAPH = frozenset((
    "p", "ul", "ol", "dl", "div", "table", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "section", "figure", "figcaption",
    "nav", "details", "form", "header", "main", "article", "aside", "footer", "blockquote", "hr", "li", "td", "th",
    "tr", "summary", "dt", "dd",
))  # fmt: skip
_ENDS_LIKE = {"li": ("li",), "tr": ("td", "th", "tr"), "td": ("td", "th"), "th": ("td", "th"), "option": ("option",),
              "tbody": ("td", "th", "tr", "thead", "tbody"), "dt": ("dt", "dd"), "dd": ("dt", "dd")}  # fmt: skip
"""What an opening tag ends when it stands innermost, besides a paragraph."""


def trouble(html: str) -> list[str]:
    """What is wrong with the tags of a page, the first fault only: those after it may follow from it."""
    inside: list[str] = []
    tags = 0
    for tag in _TAG.finditer(html):
        closing, name, rest = tag[1], tag[2].lower(), tag[3]
        tags += 1 + rest.count("<")
        if not closing:
            _make_room(inside, name)
            if name not in _VOID and not (rest.endswith("/") and "svg" in inside):
                inside.append(name)
            if rest.count("=") > 1 and _NEEDS_QUOTES.search(_QUOTED.sub("x", rest)):
                return [f"needs quotes: {tag[0][:120]}"]
            continue
        while inside and inside[-1] != name and inside[-1] in _MAY_STAY_OPEN:
            inside.pop()
        if not inside or inside[-1] != name:
            around = f"inside <{inside[-1]}>" if inside else "outside everything"
            return [f"</{name}> {around}, line {html.count(chr(10), 0, tag.start()) + 1}"]
        inside.pop()
    left = [name for name in inside if name not in _MAY_STAY_OPEN]
    if left:
        return [f"<{left[-1]}> is never closed"]
    return ["a < that begins no tag"] if html.count("<") != tags + html.startswith("<!") else []


def _make_room(inside: list[str], name: str) -> None:
    """Drop what the opening tag `name` ends by itself."""
    if name in _ENDS_PARAGRAPH and inside[-1:] == ["p"]:
        inside.pop()
    for ended in _ENDS_LIKE.get(name, ()):
        if inside[-1:] == [ended]:
            inside.pop()
