import tvm
import tvm_ffi
from tvm.ir.transform import module_pass
from tvm.script import tirx as T

_op_ffi_api = None


class Expr:
    def astype(self, dtype):
        return _op_ffi_api.astype(self, dtype)


def register_df_node(type_key=None):
    if not isinstance(type_key, str):
        return tvm_ffi.register_object("relax.dpl." + type_key.__name__)(type_key)
    return tvm_ffi.register_object(type_key)


@register_df_node
class Pattern:
    pass


@register_df_node("relax.dpl.Named")
class OtherPattern:
    pass


@tvm_ffi.register_object("relax.Wrapped", init=False)
class Wrapped:
    pass


@tvm.register_global_func("relax.script_hook", override=True)
def hook():
    for i in T.grid(1, 2):
        pass


@module_pass(opt_level=0, name="NamedPass")
class _Named:
    def transform_module(self, mod, ctx):
        return mod


@tvm.transform.module_pass(opt_level=0)
def UnnamedPass(mod, ctx):
    return mod
