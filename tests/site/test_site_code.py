"""Source pages: colours, and links only where the text really is the name."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pygments.lexers import CppLexer, PythonLexer
from pygments.token import Comment, Keyword, Name, Number, String

from xref.site import source_pages
from xref.site.codeview import ROOT, Link, Mention, escape, find_links, find_strings, render_lines
from xref.site.lex import tokens
from xref.site.sources import decode, line_count

CASES = Path(__file__).parents[1] / "cases"


def kinds(text: str, lang: str) -> list[tuple[str, str]]:
    return [(text[token.start : token.end], token.kind) for token in tokens(text, lang)]


def test_cpp_tokens() -> None:
    text = 'auto s = R"x(a "b" )x" + u8"c\\"d" + \'\\\'\'; // int\n'
    text += '/* "x" */ int n = 0x1F\'00ul + 1.5e-3f; // a \\\n still\n'
    assert kinds(text, "cpp") == [
        ("auto", "keyword"), ('R"x(a "b" )x"', "string"), ('u8"c\\"d"', "string"), ("'\\''", "string"),
        ("// int", "comment"), ('/* "x" */', "comment"), ("int", "keyword"), ("0x1F'00ul", "number"),
        ("1.5e-3f", "number"), ("// a \\\n still", "comment"),
    ]  # fmt: skip


def test_python_tokens() -> None:
    text = 'def f(x=1_0j):\n    """doc # no\n    more"""\n    return f"{x}" + rb\'\\\'\' # yes\nmatch = 3\n'
    assert kinds(text, "python") == [
        ("def", "keyword"), ("1_0j", "number"), ('"""doc # no\n    more"""', "string"), ("return", "keyword"),
        ('f"{x}"', "string"), ("rb'\\''", "string"), ("# yes", "comment"), ("3", "number"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ['"never closed', "/* never closed", 'R"x(never', "'''never", '"a\\', "'", "0x", "#", "//\\"]
)
@pytest.mark.parametrize("lang", ["cpp", "python", "cython"])
def test_broken_text_is_still_text(text: str, lang: str) -> None:
    """A file that does not lex loses colours, never characters."""
    rows = decode((text + "\nint x;\n").encode())
    plain = "".join(render_lines(rows, lang, {}))
    for tag in ("b", "i", "u", "var"):
        plain = plain.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
    assert plain.replace("&lt;", "<").replace("&amp;", "&").replace("&gt;", ">") == text + "int x;"


@pytest.mark.parametrize(
    ("suffix", "lang", "lexer"),
    [(".cc", "cpp", CppLexer()), (".h", "cpp", CppLexer()), (".py", "python", PythonLexer())],
)
def test_colours_agree_with_pygments(suffix: str, lang: str, lexer: CppLexer | PythonLexer) -> None:
    """Our scanner is ten times faster than Pygments and must not be worse where it matters: comments and strings."""
    files = sorted(path for path in CASES.rglob(f"*{suffix}") if path.is_file())
    assert files
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace")
        ours = _by_character(text, tokens(text, lang))
        for at, token, value in lexer.get_tokens_unprocessed(text):
            if token in Comment and lang == "cpp" and not value.startswith(("//", "/*")):
                continue  # directives, and the lines of an #if 0
            if token in Keyword or token in Name or token in Number:
                continue
            expected = "comment" if token in Comment else "string" if token in String else ""
            for offset in range(at, at + len(value)):
                if not text[offset].isspace() and (expected or ours[offset] in ("comment", "string")):
                    line = text.count("\n", 0, offset) + 1
                    assert ours[offset] == expected, f"{path.name}:{line}: {text[offset : offset + 20]!r} is {token}"


def _by_character(text: str, found: list[tuple[int, int, str]]) -> list[str]:
    result = [""] * len(text)
    for start, end, kind in found:
        result[start:end] = [kind] * (end - start)
    return result


def test_no_text_makes_the_scanner_slow() -> None:
    """A hostile file must not stop a build: every pattern is linear."""
    rng = random.Random(1)
    for lang in ("cpp", "python"):
        for piece in ('"\\', 'R"(', "'''", "/*", "'a", "0x'", "#", "\\\n", 'u8R"a(', "1e", "//\\\n"):
            tokens((piece * 4000) + "".join(rng.choice(piece) for _ in range(4000)), lang)


SOURCE = 'int twice(int é, int value) { return é + value; } // é value\n#include "a.h"\n  x == y; mod_x; operator\n'


def links_of(*mentions: Mention, lang: str = "cpp") -> list[Link]:
    return find_links(decode(SOURCE.encode()), lang, mentions)


def test_columns_of_cpp_count_bytes() -> None:
    """libclang counts bytes, Python characters: behind an é the two differ."""
    byte = SOURCE.encode().index(b"value;") + 1
    character = SOURCE.index("value;") + 1
    assert byte != character
    for lang, col in (("cpp", byte), ("python", character)):
        [link] = links_of(Mention(1, col, "read", "value", "s/x.html"), lang=lang)
        assert SOURCE[link.start : link.end] == "value"


def test_what_is_not_the_name_is_not_linked() -> None:
    """Implicit conversions and macro expansions stand at columns of other words."""
    assert links_of(Mention(1, 1, "call", "Any", "s/x.html")) == []
    assert links_of(Mention(3, 11, "read", "mod", "s/x.html")) == [], "mod_x is another name"
    assert (
        links_of(
            Mention(99, 1, "read", "x", "s/x.html"), Mention(1, 999, "read", "x", "s"), Mention(0, 0, "", "x", "s")
        )
        == []
    )


def test_an_operator_is_linked_at_its_sign() -> None:
    [link] = links_of(Mention(3, 5, "call", "operator==", "s/x.html"))
    assert (link.start, link.end) == (4, 6)


def test_python_links_another_name_for_the_symbol() -> None:
    """`import a as x; x()` refers to a at a place that is spelled x."""
    [link] = links_of(Mention(3, 3, "call", "original", "s/x.html"), lang="python")
    assert SOURCE.splitlines()[2][link.start : link.end] == "x"


def test_the_most_telling_reference_wins() -> None:
    """`T()` refers to the class and to its constructor at one place; a definition beats both."""
    both = [Mention(1, 5, "call", "twice", "s/call.html"), Mention(1, 5, "type", "twice", "s/type.html")]
    assert links_of(*both)[0].address == "s/type.html"
    assert links_of(*both, Mention(1, 5, "definition", "twice", "s/def.html"))[0].address == "s/def.html"


def test_links_win_over_colours() -> None:
    text = decode(b'f("relax.transform.FuseTIR"); // end\n')
    [(at, link)] = find_strings(text, [(1, "relax.transform.FuseTIR", "keys/ffi.html#k")])
    [line] = render_lines(text, "cpp", {at: [link]})
    assert (
        line == f'f(<u>"</u><a class=k href={ROOT}keys/ffi.html#k>relax.transform.FuseTIR</a><u>"</u>); <i>// end</i>'
    )


def test_a_comment_over_lines_is_closed_on_each() -> None:
    assert [*render_lines(decode(b"a /* b\nc <d> */ e\n"), "cpp", {})] == ["a <i>/* b</i>", "<i>c &lt;d&gt; */</i> e"]


def test_hidden_characters_are_shown() -> None:
    """Text that is displayed in another order than the compiler reads it (CVE-2021-42574) is spelled out."""
    assert escape("a\u202eb\x00<&>") == "a<mark class=ctl>\\u202e</mark>b<mark class=ctl>\\u0000</mark>&lt;&amp;&gt;"


def test_line_ends() -> None:
    assert decode(b"a\r\nb\x0cc\n\nd").rows == ["a", "b\x0cc", "", "d"]
    assert line_count(b"a\r\nb\x0cc\n\nd") == 4
    assert decode(b"\xef\xbb\xbfint x;\n").rows == ["int x;"]
    assert decode(b"\xff\n").rows == ["\ufffd"]
    assert decode(b"").rows == []


def test_width_of_the_longest_line() -> None:
    """Blocks that are not laid out yet cannot make room for their own lines: the page must know."""
    assert source_pages.display_width(["abc", "\tx", "日本"]) == 5
