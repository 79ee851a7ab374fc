"""A tree of everything that files can be wrong in, beside a few that are right. Made on disk, since git and some file
systems could not hold it: names that are not UTF-8, pipes, unreadable files."""

from __future__ import annotations

import os
from pathlib import Path

CHAIN = 5000
NESTING = 10_000
EVIL = "ran.txt"
"""What the program that the tree's configuration names would leave behind."""

_CHAINED = "struct Def { Def& def(const char* name, int x); };\nint leaf();\nvoid Chain() {\n  Def()\n"
FILES: dict[str, bytes] = {
    "src/good.cc": b'#include "good.h"\nint Caller() { return Good(); }\n',
    "src/good.h": b"#pragma once\ninline int Good() { return 1; }\n",
    "src/not_utf8.cc": b"// caf\xe9\nint Latin() { return 1; }\nint CallsLatin() { return Latin(); }\n",
    "src/missing_header.cc": b"#include <no/such/header.h>\nint Known();\nint Use() { return Known(); }\n",
    "src/broken.cc": b"int Fine() { return 1; }\nint Broken( {{{ \n",
    "src/empty.cc": b"",
    "src/empty.h": b"",
    "src/nul.cc": b"int Before() { return 1; }\0\nint After() { return Before(); }\n\0",
    "src/binary.cc": bytes(range(256)) * 40,
    "src/includes_itself.h": b'#include "includes_itself.h"\ninline int InHeader() { return 1; }\n',
    "src/uses_includes_itself.cc": b'#include "includes_itself.h"\nint Uses() { return 1; }\n',
    "src/guarded_itself.h": b'#pragma once\n#include "guarded_itself.h"\ninline int Guarded() { return 1; }\n',
    "src/uses_guarded.cc": b'#include "guarded_itself.h"\nint UsesGuarded() { return Guarded(); }\n',
    "src/round_a.h": b'#pragma once\n#include "round_b.h"\ninline int RoundA() { return 1; }\n',
    "src/round_b.h": b'#pragma once\n#include "round_a.h"\ninline int RoundB() { return 2; }\n',
    "src/chain.cc": (_CHAINED + "".join(f'      .def("k{i}", leaf())\n' for i in range(CHAIN)) + ";\n}\n").encode(),
    "src/parentheses.cc": f"int Deep() {{ return {'(' * NESTING}1{')' * NESTING}; }}\n".encode(),
    "src/braces.cc": f"void Deep2() {'{' * NESTING}{'}' * NESTING}\n".encode(),
    "src/long_line.cc": b"int numbers[] = {" + b"1, " * 300_000 + b"}; int AfterTheLine() { return numbers[0]; }\n",
    "src/quo'te \"d & <b>.cc": b"int Quoted() { return 1; }\n",
    "src/line\nbreak.cc": b"int Broken2() { return 1; }\n",
    "src/directory.cc/inner.cc": b"int Inner() { return 1; }\n",
    "src/no_newline.cc": b"int LastLine() { return 1; }",
    "src/windows.cc": b"#define TWO \\\r\n  2\r\nint Crlf() { return TWO; }\r\n",
    "src/byte_order_mark.cc": b"\xef\xbb\xbfint Marked() { return 1; }\n",
    "src/absolute.cc": b'#include "/dev/null"\nint Absolute() { return 1; }\n',
    "python/pkg/__init__.py": b"",
    "python/pkg/good.py": b"def callee():\n    pass\n\n\ndef caller():\n    callee()\n",
    "python/pkg/syntax_error.py": b"def f(:\n",
    "python/pkg/not_utf8.py": b"# caf\xe9\nx = 1\n",
    "python/pkg/nul.py": b"x = 1\0\n",
    "python/pkg/deep.py": b"x = " + b"(" * 5000 + b"1" + b")" * 5000 + b"\n",
    "python/pkg/half_pair.py": (
        b'import tvm_ffi\n\n\ndef half():\n    "doc \\ud800"\n\n\n'
        b'tvm_ffi.register_global_func("half.\\udfff", half)\nTABLE = {"\\U0000d83d": half}\nTABLE["\\ud83d"]()\n'
    ),
    "python/pkg/directory.py/inner.py": b"def inner():\n    pass\n",
    "pyrefly.toml": b'python-interpreter-path = "./evil.sh"\n',
    "python/pyproject.toml": b'[tool.pyrefly]\npython-interpreter-path = "../evil.sh"\n',
    ".clang-format": b"BasedOnStyle: Google\n",
    "compile_commands.json": b'[{"directory": ".", "file": "src/good.cc", "command": "./evil.sh -c src/good.cc"}]\n',
}
NOT_UTF8_NAME = os.fsdecode(b"src/caf\xe9.cc")
UNREADABLE = ("src/unreadable.cc", "src/unreadable.h", "python/pkg/unreadable.py")


def make_bad_tree(root: Path) -> Path:
    """Write the tree below `root`, which must not exist; returns it."""
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (root / NOT_UTF8_NAME).write_bytes(b"int NamedOddly() { return 1; }\n")
    for name in UNREADABLE:
        (root / name).write_bytes(b"x = 1\n")
        (root / name).chmod(0)
    (root / "src/closed").mkdir()
    (root / "src/closed/inside.cc").write_bytes(b"int Inside();\n")
    (root / "src/closed").chmod(0)
    evil = root / "evil.sh"
    evil.write_text(f'#!/bin/sh\necho ran > "$(dirname "$0")/{EVIL}"\n', "ascii")
    evil.chmod(0o755)
    os.mkfifo(root / "src/pipe.cc")
    os.mkfifo(root / "python/pkg/pipe.py")
    for name, target in (
        ("src/loop", ".."),
        ("src/link.cc", "good.cc"),
        ("src/own_link.cc", "own_link.cc"),
        ("src/nowhere.h", "no/such/file.h"),
        ("python/pkg/loop", "."),
    ):
        (root / name).symlink_to(target)
    return root
