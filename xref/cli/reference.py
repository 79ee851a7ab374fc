"""Writes the reference part of docs/cli.md from the verbs' own --help, so that it cannot differ from it.

`python -m xref.cli.reference` rewrites the file; a test compares them. What stands before the mark is written by hand.
"""

from __future__ import annotations

from pathlib import Path

import click

MARK = "<!-- From here on written by `python -m xref.cli.reference`. -->"
DOCUMENT = Path(__file__).parent.parent.parent / "docs" / "cli.md"
_WIDTH = 100


def reference(group: click.Group) -> str:
    """The help of the group and of each of its verbs, by name, as Markdown."""
    parts = ["## xref", _block(group, "xref")]
    for name, command in sorted(group.commands.items()):
        parts += [f"## xref {name}", _block(command, f"xref {name}")]
    return "\n\n".join(parts) + "\n"


def _block(command: click.Command, path: str) -> str:
    context = click.Context(command, info_name=path, terminal_width=_WIDTH, max_content_width=_WIDTH)
    context.help_option_names = ["-h", "--help"]
    return f"```text\n{command.get_help(context)}\n```"


def document(text: str, group: click.Group) -> str:
    """`text` with everything after the mark replaced by the reference."""
    prose, _, _ = text.partition(MARK)
    return f"{prose}{MARK}\n\n{reference(group)}"


def main() -> None:
    """Rewrite docs/cli.md of this checkout."""
    from xref.cli.verbs import cli

    DOCUMENT.write_text(document(DOCUMENT.read_text(encoding="utf-8"), cli), encoding="utf-8")


if __name__ == "__main__":
    main()
