// Look-ups of global functions: src/target/codegen.cc:54 ("target.build." + kind), src/runtime/device_api.cc:85,
// v0.18 src/auto_scheduler/feature.cc:1469 (Registry::Get), src/runtime/contrib/cudnn/cudnn_utils.cc:104 (required).
#include <tvm/ffi/reflection/registry.h>
#include <tvm/runtime/registry.h>

namespace tvm {
constexpr const char* kWorkspace = "runtime.contrib.workspace";

int BuildLLVM(int mod) { return mod; }
int BuildC(int mod) { return mod; }
int Workspace() { return 0; }

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = tvm::ffi::reflection;
  refl::GlobalDef()
      .def("target.build.llvm", BuildLLVM)
      .def("target.build.c", BuildC)
      .def("runtime.contrib.workspace", Workspace);
}

ffi::Any Build(int mod, std::string kind) {
  auto build = ffi::Function::GetGlobal("target.build." + kind);
  return (*build)(mod);
}

void Required() {
  static const auto f = ffi::Function::GetGlobalRequired(kWorkspace);
  f();
}

void NotThere() { ffi::Function::GetGlobalRequired("runtime.nobody.defines.it")(1); }

void MayBeMissing() {
  if (auto hook = ffi::Function::GetGlobal("tvm_callback_postproc")) (*hook)(1);
}

void OldStyle() {
  const runtime::PackedFunc* f = runtime::Registry::Get("target.build.c");
  (*f)(1);
}

void OnlyAtRunTime(std::string name) { ffi::Function::GetGlobalRequired(name); }

const auto at_load = ffi::Function::GetGlobalRequired("target.build.llvm");

}  // namespace tvm
