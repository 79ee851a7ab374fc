// Functor dispatch: include/tvm/relax/expr_functor.h (a table filled from virtual methods), src/relax/transform/
// fuse_tir.cc:546 (an object that is called), v0.18 src/node/repr_printer.cc (a table filled from anywhere).
#include <tvm/ir/node_functor.h>

namespace tvm {

class VarNode : public ffi::Object {};
class CallNode : public ffi::Object {};

#define EXPR_FUNCTOR_DISPATCH(OP) \
  vtable.template set_dispatch<OP>( \
      [](const ffi::ObjectRef& n, TSelf* self) { return self->VisitExpr_(static_cast<const OP*>(n.get())); })

template <typename FType>
class ExprFunctor;
template <typename R>
class ExprFunctor<R(const ffi::ObjectRef& n)> {
  using TSelf = ExprFunctor<R(const ffi::ObjectRef& n)>;
  using FType = tvm::NodeFunctor<R(const ffi::ObjectRef& n, TSelf* self)>;

 public:
  R operator()(const ffi::ObjectRef& n) { return VisitExpr(n); }
  virtual R VisitExpr(const ffi::ObjectRef& n) {
    static FType vtable = InitVTable();
    return vtable(n, this);
  }
  virtual R VisitExpr_(const VarNode* op) { return VisitExprDefault_(op); }
  virtual R VisitExpr_(const CallNode* op) { return VisitExprDefault_(op); }
  virtual R VisitExprDefault_(const ffi::Object* op) { return R(); }

 private:
  static FType InitVTable() {
    FType vtable;
    EXPR_FUNCTOR_DISPATCH(VarNode);
    EXPR_FUNCTOR_DISPATCH(CallNode);
    return vtable;
  }
};

class Counter : public ExprFunctor<int(const ffi::ObjectRef&)> {
 public:
  int VisitExpr_(const VarNode* op) override { return 1; }
  int VisitExpr_(const CallNode* op) override { return VisitExpr(ffi::ObjectRef()) + 1; }
};

class CallCounter : public Counter {
 public:
  int VisitExpr_(const VarNode* op) final { return 0; }
};

int Count(const ffi::ObjectRef& n) { return Counter()(n); }
int CountCalls(const ffi::ObjectRef& n) {
  CallCounter visitor;
  return visitor(n);
}

class ReprPrinter {
 public:
  void Print(const ffi::ObjectRef& node) {
    static const FType& f = vtable();
    vtable()(node, this);
  }
  using FType = NodeFunctor<void(const ffi::ObjectRef&, ReprPrinter*)>;
  static FType& vtable();
};

TVM_STATIC_IR_FUNCTOR(ReprPrinter, vtable)
    .set_dispatch<VarNode>([](const ffi::ObjectRef& node, ReprPrinter* p) { Count(node); });

}  // namespace tvm
