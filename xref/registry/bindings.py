"""The language binding: what runs in Python when an FFI function is called, on the way to the C ABI.

`_ffi_api.f(x)` calls `__call__` of the binding's function class, which calls the C function TVMFuncCall (to v0.20) or,
through TVMFFIPyFuncCall, TVMFFIFunctionCall. To v0.20 there are two bindings, one in ctypes and one in Cython.
"""

from __future__ import annotations

CALL = "call"
"""The function is called."""
CONSTRUCTOR = "constructor"
"""The function is given to `__init_handle_by_constructor__`, which makes it the object's constructor."""

ENTRIES = {
    CALL: (
        "py:tvm._ffi._ctypes.packed_func:PackedFuncBase.__call__",  # to v0.20
        "py:tvm._ffi._cy3.core:PackedFuncBase.__call__",
        "py:tvm.ffi.core:Function.__call__",  # v0.21
        "py:tvm_ffi.core:Function.__call__",  # v0.22 on
    ),
    CONSTRUCTOR: (
        "py:tvm._ffi._ctypes.object:ObjectBase.__init_handle_by_constructor__",
        "py:tvm._ffi._cy3.core:ObjectBase.__init_handle_by_constructor__",
        "py:tvm.ffi.core:Object.__init_handle_by_constructor__",
        "py:tvm_ffi.core:Object.__init_handle_by_constructor__",
        "py:tvm_ffi.core:CObject.__init_handle_by_constructor__",
    ),
}
"""How a site runs the function -> the keys of the symbols that it calls, in the eras that have them."""
