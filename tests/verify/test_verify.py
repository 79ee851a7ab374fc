"""An index against the registries of a TVM: what it lacks must be told, and what it has more must be explained.

The probe runs on a stand-in for tvm and tvm_ffi with the functions that the real ones have; the real wheel has a test
of its own (marker tvm).
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from xref.cli.verbs import main
from xref.link import link
from xref.model import ExitCode, FileFacts, KeyDef, Lang, Relation, Symbol, XrefError, symbol_id
from xref.store import IndexBuilder, open_index
from xref.verify.run import ask, verify

TVM_FFI = """
class _Info:
    def __init__(self, key, parent, fields, methods):
        self.type_key, self.parent_type_info = key, parent
        self.fields = [_Named(n) for n in fields]
        self.methods = [_Named(n) for n in methods]
class _Named:
    def __init__(self, name): self.name = name
_ROOT = _Info("ffi.Object", None, [], [])
_TYPES = {"ffi.Object": _ROOT, "ir.Var": _Info("ir.Var", _ROOT, ["hint"], ["size"])}
class core:
    _lookup_or_register_type_info_from_type_key = staticmethod(_TYPES.__getitem__)
class _Op:
    name = "tirx.exp"
_FUNCTIONS = {
    "ir.ListOpNames": lambda: ["tirx.exp"], "ir.GetOp": lambda name: _Op(),
    "ir.OpHasAttr": lambda op, key: key in ("TCall", "TOther"),
    "ir.OpGetAttr": lambda op, key: 1 if key == "TCall" else None,
    "transform.ListConfigs": lambda: {"tirx.unroll": 1}, "target.ListTargetKinds": lambda: ["llvm"],
}
class registry:
    get_registered_type_keys = staticmethod(lambda: list(_TYPES))
    list_global_func_names = staticmethod(lambda: [*_FUNCTIONS, "relax.F"])
    get_global_func = staticmethod(lambda name, allow_missing=False: _FUNCTIONS.get(name))
"""


@pytest.fixture
def python(tmp_path: Path) -> str:
    """An interpreter in which `import tvm` finds the stand-in."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (site / "tvm_ffi.py").write_text(TVM_FFI)
    (site / "tvm.py").write_text('import tvm_ffi\nprint("chatter of an import")\n__version__ = "0.26.0"\n')
    return str(tmp_path / "venv" / "bin" / "python")


def _index(path: Path, keys: list[KeyDef], guard: str = "") -> sqlite3.Connection:
    var, base = (Symbol(f"cpp:{name}", "class", name, name, 1, 1, 1) for name in ("Var", "Object"))
    relations = [Relation(symbol_id(var.key), "base", symbol_id(base.key))]
    types = [KeyDef("type", "ffi.Object", "cpp", 1, symbol_id(base.key)),
             KeyDef("type", "ir.Var", "cpp", 1, symbol_id(var.key))]  # fmt: skip
    everything = [KeyDef("field", "ir.Var.hint", "cpp", 2), KeyDef("method", "ir.Var.size", "cpp", 3),
                  KeyDef("op", "tirx.exp", "cpp", 4), KeyDef("op_attr", "tirx.exp:TCall", "cpp", 5),
                  *(KeyDef("ffi", name, "cpp", 6) for name in ("ir.ListOpNames", "ir.GetOp", "ir.OpHasAttr",
                    "ir.OpGetAttr", "transform.ListConfigs", "target.ListTargetKinds"))]  # fmt: skip
    facts = FileFacts("a.cc", Lang.CPP, symbols=[var, base], relations=relations, key_defs=types + everything)
    with IndexBuilder(path) as builder:
        for file in (facts, FileFacts("b.cc", Lang.CPP, key_defs=keys)):
            builder.add_file(file.path, file.lang, "", 0, 0, guard if file.path == "b.cc" else "")
            builder.add_facts(file)
        builder.flush_symbols()
        with builder.writing() as db:
            link(db)
        builder.set_meta([("tree", "/src/tvm"), ("tvm_version", "0.26.0")])
        builder.publish()
    return open_index(path)


def test_what_the_index_lacks_is_missing(tmp_path: Path, python: str) -> None:
    result = verify(_index(tmp_path / "x.db", []), python)
    by_registry = {one.registry: one for one in result.comparisons}
    assert not result.is_complete
    assert by_registry["ffi"].missing == ["relax.F"]
    assert (by_registry["ffi"].found, by_registry["ffi"].installed) == (6, 7)
    complete = {name: one.found == one.installed for name, one in by_registry.items()}
    assert complete == dict.fromkeys(("type", "field", "method", "op", "op_attr", "parent"), True) | {"ffi": False}
    assert result.unlisted == ["pass_config", "target_kind", "target_tag"]


def test_what_only_the_index_has_is_explained(tmp_path: Path, python: str) -> None:
    keys = [KeyDef("ffi", "relax.F", "cpp", 1), KeyDef("ffi", "device_api.metal", "cpp", 2),
            KeyDef("field", "ir.Gone.x", "cpp", 3)]  # fmt: skip
    result = verify(_index(tmp_path / "x.db", keys, "USE_METAL"), python)
    surplus = {one.registry: one.surplus for one in result.comparisons}
    assert result.is_complete
    assert surplus["ffi"] == {"behind USE_METAL": ["device_api.metal"]}
    assert surplus["field"] == {"behind USE_METAL": ["ir.Gone.x"]}
    open_result = verify(_index(tmp_path / "y.db", keys), python)
    surplus = {one.registry: one.surplus for one in open_result.comparisons}
    assert surplus["ffi"] == {"": ["device_api.metal"]}
    assert surplus["field"] == {"of a type that is not registered": ["ir.Gone.x"]}


def test_the_verb_fails_when_something_is_missing(
    tmp_path: Path, python: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _index(tmp_path / "x.db", []).close()
    with pytest.raises(SystemExit) as end:
        main(["verify", "--db", str(tmp_path / "x.db"), "--python", python])
    assert end.value.code == ExitCode.NOTHING
    assert "1 missing in the index: relax.F" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["verify", "--db", str(tmp_path / "x.db"), "--python", python, "--json"])
    assert json.loads(capsys.readouterr().out)["complete"] is False


def test_an_interpreter_without_tvm_is_told(tmp_path: Path) -> None:
    for name, words in ((sys.executable, "has no TVM: install it there"), ("/nowhere/python", "cannot be run")):
        with pytest.raises(XrefError, match=words) as error:
            ask(name, [])
        assert error.value.exit_code == ExitCode.UNUSABLE_INPUT


def test_a_tvm_built_from_source_is_found_where_the_user_s_python_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is reached through PYTHONPATH; a folder called tvm where one happens to stand is not it."""
    for folder, words in (("built", "the one on the path"), ("here", "the one in this folder")):
        (tmp_path / folder / "tvm").mkdir(parents=True)
        (tmp_path / folder / "tvm" / "__init__.py").write_text(f"raise RuntimeError({words!r})\n")
        (tmp_path / folder / "tvm_ffi.py").write_text("raise ImportError('none')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "built"))
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(XrefError, match="the one on the path"):
        ask(sys.executable, [])
