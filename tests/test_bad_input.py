"""Bad input ends in a message that says what to do, the documented exit code, and no half-written index."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from bad_tree import CHAIN, EVIL, FILES, NOT_UTF8_NAME, UNREADABLE, make_bad_tree
from command import Ended, with_mounts, without_override, xref, xref_command
from indexed import check_intact, indexed_fixture, make_small, rows, states, tree_fixture  # noqa: F401

from xref.store import SCHEMA_VERSION

# what is no tree


def _file(folder: Path) -> Path:
    path = folder / "a.cc"
    path.write_text("int x;")
    return path


def _empty(folder: Path) -> Path:
    return folder


def _other_languages(folder: Path) -> Path:
    for name in ("README.md", "main.go", "CMakeLists.txt"):
        (folder / name).write_text("text")
    return folder


def _missing(folder: Path) -> Path:
    return folder / "no such folder"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_missing, "no such folder"),
        (_file, "is not a folder"),
        (_empty, "holds no C++ and no Python"),
        (_other_languages, "holds no C++ and no Python"),
    ],
)
def test_what_is_no_tree_is_refused(tmp_path: Path, make: Callable[[Path], Path], words: str) -> None:
    source = tmp_path / 'it\'s "here"'
    source.mkdir()
    ended = xref("index", make(source), "--db", tmp_path / "out" / "xref.db")
    assert ended.code == 5
    assert words in ended.err
    assert "give the folder of a TVM checkout" in ended.err
    assert not (tmp_path / "out").exists()


# what files can be wrong in


@pytest.fixture(scope="module")
def bad(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Ended]:
    """(tree, index, how the command ended), for the tree of everything wrong, below an odd path."""
    folder = tmp_path_factory.mktemp("bad")
    root = make_bad_tree(folder / 'a tree\'s "name" & more')
    db = folder / 'its index\'s "name".db'
    return root, db, xref("index", root, "--db", db, before=without_override())


DETAILS = {
    "src/not_utf8.cc": ("degraded", "not UTF-8 at line 1; read with replacement characters"),
    "src/binary.cc": ("degraded", "not UTF-8 at line 2; read with replacement characters"),
    "src/missing_header.cc": ("degraded", "missing header no/such/header.h"),
    "src/broken.cc": ("degraded", "5 errors, first broken.cc:2: expected expression"),
    "src/includes_itself.h": ("degraded", "2 errors, first includes_itself.h:1: #include nested too deeply"),
    "src/uses_includes_itself.cc": ("degraded", "2 errors, first includes_itself.h:1: #include nested too deeply"),
    "src/parentheses.cc": (
        "degraded",
        "2 errors, first parentheses.cc:1: bracket nesting level exceeded maximum of 256",
    ),
    "src/braces.cc": ("degraded", "257 errors, first braces.cc:1: bracket nesting level exceeded maximum of 256"),
    "src/caf\\xe9.cc": ("skipped", "the file name is not UTF-8"),
    "src/pipe.cc": ("skipped", "not a regular file (a pipe, socket or device)"),
    "src/link.cc": ("skipped", "symbolic link to good.cc: not followed"),
    "src/own_link.cc": ("skipped", "symbolic link to own_link.cc: not followed"),
    "src/nowhere.h": ("skipped", "symbolic link to no/such/file.h: not followed"),
    "python/pkg/pipe.py": ("skipped", "not a regular file (a pipe, socket or device)"),
    "python/pkg/syntax_error.py": ("failed", "line 1: invalid syntax"),
    "python/pkg/nul.py": ("failed", "line 1: a NUL byte"),
    "python/pkg/deep.py": ("failed", "line 1: too many nested parentheses"),
    "python/pkg/not_utf8.py": ("degraded", "line 1: byte 0xe9 is not utf-8; read with it replaced"),
    **dict.fromkeys(UNREADABLE, ("skipped", "cannot be read (permission denied)")),
}


def test_every_bad_file_has_a_row_that_says_what_is_wrong(bad: tuple[Path, Path, Ended]) -> None:
    _, db, ended = bad
    assert ended.code == 4
    found = states(db)
    sources = {name for name in FILES if name.endswith((".cc", ".h", ".py"))} | set(DETAILS)
    assert set(found) == sources
    assert os.fsencode(NOT_UTF8_NAME) == b"src/caf\xe9.cc"
    assert {path: state for path, state in found.items() if state[0] != "ok"} == DETAILS
    for path, (status, detail) in DETAILS.items():
        if status == "failed":
            assert f"failed: {path}: {detail}" in ended.out
    assert "src/closed (Permission denied)" in ended.out
    assert "src/loop -> .." in ended.out


def test_the_rest_of_a_bad_file_is_read(bad: tuple[Path, Path, Ended]) -> None:
    _, db, _ = bad
    calls = rows(
        db,
        "SELECT a.name, b.name FROM calls c JOIN symbols a ON a.id = c.caller_id JOIN symbols b ON b.id = c.callee_id"
        " WHERE c.path <> 'src/chain.cc' ORDER BY c.path, c.line",
    )
    assert calls == [
        ("caller", "callee"),
        ("half_pair", "register_global_func"),
        ("half_pair", "half"),
        ("Caller", "Good"),
        ("Use", "Known"),
        ("CallsLatin", "Latin"),
        ("After", "Before"),
        ("UsesGuarded", "Guarded"),
    ]
    names = {name for (name,) in rows(db, "SELECT name FROM symbols WHERE is_definition")}
    assert rows(db, "SELECT doc FROM symbols WHERE name = 'half'") == [("doc \\ud800",)]
    assert rows(db, "SELECT name FROM key_defs WHERE path LIKE '%half_pair.py'") == [("half.\\udfff",)]
    assert names >= {
        *("Fine", "InHeader", "Uses", "RoundA", "RoundB", "AfterTheLine", "Quoted", "Broken2", "Inner", "inner"),
        *("LastLine", "Crlf", "Marked", "Absolute"),
    }


def test_a_chain_of_thousands_of_calls_is_read_to_its_end(bad: tuple[Path, Path, Ended]) -> None:
    """A registration may be one expression of any length; the syntax tree is as deep as the chain is long."""
    _, db, _ = bad
    sql = (
        "SELECT c.line FROM calls c JOIN symbols s ON s.id = c.callee_id"
        " WHERE c.path = 'src/chain.cc' AND s.name = 'def'"
    )
    first = FILES["src/chain.cc"].split(b"\n").index(b'      .def("k0", leaf())') + 1
    assert sorted(line for (line,) in rows(db, sql)) == list(range(first, first + CHAIN))  # type: ignore[type-var]


def test_nothing_that_the_tree_names_is_run(bad: tuple[Path, Path, Ended]) -> None:
    """pyrefly would run the interpreter that the tree's configuration names: a clone of a hostile fork is enough."""
    root, _, _ = bad
    assert (root / "evil.sh").exists()
    assert not (root / EVIL).exists()
    assert not list(root.rglob(EVIL))


