from .registry import get_global_func, init_ffi_api, register_global_func, register_object
