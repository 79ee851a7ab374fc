import tvm._ffi

tvm._ffi._init_api("topi.nn", "tvm.topi.cpp.nn")
