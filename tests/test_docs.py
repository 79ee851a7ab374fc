"""docs/cli.md and docs/sql.md must say what the program does: a page that has rotted costs its reader an hour."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from xref.cli import reference as cli_reference
from xref.cli.verbs import cli
from xref.model import ExitCode
from xref.store import SCHEMA_VERSION, open_index

ROOT = Path(__file__).parent.parent


def test_the_shell_completes_names(small_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.shell_completion import ShellComplete

    monkeypatch.setenv("XREF_DB", str(small_index))
    complete = ShellComplete(cli, {}, "xref", "_XREF_COMPLETE")
    assert [item.value for item in complete.get_completions(["callers"], "FuseT")] == ["FuseTIR"]
    monkeypatch.setenv("XREF_DB", "none.db")
    assert complete.get_completions(["callers"], "FuseT") == []


def test_docs_cli_md_is_what_the_program_says() -> None:
    """Rewrite it with `python -m xref.cli.reference`."""
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
    assert f"`PRAGMA user_version`\n({SCHEMA_VERSION})" in text
    db = open_index(small_index)
    for block in re.findall(r"```sql\n(.*?)```", text, re.DOTALL):
        for statement in block.split(";"):
            if statement.strip():
                db.execute(statement).fetchall()
    db.close()
