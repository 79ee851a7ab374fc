"""Excerpts of definitions: what a reader sees of code must not end in the middle of something."""

from __future__ import annotations

import tomllib

import pytest

from xref.site.excerpts import shown_lines
from xref.site.walks import walks_folder

SIGNATURE = '''@wraps
def conv(
    data,
    weight,
    out=None,
):
    """Convolve.

    Parameters
    ----------
    """
    first = 1
    second = 2
'''.splitlines()
CPP = """/*! before */
int Make(int a,
         int b)
    noexcept
{
  /* of
   two */
  return a;
}
""".splitlines()


@pytest.mark.parametrize(
    ("rows", "lang", "first", "last", "count", "expected"),
    [
        (SIGNATURE, "python", 1, 13, 3, [1, 2, 3, 4, 5, 6]),  # a signature is shown to its end
        (SIGNATURE, "python", 1, 13, 7, [1, 2, 3, 4, 5, 6, 12]),  # and its docstring is not
        (SIGNATURE, "python", 1, 13, 99, [1, 2, 3, 4, 5, 6, 12, 13]),
        (SIGNATURE, "python", 12, 13, 1, [12]),
        (["def f():", '    """One."""', "    return 1"], "python", 1, 3, 3, [1, 2, 3]),
        (["x = f(", "  1)", "y = [", "  2]"], "python", 1, 4, 3, [1, 2, 3, 4]),
        (["x = '''", "a(", "'''", "y = 1"], "python", 1, 4, 1, [1, 2, 3]),
        (["x = {'a':", "'b'}", "y = 1"], "python", 1, 3, 1, [1]),  # no docstring
        (CPP, "cpp", 2, 9, 1, [2, 3, 4, 5]),  # until the body begins
        (CPP, "cpp", 2, 9, 5, [2, 3, 4, 5, 6, 7]),  # a comment to its end
        (["#define F(a) \\", "  g(a)"], "cpp", 1, 2, 1, [1]),
        (["f("] * 99, "cpp", 1, 99, 5, list(range(1, 30))),  # what never ends is cut
    ],
)
def test_an_excerpt(rows: list[str], lang: str, first: int, last: int, count: int, expected: list[int]) -> None:
    head = not rows[0].startswith(("x", "f("))
    assert shown_lines(rows, lang, first, last, count, head=head) == expected


def test_the_walk_of_a_convolution_goes_from_its_export_to_the_node() -> None:
    """It began in the middle, and stopped one step before the node is made."""
    folder = walks_folder()
    assert folder is not None
    steps = tomllib.loads((folder / "conv2d.toml").read_text())["step"]
    names = [step["symbol"][0].rpartition("::")[2].rpartition(".")[2] for step in steps]
    assert names[:3] == ["export_tvm", "build", "forward"]
    assert names[-2:] == ["conv2d", "MakeConv"]
