// Ways to write the name of a function to look up: src/runtime/rpc/rpc_endpoint.cc, src/relax/transform/run_codegen.cc:207
// ("relax.ext." + codegen), src/runtime/disco/builtin.cc:80 ("runtime.disco." + ccl + "." + name), src/ir/transform.cc.
#include <tvm/ffi/reflection/registry.h>

namespace tvm {
using ffi::Function;

constexpr const char* kPrefix = "relax.ext.";
static const char kArray[] = "runtime.array";
struct Names {
  static constexpr const char* kMember = "runtime.member";
};
#define PREFIX "macro."
#define FULL_NAME(x) PREFIX #x

std::string Computed(int i);

void Known(bool which) {
  Function::GetGlobalRequired("runtime.a" ".b");
  Function::GetGlobalRequired(kArray);
  Function::GetGlobalRequired(Names::kMember);
  Function::GetGlobalRequired(FULL_NAME(name));
  Function::GetGlobalRequired(std::string("runtime.wrapped"));
  Function::GetGlobalRequired(("runtime.parenthesised"));
  Function::GetGlobalRequired(std::string("runtime.") + "sum");
  const std::string local = "runtime.local";
  Function::GetGlobalRequired(local);
  std::string name = std::string(kPrefix) + "variable";
  Function::GetGlobalRequired(name);
}

void Prefixes(std::string tail, ffi::String kind) {
  Function::GetGlobalRequired(kPrefix + tail);
  Function::GetGlobalRequired("runtime.disco." + tail + "." + tail);
  Function::GetGlobalRequired("target." + std::to_string(3) + ".build");
  Function::GetGlobalRequired(ffi::String("kind.") + kind);
}

void Unknown(std::string name, bool which) {
  Function::GetGlobalRequired(name);
  Function::GetGlobalRequired(name + ".suffix");
  Function::GetGlobalRequired(Computed(1));
  Function::GetGlobalRequired(which ? "runtime.yes" : "runtime.no");
}

}  // namespace tvm
