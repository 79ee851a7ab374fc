import tvm_ffi

tvm_ffi.init_ffi_api("relax.op", __name__)
