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


// src/runtime/module.cc:39: one of several names, by the target
bool RuntimeEnabled(const std::string& target) {
  std::string f_name;
  if (target == "cpu") {
    f_name = "device_api.cpu";
  } else {
    f_name = "device_api." + target;
  }
  return ffi::Function::GetGlobal(f_name).has_value();
}

// src/s_tir/meta_schedule/schedule_rule/apply_custom_rule.cc:38: a function makes the name
std::string RuleName(const std::string& key) { return "s_tir.meta_schedule." + key; }
void ApplyRule(const std::string& key) { ffi::Function::GetGlobal(RuleName(key)); }

// src/tirx/transform/unsupported_dtype_legalize.cc:806: a parameter, which callers in the same unit pass
bool CheckSupport(int target, const std::string& name) { return ffi::Function::GetGlobal(name).has_value(); }
bool SupportsBF16() { return CheckSupport(1, "tvm.support.nvcc.supports_bf16"); }

}  // namespace tvm
