"""The command line as a user meets it: exit codes, streams, pipes, Ctrl-C, and pages that say what the program does."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import CREATOR, FUSE_TIR_CC, KEY, Run, Terminal, build, py

from xref.cli import options as cli_options
from xref.cli import output as cli_output
from xref.model import FileFacts, Lang, XrefError

ROOT = Path(__file__).parent.parent.parent


def spawn(*args: str, db: Path, **env: str) -> subprocess.Popen[bytes]:
    """`python -m xref ARGS` as a process."""
    return subprocess.Popen(
        [sys.executable, "-m", "xref", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "XREF_DB": str(db), **env},
    )


# exit codes and streams


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("query", "who", "calls", "FuseTIR"), 0),
        (("query", "who calls nothing_of_this"), 1),
        (("callers", "FuseTIR"), 0),
        (("callees", "FuseTIR"), 0),
        (("where", "nothing_of_this"), 1),
        (("refs", "FuseTIR"), 0),
        (("path", "tvm.relax.transform.FuseTIR", "TIRFuseMutator"), 0),
        (("path", "TIRFuseMutator", "tvm.relax.transform.FuseTIR"), 1),
        (("key", KEY), 0),
        (("key", "no.such.key"), 1),
        (("keys", "--registry", "ffi"), 0),
        (("keys", "--registry", "no_such"), 1),
        (("query", "make me a sandwich"), 2),
        (("sing",), 2),
        (("callers",), 2),
        (("callers", "FuseTIR", "--evidence", "hearsay"), 2),
        (("callers", "FuseTIR", "--lang", "rust"), 2),
        (("doctor",), 0),
        (("--help",), 0),
        (("--version",), 0),
    ],
)
def test_exit_codes(run: Run, args: tuple[str, ...], code: int) -> None:
    assert run(*args)[0] == code


def test_each_further_folder_counts(run: Run, tmp_path: Path) -> None:
    for folder in ("python", "tests/python", "tests/cpp", "apps", "docs"):
        (tmp_path / "tree" / folder).mkdir(parents=True)
        (tmp_path / "tree" / folder / "a.py").write_text("def f(): ...\n", "utf-8")
    db = tmp_path / "a.db"
    also = ("--also", "tests/python,tests/cpp", "--also", "apps")
    assert run("index", str(tmp_path / "tree"), *also, "--db", str(db))[0] == 0
    with sqlite3.connect(db) as index:
        read = {path for (path,) in index.execute("SELECT path FROM file WHERE status = 'ok'")}
    assert read == {f"{folder}/a.py" for folder in ("python", "tests/python", "tests/cpp", "apps")}


@pytest.mark.parametrize("args", [("keys",), ("key", KEY)])
def test_a_registry_that_is_misspelt_is_told_from_an_empty_one(run: Run, args: tuple[str, ...]) -> None:
    code, out, err = run(*args, "--registry", "fii")
    assert (code, out) == (1, "")
    assert "no registry 'fii'" in err
    assert "ffi" in err


@pytest.mark.parametrize("args", [("where", "f"), ("query", "f"), ("keys",), ("path", "a", "b"), ("key", "k")])
def test_without_an_index_the_remedy_is_named(run: Run, tmp_path: Path, args: tuple[str, ...]) -> None:
    code, out, err = run(*args, "--db", str(tmp_path / "none.db"))
    assert (code, out) == (3, "")
    assert "run `xref index PATH" in err


def test_a_damaged_index_is_no_traceback(run: Run, tmp_path: Path, small_index: Path) -> None:
    content = bytearray(small_index.read_bytes())
    content[16384:] = b"\xff" * (len(content) - 16384)
    (tmp_path / "bad.db").write_bytes(content)
    code, _, err = run("where", "FuseTIR", "--db", str(tmp_path / "bad.db"))
    assert code == 3
    assert "index" in err
    assert "Traceback" not in err


def test_data_goes_to_stdout_and_remarks_to_stderr(run: Run) -> None:
    code, out, err = run("callers", "FuTIR", "--json")
    assert json.loads(out)["near"][0] == "FuseTIR"
    assert err.startswith("no symbol or key is called FuTIR\nnear: FuseTIR")
    assert code == 1


@pytest.mark.parametrize(
    ("args", "keys"),
    [
        (("query", "who calls FuseTIR"), {"matches"}),
        (("callees", CREATOR.qualname), {"matches"}),
        (("where", "FuseTIR"), {"matches"}),
        (("refs", "FuseTIR"), {"matches"}),
        (
            ("path", "tvm.relax.transform.FuseTIR", "TIRFuseMutator"),
            {"from", "to", "hops", "why_none", "begins", "unresolved"},
        ),
        (("key", KEY), {"keys"}),
    ],
)
def test_json_is_one_object_with_a_schema(run: Run, args: tuple[str, ...], keys: set[str]) -> None:
    _, out, err = run(*args, "--json")
    answer = json.loads(out)
    assert answer["schema"] == 1
    assert set(answer) == {"schema", "question", "verb", *keys}
    assert err == ""


def test_keys_can_be_listed_and_narrowed(run: Run) -> None:
    _, out, err = run("keys", "relax.t*")
    assert out == f"{FUSE_TIR_CC}:1290  ffi  {KEY}  1 def  1 use\n"
    assert err == "1 key\n"
    _, out, _ = run("keys", "--dangling", "--json")
    assert [(key["name"], key["line"]) for key in json.loads(out)["keys"]] == [("relax.gone", 91)]
    _, out, err = run("keys", "--limit", "1")
    assert (out.count("\n"), err) == (1, "3 keys, 1 shown\n")


def test_where_lists_no_more_than_asked(run: Run) -> None:
    _, out, _ = run("where", "VisitExpr_", "--limit", "1")
    assert "… 2 more (--limit 0 shows all)" in out


# what a terminal would obey


def test_control_characters_of_the_tree_are_escaped(run: Run, tmp_path: Path) -> None:
    hostile = py("function", "m.f", 1, doc="\x1b]0;owned\x07 red \x1b[31m \u202e")
    build(tmp_path / "x.db", [FileFacts("m.py", Lang.PYTHON, symbols=[hostile])])
    for extra in ((), ("--json",)):
        _, out, _ = run("query", "m.f", "--db", str(tmp_path / "x.db"), *extra)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", out)


def test_what_the_output_cannot_encode_is_escaped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="ascii") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        cli_output.write_lines(["…transform::FuseTIR", "caf\udce9.py"])
    assert (tmp_path / "out").read_bytes() == b"\\u2026transform::FuseTIR\ncaf\xe9.py\n"


def test_bold_needs_a_terminal_and_no_no_color(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, color in (("plain", "1"), ("bold", "")):
        with (tmp_path / name).open("w", encoding="utf-8") as stream:
            monkeypatch.setattr(sys, "stdout", Terminal(stream))
            monkeypatch.setenv("NO_COLOR", color)
            cli_output.write_lines(["heading", "  line"])
    assert (tmp_path / "plain").read_text() == "heading\n  line\n"
    assert (tmp_path / "bold").read_text() == "\x1b[1mheading\x1b[0m\n  line\n"


# as a process


def test_python_m_xref_answers(small_index: Path) -> None:
    process = spawn("query", "who calls FuseTIR", db=small_index)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert b"7 callers" in out


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    symbols = [py("function", f"m.C{number}.some_name_of_some_length", number + 1) for number in range(30_000)]
    build(tmp_path / "x.db", [FileFacts("m.py", Lang.PYTHON, symbols=symbols)])
    process = spawn("where", "some_name_of_some_length", "--limit", "0", db=tmp_path / "x.db")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert (process.wait(timeout=60), process.stderr.read()) == (0, b"")
    process.stderr.close()


def test_a_question_is_answered_without_the_indexer(small_index: Path) -> None:
    """Half a second for a whole process leaves no room for libclang, rich or networkx."""
    code = (
        "import sys; from xref.cli.verbs import main\n"
        "try: main(['callers', 'FuseTIR'])\n"
        "finally: print(*sys.modules, sep='\\n')"
    )
    env = {**os.environ, "XREF_DB": str(small_index)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, env=env)
    assert not set(out.stdout.splitlines()) & {"rich", "networkx", "clang", "clang.cindex", "sqlite_utils", "jinja2"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_kill_end_with_130_and_one_line(tmp_path: Path, number: signal.Signals) -> None:
    tree = tmp_path / "tree"
    (tree / "python" / "tvm").mkdir(parents=True)
    (tree / "python" / "tvm" / "__init__.py").write_text("def f(): pass\n")
    script = (
        "import sys, time, xref.index, xref.cli.verbs as cli\n"
        "def slow(*_):\n    print('started', flush=True)\n    time.sleep(60)\n"
        "xref.index.run_index = slow\n"
        "cli.main(['index', sys.argv[1]])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tree)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(0.1)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "xref: interrupted: nothing was changed\n")


def test_ctrl_c_is_answered_while_the_verbs_are_still_imported() -> None:
    code = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'xref.cli.verbs': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from xref.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "xref: interrupted: nothing was changed\n")


def test_ctrl_c_is_answered_while_the_command_line_is_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("click.Group.parse_args", interrupted)
    code, out, err = run("where", "f")  # click ends the line in which the terminal shows ^C
    assert (code, out, err) == (130, "", "\nxref: interrupted: nothing was changed\n")


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ("malformed", "the index cannot be read (malformed): run `xref index --force`, or name another --db"),
        ("database is locked", "the index is being written: ask again in a moment"),
    ],
)
def test_errors_of_the_database_are_not_shown_as_tracebacks(
    run: Run, monkeypatch: pytest.MonkeyPatch, problem: str, message: str
) -> None:
    def broken(*_: object) -> sqlite3.Connection:
        raise sqlite3.OperationalError(problem)

    monkeypatch.setattr("xref.store.open_index", broken)
    assert run("where", "f") == (3, "", f"xref: {message}\n")


def test_an_error_the_user_can_act_on_has_its_code(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise XrefError("x.db: the disk is full; free space, or name a --db elsewhere", 5)

    monkeypatch.setattr("xref.store.open_index", full)
    assert run("where", "f") == (5, "", "xref: x.db: the disk is full; free space, or name a --db elsewhere\n")


def test_processors_are_counted_where_affinity_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert cli_options.processors() == (os.cpu_count() or 1)


@pytest.mark.parametrize(
    "words", [["index", ""], ["query", "--db", "", "x"], ["site", "--out", ""], ["runs", "--db", ""]]
)
def test_an_empty_path_is_not_this_folder(run: Run, words: list[str]) -> None:
    """`xref index "$TVM"` with TVM unset must not index whatever folder one stands in."""
    code, _, err = run(*words)
    assert code == 2
    assert "it is empty" in err


def test_a_newline_in_a_file_name_does_not_make_two_facts(capsys: pytest.CaptureFixture[str]) -> None:
    cli_output.write_lines(["src/a\nb.cc:1  direct"])
    assert capsys.readouterr().out == "src/a\\nb.cc:1  direct\n"
