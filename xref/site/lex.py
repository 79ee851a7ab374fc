"""Finds what a source page colours: comments, strings, keywords, numbers, preprocessor words. Names are the index's.

One regular expression for each language, because colours are a hint and Pygments, the reference in the tests, is ten
times slower (docs/site.md). A token that never ends (a broken file) runs to the end of its line, or of the file where
the language says so.
"""

from __future__ import annotations

import keyword
import re
from typing import NamedTuple

from xref.model import Lang


class Token(NamedTuple):
    """A coloured stretch of text; `kind` is comment, string, keyword, number or preprocessor."""

    start: int
    end: int
    kind: str


_CPP_KEYWORDS = (
    "alignas|alignof|asm|auto|bool|break|case|catch|char|char8_t|char16_t|char32_t|class|co_await|co_return|co_yield"
    "|concept|const|const_cast|consteval|constexpr|constinit|continue|decltype|default|delete|do|double|dynamic_cast"
    "|else|enum|explicit|export|extern|false|final|float|for|friend|goto|if|inline|int|long|mutable|namespace|new"
    "|noexcept|nullptr|operator|override|private|protected|public|register|reinterpret_cast|requires|return|short"
    "|signed|sizeof|static|static_assert|static_cast|struct|switch|template|this|thread_local|throw|true|try|typedef"
    "|typeid|typename|union|unsigned|using|virtual|void|volatile|wchar_t|while"
)
_PYTHON_KEYWORDS = "|".join(keyword.kwlist)
_CYTHON_KEYWORDS = (
    "cdef|cpdef|cimport|ctypedef|enum|extern|gil|include|inline|new|nogil|NULL|public|readonly|sizeof|struct|union"
    "|DEF|IF|ELIF|ELSE"
)

_NUMBER = (
    r"(?P<number>\b(?:0[xX][0-9a-fA-F_'.]+(?:[pP][+-]?\d+)?|0[bBoO][01-7_']+"
    r"|\d[\d_']*(?:\.[\d_']*)?(?:[eE][+-]?\d+)?)\w*|\.\d[\d_']*(?:[eE][+-]?\d+)?\w*)"
)

_CPP = re.compile(
    r"(?P<comment>//(?:[^\n\\]|\\(?:\r?\n|.)|\\\Z)*|/\*[\s\S]*?(?:\*/|\Z))"
    r'|(?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\([\s\S]*?(?:\)(?P=mark)"|\Z)'
    r'|(?:u8|[uUL])?"(?:[^"\\\n]|\\(?:\r?\n|.))*(?:"|$|\Z)'
    r"|(?<![0-9a-fA-F_])(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+(?:'|$|\Z))"
    r"|(?P<preprocessor>^[ \t]*\#[ \t]*[a-z_]+)"
    rf"|{_NUMBER}"
    rf"|(?P<keyword>\b(?:{_CPP_KEYWORDS})\b)"
    r"|(?P<word>\w+)",
    re.MULTILINE,
)


def _python(words: str) -> re.Pattern[str]:
    return re.compile(
        r"(?P<comment>\#[^\n]*)"
        r"|(?P<string>(?:\b[rRbBuUfFtT]{1,2})?(?:"
        r'"""(?:[^\\]|\\[\s\S])*?(?:"""|\Z)'
        r"|'''(?:[^\\]|\\[\s\S])*?(?:'''|\Z)"
        r'|"(?:[^"\\\n]|\\(?:\r?\n|.))*(?:"|$|\Z)'
        r"|'(?:[^'\\\n]|\\(?:\r?\n|.))*(?:'|$|\Z)))"
        rf"|{_NUMBER}"
        rf"|(?P<keyword>\b(?:{words})\b)"
        r"|(?P<word>\w+)",
        re.MULTILINE,
    )


_PATTERNS = {
    Lang.CPP: _CPP,
    Lang.PYTHON: _python(_PYTHON_KEYWORDS),
    Lang.CYTHON: _python(f"{_PYTHON_KEYWORDS}|{_CYTHON_KEYWORDS}"),
}


def tokens(text: str, lang: str) -> list[Token]:
    """The coloured stretches of `text`, in order, none overlapping another."""
    pattern = _PATTERNS.get(Lang(lang))
    if pattern is None:
        return []
    found = []
    for match in pattern.finditer(text):
        kind = match.lastgroup
        if kind and kind != "word":
            found.append(Token(match.start(), match.end(), kind))
    return found
