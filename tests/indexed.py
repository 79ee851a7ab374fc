"""Small trees and their indexes, for tests that index by the command line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command import xref

from xref.store import open_index


def rows(db: Path, sql: str) -> list[tuple[object, ...]]:
    """The rows of a query."""
    connection = open_index(db)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def states(db: Path) -> dict[str, tuple[str, str]]:
    """Path -> (status, detail) of every file."""
    return {path: (status, detail) for path, status, detail in rows(db, "SELECT path, status, detail FROM files")}  # type: ignore[misc]


def make_small(root: Path, **files: str) -> Path:
    """A tree of one function, and more files (`__` stands for the dot in a name)."""
    root.mkdir(parents=True)
    (root / "a.cc").write_text("int A() { return 1; }\n")
    for name, text in files.items():
        (root / name.replace("__", ".")).write_text(text)
    return root


@pytest.fixture(name="tree")
def tree_fixture(tmp_path: Path) -> Path:
    """A small tree."""
    return make_small(tmp_path / "tree")


@pytest.fixture(name="indexed")
def indexed_fixture(tree: Path) -> tuple[Path, Path, bytes]:
    """(tree, index, the index's bytes)."""
    db = tree.parent / "out" / "xref.db"
    assert xref("index", tree, "--db", db).code == 0
    return tree, db, db.read_bytes()


def check_intact(db: Path, before: bytes) -> None:
    """The index is as it was, and nothing lies beside it."""
    assert db.read_bytes() == before
    assert os.listdir(db.parent) == [db.name]
