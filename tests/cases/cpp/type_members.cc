// Fields and methods of object types: include/tvm/ir/type.h:99 (def_ro), include/tvm/tirx/expr.h:117 (a class template
// that registers for its derived class), include/tvm/tirx/var.h:177 (flags), src/tirx/ir/layout/axis_registry.cc:89
// (type attributes), tvm-ffi src/ffi/object.cc:403 (types without a class), testing.cc:88 (`refl::init`). v0.22 on.
#include <tvm/ffi/object.h>
#include <tvm/ffi/reflection/registry.h>

namespace tvm {
namespace ffi {

enum SEqHashKind { kTVMFFISEqHashKindTreeNode = 1, kTVMFFISEqHashKindFreeVar = 2 };

class TypeTable {
 public:
  TypeTable() {
    ReserveBuiltinTypeIndex("int", 1);
    ReserveDepthOneObjectTypeIndex("ffi.OpaquePyObject", 74);
  }
  void ReserveBuiltinTypeIndex(const char* type_key, int index);
  void ReserveDepthOneObjectTypeIndex(const char* type_key, int index);
};

}  // namespace ffi

class ExprNode : public ffi::Object {
 public:
  int span;
  static void RegisterReflection() {
    namespace refl = tvm::ffi::reflection;
    refl::ObjectDef<ExprNode>().def_ro("span", &ExprNode::span, refl::AttachFieldFlag::SEqHashIgnore());
  }
  static constexpr ffi::SEqHashKind _type_s_eq_hash_kind = ffi::kTVMFFISEqHashKindTreeNode;
  TVM_FFI_DECLARE_OBJECT_INFO("ir.Expr", ExprNode, ffi::Object);
};

ExprNode operator&(const ExprNode& left, const ExprNode& right);  // then `&T::a` below is a call, to libclang

template <typename T>
class BinaryOpNode : public ExprNode {
 public:
  int a;
  int b;
  static void RegisterReflection() {
    namespace refl = tvm::ffi::reflection;
    refl::ObjectDef<T>().def_ro("a", &T::a).def_ro("b", &T::b);
  }
};

class AddNode : public BinaryOpNode<AddNode> {
 public:
  static constexpr const char* _type_key = "tirx.Add";
};

class VarNode : public ExprNode {
 public:
  ffi::String name;
  int Size() const { return 1; }
  static constexpr ffi::SEqHashKind _type_s_eq_hash_kind = ffi::kTVMFFISEqHashKindFreeVar;
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("tirx.Var", VarNode, ExprNode);
};

int MakeVar(int x) { return x; }

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = tvm::ffi::reflection;
  AddNode::RegisterReflection();
  refl::ObjectDef<VarNode>(refl::init<>())
      .def(refl::init<int, int>(), "Make one.")
      .def_rw("name_hint", &VarNode::name, "What a user reads.")
      .def("size", &VarNode::Size)
      .def_static("make", MakeVar);
  refl::TypeAttrDef<VarNode>().def(refl::type_attr::kRepr, [](int x) { return MakeVar(x); });
}

}  // namespace tvm
