"""A small Python package whose files say much of each other, and edits of it, each of one kind; drawn by a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

FILES = {
    "python/pkg/__init__.py": '"""A package."""\nfrom .shapes import Shape, Square, area_of\nfrom . import registry\n',
    "python/pkg/shapes.py": '''\
"""Shapes."""
import functools


class Shape:
    """The base."""

    def __init__(self, size: int = 1) -> None:
        self.size = size

    def area(self) -> int:
        """What it covers.

        Parameters
        ----------
        other : Shape
            Nothing.
        """
        raise NotImplementedError

    @property
    def twice(self):
        return (self.area() +
                self.area())


class Square(Shape):
    def area(self) -> int:
        return self.size * self.size

    def __add__(self, other: "Square") -> "Square":
        return Square(self.size + other.size)


class Circle(Shape):
    def area(self):
        return helper(self.size)


def helper(x):
    total = x
    for part in range(x):
        total += part
    return total


def area_of(shape: Shape):
    return shape.area()


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper
''',
    "python/pkg/registry.py": """\
from .shapes import Circle, Square, counted

TABLE = {}


def register(name):
    def inner(function):
        TABLE[name] = function
        return function

    return inner


@register("one")
def one(x=1):
    return Square(x)


@register("two")
@counted
def two(x):
    return Circle(x)


def run(name):
    made = TABLE[name](3)
    return made.area() + made.twice
""",
    "python/pkg/use.py": """\
from pkg import area_of, registry
from pkg.shapes import *

KINDS = [Square, Circle]


def everything():
    sum_ = Square(1) + Square(2)
    shapes = [kind(2) for kind in KINDS]
    return sum(area_of(shape) for shape in shapes) + registry.run("one") + sum_.area()


def later(callback=lambda x: area_of(x)):
    with open("file") as stream:
        stream.read()
    return callback(Square(4))


if __name__ == "__main__":
    print(everything(), later())
""",
    "python/pkg/stub.py": "def hidden():\n    return 1\n",
    "python/pkg/stub.pyi": "from .shapes import Square\n\ndef hidden() -> Square: ...\n",
}

Edit = Callable[[Path, random.Random], str]


def _lines(path: Path) -> list[str]:
    return path.read_text().split("\n")


def _write(path: Path, rows: list[str]) -> None:
    path.write_text("\n".join(rows))


def _sources(root: Path) -> list[Path]:
    return sorted((root / "python").rglob("*.py"))


def _between(path: Path, rng: random.Random) -> int:
    """A line before which anything may be inserted that has no indentation: a top-level statement begins there."""
    rows = _lines(path)
    starts = [n for n, row in enumerate(rows) if re.match(r"(@|def |class |if |[A-Z]+ =|from |import )", row)]
    starts = [n for n in starts if not n or not rows[n - 1].startswith("@")]
    return rng.choice([*starts, len(rows)]) if starts else len(rows)


def comment(root: Path, rng: random.Random) -> str:
    path = rng.choice(_sources(root))
    rows = _lines(path)
    rows.insert(_between(path, rng), rng.choice(["# a comment", "", "\n\n# two lines\n# of it", "#: é"]))
    _write(path, rows)
    return path.name


def _replaced(path: Path, old: str, new: str) -> str:
    """Write the file with other text in its places; the file's name."""
    path.write_text(path.read_text().replace(old, new))
    return path.name


def layout(root: Path, rng: random.Random) -> str:
    """Other blanks and line breaks between the same words."""
    path = root / "python/pkg/shapes.py"
    text = path.read_text()
    known = [
        ("return (self.area() +\n                self.area())", "return (self.area() + self.area())"),
        ("return (self.area() + self.area())", "return (self.area()   +  # é\n\n  self.area(\n))"),
        ("def helper(x):", "def  helper( x ) :  # why"),
        ("return function(*args, **kwargs)", "return function(\n            *args,**kwargs)"),
        ("self.size * self.size", "self.size*self.size"),
    ]
    return _replaced(path, *rng.choice([one for one in known if one[0] in text]))


