"""What a tree is: a wrong answer here means files that nobody misses, or flags under which nothing parses."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from xref.model import ExitCode, XrefError
from xref.tree import flags
from xref.tree.find import MAX_FILE_BYTES, SourceFile, Tree, find_tree, submodule_notes

STATIC_INIT = "TVM_FFI_STATIC_INIT_BLOCK() {}\n#include <tvm/ffi/function.h>\n"


def write(root: Path, files: dict[str, str]) -> Path:
    """Make a tree of small files."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def tvm(root: Path, **more: str) -> Path:
    """A small TVM of today, with its tvm-ffi."""
    files = {
        "version.py": '__version__ = "0.24.0"\n',
        "CMakeLists.txt": "set(CMAKE_CXX_STANDARD_REQUIRED ON)\nset(CMAKE_CXX_STANDARD 20)\n",
        "include/tvm/ir/expr.h": "",
        "src/ir/expr.cc": STATIC_INIT,
        "src/runtime/cuda/k.cu": "",
        "src/runtime/metal/m.mm": "",
        "src/runtime/crt/c.c": "",
        "python/tvm/__init__.py": "",
        "python/tvm/testing/utils.py": "",
        "3rdparty/tvm-ffi/include/tvm/ffi/c_api.h": "#define TVM_FFI_VERSION_MAJOR 0\n",
        "3rdparty/tvm-ffi/3rdparty/dlpack/include/dlpack/dlpack.h": "",
        "3rdparty/tvm-ffi/src/ffi/object.cc": "",
        "3rdparty/tvm-ffi/python/tvm_ffi/__init__.py": "",
        "3rdparty/tvm-ffi/python/tvm_ffi/cython/core.pyx": "",
        "3rdparty/tvm-ffi/tests/cpp/t.cc": "",
        "3rdparty/cutlass/include/cutlass.h": "",
        "tests/python/test_x.py": "",
        "apps/x/x.cc": "",
    }
    return write(root, files | more)


def by_path(tree: Tree) -> dict[str, SourceFile]:
    return {file.path: file for file in tree.files}


def indexed(tree: Tree) -> set[str]:
    return {file.path for file in tree.files if not file.skip}


