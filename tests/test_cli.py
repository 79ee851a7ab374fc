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
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from conftest import CREATOR, FUSE_TIR_CC, KEY, build, py

from xref import cli as cli_module
from xref import cli_output, cli_reference, cli_summary
from xref.cli import cli, main
from xref.model import FileFacts, Lang, XrefError
from xref.store import open_index
from xref.summary import IndexSummary

Run = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parent.parent


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, small_index: Path) -> Run:
    """Run `xref ARGS` in this process on the small index: (exit code, stdout, stderr)."""
    monkeypatch.setenv("XREF_DB", str(small_index))
    monkeypatch.delenv("COLUMNS", raising=False)

    def call(*args: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(list(args))
        out = capsys.readouterr()
        return int(end.value.code or 0), out.out, out.err

    return call


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
        (("path", "tvm.relax.transform.FuseTIR", "TIRFuseMutator"), {"from", "to", "hops", "why_none"}),
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
    assert err == "1 keys\n"
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
            monkeypatch.setattr(sys, "stdout", _Terminal(stream))
            monkeypatch.setenv("NO_COLOR", color)
            cli_output.write_lines(["heading", "  line"])
    assert (tmp_path / "plain").read_text() == "heading\n  line\n"
    assert (tmp_path / "bold").read_text() == "\x1b[1mheading\x1b[0m\n  line\n"


class _Terminal:
    """A stream that says it is a terminal."""

    def __init__(self, stream: object) -> None:
        self._stream = stream

    def isatty(self) -> bool:
        return True

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


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
        "import sys; from xref.cli import main\n"
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
        "import sys, time, xref.index, xref.cli\n"
        "def slow(*_):\n    print('started', flush=True)\n    time.sleep(60)\n"
        "xref.index.run_index = slow\n"
        "xref.cli.main(['index', sys.argv[1]])\n"
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


# xref index


def _summary(**changes: object) -> IndexSummary:
    values: dict[str, object] = {
        "unchanged": False,
        "seconds": 12.34,
        "tree": {"tree": "/src/tvm", "project": "tvm", "tvm_version": "0.26.0", "commit": "c7b458e946ab00", "era": "x"},
        "files": {"ok": 1240, "degraded": 3, "failed": 1},
        "degraded": {"missing header cutlass/cutlass.h": 2, "guarded by TVM_X": 1},
        "failed": [("src/a.cc", "worker killed by signal 9")],
        "symbols": 100_000,
        "refs": 1_200_000,
        "calls": {"direct": 250_000, "virtual": 90_000},
        "unresolved": 4143,
        "keys_defined": {"ffi": 2086, "type": 542},
        "key_uses": {"resolved": 1600, "dangling": 1},
        "dangling": [("ffi", "relax.gone", "python/tvm/a.py", 12)],
        "warnings": ["submodules not checked out: 3rdparty/cutlass"],
    }
    return IndexSummary(**(values | changes))  # type: ignore[arg-type]


def test_the_summary_hides_nothing() -> None:
    assert list(cli_summary.summary_lines(_summary(), Path("data/xref.db"))) == [
        "tvm 0.26.0 at /src/tvm",
        "  commit c7b458e946ab, registrations x",
        "  files       1,240 ok, 3 degraded, 1 failed",
        "    2 degraded: missing header cutlass/cutlass.h",
        "    1 degraded: guarded by TVM_X",
        "    failed: src/a.cc: worker killed by signal 9",
        "  symbols     100,000",
        "  references  1,200,000",
        "  calls       250,000 direct, 90,000 virtual; unresolved 4,143",
        "  keys        defined: 2,086 ffi, 542 type",
        "              used: 1,600 resolved, 1 dangling",
        "    dangling: python/tvm/a.py:12  ffi relax.gone",
        "  warning: submodules not checked out: 3rdparty/cutlass",
        "  data/xref.db written in 12.3 s",
    ]


def test_an_unchanged_tree_takes_one_line() -> None:
    lines = list(cli_summary.summary_lines(_summary(unchanged=True, seconds=0.4), Path("x.db")))
    assert lines == ["unchanged: x.db is up to date with /src/tvm (0.4 s)"]


def test_the_summary_as_json_names_its_parts() -> None:
    value = json.loads(json.dumps(cli_summary.summary_object(_summary())))
    assert value["exit_code"] == 4
    assert value["failed"] == [{"path": "src/a.cc", "detail": "worker killed by signal 9"}]
    assert value["dangling"] == [{"registry": "ffi", "name": "relax.gone", "path": "python/tvm/a.py", "line": 12}]


def test_strict_counts_files_read_in_part() -> None:
    degraded = _summary(failed=[])
    assert cli_summary.exit_code(degraded, strict=False) == 0
    assert cli_summary.exit_code(degraded, strict=True) == 4
    assert cli_summary.exit_code(_summary(), strict=False) == 4


def test_index_passes_on_what_was_typed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import xref.index

    seen = []
    monkeypatch.setattr(xref.index, "run_index", lambda options, progress: seen.append(options) or _summary(failed=[]))
    args = ("index", "tree", "--db", "x.db", "-j", "3", "--only", "src/*", "--only", "a.py", "--force")
    code, out, _ = run(*args)
    assert (code, out.splitlines()[0]) == (0, "tvm 0.26.0 at /src/tvm")
    (options,) = seen
    assert (options.path, options.db, options.jobs) == (Path("tree"), Path("x.db"), 3)
    assert (options.only, options.force) == (("src/*", "a.py"), True)
    assert run(*args, "--quiet")[1] == ""
    assert json.loads(run(*args, "--json")[1])["symbols"] == 100_000
    assert run(*args, "--strict")[0] == 4


def test_an_unusable_tree_is_named(run: Run, tmp_path: Path) -> None:
    code, out, err = run("index", str(tmp_path / "no such"), "--db", str(tmp_path / "x.db"))
    assert (code, out) == (5, "")
    assert "no such" in err


def test_progress_is_silent_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with cli_summary.progress_bar(show=True) as progress:
        progress(1, 2, "src/a.cc")
    assert capsys.readouterr() == ("", "")


def test_progress_on_a_terminal_shows_count_and_estimate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with (tmp_path / "err").open("w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", _Terminal(stream))
        with cli_summary.progress_bar(show=True) as progress:
            progress(1, 2, "src/[a].cc")
            progress(1, 40, "next phase")
    shown = (tmp_path / "err").read_text(encoding="utf-8")
    assert "1/40" in shown
    assert "left" in shown


# completion and documents


def test_the_shell_completes_names(small_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.shell_completion import ShellComplete

    monkeypatch.setenv("XREF_DB", str(small_index))
    complete = ShellComplete(cli, {}, "xref", "_XREF_COMPLETE")
    assert [item.value for item in complete.get_completions(["callers"], "FuseT")] == ["FuseTIR"]
    monkeypatch.setenv("XREF_DB", "none.db")
    assert complete.get_completions(["callers"], "FuseT") == []


def test_docs_cli_md_is_what_the_program_says() -> None:
    """Rewrite it with `python -m xref.cli_reference`."""
    text = cli_reference.DOCUMENT.read_text(encoding="utf-8")
    assert text == cli_reference.document(text, cli)
    prose = text.partition(cli_reference.MARK)[0]
    for command in cli.commands.values():
        assert f"`{command.name}" in prose or f"xref {command.name}" in prose, (
            f"{command.name} is only in the reference"
        )
        assert command.help
        for parameter in command.params:
            assert isinstance(parameter, click.Argument) or getattr(parameter, "help", None), (
                command.name,
                parameter.name,
            )


def test_every_exit_code_is_documented() -> None:
    from xref.model import ExitCode

    prose = cli_reference.DOCUMENT.read_text(encoding="utf-8")
    for code in (value for name, value in vars(ExitCode).items() if name.isupper()):
        assert f"\n| {code} | " in prose


def _documented_views() -> dict[str, list[str]]:
    text = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
    views = {}
    for section in text.split("\n## ")[1:]:
        name, _, body = section.partition("\n")
        views[name.strip()] = re.findall(r"^\| (\w+) \|", body, re.MULTILINE)[1:]
    return views


def test_docs_sql_md_has_every_view_and_column(small_index: Path) -> None:
    db = open_index(small_index)
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
    live = {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in [*names, "meta"]}
    db.close()
    assert _documented_views() == live


def test_the_sql_examples_run(small_index: Path) -> None:
    text = (ROOT / "docs" / "sql.md").read_text(encoding="utf-8")
    db = open_index(small_index)
    for block in re.findall(r"```sql\n(.*?)```", text, re.DOTALL):
        for statement in block.split(";"):
            if statement.strip():
                db.execute(statement).fetchall()
    db.close()


def test_errors_of_the_database_are_not_shown_as_tracebacks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> sqlite3.Connection:
        raise sqlite3.DatabaseError("malformed")

    monkeypatch.setattr("xref.store.open_index", broken)
    code, _, err = run("where", "f")
    assert (code, err) == (
        3,
        "xref: the index cannot be read (malformed): run `xref index` again, or name another --db\n",
    )


def test_an_error_the_user_can_act_on_has_its_code(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise XrefError("x.db: the disk is full; free space, or name a --db elsewhere", 5)

    monkeypatch.setattr("xref.store.open_index", full)
    assert run("where", "f") == (5, "", "xref: x.db: the disk is full; free space, or name a --db elsewhere\n")


def test_processors_are_counted_where_affinity_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert cli_module._processors() == (os.cpu_count() or 1)
