// A registration that did not compile takes its whole chain with it, and the variable of the older macro: the strings are
// read by tokens. src/runtime/contrib/cutlass/fp8_gemm.cu without CUTLASS (v0.21 on); the same in the form to v0.20.
#include <tvm/ffi/reflection/registry.h>
#include <vendor/not_installed.h>

#define REGISTER_AND_MORE(Name) GlobalDef().def("in.a.macro", Name)

namespace tvm {
template <typename A, typename B>
int Gemm(int value) { return value; }
int Compiles(int value) { return value; }

TVM_FFI_STATIC_INIT_BLOCK() {
  ffi::reflection::GlobalDef()
      .def("vendor.gemm_e5m2_fp16", Gemm<vendor::e5m2, vendor::half>)
      .def_packed("vendor." "gemm_e4m3_fp16",
                  Gemm<vendor::e4m3, vendor::half>);
  ffi::reflection::GlobalDef().def("vendor.compiles", Compiles);
  // GlobalDef().def("vendor.in_a_comment", Gemm<vendor::e4m3, vendor::half>);
#ifdef NOT_THIS_ONE
  ffi::reflection::GlobalDef().def("vendor.left_out", Gemm<vendor::e4m3, vendor::half>);
#endif
  vendor::Registry().def("not.of.tvm", Compiles);
}
}  // namespace tvm
