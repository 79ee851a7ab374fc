"""Names of FFI functions that arrive from elsewhere: each that is missed hides a caller of the C++ function."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_case import index

from xref.model import FileFacts

REGISTRY = "def get_global_func(name, allow_missing=False): ...\ndef register_global_func(name, f=None): ...\n"


def _facts(tmp_path: Path, files: dict[str, str], path: str) -> FileFacts:
    files = {"python/tvm_ffi/__init__.py": REGISTRY, "python/tvm/__init__.py": ""} | files
    for name, text in files.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text(text, "utf-8")
    return index(tmp_path / "tree", tmp_path / "scratch")[path]


def _keys(tmp_path: Path, files: dict[str, str], path: str) -> set[tuple[str, str, bool, bool]]:
    uses = _facts(tmp_path, files, path).key_uses
    mine = [use for use in uses if use.registry == "ffi" or use.name.startswith("TVM")]
    return {(use.registry, use.name, use.calls, use.optional) for use in mine}


@pytest.fixture
def tmp_path(tmp_path: Path) -> Path:
    (tmp_path / "scratch").mkdir()
    return tmp_path


def test_a_name_in_a_variable_is_each_value_that_it_was_given(tmp_path: Path) -> None:
    """tvm/contrib/coreml_runtime.py:47; tvm/tirx/build.py:129 gives one of two prefixes."""
    code = (
        "import tvm_ffi\n"
        "def build(kind, host):\n"
        "    name = 'target.build.' + kind\n"
        "    if host:\n"
        "        name = f'target.build.{kind}_without_compile'\n"
        "    return tvm_ffi.get_global_func(name)(1)\n"
        "def sort(dtype):\n"
        "    fixed = 'tvm.contrib.sort' if dtype else 'tvm.contrib.thrust.sort'\n"
        "    return tvm_ffi.get_global_func(fixed, allow_missing=True)\n"
    )
    assert _keys(tmp_path, {"python/tvm/build.py": code}, "python/tvm/build.py") == {
        ("ffi", "target.build.*", True, False),
        ("ffi", "tvm.contrib.sort", False, True),
        ("ffi", "tvm.contrib.thrust.sort", False, True),
    }


def test_the_literal_given_to_a_function_that_looks_it_up_is_the_use(tmp_path: Path) -> None:
    """tvm/s_tir/meta_schedule/utils.py:160 `get_global_func_with_default_on_worker`, called from other files."""
    files = {
        "python/tvm/utils.py": (
            "from tvm_ffi import get_global_func\n"
            "def on_worker(name, default=None):\n"
            "    return get_global_func('s_tir.' + name)\n"
        ),
        "python/tvm/use.py": "from .utils import on_worker\ndef run(x):\n    return on_worker('cpu_count')(x)\n",
    }
    assert _keys(tmp_path, files, "python/tvm/use.py") == {("ffi", "s_tir.cpu_count", True, False)}


def test_a_session_looks_a_name_up_where_it_runs(tmp_path: Path) -> None:
    files = {
        "python/tvm/rpc/__init__.py": "",
        "python/tvm/rpc/client.py": (
            "class RPCSession:\n    def get_function(self, name):\n        return self._sess.get_function(name)\n"
        ),
        "python/tvm/use.py": (
            "from tvm.rpc.client import RPCSession\n"
            "def empty(session: RPCSession):\n    return session.get_function('runtime.disco.empty')()\n"
        ),
    }
    assert _keys(tmp_path, files, "python/tvm/use.py") == {("ffi", "runtime.disco.empty", True, False)}


def test_generated_code_names_the_function_that_it_will_call(tmp_path: Path) -> None:
    """relax `call_pure_packed("vm.builtin.reshape", ..)`; a name may also be that of a C function: it never dangles."""
    files = {
        "python/tvm/relax/__init__.py": "from .op import call_pure_packed\n",
        "python/tvm/relax/op.py": "def call_pure_packed(func, *args): ...\n",
        "python/tvm/use.py": "from tvm import relax\ndef f():\n    relax.call_pure_packed('vm.builtin.reshape', 1)\n",
    }
    assert _keys(tmp_path, files, "python/tvm/use.py") == {("ffi", "vm.builtin.reshape", False, True)}


def test_a_c_function_is_called_through_the_library_that_ctypes_loaded(tmp_path: Path) -> None:
    """tvm/_ffi/_ctypes/packed_func.py:235 to v0.20: `_LIB.TVMFuncCall(..)`."""
    files = {
        "python/tvm/base.py": (
            "import ctypes\n"
            "def _load_lib():\n    lib = ctypes.CDLL('libtvm.so')\n    return lib, 'libtvm.so'\n"
            "_LIB, _LIB_NAME = _load_lib()\n"
        ),
        "python/tvm/packed.py": "from .base import _LIB\ndef call(f):\n    return _LIB.TVMFuncCall(f)\n",
    }
    assert _keys(tmp_path, files, "python/tvm/packed.py") == {("symbol", "TVMFuncCall", True, True)}


def test_a_module_s_own_name_for_a_form_is_the_form(tmp_path: Path) -> None:
    """tvm_ffi/dataclasses/enum.py:45 `_enum_c_class = c_class`, beside a function that only type checkers see."""
    code = (
        "from typing import TYPE_CHECKING\n"
        "from tvm_ffi import get_global_func\n"
        "if TYPE_CHECKING:\n    def look_up(name): ...\n"
        "else:\n    look_up = get_global_func\n"
        "def f():\n    return look_up('tvm.f')\n"
    )
    assert _keys(tmp_path, {"python/tvm/use.py": code}, "python/tvm/use.py") == {("ffi", "tvm.f", False, False)}


def test_a_module_that_two_namespaces_fill_may_mean_either(tmp_path: Path) -> None:
    files = {
        "python/tvm_ffi/__init__.py": REGISTRY + "def init_ffi_api(namespace, target=None): ...\n",
        "python/tvm/_ffi_api.py": (
            "import tvm_ffi\ntvm_ffi.init_ffi_api('a', __name__)\ntvm_ffi.init_ffi_api('b', __name__)\n"
        ),
        "python/tvm/use.py": "from . import _ffi_api\ndef f():\n    return _ffi_api.g()\n",
    }
    uses = _facts(tmp_path, files, "python/tvm/use.py").key_uses
    assert [(use.name, use.candidates) for use in uses] == [("a.g", "a.g|b.g")]


def test_a_stored_function_whose_name_is_completed_at_run_time_runs_any_of_that_prefix(tmp_path: Path) -> None:
    """tvm/tirx/build.py:130: the only road from tvm.compile to a code generator."""
    code = (
        "import tvm_ffi\n"
        "def build(mod, target):\n"
        "    name = 'target.build.' + target.kind.name\n"
        "    run = tvm_ffi.get_global_func(name)\n"
        "    return run(mod, target)\n"
    )
    assert _keys(tmp_path, {"python/tvm/build.py": code}, "python/tvm/build.py") == {
        ("ffi", "target.build.*", False, False),
        ("ffi", "target.build.*", True, False),
    }


def test_a_filled_module_is_known_under_its_other_names(tmp_path: Path) -> None:
    files = {
        "python/tvm_ffi/__init__.py": REGISTRY + "def init_ffi_api(namespace, target_module_name=None): ...\n",
        "python/tvm/_ffi_api.py": "import tvm_ffi\nSPACE = 'tvm.odd'\ntvm_ffi.init_ffi_api(SPACE, __name__)\n",
        "python/tvm/words.py": (
            "from tvm_ffi import init_ffi_api as fill\nfill(target_module_name=__name__, namespace='odd.words')\n"
        ),
        "python/tvm/use.py": (
            "from tvm import _ffi_api, words\n"
            "other = _ffi_api\n"
            "class C:\n"
            "    api = _ffi_api\n"
            "    def m(self):\n"
            "        return self.api.OfSelf()\n"
            "def f():\n"
            "    local = _ffi_api\n"
            "    return local.OfLocal() + other.OfModule() + C.api.OfClass() + words.ByKeyword()\n"
            "def g(either):\n"
            "    either = _ffi_api if either else either\n"
            "    return either.Unknown()\n"
            "def h(given):\n"
            "    if given is None:\n"
            "        given = _ffi_api\n"
            "    return given.PerhapsNot()\n"
        ),
    }
    names = ("odd.OfSelf", "odd.OfLocal", "odd.OfModule", "odd.OfClass", "odd.words.ByKeyword")
    assert _keys(tmp_path, files, "python/tvm/use.py") == {("ffi", name, True, False) for name in names}
