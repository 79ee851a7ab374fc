# The shape of tvm_ffi's core.pyx.
include "./base.pxi"
include './object.pxi'
import atexit
atexit.register(shut_down)
