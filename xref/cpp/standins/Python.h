// Stands in for CPython's header where this machine has none, so that code which only passes Python objects on is still
// understood: the binding's helpers (tvm-ffi, cython/tvm_ffi_python_helpers.h) take the path from Python to the C ABI.
#pragma once

#include <stddef.h>

extern "C" {
typedef struct _object PyObject;
typedef struct _typeobject PyTypeObject;
typedef struct _ts PyThreadState;
typedef ptrdiff_t Py_ssize_t;
}
