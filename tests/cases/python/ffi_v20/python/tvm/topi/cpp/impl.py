import tvm._ffi

tvm._ffi._init_api("topi", "tvm.topi.cpp")
