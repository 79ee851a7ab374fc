"""tvm-ffi writes stubs of FFI functions into the modules that it fills, for type checkers: they never run."""

from __future__ import annotations

from pathlib import Path

from python_case import index

from xref.model import Evidence, symbol_id

STUBBED = """
from typing import TYPE_CHECKING
from .registry import init_ffi_api as _FFI_INIT_FUNC
_FFI_INIT_FUNC("ffi", __name__)
if TYPE_CHECKING:
    def DictSetItem(_0, _1, _2, /) -> None: ...
def real(): pass
"""
USER = """
from . import _ffi_api
def put(d):
    _ffi_api.DictSetItem(d, 1, 2)
    _ffi_api.real()
"""


def test_a_call_of_a_stub_is_a_use_of_its_key_and_no_call_of_the_stub(tmp_path: Path) -> None:
    package = tmp_path / "tree" / "python" / "tvm_ffi"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "registry.py").write_text("def init_ffi_api(namespace, target_module_name=None): pass\n")
    (package / "_ffi_api.py").write_text(STUBBED)
    (package / "container.py").write_text(USER)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    facts = index(tmp_path / "tree", scratch)["python/tvm_ffi/container.py"]
    assert [(use.name, use.line, use.calls) for use in facts.key_uses] == [("ffi.DictSetItem", 4, True)]
    called = [(call.callee, call.evidence) for call in facts.calls]
    assert called == [(symbol_id("py:tvm_ffi._ffi_api:real"), Evidence.DIRECT)]
