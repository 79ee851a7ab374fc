"""A tree of C++ and Python pieces that can be moved between files: where they stand says which file includes which.

The pieces are the idioms that put a symbol where no definition of its own stands (what the compiler declares by itself,
inherited constructors, lambdas, macros, friends, namespaces) and those that lead through keys.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

FFI = Path(__file__).parent / "cases" / "cpp" / "include"


@dataclass(frozen=True)
class Piece:
    """`text` is its code; `needs` are the pieces that must be declared before it."""

    text: str
    needs: tuple[str, ...] = ()


PIECES: dict[str, Piece] = {
    "it": Piece("/*! \\brief Nobody writes its constructors. */\nstruct It {\n  int x = 1;\n};"),
    "base": Piece(
        "class Base {\n public:\n  Base() : n_(0) {}\n  explicit Base(int n) : n_(n) {}\n  virtual ~Base() = default;\n"
        "  virtual int Run(const It& it) { return n_ + it.x; }\n\n private:\n  friend class Nowhere;\n  int n_;\n};",
        ("it",),
    ),
    "heir": Piece(
        "struct Heir : public Base {\n  using Base::Base;\n  It it;\n"
        "  int Run(const It& other) override { return other.x; }\n};",
        ("base", "it"),
    ),
    "box": Piece(
        "template <typename T>\nstruct Box {\n  T value;\n  union {\n    int i;\n    float f;\n  };\n"
        "  template <typename F>\n  auto Map(F g) {\n    return g(value);\n  }\n};"
    ),
    "twice": Piece("#define TWICE(x) ((x) + Once(x))\ninline int Once(int x) { return x; }"),
    "color": Piece("enum class Color { kRed, kBlue };\nusing Paint = Color;\ntypedef int Count;"),
    "shared": Piece("extern int shared_count;\nint Shared(int x);"),
    "inner": Piece(
        "namespace inner {\nclass Later;\ninline int Depth() { return 2; }\nstruct Pair {\n  It first, second;\n};\n"
        "}  // namespace inner",
        ("it",),
    ),
    "make": Piece("inline It MakeIt() {\n  It it;\n  It other;\n  other = it;\n  return other;\n}", ("it",)),
    "run": Piece(
        "static int RunAll(Base* b) {\n  auto add = [](int y) { return TWICE(y); };\n  Heir heir(3);\n"
        "  return add(b->Run(heir.it)) + heir.Run(It{});\n}\nint Entry(Base* b) { return RunAll(b); }",
        ("heir", "twice"),
    ),
    "boxed": Piece(
        "int Boxed() {\n  Box<It> box;\n  Box<It> copy = box;\n  copy.i = 1;\n"
        "  return copy.Map([](It it) { return it.x; });\n}",
        ("box", "it"),
    ),
    "hidden": Piece(
        "namespace {\nstruct Hidden {\n  It it;\n};\nint Use() {\n  Hidden h;\n  Hidden g = h;\n  return g.it.x;\n}\n"
        "const int kStart = Use();\n}  // namespace",
        ("it",),
    ),
    "counted": Piece(
        "int shared_count = 3;\nint Shared(int x) {\n  Paint p = Color::kRed;\n  Count n = static_cast<int>(p);\n"
        "  inner::Pair pair;\n  return n + pair.first.x + inner::Depth();\n}",
        ("shared", "color", "inner"),
    ),
    "local": Piece(
        "int Local() {\n  struct Own {\n    It it;\n  };\n  Own own;\n  Own next(own);\n  int h(int);\n"
        "  return next.it.x + MakeIt().x + Shared(1) + Elsewhere();\n}",
        ("make", "shared"),
    ),
    "registered": Piece(
        "TVM_FFI_STATIC_INIT_BLOCK() {\n  namespace refl = tvm::ffi::reflection;\n"
        '  refl::GlobalDef().def("lib.Make", MakeIt).def("lib.Shared", [](int x) { return Shared(x); });\n}',
        ("make", "shared"),
    ),
}
"""By name, in the order in which they can stand in one file."""
UNITS = ("src/a.cc", "src/b.cc", "src/deep/c.cc", "src/deep/z.cc")
HEADERS = ("include/lib/one.h", "include/lib/two.h", "src/p.h", "src/deep/q.h")
ONLY_IN_UNITS = frozenset(("run", "boxed", "hidden", "counted", "local", "registered"))
MODULES = ("python/pkg/m.py", "python/pkg/n.py")
PYTHON = {
    "make": "import tvm_ffi\n\n\ndef make():\n    return tvm_ffi.get_global_func('lib.Make')()\n",
    "keep": "import os\n\n\nclass Keep:\n    def path(self):\n        return os.path.join('a', 'b')\n",
}


@dataclass(frozen=True)
class Layout:
    """Where everything stands: piece -> file; `names`: file -> the path that it has now; `extra`: file -> lines of
    comments at its top; `python`: piece -> module."""

    places: dict[str, str]
    names: dict[str, str] = field(default_factory=dict)
    extra: dict[str, int] = field(default_factory=dict)
    python: dict[str, str] = field(default_factory=dict)

    def move(self, piece: str, file: str) -> Layout:
        """The piece stands in `file`."""
        return replace(self, places={**self.places, piece: file})

    def drop(self, piece: str) -> Layout:
        """The piece is gone, whoever needs it."""
        return replace(self, places={name: file for name, file in self.places.items() if name != piece})

    def rename(self, file: str, path: str) -> Layout:
        """The file has another path; those who include it say so."""
        return replace(self, names={**self.names, file: path})

    def lengthen(self, file: str) -> Layout:
        """All that stands in the file moves down a line."""
        return replace(self, extra={**self.extra, file: self.extra.get(file, 0) + 1})

    def move_python(self, piece: str, module: str) -> Layout:
        """The Python piece stands in `module`."""
        return replace(self, python={**self.python, piece: module})

    def files(self) -> dict[str, str]:
        """Path -> content of every file that has something in it."""
        found: dict[str, str] = {}
        for file in sorted(set(self.places.values())):
            pieces = [name for name in PIECES if self.places.get(name) == file]
            needed = {self.places[n] for name in pieces for n in PIECES[name].needs if n in self.places} - {file}
            lines = ["// more"] * self.extra.get(file, 0)
            if file in HEADERS:
                lines.append("#pragma once")
            if "registered" in pieces:
                lines.append("#include <tvm/ffi/reflection/registry.h>")
            lines += [self._include(file, other) for other in sorted(needed)]
            found[self.names.get(file, file)] = "\n".join([*lines, *(PIECES[name].text for name in pieces), ""])
        for piece, module in sorted(self.python.items()):
            path = self.names.get(module, module)
            found[path] = found.get(path, "") + PYTHON[piece]
        return found

    def _include(self, file: str, other: str) -> str:
        here, path = self.names.get(file, file), self.names.get(other, other)
        if path.startswith("include/"):
            return f"#include <{path.removeprefix('include/')}>"
        return f'#include "{os.path.relpath(path, os.path.dirname(here))}"'


def write(root: Path, before: dict[str, str], after: dict[str, str]) -> None:
    """Make the tree's files those of `after`; those that are the same stay untouched."""
    for path in before.keys() - after.keys():
        (root / path).unlink()
    for path, content in after.items():
        if before.get(path) != content:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content)


def begin(root: Path) -> None:
    """What is in every tree: the headers of the FFI."""
    shutil.copytree(FFI, root / "include")
    (root / "python" / "pkg").mkdir(parents=True)
    (root / "python" / "pkg" / "__init__.py").write_text("")
