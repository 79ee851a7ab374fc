from .registry import register_object, register_func, get_global_func, _init_api
