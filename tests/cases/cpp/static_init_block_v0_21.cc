// TVM v0.21 hands the registering code to the macro as its argument (157 uses): v0.21.0 src/target/tag.cc,
// src/ir/attrs.cc. The whole chain then stands in one macro expansion, at the line of the macro's name.
#define CASE_OF_V0_21
#include <tvm/ffi/reflection/registry.h>

namespace tvm {

int TagAdd(int a, int b) { return a + b; }
void TagLookUp() { ffi::Function::GetGlobalRequired("target.TagNeg")(1); }

TVM_FFI_STATIC_INIT_BLOCK({
  namespace refl = tvm::ffi::reflection;
  refl::GlobalDef()
      .def("target.TagAdd", TagAdd)
      .def("target.TagNeg", [](int a) { return TagAdd(0, -a); });
});

}  // namespace tvm
