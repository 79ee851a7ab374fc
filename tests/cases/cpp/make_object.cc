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

// What the compiler declares is one symbol, whatever makes the object: `make_object<T>(*self)` copies (tvm-ffi
// reflection/registry.h). A class may inherit its constructors.
struct BufferNode {
  VarNode data;
};
struct LetNode : VarNode {
  using VarNode::VarNode;
  VarNode bound;
};
template <class Class>
ffi::ObjectPtr<Class> ShallowCopy(const Class* self) {
  return ffi::make_object<Class>(*self);
}
template <class Class>
Class* Create() {
  return ffi::make_object<Class>().operator->();
}
void MakeBuffers(BufferNode buffer) {
  BufferNode local;
  ffi::make_object<BufferNode>();
  ffi::make_object<BufferNode>(buffer);
  ffi::make_object<BufferNode>(static_cast<BufferNode&&>(buffer));
  ffi::make_object<LetNode>(1);
  ShallowCopy(&buffer);
  Create<BufferNode>();
  new BufferNode();
}

}  // namespace tvm
