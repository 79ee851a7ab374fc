// Attributes joined by value (include/tvm/ir/function.h:126) and symbols that a module answers to
// (src/runtime/vm/vm.cc:222, TVM_MODULE_VTABLE_ENTRY; src/runtime/vm/vm.cc:519, GetFunction).
#include <tvm/ffi/function.h>

namespace std {
bool operator==(const string& left, const char* right);
}

namespace tvm {

namespace attr {
constexpr const char* kGlobalSymbol = "global_symbol";
}  // namespace attr

class BaseFuncNode : public ffi::Object {
 public:
  bool HasNonzeroAttr(const std::string& key) const { return false; }
};

template <typename TFunc>
TFunc WithAttr(TFunc input, const std::string& attr_key, int value) {
  return input;
}

bool IsNamed(const BaseFuncNode& f) { return f.HasNonzeroAttr(attr::kGlobalSymbol); }
bool IsSame(const std::string& key) { return key == attr::kGlobalSymbol; }
int Name(int f) { return WithAttr(WithAttr(f, "global_symbol", 1), "only_here", 2); }

namespace ffi {
class Module : public ObjectRef {
 public:
  Function GetFunction(const std::string& name);
};
}  // namespace ffi

class VirtualMachine {
 public:
  ffi::Function GetFunction(const std::string& name) {
    if (name == "invoke_stateful") {
      return ffi::Function::FromPacked([this]() { return Invoke(); });
    } else if (name == "stop") {
      return ffi::Function::FromPacked(&VirtualMachine::Stop);
    }
    return ffi::Function();
  }
  int Invoke();
  static int Stop();
};

void Run(ffi::Module mod) { mod.GetFunction("invoke_stateful")(); }

}  // namespace tvm
