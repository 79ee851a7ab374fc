// `make_object<T>(..)` runs a constructor of T, although only its dependent body says so.
// In TVM: `auto node = ffi::make_object<AddNode>();` in every constructor of an ObjectRef (src/tirx/ir/expr.cc).
namespace tvm {
namespace ffi {
template <class T>
struct ObjectPtr {
  T* operator->();
};
template <class T, class... Args>
ObjectPtr<T> make_object(Args&&... args) {
  T* made = new T(static_cast<Args&&>(args)...);
  return ObjectPtr<T>();
}
}  // namespace ffi

struct AddNode {  // its constructor is the compiler's
  int value;
};
struct VarNode {
  VarNode();
  explicit VarNode(int index, bool is_free = false);
  VarNode(const VarNode& other);
};

struct Var {
  Var(int index) { data_ = ffi::make_object<VarNode>(index); }
  ffi::ObjectPtr<VarNode> data_;
};

void Make() {
  auto node = ffi::make_object<AddNode>();
  node->value = 1;
  ffi::make_object<VarNode>();
  Var var(1);
}

// What is given to make_object is given to the constructor: ExternCFunctionObjImpl, whose safe_call_ is Python's callback
// (tvm-ffi, include/tvm/ffi/function.h).
using Handler = int (*)(int);
int PyCallback(int x) { return x; }
struct ExternC {
  explicit ExternC(Handler safe_call) : safe_call_(safe_call) {}
  int Run(int x) { return safe_call_(x); }
  Handler safe_call_;
};
ffi::ObjectPtr<ExternC> FromExternC(Handler safe_call) { return ffi::make_object<ExternC>(safe_call); }
void Convert() { FromExternC(&PyCallback); }

template <class T>
ffi::ObjectPtr<T> Clone() {
  return ffi::make_object<T>();  // not known yet: no constructor
}

}  // namespace tvm