def docstring(root: Path, rng: random.Random) -> str:
    edits = [
        ('"""Shapes."""', '"""Shapes,\n\nand more."""'),
        ("The base.", "The base of é."),
        ("other : Shape", "other : Square"),
        ("        raise NotImpl", '        "not a docstring"\n        raise NotImpl'),
    ]
    return _replaced(root / "python/pkg/shapes.py", *rng.choice(edits))


def body(root: Path, rng: random.Random) -> str:
    path = rng.choice(_sources(root))
    text = path.read_text()
    spots = [m.end() for m in re.finditer(r"\n( +)return ", text)]
    if not spots:
        return "nothing"
    at = rng.choice(spots) - len("return ")
    indent = text[text.rfind("\n", 0, at) + 1 : at]
    line = rng.choice(["print(1)", "extra = 5", "len([2])", "str(Exception)"])
    path.write_text(f"{text[:at]}{line}\n{indent}{text[at:]}")
    return path.name


def inferred(root: Path, rng: random.Random) -> str:
    """A body that says what type its function gives."""
    edits = [("Square(x)", "Circle(x)"), ("return Circle(x)", "return Square(x)")]
    return _replaced(root / "python/pkg/registry.py", *rng.choice(edits))


def signature(root: Path, rng: random.Random) -> str:
    path = root / "python/pkg/shapes.py"
    text = path.read_text()
    a, b = rng.choice(
        [("helper(x)", "helper(x, y=2)"), ("-> int:", "-> float:"), ("shape: Shape", 'shape: "Square"'),
         ("def area_of(shape: ", "def area_of(shape: object | ")]
    )  # fmt: skip
    path.write_text(text.replace(a, b, 1))
    return path.name


def new_function(root: Path, rng: random.Random) -> str:
    path = rng.choice(_sources(root))
    name = f"added_{rng.randrange(1000)}"
    path.write_text(path.read_text().rstrip("\n") + f"\n\n\ndef {name}(x):\n    return x.area()\n\n\n{name}(None)\n")
    return path.name


def gone_function(root: Path, _rng: random.Random) -> str:
    path = root / "python/pkg/use.py"
    path = path if path.exists() else path.with_name("user.py")
    text = path.read_text()
    path.write_text(re.sub(r"def later.*?\n\n\n", "", text, count=1, flags=re.DOTALL).replace(", later()", ""))
    return path.name


def new_import(root: Path, rng: random.Random) -> str:
    path = rng.choice(_sources(root))
    rows = _lines(path)
    rows.insert(
        1 if rows[0].startswith('"""Shapes."') else 0,
        rng.choice(["import pkg.stub", "from pkg import stub", "import os"]),
    )
    _write(path, rows)
    return path.name


def decorator(root: Path, rng: random.Random) -> str:
    path = root / "python/pkg/registry.py"
    text = path.read_text()
    path.write_text(text.replace("def run(", rng.choice(["@counted\ndef run(", "@register('run')\ndef run("]), 1))
    return path.name


def base_class(root: Path, rng: random.Random) -> str:
    edits = [("Circle(Shape)", "Circle(Square)"), ("Circle(Square)", "Circle(Shape)"), ("Circle(Shape)", "Circle")]
    return _replaced(root / "python/pkg/shapes.py", *rng.choice(edits))


def broken(root: Path, _rng: random.Random) -> str:
    path = root / "python/pkg/use.py"
    path = path if path.exists() else path.with_name("user.py")
    text = path.read_text()
    path.write_text(text.removesuffix("\ndef (:\n") if text.endswith("def (:\n") else text + "\ndef (:\n")
    return path.name


def renamed(root: Path, _rng: random.Random) -> str:
    old, new = root / "python/pkg/use.py", root / "python/pkg/user.py"
    if new.exists():
        old, new = new, old
    text = old.read_text()
    old.unlink()
    new.write_text(text)
    return new.name


MOVING = (comment, layout)
"""Edits that only move the words of a file."""
EDITS: tuple[Edit, ...] = (*MOVING, docstring, body, inferred, signature, new_function, gone_function, new_import,
                           decorator, base_class, broken, renamed)  # fmt: skip


def make_tree(root: Path) -> Path:
    """Write the package below `root`."""
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
