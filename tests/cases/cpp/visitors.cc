// The functor that half of TVM's passes derive from, and what a call of its methods may run: include/tvm/relax/
// expr_functor.h, src/relax/transform/fold_constant.cc (override), include/tvm/tirx/stmt_functor.h.
#include <tvm/ffi/object.h>

namespace tvm {
namespace relax {

class CallNode : public ffi::Object {};
class VarNode : public ffi::Object {};

template <typename FType>
class ExprFunctor;

template <typename R, typename... Args>
class ExprFunctor<R(Args...)> {
 public:
  virtual ~ExprFunctor() {}
  virtual R VisitExpr(Args... args) { return VisitExprDefault_(args...); }
  virtual R VisitExpr_(const CallNode* op, Args... args) { return VisitExprDefault_(args...); }
  virtual R VisitExpr_(const VarNode* op, Args... args) { return VisitExprDefault_(args...); }
  virtual R VisitExprDefault_(Args... args) { return R(); }
};

class ExprVisitor : public ExprFunctor<void(int)> {
 public:
  void VisitExpr(int expr) override;
  void VisitExpr_(const CallNode* op, int expr) override { this->VisitSpan(expr); }
  virtual void VisitSpan(int span) {}
};

void ExprVisitor::VisitExpr(int expr) {
  CallNode* op = nullptr;
  VisitExpr_(op, expr);
}

class Collector : public ExprVisitor {
 public:
  using ExprVisitor::VisitExpr_;
  void VisitExpr_(const VarNode* op, int expr) final { count_++; }
  void VisitSpan(int span) final {
    ExprVisitor::VisitSpan(span);
    count_ += span;
  }

 private:
  int count_ = 0;
};

// An unrelated functor: its overrides are no candidates for calls through ExprVisitor.
class Mutator : public ExprFunctor<int(int)> {
 public:
  int VisitExpr_(const VarNode* op, int expr) override { return expr; }
};

using Visitor = ExprVisitor;

void Run(ExprVisitor* visitor, Visitor& aliased, Collector collector, ExprFunctor<int(int)>* functor) {
  visitor->VisitSpan(1);
  aliased.VisitSpan(2);
  collector.VisitSpan(3);
  functor->VisitExpr(4);
  delete visitor;
}

}  // namespace relax
}  // namespace tvm
