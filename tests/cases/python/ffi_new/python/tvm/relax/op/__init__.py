from . import _ffi_api


def _register_op_make():
    from .. import expr

    expr._op_ffi_api = _ffi_api


_register_op_make()
