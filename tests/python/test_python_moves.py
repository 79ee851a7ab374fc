"""An edit that only moves a file's words is told from others, and every place is found again."""

from __future__ import annotations

import pytest

from xref.python.moves import words_moved

BEFORE = '''"""Doc."""
def f(a, b):
    return g(a,
             "é", b)  # why
x = """two
lines"""
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("# why", "# another reason"),
        ("def f", "\n\n# é\ndef  f"),
        ("a,\n             ", "a,"),
        ('"""Doc."""', "'More,\\n and more.'"),
        ('"é", b', '"é"   ,\n\n  b'),
    ],
)
def test_every_word_is_found_again(old: str, new: str) -> None:
    now = BEFORE.replace(old, new)
    moves = words_moved(BEFORE, now)
    assert moves is not None
    characters, in_bytes = moves
    for word in ("def", "g(", "b)", "x ="):
        assert characters.start(_place(BEFORE, word)) == _place(now, word)
        assert in_bytes.start(_place(BEFORE, word, "utf-8")) == _place(now, word, "utf-8")
    assert characters.start((6, 2))[1] == 2, "within a string of several lines"
    line, column = _place(BEFORE, ")  #")
    assert characters.end((line, column + 1)) == tuple(map(sum, zip(_place(now, ")  #"), (0, 1), strict=True)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("g(", "h("),
        ("b)", "b,)"),
        ('"""two', '"""three'),
        ('"é"', "'é'"),
        ("    return", "    if a: return"),
        ("x =", "    x ="),
        ('"""Doc."""', "f'{g(1)}'"),
        ("# why", "# type: ignore"),
        ("# why", "# pyrefly: ignore-errors"),
        ("x =", "x = ("),
    ],
)
def test_any_other_edit_is_told(old: str, new: str) -> None:
    assert words_moved(BEFORE, BEFORE.replace(old, new, 1)) is None


def test_a_place_between_words_has_not_moved_anywhere() -> None:
    moves = words_moved("a  =  1\n", "a = 1\n")
    assert moves is not None
    with pytest.raises(KeyError):
        moves[0].start((1, 2))


def test_a_name_at_the_very_beginning_shares_its_place_with_the_module() -> None:
    assert words_moved("a = 1\n", "\na = 1\n") is None
    assert words_moved("import a\n", "\nimport a\n") is not None


def _place(text: str, word: str, encoding: str = "") -> tuple[int, int]:
    before = text[: text.index(word)]
    row = before.rpartition("\n")[2]
    return before.count("\n") + 1, len(row.encode(encoding)) if encoding else len(row)
