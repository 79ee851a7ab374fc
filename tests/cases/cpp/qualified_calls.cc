// A call in a template that names a class runs what that class has, or inherits: no method of another class, no overrider.
// In TVM: `BaseFunctor::VisitExpr(n)` in MemoizedExprTranslator, where `using BaseFunctor = ExprFunctor<..>`
// (src/relax/transform/utils.h); `TypeTraits<T>::CopyFromAnyViewAfterCheck(..)` (include/tvm/ffi/any.h).
namespace std {
template <class T>
struct vector {
  void push_back(const T& item);
};
}  // namespace std

namespace tvm {

struct Plain {
  virtual void Twice(int x);
  virtual void Twice(double x);
};
template <class T>
struct Root {
  virtual void Inherited(T t);
};
template <class T>
struct Base : Root<T> {
  virtual void Run(T t);
  virtual Base& operator=(T t);
  static void Impl(T* t);
  struct Inner {
    static void Deep(T t);
  };
  using Self = Base<T>;
  void (*hook)(T t);
};
template <>
struct Base<bool> {
  void Run(bool t);
};
template <class T>
using Alias = Base<T>;

// classes that have nothing to do with the calls below
struct Other {
  static void Impl(int* t);
  virtual void Run(int t);
  virtual void Inherited(int t);
  static void Deep(int t);
  Other& operator=(int t);
  void push_back(int item);
};

template <class T>
struct Derived : Base<T>, Plain {
  using Parent = Base<T>;
  void Run(T t) override;
  void Twice(int x) override;
  void Call(T t, std::vector<T> items) {
    Base<T>::Run(t);
    Parent::Run(t);
    this->Base<T>::Run(t);
    this->Parent::Run(t);
    tvm::Base<T>::Run(t);
    Alias<T>::Run(t);
    Parent::template Run<T>(t);
    Base<T>::Self::Run(t);
    Base<T>::Inherited(t);
    Base<T>::operator=(t);
    Base<T>::Impl(&t);
    Base<T>::Inner::Deep(t);
    Parent::hook(t);
    Plain::Twice(t);  // one of an overload set
    this->Plain::Twice(t);
    items.push_back(t);  // of a class outside the tree
    std::vector<T>::push_back(t);
  }
};

struct Whole : Derived<int> {
  void Run(int t) override;
  void Twice(double x) override;
};

template <class T>
void Free(T t) {
  Base<T>::Impl(&t);
  T::Impl(&t);  // of whatever T is
  T::Inner::Deep(t);
}

}  // namespace tvm
