// Bases, derived classes and overriders, at several levels and through two bases: `xref hierarchy`.
// In TVM: relax::ExprFunctor > ExprVisitor > ExprMutatorBase > ExprMutator > FusedTIRConstructor (src/relax/transform/fuse_tir.cc).
namespace tvm {

struct Functor {
  virtual ~Functor();
  virtual void Visit(int node);
};
struct ExprVisitor : Functor {
  void Visit(int node) override;
};
struct ExprMutator : ExprVisitor {
  void Visit(int node) override;
};
struct Fuser : ExprMutator {};
struct GpuFuser : Fuser {
  void Visit(int node) override;
};

struct Left : virtual Functor {};
struct Right : virtual Functor {};
struct Both : Left, Right {};

template <class T>
struct Traits {};
template <>
struct Traits<int> {};

struct Alone {};

void Run(Functor* functor, ExprMutator* mutator) {
  functor->Visit(1);
  mutator->Visit(2);  // not ExprVisitor::Visit: the static type is below it
  mutator->ExprVisitor::Visit(3);  // dispatches nowhere
}

}  // namespace tvm
