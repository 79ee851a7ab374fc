import tvm
import tvm.relax._ffi
from tvm import _ffi
from tvm._ffi.registry import register_object as _register_object

from . import _ffi_api
from .. import _ffi as relax_ffi
from ._ffi_api import Imported


def FuseTIR():
    """Not a use: _ffi_api.InADocstring()"""
    return _ffi_api.FuseTIR()  # nor _ffi_api.InAComment()


@tvm._ffi.register_object("relax.Thing")
class Thing:
    def __init__(self, x):
        self.__init_handle_by_constructor__(relax_ffi.Thing, x)

    def values(self, name):
        Imported(self)
        tvm.relax._ffi.Dotted(self)
        relax_ffi.defined_here()
        getattr(_ffi_api, "ByName")(self)
        getattr(_ffi_api, name)
        getattr(_ffi_api, f"Make{name}")
        choose = _ffi_api.A if name else _ffi_api.B
        if hasattr(_ffi_api, "Maybe"):
            return choose

    def shadowed(self, _ffi_api):
        return _ffi_api.NotAUse()


@_ffi.register_object
class ByClassName:
    pass


@_register_object("relax.Other")
class Other:
    pass


@tvm.register_func("relax.hook")
def hook():
    pass


@tvm._ffi.register_func
def bare_hook():
    pass


tvm.register_func("relax.called", hook, override=True)
tvm.register_func("relax.lambda", lambda x: x)


def look_up(kind):
    found = tvm.get_global_func("relax.found")
    found(1)
    tvm._ffi.get_global_func("relax.maybe", allow_missing=True)
    tvm.get_global_func("relax.ext." + kind)
    tvm.get_global_func(f"device_api.{kind}")
    tvm.get_global_func("relax." "joined")()
    tvm.get_global_func(kind)
    stored = tvm.get_global_func("relax.maybe_stored", True)
    if stored:
        stored(1)