@pytest.fixture(autouse=True)
def no_installed_ffi(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is installed on the machine that runs the tests must not decide them."""
    monkeypatch.delenv("XREF_TVM_FFI_INCLUDE", raising=False)
    monkeypatch.setattr(flags.importlib.util, "find_spec", lambda name: None)


def test_a_tvm_is_indexed_where_its_sources_are_and_the_rest_says_why_not(tmp_path: Path) -> None:
    tree = find_tree(tvm(tmp_path))
    assert (tree.project, tree.version, tree.era, tree.cpp_std) == ("tvm", "0.24.0", "static_init_block", "c++20")
    assert indexed(tree) == {
        "include/tvm/ir/expr.h", "src/ir/expr.cc", "src/runtime/cuda/k.cu", "src/runtime/metal/m.mm",
        "python/tvm/__init__.py", "python/tvm/testing/utils.py", "3rdparty/tvm-ffi/include/tvm/ffi/c_api.h",
        "3rdparty/tvm-ffi/src/ffi/object.cc", "3rdparty/tvm-ffi/python/tvm_ffi/__init__.py",
        "3rdparty/tvm-ffi/python/tvm_ffi/cython/core.pyx",
    }  # fmt: skip
    files = by_path(tree)
    assert files["tests/python/test_x.py"].skip == files["3rdparty/tvm-ffi/tests/cpp/t.cc"].skip == "tests: not indexed"
    assert files["src/runtime/crt/c.c"].skip == "plain C: only C++ is indexed"
    assert files["version.py"].skip
    assert not any(path.startswith("3rdparty/cutlass/") for path in files)
    assert any("third-party code" in note and "3rdparty/cutlass" in note for note in tree.notes)
    assert tree.python_roots == ("python", "3rdparty/tvm-ffi/python")


def test_include_folders_exist_and_come_in_the_order_of_the_build(tmp_path: Path) -> None:
    (tmp_path / "3rdparty/dmlc-core").mkdir(parents=True)
    tree = find_tree(tvm(tmp_path))
    assert [os.path.relpath(folder, tmp_path) for folder in tree.include_dirs] == [
        "include", "src", "3rdparty/tvm-ffi/include", "3rdparty/tvm-ffi/3rdparty/dlpack/include",
        "3rdparty/cutlass/include",
    ]  # fmt: skip


def test_kinds_follow_the_suffix(tmp_path: Path) -> None:
    tree = find_tree(write(tvm(tmp_path), {"src/a.hpp": "", "src/b.cuh": "", "src/c.cpp": "", "python/tvm/d.pxi": ""}))
    kinds = {path: file.kind for path, file in by_path(tree).items()}
    assert kinds["src/a.hpp"] == kinds["src/b.cuh"] == kinds["include/tvm/ir/expr.h"] == "header"
    assert kinds["src/c.cpp"] == kinds["src/runtime/cuda/k.cu"] == kinds["src/runtime/metal/m.mm"] == "unit"
    assert kinds["python/tvm/d.pxi"] == "cython"


@pytest.mark.parametrize(
    ("texts", "era"),
    [
        (["TVM_REGISTER_GLOBAL(a)"] * 3, "register_global"),
        (["TVM_FFI_REGISTER_GLOBAL(a)"] * 3 + ["TVM_FFI_STATIC_INIT_BLOCK({})"], "ffi_register_global"),
        (["TVM_FFI_STATIC_INIT_BLOCK() {}"] * 3, "static_init_block"),
        (["TVM_REGISTER_GLOBAL(a)"] * 3 + ["TVM_FFI_STATIC_INIT_BLOCK() {}"] * 3, "mixed"),
        ([""], "none"),
    ],
)
def test_the_era_is_how_most_units_register(tmp_path: Path, texts: list[str], era: str) -> None:
    write(tmp_path, {f"src/relax/ir/{number}.cc": text for number, text in enumerate(texts)})
    assert find_tree(tmp_path).era == era


def test_only_narrows_the_files_and_nothing_else(tmp_path: Path) -> None:
    whole = find_tree(tvm(tmp_path))
    some = find_tree(tmp_path, only=["src/ir", "python/*/utils.py"])
    assert {file.path for file in some.files} == {"src/ir/expr.cc", "python/tvm/testing/utils.py"}
    assert (some.era, some.include_dirs, some.python_roots) == (whole.era, whole.include_dirs, whole.python_roots)
    assert {file.path for file in find_tree(tmp_path, only=["src/**/*.cc"]).files} == {"src/ir/expr.cc"}
    with pytest.raises(XrefError, match="leaves no file") as caught:
        find_tree(tmp_path, only=["src/nothing/*"])
    assert caught.value.exit_code == ExitCode.USAGE


def test_a_tree_whose_path_is_not_utf_8_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"b\xe9d")
    folder.mkdir()
    (folder / "a.py").write_text("")
    with pytest.raises(XrefError, match="rename it") as caught:
        find_tree(folder)
    assert caught.value.exit_code == ExitCode.UNUSABLE_INPUT


def test_unusable_input_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("x")
    for path, words in (
        (tmp_path / "absent", "no such folder"),
        (tmp_path / "file.txt", "not a folder"),
        (tmp_path, "no C\\+\\+ and no Python"),
    ):
        with pytest.raises(XrefError, match=words) as caught:
            find_tree(path)
        assert caught.value.exit_code == ExitCode.UNUSABLE_INPUT
        assert "give the folder" in str(caught.value)


def test_a_folder_with_nothing_in_scope_says_why(tmp_path: Path) -> None:
    with pytest.raises(XrefError, match=r"none of its 1 source files.*tests: not indexed"):
        find_tree(write(tmp_path, {"tests/a.py": ""}))


# submodules and headers


def test_missing_submodules_are_named_with_the_command_that_gets_them(tmp_path: Path) -> None:
    modules = '[submodule "a"]\n\tpath = 3rdparty/tvm-ffi\n[submodule "b"]\n\tpath = 3rdparty/absent\n'
    inner = '[submodule "c"]\n\tpath = 3rdparty/libbacktrace\n[submodule "d"]\n\tpath = ../../outside\n'
    root = tvm(tmp_path, **{".gitmodules": modules, "3rdparty/tvm-ffi/.gitmodules": inner})
    tree = find_tree(root)
    assert tree.missing_submodules == ("3rdparty/absent", "3rdparty/tvm-ffi/3rdparty/libbacktrace")
    assert submodule_notes(tree, ()) == []
    (note,) = submodule_notes(tree, {"backtrace.h"})
    assert "headers not found: backtrace.h (" in note
    assert f"git submodule update --init --recursive` in {tmp_path}" in note


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("int x;\n", ""),
        ("#include <dlpack/dlpack.h>\n", "dlpack/dlpack.h missing"),
        ("#include <tvm/ffi/any.h>\n", "tvm/ffi/c_api.h and dlpack/dlpack.h missing"),
        ("#include <tvm/ffi/own.h>\n", ""),
    ],
)
@pytest.mark.parametrize("name", ["include/tvm/ir/expr.h", "src/ir/expr.cc"])
def test_headers_are_missed_where_something_includes_them(
    tmp_path: Path, name: str, source: str, expected: str
) -> None:
    """A warning about what nothing needs sends its reader to fetch submodules for nothing."""
    files = {"include/tvm/ir/a.h": "", "src/a.cc": "", "include/tvm/ffi/own.h": "", name: source}
    notes = find_tree(
        write(tmp_path, {"python/tvm/__init__.py": "", ".gitmodules": "\tpath = dlpack\n", **files})
    ).notes
    assert [note.partition(" in the tree")[0] for note in notes] == ([expected] if expected else [])


def bare(root: Path) -> Path:
    """A git checkout without submodules that wants a tvm-ffi of its pyproject.toml."""
    return write(root, {
        ".git/HEAD": "", ".gitmodules": "\tpath = 3rdparty/tvm-ffi\n", "include/tvm/ir/expr.h": "",
        "src/ir/expr.cc": STATIC_INIT, "pyproject.toml": 'dependencies = [\n  "apache-tvm-ffi>=0.1.13.post2",\n]\n',
    })  # fmt: skip


def test_without_tvm_ffi_anywhere_the_note_says_how_to_get_it(tmp_path: Path) -> None:
    notes = " ".join(find_tree(bare(tmp_path)).notes)
    assert "tvm/ffi/c_api.h and dlpack/dlpack.h missing" in notes
    assert "git submodule update --init --recursive 3rdparty/tvm-ffi" in notes
    assert "pip install apache-tvm-ffi==0.1.13.post2" in notes


def test_an_installed_tvm_ffi_stands_in_and_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = write(tmp_path / "site", {
        "tvm_ffi/__init__.py": "raise SystemExit('imported')", "tvm_ffi/include/tvm/ffi/c_api.h": "",
        "tvm_ffi/include/dlpack/dlpack.h": "",
        "apache_tvm_ffi-0.1.11.dist-info/METADATA": "Name: apache-tvm-ffi\nVersion: 0.1.11\n",
    })  # fmt: skip
    monkeypatch.undo()
    monkeypatch.syspath_prepend(str(site))
    tree = find_tree(bare(tmp_path / "tree"))
    assert tree.include_dirs[-1] == str(site / "tvm_ffi/include")
    note = next(note for note in tree.notes if "taken from" in note)
    assert "0.1.11" in note
    assert "this tree wants 0.1.13.post2" in note


def test_a_chosen_include_folder_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = "".join(f"#define TVM_FFI_VERSION_{part} {number}\n" for part, number in
                      (("MAJOR", 0), ("MINOR", 1), ("PATCH", 13)))  # fmt: skip
    chosen = write(tmp_path / "chosen", {"tvm/ffi/c_api.h": version, "dlpack/dlpack.h": ""})
    monkeypatch.setenv("XREF_TVM_FFI_INCLUDE", str(chosen))
    tree = find_tree(bare(tmp_path / "tree"))
    assert tree.include_dirs[-1] == str(chosen)
    assert any("$XREF_TVM_FFI_INCLUDE, tvm-ffi 0.1.13" in note for note in tree.notes)


def test_v0_21_keeps_its_ffi_in_a_folder(tmp_path: Path) -> None:
    root = write(tmp_path, {
        "python/tvm/__init__.py": "", "ffi/include/tvm/ffi/c_api.h": "", "ffi/src/ffi/object.cc": STATIC_INIT,
        "ffi/3rdparty/dlpack/include/dlpack/dlpack.h": "", "ffi/tests/t.cc": "", "include/tvm/ir/a.h": "",
        "python/tvm/ffi/cython/core.pyx": "",
    })  # fmt: skip
    tree = find_tree(root)
    assert {"ffi/src/ffi/object.cc", "ffi/include/tvm/ffi/c_api.h", "python/tvm/ffi/cython/core.pyx"} <= indexed(tree)
    assert "ffi/tests/t.cc" not in indexed(tree)
    assert not any("dlpack.h missing" in note for note in tree.notes)


@pytest.mark.parametrize(
    ("cmake", "version", "standard"),
    [
        ("set(CMAKE_CXX_STANDARD 17)", "0.26.0", "c++17"),
        ('check_cxx_compiler_flag("-std=c++17" SUPPORT_CXX17)', "0.20.0", "c++17"),
        ("target_compile_features(x INTERFACE cxx_std_17)", "", "c++17"),
        ("", "0.25.dev0", "c++17"),
        ("", "0.26.dev0", "c++20"),
        ("", "", "c++17"),
    ],
)
def test_the_standard_is_the_build_s_own_else_by_version(cmake: str, version: str, standard: str) -> None:
    assert flags.cpp_standard(version, cmake) == standard


def test_macros_are_defined_once_and_each_says_what_it_opens() -> None:
    names = [define.split("=")[0] for define in flags.defines()]
    assert len(names) == len(set(names))
    assert all(macro.reason for macro in flags.MACROS)
    assert "TVM_MLIR_VERSION" not in names


# git


def test_the_commit_and_its_tag_are_read_without_git(tmp_path: Path) -> None:
    commit, other = "a" * 40, "b" * 40
    root = tvm(tmp_path)
    write(root, {
        ".git/HEAD": "ref: refs/heads/main\n",
        ".git/packed-refs": f"# pack-refs with: peeled\n{commit} refs/heads/main\n{other} refs/tags/v0.26.0\n"
        f"^{commit}\n",
        ".git/hooks/post-checkout": "#!/bin/sh\nexit 1\n",
    })  # fmt: skip
    tree = find_tree(root)
    assert (tree.commit, tree.version) == (commit, "0.26.0")


def test_a_worktree_s_git_file_is_followed_and_nonsense_reads_as_unknown(tmp_path: Path) -> None:
    commit = "c" * 40
    write(tmp_path / "repository", {"worktrees/w/HEAD": f"{commit}\n", "worktrees/w/commondir": "../..\n"})
    root = tvm(tmp_path / "tree", **{".git": f"gitdir: {tmp_path}/repository/worktrees/w\n"})
    assert find_tree(root).commit == commit
    for text in ("gitdir: /etc/passwd\n", "", "gitdir: ../\n"):
        (root / ".git").write_text(text)
        assert find_tree(root).commit == ""


# other projects


def test_a_project_on_tvm_ffi_is_indexed_whole_with_the_headers_of_its_tvm(tmp_path: Path) -> None:
    root = write(tmp_path, {
        "src/op.cc": STATIC_INIT, "tilelang/__init__.py": "", "tilelang/testing/__init__.py": "",
        "tilelang/jit/core.pyx": "", "setup_helper.py": "", "testing/test_a.py": "", "examples/a.py": "",
        "3rdparty/tvm/include/tvm/ir/a.h": "", "3rdparty/tvm/src/ir/a.cc": "",
        "3rdparty/tvm/3rdparty/tvm-ffi/include/tvm/ffi/c_api.h": "",
        "3rdparty/tvm/3rdparty/tvm-ffi/3rdparty/dlpack/include/dlpack/dlpack.h": "",
    })  # fmt: skip
    tree = find_tree(root)
    assert tree.project == "other"
    assert indexed(tree) == {"src/op.cc", "tilelang/__init__.py", "tilelang/testing/__init__.py",
                             "tilelang/jit/core.pyx", "setup_helper.py"}  # fmt: skip
    assert tree.python_roots == (".",)
    shown = [os.path.relpath(folder, root) for folder in tree.include_dirs]
    assert shown == ["src", ".", "3rdparty/tvm/include", "3rdparty/tvm/src", "3rdparty/tvm/3rdparty/tvm-ffi/include",
                     "3rdparty/tvm/3rdparty/tvm-ffi/3rdparty/dlpack/include"]  # fmt: skip
    assert not any("missing" in note for note in tree.notes)


def test_packages_below_src_and_scripts_have_their_roots(tmp_path: Path) -> None:
    root = write(tmp_path, {"src/pkg/__init__.py": "", "src/pkg/sub/__init__.py": "", "src/pkg/data/gen.py": "",
                            "bin/run.py": ""})  # fmt: skip
    assert find_tree(root).python_roots == ("bin", "src")


def test_a_package_s_own_folder_is_told_from_its_parent(tmp_path: Path) -> None:
    tree = find_tree(write(tmp_path / "pkg", {"__init__.py": "", "a.py": ""}))
    assert any("index" in note and str(tmp_path) in note for note in tree.notes)
    assert tree.python_roots == (".",)


def test_tvm_ffi_alone(tmp_path: Path) -> None:
    root = write(tmp_path, {
        "include/tvm/ffi/c_api.h": "#define TVM_FFI_VERSION_MAJOR 0\n#define TVM_FFI_VERSION_MINOR 1\n"
        "#define TVM_FFI_VERSION_PATCH 14\n", "src/ffi/object.cc": STATIC_INIT, "python/tvm_ffi/__init__.py": "",
        "addons/x/x.cc": "", "rust/build.py": "",
    })  # fmt: skip
    tree = find_tree(root)
    assert (tree.project, tree.version) == ("tvm-ffi", "0.1.14")
    assert indexed(tree) == {"include/tvm/ffi/c_api.h", "src/ffi/object.cc", "python/tvm_ffi/__init__.py"}


# hostile trees


def test_links_are_recorded_and_not_followed(tmp_path: Path) -> None:
    root = tvm(tmp_path / "tree")
    outside = write(tmp_path / "outside", {"secret.py": "", "folder/deep.py": ""})
    (root / "python/tvm/loop").symlink_to(root / "python")
    (root / "python/tvm/away").symlink_to(outside / "folder")
    (root / "python/tvm/secret.py").symlink_to(outside / "secret.py")
    (root / "python/tvm/gone.py").symlink_to(outside / "gone.py")
    (root / "python/tvm/self.py").symlink_to("self.py")
    tree = find_tree(root)
    files = by_path(tree)
    for name in ("secret", "gone", "self"):
        assert files[f"python/tvm/{name}.py"].skip.startswith("symbolic link to ")
    assert not any("deep.py" in path or "loop/" in path for path in files)
    assert any("python/tvm/loop" in note and "python/tvm/away" in note for note in tree.notes)


def test_odd_names_are_kept_or_refused_with_the_reason(tmp_path: Path) -> None:
    root = tvm(tmp_path)
    for name in ("with space.cc", 'it\'s "quoted".cc', "new\nline.cc", "ümlaut.cc", "-o.cc", "$(x).cc"):
        (root / "src" / name).write_text("")
    with open(os.fsencode(root) + b"/src/caf\xe9.cc", "wb"):
        pass
    os.mkdir(os.fsencode(root) + b"/src/d\xe9")
    with open(os.fsencode(root) + b"/src/d\xe9/a.cc", "wb"):
        pass
    (root / "src/caf\\xe9.cc").write_text("")
    tree = find_tree(root)
    files = by_path(tree)
    assert len(files) == len(tree.files), "every row has a path of its own"
    assert not files["src/caf\\xe9.cc"].skip
    assert not files["src/with space.cc"].skip
    assert not files['src/it\'s "quoted".cc'].skip
    assert not files["src/new\nline.cc"].skip
    assert not files["src/ümlaut.cc"].skip
    assert files["src/caf\\xe9.cc'"].skip == files["src/d\\xe9/a.cc"].skip == "the file name is not UTF-8"
    for path in files:
        path.encode("utf-8")


def test_pipes_sockets_and_enormous_files_are_rows_and_never_opened(tmp_path: Path) -> None:
    root = tvm(tmp_path)
    os.mkfifo(root / "src/pipe.cc")
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.relpath(root / "src/s.cc"))
    with (root / "src/huge.cc").open("wb") as stream:
        stream.truncate(MAX_FILE_BYTES + 1)
    files = by_path(find_tree(root))
    server.close()
    assert files["src/pipe.cc"].skip == files["src/s.cc"].skip == "not a regular file (a pipe, socket or device)"
    assert files["src/huge.cc"].skip.startswith("larger than 16 MiB")


def test_what_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tvm(tmp_path), {"src/closed/a.cc": "", "src/secret.cc": ""})
    real_scandir, real_access = os.scandir, os.access

    def scandir(path: Path) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return real_scandir(path)

    # Permissions do not stop root, who often runs the tests: the refusal is made.
    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(os, "access", lambda path, mode: "secret" not in str(path) and real_access(path, mode))
    tree = find_tree(root)
    assert by_path(tree)["src/secret.cc"].skip == "cannot be read (permission denied)"
    assert any("src/closed (Permission denied)" in note for note in tree.notes)


def test_build_output_and_environments_are_left_out_in_one_note(tmp_path: Path) -> None:
    root = write(tvm(tmp_path), {
        "build/gen.cc": "", "build-cuda/gen.cc": "", ".venv/pyvenv.cfg": "", ".venv/lib/x.py": "",
        "src/out_of_place/CMakeCache.txt": "", "src/out_of_place/gen.cc": "", "python/tvm/build/keep.py": "",
        "python/tvm/__pycache__/a.py": "", ".git/hooks/h.py": "", "node_modules/x/y.py": "",
    })  # fmt: skip
    tree = find_tree(root)
    assert "python/tvm/build/keep.py" in indexed(tree)
    assert not any(
        path.endswith("gen.cc") or path.startswith((".venv", ".git/", "node_modules")) for path in by_path(tree)
    )
    assert any(
        "build output or an environment" in note and "build-cuda" in note and ".venv" in note for note in tree.notes
    )


def test_guards_reach_the_files(tmp_path: Path) -> None:
    cmake = (
        'project(tvm)\noption(USE_CUDA "" OFF)\nfile(GLOB S src/ir/*.cc)\n'
        "if(USE_CUDA)\n  list(APPEND S src/runtime/cuda/k.cu)\nendif()\nadd_library(tvm ${S})\n"
    )
    files = by_path(find_tree(tvm(tmp_path, **{"CMakeLists.txt": cmake})))
    assert files["src/runtime/cuda/k.cu"].guard == "USE_CUDA"
    assert files["src/ir/expr.cc"].guard == ""
    assert files["src/runtime/metal/m.mm"].guard == "no CMake rule"


def test_a_cmake_file_outside_the_tree_is_not_read(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"CMakeLists.txt": "add_library(x src/ir/expr.cc)\n"})
    root = tvm(tmp_path / "tree")
    (root / "CMakeLists.txt").unlink()
    (root / "CMakeLists.txt").symlink_to(outside / "CMakeLists.txt")
    assert all(not file.guard for file in find_tree(root).files)


def test_folders_outside_the_scope_are_indexed_when_asked_for(tmp_path: Path) -> None:
    root = write(tvm(tmp_path), {"tests/python/test_a.py": "", "tests/cpp/a.cc": "", "apps/x/run.py": ""})
    tree = find_tree(root, also=("tests/python", "./apps/"))
    asked = {file.path: file.skip for file in tree.files if file.path.startswith(("tests", "apps"))}
    assert asked["tests/python/test_a.py"] == asked["apps/x/run.py"] == ""
    assert asked["tests/cpp/a.cc"]
    with pytest.raises(XrefError) as error:
        find_tree(root, also=("tests/nothing",))
    assert error.value.exit_code == 2
    assert "tests/nothing" in str(error.value)
