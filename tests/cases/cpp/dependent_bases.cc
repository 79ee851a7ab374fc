// Overriders through a base that depends on a template's parameters, which clang knows in instances alone; also where an
// alias or a member type names the base, and where the base is a specialisation.
// In TVM: MemoizedExprTranslator<OutputType> : ExprFunctor<OutputType(const Expr&)> (src/relax/transform/utils.h), whose
// primary template is only declared (include/tvm/relax/expr_functor.h).
namespace tvm {

template <class T>
struct Root {
  virtual ~Root();
  virtual void Visit(int node);
  virtual void Visit(double node) const;
  virtual void Take(T t);
  virtual void Take(T* t, int depth);
  void Plain(int node);
  struct Inner {
    virtual void Deep();
  };
};
template <class T>
struct Middle : Root<T> {
  ~Middle();
  void Visit(int node);  // virtual, though nobody wrote it
  void Take(T t) override;
  void Plain(int node);       // hides
  void Visit(int node) const;  // another function: Root's with an int is not const
};
template <class T>
using Alias = Middle<T>;
template <class T>
struct Low : Alias<T> {
  void Visit(int node) override;  // overrides Middle's
  void Visit(double node) const override;
  template <class U>
  void Take(U u);
};
struct Whole : Low<int> {
  void Visit(int node) override;
  void Take(int t) override;
};
template <class T>
struct Deepest : Root<T>::Inner {
  void Deep() override;
};
struct Other {
  virtual void Visit(int node);
};

template <class F>
struct Functor;
template <class R, class... Args>
struct Functor<R(const Other&, Args...)> {
  virtual R Run(const Other& node, Args... args);
  virtual R Run(const Whole& node, Args... args);
};
template <class Output>
struct Memoized : Functor<Output(const Other&)> {
  virtual Output Run(const Other& node);
};
struct Printer : Memoized<int> {
  int Run(const Other& node) override;
  int Run(const Whole& node) override;
};

void Use(Root<int>& root, Middle<int>& middle, Root<int>::Inner& inner, Functor<int(const Other&)>& functor, Other& other) {
  root.Visit(1);
  root.Take(1);
  middle.Visit(1);
  inner.Deep();
  functor.Run(other);
  delete &root;
}
template <class T>
void UseInTemplate(Middle<T>& middle, T t) {
  middle.Take(t);  // nothing above Middle
}

}  // namespace tvm
