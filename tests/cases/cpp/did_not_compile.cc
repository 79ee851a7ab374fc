// Code whose third-party header is missing: src/target/llvm/codegen_llvm.cc without LLVM, src/runtime/vulkan without
// Vulkan. Clang drops a call whose arguments did not compile and keeps the names in it: they are calls, not values.
#include <vendor/not_installed.h>

namespace tvm {
int Emit(int value) { return value; }
int Overloaded(int value) { return value; }
int Overloaded(float value) { return 1; }
using Handler = int (*)(int);
int Install(Handler handler) { return handler != nullptr; }

struct Codegen {
  int Visit(int value) { return value; }
  int Run(vendor::Value value) {
    Emit(value->kind());
    this->Visit(value->kind());
    Overloaded(value->kind());
    return Install(Emit);
  }
};
}  // namespace tvm
