"""Files that a tree may hold and that nothing may stumble over: each has a true status, the others lose nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from python_case import describe, index

from xref.model import Status
from xref.python.declarations import declare
from xref.python.plan import plan_python
from xref.python.source import read_source
from xref.python.walk import walk

BAD = {
    "syntax.py": (b"x = 1\ndef f(:\n    pass\n", Status.FAILED, "line 2: "),
    "indent.py": (b"if x:\npass\n", Status.FAILED, "line 2: "),
    "nul.py": (b"x = 1\n\0\n", Status.FAILED, "line 2: a NUL byte"),
    "parens.py": (b"\nx = " + b"(" * 5000 + b")" * 5000, Status.FAILED, "line 2: too many nested parentheses"),
    "unary.py": (b"\nx = " + b"-" * 100_000 + b"1\n", Status.FAILED, "nested too deeply for the parser; line 2"),
    "elif.py": (b"if x: pass\n" + b"elif y: pass\n" * 50_000, Status.FAILED, "nested too deeply for the parser"),
    "cookie.py": (b"# coding: klingon\nx = 1\n", Status.DEGRADED, "line 1: unknown encoding: klingon"),
    "latin.py": (b"x = 1\n# caf\xe9\ndef f(): return len('')\n", Status.DEGRADED, "line 2: byte 0xe9 is not utf-8"),
}
GOOD = {
    "python/pkg/__init__.py": b"",
    "python/pkg/empty.py": b"",
    "python/pkg/bom.py": b"\xef\xbb\xbfdef f(): return len('')\n",
    "python/pkg/windows.py": b"def f():\r\n    return len('')\r\n",
    "python/pkg/latin1_cookie.py": "# coding: latin-1\ndef f(): return len('é')  # é\n".encode("latin-1"),
    'python/pkg/it\'s a "name" [1].py': b"def f(): return len('')\n",
    "python/namespace/inner/mod.py": b"def f(): return len('')\n",
    "python/pkg/chain.py": b"x = " + b"1+" * 400 + b"len('')\n",
}


def write(root: Path, files: dict[str, bytes]) -> None:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)


def test_every_bad_file_has_a_status_and_a_reason_with_a_line_and_good_files_lose_nothing(tmp_path: Path) -> None:
    root = tmp_path / 'a tree\'s "root"'
    write(root, {f"python/pkg/{name}": content for name, (content, _, _) in BAD.items()} | GOOD)
    facts = index(root, tmp_path / "scratch", paths=[*(f"python/pkg/{name}" for name in BAD), *GOOD])
    for name, (_, status, detail) in BAD.items():
        found = facts[f"python/pkg/{name}"]
        assert (name, found.status) == (name, status)
        assert found.detail.startswith(detail), found.detail
    for name in GOOD:
        assert (name, facts[name].status, facts[name].detail) == (name, Status.OK, "")
    calls = describe(facts, "calls")
    for name in GOOD.keys() - {"python/pkg/__init__.py", "python/pkg/empty.py"}:
        assert any(line.startswith(name) and line.endswith("-> builtins.len direct") for line in calls), name
    assert any(line.startswith("python/pkg/latin.py:3:17 pkg.latin.f -> builtins.len") for line in calls)


def test_lines_and_columns_count_characters_in_any_encoding_and_line_ending(tmp_path: Path) -> None:
    write(tmp_path / "tree", {"python/m.py": "x = 'é𝄞'; len(x)\r\ny = 'ü'; len(y)\r\n".encode()})
    facts = index(tmp_path / "tree", tmp_path / "scratch")
    assert [(c.line, c.col) for c in facts["python/m.py"].calls] == [(1, 11), (2, 10)]
    assert facts["python/m.py"].lines == 2


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS allows only UTF-8 names")
def test_a_name_that_is_not_utf8_is_read_without_types_and_says_so(tmp_path: Path) -> None:
    name = os.fsdecode(b"python/caf\xe9.py")
    write(tmp_path / "tree", {name: b"def f(): return g()\ndef g(): pass\n", "python/other.py": b"len('')\n"})
    facts = index(tmp_path / "tree", tmp_path / "scratch", paths=[name, "python/other.py"])
    assert (facts[name].status, facts["python/other.py"].status) == (Status.DEGRADED, Status.OK)
    assert "did not read this file" in facts[name].detail
    assert [call.line for call in facts[name].calls] == [1]


def test_a_deep_but_legal_expression_is_walked_without_the_interpreter_s_stack(tmp_path: Path) -> None:
    deep = "x = " + "f(" * 90 + ")" * 90 + "\ny = a" + ".b" * 900 + "\n"
    (tmp_path / "m.py").write_text(deep)
    source = read_source(tmp_path / "m.py")
    assert source.tree is not None
    assert len(walk("m", False, source.tree, declare("m", source.tree)).calls) == 90


def test_a_second_file_of_one_module_name_is_named_after_its_path(tmp_path: Path) -> None:
    plan = plan_python(
        tmp_path, ["a/pkg/x.py", "b/pkg/x.py", "pkg/x.py", "docs/conf.py", "a.b/c.py", "a/b/c.py"], ["a", "b"], tmp_path
    )
    assert {file.path: file.module for file in plan.files} == {
        "a/pkg/x.py": "pkg.x",
        "b/pkg/x.py": "b.pkg.x",
        "pkg/x.py": "pkg/x.py",
        "docs/conf.py": "docs.conf",
        "a.b/c.py": "a.b.c",
        "a/b/c.py": "b.c",
    }


def test_a_stub_declares_what_its_module_defines(tmp_path: Path) -> None:
    write(
        tmp_path / "tree",
        {
            "python/pkg/__init__.py": b"",
            "python/pkg/m.py": b"def f(x):\n    return x\n",
            "python/pkg/m.pyi": b"def f(x: int) -> int: ...\n",
            "python/pkg/use.py": b"from .m import f\nf(1)\n",
        },
    )
    facts = index(tmp_path / "tree", tmp_path / "scratch")
    keys = {path: {(s.key, s.is_definition) for s in file.symbols} for path, file in facts.items()}
    assert ("py:pkg.m:f", True) in keys["python/pkg/m.py"]
    assert ("py:pkg.m:f", False) in keys["python/pkg/m.pyi"]
    assert describe(facts, "calls") == ["python/pkg/use.py:2:1 pkg.use -> pkg.m.f direct"]


@given(st.text(alphabet="ab(){}[]:=,.#'\"\\@\n\t é\0lambda def class if", max_size=120))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_reading_never_raises_whatever_the_text(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.py"
    path.write_text(text, "utf-8")
    source = read_source(path)
    assert (source.tree is None) == (source.status is Status.FAILED)
    if source.tree is not None:
        walk("m", False, source.tree, declare("m", source.tree))
