// Fields to v0.20: v0.18 include/tvm/tir/expr.h (VisitAttrs, a class template that visits for its derived class),
// include/tvm/relay/attrs/nn.h (TVM_DECLARE_ATTRS), include/tvm/ir/expr.h (SEqualReduce).
#include <tvm/ffi/object.h>
#include <tvm/node/reflection.h>

namespace tvm {

class PrimExprNode : public ffi::Object {
 public:
  int dtype;
  static constexpr const char* _type_key = "PrimExpr";
  TVM_DECLARE_FINAL_OBJECT_INFO(PrimExprNode, ffi::Object);
};

template <typename T>
class BinaryOpNode : public PrimExprNode {
 public:
  int a;
  double b;
  void VisitAttrs(AttrVisitor* v) {
    v->Visit("dtype", &(this->dtype));
    v->Visit("a", &a);
    v->Visit("b", &b);
  }
};

class AddNode : public BinaryOpNode<AddNode> {
 public:
  static constexpr const char* _type_key = "tir.Add";
};

class VarNode : public PrimExprNode {
 public:
  int name_hint;
  ffi::String type_annotation;
  void VisitAttrs(AttrVisitor* v) {
    v->Visit("dtype", &dtype);
    v->Visit("type_annotation", &type_annotation);  // String* becomes ObjectRef*
    v->Visit("name", &name_hint);
  }
  bool SEqualReduce(const VarNode* other, int equal) const { return true; }
  static constexpr const char* _type_key = "tir.Var";
  TVM_DECLARE_FINAL_OBJECT_INFO(VarNode, PrimExprNode);
};

struct ConvAttrs : public ffi::Object {
  int groups;
  TVM_DECLARE_ATTRS(ConvAttrs, "relay.attrs.ConvAttrs") { TVM_ATTR_FIELD(groups).set_default(1); }
};

}  // namespace tvm
