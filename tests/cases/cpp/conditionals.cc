// Registrations behind conditions: src/target/llvm/codegen_llvm.cc (#ifdef TVM_LLVM_VERSION around the whole file),
// src/runtime/cuda/cuda_device_api.cc (CUDA_VERSION), src/arith/presburger_set.cc (#else of TVM_MLIR_VERSION).
#include <tvm/ffi/reflection/registry.h>

namespace tvm {
int Run() { return 1; }

#define USE_A 1
#define LEVEL 3

#ifdef USE_A
TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::GlobalDef().def("guarded.a", Run); }
#else
TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::GlobalDef().def("guarded.not_a", Run); }
#endif

#ifdef USE_B
TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::GlobalDef().def("guarded.b", Run); }
#else  // USE_B
TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::GlobalDef().def("guarded.not_b", Run); }
#if LEVEL >= 2 && \
    defined(USE_A)  /* two lines */
TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::GlobalDef().def("guarded.nested", Run); }
#elif !defined(USE_C)
#endif
#endif

#if 0
TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::GlobalDef().def("guarded.never", Run); }
#elif defined(USE_A)
TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::GlobalDef().def("guarded.elif", Run); }
#endif

/* a commented-out condition is none:
#ifdef USE_COMMENTED
*/
TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::GlobalDef().def("after.comment", Run); }

const char* text = R"cuda(
#ifdef USE_RAW_STRING
)cuda";
TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::GlobalDef().def("after.raw_string", Run); }

#ifdef USE_A
TVM_FFI_STATIC_INIT_BLOCK() {
  ffi::reflection::GlobalDef()
#ifndef USE_B
      .def("guarded.inside", Run)
#endif
      .def("guarded.a_again", Run);
}
#endif
TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::GlobalDef().def("unguarded", Run).def("guarded.inside", Run); }

int Use() {
  ffi::Function::GetGlobalRequired("guarded.a");
  ffi::Function::GetGlobalRequired("guarded.inside");
  ffi::Function::GetGlobalRequired("unguarded");
  return 0;
}

}  // namespace tvm