def test_strict_fails_on_what_is_read_in_part(tmp_path: Path) -> None:
    root = make_small(tmp_path / "tree", b__cc="#include <no/such.h>\n")
    assert xref("index", root, "--db", tmp_path / "x.db").code == 0
    assert xref("index", root, "--db", tmp_path / "x.db", "--strict").code == 4


# what the machine lacks


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("", "libclang is missing: run `pip install libclang`, or name one in XREF_LIBCLANG"),
        ("/no/such/libclang.so", "XREF_LIBCLANG names /no/such/libclang.so, which is no file"),
        (__file__, "cannot be used"),
    ],
)
def test_without_libclang(tmp_path: Path, tree: Path, named: str, words: str) -> None:
    package = tmp_path / "hides" / "clang"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    environment = {"PYTHONPATH": str(package.parent)} | ({"XREF_LIBCLANG": named} if named else {})
    ended = xref("index", tree, "--db", tmp_path / "x.db", **environment)
    assert ended.code == 5
    assert words in ended.err
    assert not (tmp_path / "x.db").exists()


def test_python_alone_needs_no_libclang(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.py").write_text("def f():\n    pass\n")
    assert xref("index", root, "--db", tmp_path / "x.db", XREF_LIBCLANG="/no/such/libclang.so").code == 0


def test_without_a_cpp_standard_library(tmp_path: Path, tree: Path) -> None:
    ended = xref("index", tree, "--db", tmp_path / "x.db", before=with_mounts("mount -t tmpfs none /usr/include/c++"))
    assert ended.code == 5
    assert "no C++ standard library that libclang can read" in ended.err
    assert "apt install g++" in ended.err
    assert not (tmp_path / "x.db").exists()


# what the output cannot be


def test_a_folder_that_cannot_be_written(indexed: tuple[Path, Path, bytes]) -> None:
    root, db, before = indexed
    db.parent.chmod(0o555)
    ended = xref("index", root, "--db", db, "--force", before=without_override())
    db.parent.chmod(0o755)
    assert ended.code == 5
    assert f"{db} cannot be written (Permission denied): name a --db elsewhere" in ended.err
    check_intact(db, before)


def test_a_disk_that_is_read_only(indexed: tuple[Path, Path, bytes]) -> None:
    root, db, before = indexed
    mount = f"mount --bind {db.parent} {db.parent} && mount -o remount,ro,bind {db.parent}"
    ended = xref("index", root, "--db", db, "--force", before=with_mounts(mount))
    assert ended.code == 5
    assert f"{db} cannot be written (Read-only file system): name a --db elsewhere" in ended.err
    check_intact(db, before)


@pytest.mark.parametrize("name", ["file.txt/x.db", "file.txt/deeper/x.db", "n" * 300])
def test_a_place_that_cannot_hold_a_file(tmp_path: Path, tree: Path, name: str) -> None:
    (tmp_path / "file.txt").write_text("text")
    ended = xref("index", tree, "--db", tmp_path / name)
    assert ended.code == 5
    assert "cannot be written" in ended.err
    assert "name a --db elsewhere" in ended.err
    assert (tmp_path / "file.txt").read_text() == "text"


def test_a_folder_as_the_index(tmp_path: Path, tree: Path) -> None:
    assert xref("index", tree, "--db", tmp_path).code == 2


@pytest.mark.parametrize("free_kib", [4, 100])
def test_a_full_disk(indexed: tuple[Path, Path, bytes], free_kib: int) -> None:
    """Full at the first byte, or in the middle: the index takes some hundred KiB."""
    root, db, before = indexed
    disk = root.parent / "disk"
    disk.mkdir()
    size = len(before) // 1024 + free_kib + 8
    command = with_mounts(
        f"mount -t tmpfs -o size={size}k none {disk}",
        f"cp {db} {disk}/x.db",
        after=f"cp {disk}/x.db {db}; ls -A {disk} > {root.parent}/left",
    )
    ended = xref("index", root, "--db", disk / "x.db", "--force", before=command)
    assert ended.code == 5
    assert f"{disk / 'x.db'}: the disk is full; free space, or name a --db elsewhere" in ended.err
    assert (root.parent / "left").read_text() == "x.db\n"
    check_intact(db, before)


def test_a_full_disk_for_temporary_files(indexed: tuple[Path, Path, bytes]) -> None:
    """A page is free, so that the folder looks usable; the type checker's tables do not fit."""
    root, db, before = indexed
    disk = root.parent / "disk"
    disk.mkdir()
    (root / "b.py").write_text("def f():\n    pass\n")
    command = with_mounts(f"mount -t tmpfs -o size=16k none {disk}", f"head -c 12288 /dev/zero > {disk}/fill")
    ended = xref("index", root, "--db", db, before=command, TMPDIR=str(disk))
    assert ended.code == 5
    assert f"no room for temporary files in {disk}: free some, or name another folder in TMPDIR" in ended.err
    check_intact(db, before)


# whose the database is


def test_the_index_of_another_tree_is_kept(indexed: tuple[Path, Path, bytes], tmp_path: Path) -> None:
    root, db, before = indexed
    other = make_small(tmp_path / "other", b__cc="int B();\n")
    ended = xref("index", other, "--db", db)
    assert ended.code == 2
    assert f"{db} is the index of {root}: name another --db, or give --force to replace it" in ended.err
    check_intact(db, before)
    assert xref("index", other, "--db", db, "--force").code == 0
    assert set(states(db)) == {"a.cc", "b.cc"}


def _with_version(db: Path, version: int) -> bytes:
    with sqlite3.connect(db) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    return db.read_bytes()


def test_an_index_of_a_newer_xref_is_kept(indexed: tuple[Path, Path, bytes]) -> None:
    root, db, _ = indexed
    before = _with_version(db, SCHEMA_VERSION + 1)
    for command in (("index", root), ("callers", "A"), ("keys",)):
        ended = xref(*command, "--db", db)
        assert ended.code == 3
        assert f"{db} has the newer schema {SCHEMA_VERSION + 1}, this xref reads {SCHEMA_VERSION}: upgrade" in ended.err
        check_intact(db, before)
    assert xref("index", root, "--db", db, "--force").code == 0


def test_an_index_of_an_older_xref_is_made_again(indexed: tuple[Path, Path, bytes]) -> None:
    root, db, _ = indexed
    _with_version(db, SCHEMA_VERSION - 1)
    assert xref("callers", "A", "--db", db).code == 3
    assert xref("index", root, "--db", db).code == 0
    assert rows(db, "PRAGMA user_version") == [(SCHEMA_VERSION,)]


def _database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine(x)")
        connection.execute("INSERT INTO mine VALUES ('precious')")
    connection.close()


@pytest.mark.parametrize(
    "write",
    [_database, lambda path: path.write_text("notes " * 1000), lambda path: path.write_bytes(b"")],
    ids=["a database of something else", "a text", "an empty file"],
)
def test_what_xref_did_not_write_is_never_overwritten(
    tmp_path: Path, tree: Path, write: Callable[[Path], object]
) -> None:
    db = tmp_path / "out" / "mine.db"
    db.parent.mkdir()
    write(db)
    before = db.read_bytes()
    for force in ((), ("--force",)):
        ended = xref("index", tree, "--db", db, *force)
        assert ended.code == 3
        assert str(db) in ended.err
        check_intact(db, before)


@pytest.mark.parametrize("name", ["\udcff", "src/a.cc:99999999999999999999999"])
def test_a_name_that_no_database_can_be_asked_for(indexed: tuple[Path, Path, bytes], name: str) -> None:
    _, db, _ = indexed
    ended = xref("callers", name, "--db", db)
    assert ended.code == 1
    assert "Traceback" not in ended.err


def test_an_index_where_no_file_can_be(tree: Path) -> None:
    ended = xref("index", tree, "--db", "/proc/x.db")
    assert (ended.code, ended.err.count("/proc/x.db cannot be")) == (5, 1), ended.err


def test_an_answer_that_cannot_be_written(indexed: tuple[Path, Path, bytes]) -> None:
    _, db, _ = indexed
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*xref_command("doctor", "--db", db)], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 5
    assert done.stderr == "xref: the answer cannot be written (No space left on device): send it elsewhere\n"


def test_doctor_tells_a_bad_index_from_none(tmp_path: Path) -> None:
    db = tmp_path / "x.db"
    assert xref("doctor", "--db", db).code == 0
    db.write_text("no database")
    assert xref("doctor", "--db", db).code == 3
