from tvm._ffi import _init_api as fill

fill("relax.transform", __name__)
