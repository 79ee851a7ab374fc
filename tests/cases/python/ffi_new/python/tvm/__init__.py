from tvm_ffi import register_global_func, get_global_func
import tvm.script
from . import tirx, relax, transform
