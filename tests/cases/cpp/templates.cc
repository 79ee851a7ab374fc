// Templates: a call that depends on a parameter has candidates, not a callee (include/tvm/node/functor.h); members of
// an instantiation are the template's (include/tvm/runtime/container/array.h); tvm::tirx's explicit specialisations
// (include/tvm/topi/reduction.h, src/target/llvm/codegen_llvm.cc).
// show: refs
namespace tvm {

int Visit(int node) { return node; }
int Visit(double node, int depth) { return depth; }
int Log(int x) { return x; }
int Log(double x) { return 0; }

template <typename T>
class Array {
 public:
  using value_type = T;
  static const int kInitSize = 4;
  enum Order { kAscending };
  Array() : size_(0) {}
  explicit Array(T first) : size_(1) { Push(first); }
  void Push(const T& item);
  template <typename F>
  Array Map(F fmap) const {
    Array result;
    result.Push(fmap(data_[0]));
    return result;
  }
  T data_[4];
  int size_;
};

template <typename T>
void Array<T>::Push(const T& item) {
  data_[size_++] = item;
}

template <>
void Array<bool>::Push(const bool& item) {
  size_ = 1;
}

template <typename T>
class Array<T*> {
 public:
  void Push(T* item) { Log(1); }
};

int UseArray(Array<int> a, Array<double> b) {
  a.Push(1);
  b.Push(2.0);
  Array<bool> flags;
  flags.Push(true);
  Array<int*> pointers;
  pointers.Push(nullptr);
  // fields, typedefs and constants of an instantiation are the template's too
  Array<int>::value_type first = a.data_[0];
  Array<int>::Order order = Array<int>::kAscending;
  a.Map([](int x) { return Log(x); });
  return a.size_ + b.size_ + Array<double>::kInitSize + first;
}

template <typename Node, typename F>
int Walk(const Node& node, F f) {
  int depth = Visit(node);
  f(node);
  node.Accept(Log);
  return depth + Visit(node, depth) + node.Children().size() + Log(3);
}

template <typename T>
T Zero() {
  return T();
}
template <>
int Zero<int>() {
  return Log(0);
}

int UseZero() { return Zero<int>() + int(Zero<double>()); }

template <typename T>
struct Base {
  void Inherited() {}
};
template <typename T>
struct Derived : public Base<T> {
  void Run() { this->Inherited(); }
};
struct Concrete : public Derived<int> {
  void Go() {
    Run();
    Inherited();
  }
};

}  // namespace tvm
