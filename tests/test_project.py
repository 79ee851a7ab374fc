"""The project around the code: a newcomer types the README's commands, and what is shipped holds what it needs."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from importlib import resources
from pathlib import Path

import pytest

from xref.demo import __main__ as demo
from xref.demo import tree as demo_tree
from xref.model import ExitCode, XrefError

ROOT = Path(__file__).parents[1]
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:work|root|tmp/\w)/")


def tracked() -> list[str]:
    """The files that git would ship; all files outside ignored folders where git, or its folder, is missing."""
    if shutil.which("git"):
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
        if listed.returncode == 0 and listed.stdout:
            return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    return on_disk(ROOT)


def on_disk(root: Path) -> list[str]:
    """The files below `root` that .gitignore does not name."""
    derived = re.compile(r"\.git/|\.venv/|build/|dist/|(data|site)/(?!README\.md$)|(.*/)?(__pycache__|\.\w+_cache)/")
    names = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return sorted(name for name in names if not derived.match(name))


def python_files() -> list[str]:
    return [name for name in tracked() if name.endswith(".py") and not name.startswith("tests/cases/")]


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_every_make_command_of_the_documents_exists() -> None:
    texts = [(ROOT / name).read_text() for name in tracked() if name.endswith(".md")] + [(ROOT / ".ci/run").read_text()]
    named = {word for text in texts for word in re.findall(r"(?:^|`|^ {4})make ([a-z]+)\b", text, re.MULTILINE)}
    assert {"demo", "test", "bench", "check"} <= named
    assert named <= make_targets()


def test_a_machine_without_git_ships_the_same_files(tmp_path: Path) -> None:
    """A fresh machine has no git; what the tests below look at must not change with it."""
    for name in ("xref/a.py", "data/README.md", "data/xref.db", "site/p/q.html", ".venv/x.py", "build/x", ".ci/run",
                 "xref/__pycache__/a.pyc", ".mypy_cache/x", "xref/site/build.py", ".gitignore"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert on_disk(tmp_path) == [".ci/run", ".gitignore", "data/README.md", "xref/a.py", "xref/site/build.py"]


def test_make_alone_shows_what_there_is() -> None:
    shown = subprocess.run(["make", "-s"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in ("demo", "test", "check", "bench", "clean"):
        assert f"make {target}" in shown


def test_every_xref_command_of_the_readme_is_understood() -> None:
    """Each is run against no index: understood means that it gets as far as missing it (exit code 3). Of those that
    need none, the verb and the script that they name must be there."""
    lines = [line.strip() for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("    xref ")]
    commands = [shlex.split(line, comments=True) for line in lines]
    assert len(commands) >= 6
    for command in commands:
        if command[1] in ("index", "trace", "runs", "run"):
            shown = subprocess.run(
                [sys.executable, "-m", *command[:2], "--help"], cwd=ROOT, check=False, capture_output=True
            )
            assert shown.returncode == ExitCode.DONE, command
            assert all((ROOT / word).is_file() for word in command if word.endswith(".py")), command
            continue
        done = subprocess.run(
            [sys.executable, "-m", *command, "--db", os.devnull + ".none"], cwd=ROOT, capture_output=True, check=False
        )
        assert done.returncode == ExitCode.NO_INDEX, (command, done.stderr)


def test_links_between_the_documents_lead_somewhere() -> None:
    for name in tracked():
        if not name.endswith(".md"):
            continue
        text = re.sub(
            r"```.*?```|(`+).*?\1", "", (ROOT / name).read_text(), flags=re.DOTALL
        )  # code: lambdas, not links
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
            assert (ROOT / name).parent.joinpath(target).exists(), f"{name} links to {target}"


@pytest.mark.parametrize(
    "folder", ["xref/cpp", "xref/python", "xref/registry", "templates", "data", "site", "bench", "docs", "tests"]
)
def test_the_layout_of_the_design_stands(folder: str) -> None:
    assert (ROOT / folder).is_dir()


def test_nothing_of_one_machine_is_committed() -> None:
    for name in tracked():
        if name in ("LICENSE", "tests/test_project.py"):
            continue
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        found = MACHINE_PATHS.search(text)
        assert not found, f"{name} names {found and found[0]}"


def test_imports_point_one_way() -> None:
    """The model imports nothing of xref, the store only the model, and no module the command line above it."""
    for name in python_files():
        if not name.startswith("xref/"):
            continue
        imported = set()
        for node in ast.walk(ast.parse((ROOT / name).read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("xref"):
                imported.add(node.module or "")
            elif isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names if alias.name.startswith("xref")}
        if name == "xref/model.py":
            assert not imported
        elif name == "xref/store.py":
            assert imported <= {"xref.model", "xref.claims", "xref.locking"}
        if not name.startswith("xref/cli/") and name != "xref/__main__.py":
            assert not any(module.split(".")[1:2] == ["cli"] for module in imported), f"{name} imports the command line"


def test_every_module_says_what_it_does() -> None:
    for name in python_files():
        text = (ROOT / name).read_text()
        if text.strip() and (name.startswith(("xref/", "bench/")) or Path(name).name.startswith("test_")):
            assert ast.get_docstring(ast.parse(text)), f"{name} has no docstring"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as a user would build it, from a copy of what git ships."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in tracked():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(built), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(built.glob("*.whl"))


def test_the_wheel_holds_all_that_xref_reads_at_run_time(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    data = {name for name in tracked() if name.startswith("xref/") and not name.endswith(".py")}
    assert {"xref/schema.sql", "xref/indexes.sql", "xref/system_packages.txt", "xref/demo/wheels.txt"} <= data
    assert data <= names
    assert {f"xref/{name}" for name in tracked() if name.startswith(("templates/", "walks/"))} <= names
    assert not any(name.startswith(("tests/", "data/", "bench/")) for name in names)


def test_an_installed_wheel_answers_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site"), "PYTHONSAFEPATH": "1"}
    done = subprocess.run([sys.executable, "-m", "xref", "query", "who calls FuseTIR"], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == ExitCode.NO_INDEX
    assert "xref index" in done.stderr


# set-up


def test_the_list_of_system_packages_has_a_test_and_a_reason_for_each() -> None:
    rows = [line for line in resources.files("xref").joinpath("system_packages.txt").read_text().splitlines()
            if line and not line.startswith("#")]  # fmt: skip
    assert rows
    for row in rows:
        package, tests, reason = (part.strip() for part in row.split("|"))
        assert re.fullmatch(r"[a-z0-9.+-]+", package)
        assert all(test.startswith(("command:", "file:", "module:")) for test in tests.split(","))
        assert reason


def test_bootstrap_names_the_one_line_to_run_where_it_may_not_install(tmp_path: Path) -> None:
    """A user without root and without sudo is told what to type, and nothing is changed."""
    copy = tmp_path / "copy"
    (copy / "scripts").mkdir(parents=True)
    (copy / "xref").mkdir()
    (copy / "scripts/bootstrap").write_text((ROOT / "scripts/bootstrap").read_text())
    (copy / "xref/system_packages.txt").write_text(
        "present-one | command:sh | x\nabsent-one | command:no-such-command-here,file:/no/such/* | y\n"
        "absent-two | module:no_such_module_here | z\nabsent-three | command:no-such-command-here | the tests of x\n"
    )
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name, body in (("id", "echo 1000"), ("sudo", "exit 1"), ("apt-get", "echo called >apt-was-called")):
        (bin_folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (bin_folder / name).chmod(0o755)
    done = subprocess.run(
        ["bash", "scripts/bootstrap", str(tmp_path / "venv")], cwd=copy, capture_output=True, text=True, check=False,
        env=os.environ | {"PATH": f"{bin_folder}:{os.environ['PATH']}", "PYTHON": sys.executable},
    )  # fmt: skip
    assert done.returncode != 0
    assert done.stderr.endswith("sudo apt-get install -y absent-one absent-two\n"), (
        "what only tests need is not asked for"
    )
    assert not (copy / "apt-was-called").exists()
    assert not (tmp_path / "venv").exists()


def test_bootstrap_installs_what_is_missing_where_it_may(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    (copy / "scripts").mkdir(parents=True)
    (copy / "xref").mkdir()
    (copy / "scripts/bootstrap").write_text((ROOT / "scripts/bootstrap").read_text())
    (copy / "xref/system_packages.txt").write_text("absent-one | command:absent-one-command | x\n")
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name, body in (
        ("id", "echo 0"),
        ("apt-get", 'echo "$@" >>"$APT_LOG"; case "$1 $(grep -c . "$APT_LOG")" in "install 1") exit 1;; esac'),
        ("fake-python", 'case "$*" in *version_info*) exit 0;; *) echo "python $*" >>"$APT_LOG";; esac'),
    ):
        (bin_folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (bin_folder / name).chmod(0o755)
    log = tmp_path / "log"
    subprocess.run(
        ["bash", "scripts/bootstrap", str(tmp_path / "venv")], cwd=copy, capture_output=True, text=True, check=False,
        env=os.environ | {"PATH": f"{bin_folder}:{os.environ['PATH']}", "PYTHON": "fake-python", "APT_LOG": str(log)},
    )  # fmt: skip
    lines = log.read_text().splitlines()
    # A fresh machine has no package lists: the first try fails, they are fetched, the second succeeds.
    assert lines[:3] == ["install -y --no-install-recommends absent-one", "update",
                         "install -y --no-install-recommends absent-one"]  # fmt: skip
    assert lines[3].startswith("python -m venv ")


# the demo's tree


def wheel_of(folder: Path, name: str, files: dict[str, str]) -> None:
    with zipfile.ZipFile(folder / name, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)


def fake_download(folder: Path) -> list[Path]:
    folder.mkdir(parents=True)
    wheel_of(folder, "tilelang-0.1.14-x.whl", {
        "tilelang/3rdparty/tvm/src/ir/a.cc": "a", "tilelang/3rdparty/tvm/../../../../escape": "x",
        "tilelang/src/own.cc": "no", "/absolute": "x",
    })  # fmt: skip
    wheel_of(folder, "apache_tvm_ffi-0.1.11-x.whl", {
        "tvm_ffi/include/tvm/ffi/c_api.h": "c", "tvm_ffi/include/dlpack/dlpack.h": "copy",
        "tvm_ffi/3rdparty/dlpack/include/dlpack/dlpack.h": "d", "tvm_ffi/3rdparty/libbacktrace/x.c": "no",
        "tvm_ffi/src/ffi/object.cc": "o", "tvm_ffi/__init__.py": "p", "tvm_ffi/cython/core.pyx": "y",
        "tvm_ffi/core.so": "binary", "tvm_ffi/lib/libtvm_ffi.so": "binary",
    })  # fmt: skip
    return sorted(folder.glob("*.whl"))


def test_the_demo_s_tree_is_laid_out_like_a_checkout_and_nothing_else_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_tree, "download_wheels", fake_download)
    tree = demo_tree.demo_tree(tmp_path / "cache")
    assert {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()} == {
        "src/ir/a.cc", "3rdparty/tvm-ffi/include/tvm/ffi/c_api.h", "3rdparty/tvm-ffi/src/ffi/object.cc",
        "3rdparty/tvm-ffi/3rdparty/dlpack/include/dlpack/dlpack.h", "3rdparty/tvm-ffi/python/tvm_ffi/__init__.py",
        "3rdparty/tvm-ffi/python/tvm_ffi/cython/core.pyx",
    }  # fmt: skip
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [demo_tree.TREE_NAME]
    assert not (tmp_path / "escape").exists()


def test_a_download_that_breaks_leaves_nothing_and_the_next_one_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(folder: Path) -> list[Path]:
        wheels = fake_download(folder)
        wheels[1].write_bytes(b"PK truncated")
        raise XrefError("the network went away", ExitCode.UNUSABLE_INPUT)

    monkeypatch.setattr(demo_tree, "download_wheels", broken)
    with pytest.raises(XrefError):
        demo_tree.demo_tree(tmp_path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(demo_tree, "download_wheels", fake_download)
    assert demo_tree.demo_tree(tmp_path).is_dir()
    monkeypatch.setattr(demo_tree, "download_wheels", broken)
    assert demo_tree.demo_tree(tmp_path).is_dir(), "the second time nothing is downloaded"


def test_the_demo_s_wheels_are_pinned_by_hash() -> None:
    listed = resources.files("xref.demo").joinpath("wheels.txt").read_text()
    names = re.findall(r"^([\w-]+)==[\w.]+ ", listed, re.MULTILINE)
    assert len(names) == len(re.findall(r"--hash=sha256:[0-9a-f]{64}$", listed, re.MULTILINE)) == 2
    assert "--require-hashes" in demo_tree._PIP_OPTIONS


def test_the_demo_asks_a_name_a_path_and_a_key() -> None:
    assert [command[0] for _, command in demo.QUESTIONS] == ["query", "path", "key"]
