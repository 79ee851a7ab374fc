"""The crossing from Python to the C ABI, in small trees of two eras, and C++ fields read in Python.

What a reader follows to understand a PackedFunc, and who reads a member from the other language.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from xref.graph import shortest_path
from xref.index import IndexOptions, run_index
from xref.model import Id
from xref.query.names import find
from xref.query.path import find_path
from xref.store import open_index

C_API = 'extern "C" int {name}(void* f) {{ return f != nullptr; }}\n'
NEW = {
    "include/tvm/ffi/c_api.h": 'extern "C" int TVMFFIFunctionCall(void* f);\nextern "C" int TVMFFISet(void* f);\n',
    "src/ffi/function.cc": "#include <tvm/ffi/c_api.h>\n"
    + C_API.format(name="TVMFFIFunctionCall")
    + C_API.format(name="TVMFFISet"),
    "python/tvm_ffi/__init__.py": (
        "from .registry import init_ffi_api, get_global_func, register_object\nfrom .core import Object\n"
    ),
    "python/tvm_ffi/registry.py": (
        "def init_ffi_api(namespace, target=None): ...\ndef get_global_func(name, allow_missing=False): ...\n"
        "def register_object(key):\n    return lambda cls: cls\n"
    ),
    "python/tvm_ffi/core.pyi": "class Object:\n    def __getattr__(self, name): ...\n",
    "python/tvm_ffi/cython/tvm_ffi_python_helpers.h": (
        "#include <Python.h>\n#include <tvm/ffi/c_api.h>\n"
        "class Manager {\n public:\n  int FuncCall(void* f, PyObject* args) { return TVMFFIFunctionCall(f); }\n"
        "  static Manager* Get();\n};\n"
        "inline int TVMFFIPyFuncCall(void* f, PyObject* args) { return Manager::Get()->FuncCall(f, args); }\n"
    ),
    "python/tvm_ffi/cython/core.pyx": (
        'from cpython.ref cimport PyObject\ncdef extern from "Python.h":\n    void Py_DecRef(PyObject* x)\n'
        'cdef extern from "tvm/ffi/c_api.h":\n    int TVMFFISet(void* f)\n'
        'cdef extern from "tvm_ffi_python_helpers.h":\n    int TVMFFIPyFuncCall(void* f, PyObject* args)\n'
        "cdef int callback(void* x):\n    return 0\n"
        "def register(f):\n    TVMFFISet(<void*>callback)\n"
        "cdef class Object:\n    cdef void* chandle\n"
        "cdef class Function(Object):\n    def __call__(self, *args):\n"
        "        TVMFFIPyFuncCall(self.chandle, <PyObject*>args)\n        Py_DecRef(<PyObject*>args)\n"
    ),
    "python/tvm/__init__.py": "",
    "python/tvm/_ffi_api.py": 'import tvm_ffi\n\ntvm_ffi.init_ffi_api("tvm", __name__)\n',
    "python/tvm/use.py": "from . import _ffi_api\n\n\ndef fuse(x):\n    return _ffi_api.Fuse(x)\n",
}
OLD = {
    "include/tvm/runtime/c_runtime_api.h": 'extern "C" int TVMFuncCall(void* f);\n',
    "src/runtime/c_runtime_api.cc": "#include <tvm/runtime/c_runtime_api.h>\n" + C_API.format(name="TVMFuncCall"),
    "python/tvm/__init__.py": "",
    "python/tvm/_ffi/__init__.py": "from .registry import _init_api\n",
    "python/tvm/_ffi/registry.py": "def _init_api(namespace, target=None): ...\n",
    "python/tvm/_ffi/base.py": (
        "import ctypes\n\n\ndef _load_lib():\n    lib = ctypes.CDLL('libtvm.so')\n    return lib, 'libtvm.so'\n\n\n"
        "_LIB, _LIB_NAME = _load_lib()\n"
    ),
    "python/tvm/_ffi/_ctypes/__init__.py": "",
    "python/tvm/_ffi/_ctypes/packed_func.py": (
        "from ..base import _LIB\n\n\nclass PackedFuncBase:\n    def __call__(self, *args):\n"
        "        return _LIB.TVMFuncCall(self.handle)\n"
    ),
    "python/tvm/_ffi/_cython/core.pyx": (
        'cdef extern from "tvm/runtime/c_runtime_api.h":\n    int TVMFuncCall(void* f)\n'
        "cdef class PackedFuncBase:\n    cdef void* chandle\n    def __call__(self, *args):\n"
        "        TVMFuncCall(self.chandle)\n"
    ),
    "python/tvm/_ffi_api.py": 'import tvm._ffi\n\ntvm._ffi._init_api("tvm", __name__)\n',
    "python/tvm/use.py": "from . import _ffi_api\n\n\ndef fuse(x):\n    return _ffi_api.Fuse(x)\n",
}


def _index(tmp_path: Path, files: dict[str, str]) -> sqlite3.Connection:
    for name, text in files.items():
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    run_index(IndexOptions(tmp_path / "tree", tmp_path / "x.db"))
    return open_index(tmp_path / "x.db")


def _id(db: sqlite3.Connection, qualname: str) -> Id:
    rows = db.execute("SELECT id FROM symbols WHERE qualname = ? AND is_definition", (qualname,)).fetchall()
    assert len(rows) == 1, qualname
    return Id(rows[0][0])


def _chain(db: sqlite3.Connection, start: str, goal: str) -> list[str]:
    hops = shortest_path(db, {_id(db, start)}, {_id(db, goal)}, max_hops=9, evidence=None).hops
    names = dict(db.execute("SELECT id, qualname FROM symbols"))
    return [names[hop.callee] for hop in hops]


def test_a_call_from_python_goes_through_cython_to_the_c_abi(tmp_path: Path) -> None:
    db = _index(tmp_path, NEW)
    assert _chain(db, "tvm.use.fuse", "TVMFFIFunctionCall") == [
        "tvm_ffi.core.Function.__call__",
        "TVMFFIPyFuncCall",
        "Manager::FuncCall",
        "TVMFFIFunctionCall",
    ]


def test_a_callback_is_called_by_the_c_function_that_it_was_given_to(tmp_path: Path) -> None:
    db = _index(tmp_path, NEW)
    assert _chain(db, "TVMFFISet", "tvm_ffi.core.callback") == ["tvm_ffi.core.callback"]


def test_only_c_functions_of_the_tree_are_keys(tmp_path: Path) -> None:
    """Python's own C functions are not the tree's: no use of them may dangle."""
    db = _index(tmp_path, NEW)
    uses = db.execute("SELECT name, status FROM key_uses WHERE registry = 'symbol' ORDER BY name").fetchall()
    assert uses == [("TVMFFIPyFuncCall", "resolved"), ("TVMFFISet", "resolved")]


def test_a_call_from_python_goes_through_both_bindings_of_old(tmp_path: Path) -> None:
    """To v0.20 TVM has two: ctypes, and Cython where it could be compiled."""
    db = _index(tmp_path, OLD)
    calls = set(
        db.execute(
            "SELECT a.qualname, b.qualname FROM calls c JOIN symbols a ON a.id = c.caller_id"
            " JOIN symbols b ON b.id = c.callee_id WHERE b.name IN ('__call__', 'TVMFuncCall') AND b.is_definition"
        )
    )
    bindings = ("tvm._ffi._ctypes.packed_func.PackedFuncBase.__call__", "tvm._ffi._cy3.core.PackedFuncBase.__call__")
    assert calls == {("tvm.use.fuse", b) for b in bindings} | {(b, "TVMFuncCall") for b in bindings}


def test_a_path_to_a_c_function_ends_where_it_is_defined(tmp_path: Path) -> None:
    """Cython's `cdef extern` bears the same name, a call earlier in sight and of no use to a reader."""
    db = _index(tmp_path, OLD)
    answer = find_path(db, find(db, "tvm.use.fuse").symbols, find(db, "TVMFuncCall").symbols, None, 9)
    last = answer.names[answer.search.hops[-1].callee]
    assert (last.lang, last.path) == ("cpp", "src/runtime/c_runtime_api.cc")


