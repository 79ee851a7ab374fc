import tvm._ffi

tvm._ffi._init_api("tvm.relax", __name__)


def defined_here():
    return 1
