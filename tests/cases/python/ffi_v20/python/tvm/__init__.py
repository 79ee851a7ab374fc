from ._ffi.registry import register_object, register_func, get_global_func
from . import relax, topi