TYPES = {
    "include/tvm/var.h": (
        'struct Object { static constexpr const char* _type_key = "ffi.Object"; };\n'
        "namespace tvm { namespace ffi { namespace reflection {\n"
        "template <typename T> struct ObjectDef {\n"
        "  template <typename M, typename C> ObjectDef& def_ro(const char* name, M C::*field) { return *this; }\n};\n"
        "}}}\n"
        "namespace refl = tvm::ffi::reflection;\n"
        "struct ExprNode : Object {\n  int span;\n"
        '  static void RegisterReflection() { refl::ObjectDef<ExprNode>().def_ro("span", &ExprNode::span); }\n'
        '  static constexpr const char* _type_key = "ir.Expr";\n};\n'
        "struct VarNode : ExprNode {\n  int hint;\n"
        '  static void RegisterReflection() { refl::ObjectDef<VarNode>().def_ro("hint", &VarNode::hint); }\n'
        '  static constexpr const char* _type_key = "ir.Var";\n};\n'
    ),
    "python/tvm/ir.py": (
        "import tvm_ffi\n\n\n@tvm_ffi.register_object('ir.Expr')\nclass Expr(tvm_ffi.Object):\n    span: int\n\n\n"
        "@tvm_ffi.register_object('ir.Var')\nclass Var(Expr):\n    pass\n"
    ),
    "python/tvm/read.py": (
        "from .ir import Var\n\n\ndef exact(x: Var):\n    return x.hint, x.span, x.nothing\n\n\n"
        "def guess(x):\n    return x.hint.shape\n\n\ndef other(x: list):\n    return x.hint\n"
    ),
}


def test_a_read_of_an_attribute_is_a_use_of_the_field_of_that_type(tmp_path: Path) -> None:
    """An inherited field belongs to the type that registers it; where the class is unknown, a name is a guess."""
    db = _index(tmp_path, NEW | TYPES)
    assert db.execute(
        "SELECT name, path, line, evidence FROM key_uses WHERE registry = 'field' ORDER BY line, name"
    ).fetchall() == [
        ("ir.Expr.span", "python/tvm/read.py", 5, "direct"),
        ("ir.Var.hint", "python/tvm/read.py", 5, "direct"),
        ("ir.Var.hint", "python/tvm/read.py", 9, "name"),
    ]
