// Members of a type that only an instantiation knows lead to the methods of that name.
// In TVM: `TargetType::RuntimeTypeIndex()` in Object::IsInstance, `self->VisitExpr_(static_cast<const OP*>(n), ..)` in
// the vtables of functors (include/tvm/tirx/expr_functor.h), `std::forward<Args>(args)` everywhere.
namespace std {
template <class T>
T&& forward(T& value);
template <class T>
T&& forward(T&& value, int);
}  // namespace std

namespace tvm {

struct AddNode {
  static int RuntimeTypeIndex();
};
struct MulNode {
  static int RuntimeTypeIndex();
};

template <class Target>
bool IsInstance(int index) {
  return index == Target::RuntimeTypeIndex();
}

template <class R, class... Args>
struct Functor {
  virtual R Visit_(const AddNode* node, Args... args);
  virtual R Visit_(const MulNode* node, Args... args);
  R Dispatch(const void* node, Args... args) {
    auto add = [](const void* n, Functor* self, Args... rest) {
      return self->Visit_(static_cast<const AddNode*>(n), std::forward<Args>(rest)...);
    };
    Visit_(static_cast<const MulNode*>(node), std::forward<Args>(args)...);  // an overload set
    return add(node, this, std::forward<Args>(args)...);
  }
};
struct Printer : Functor<int, bool> {
  int Visit_(const AddNode* node, bool deep) override;
};

template <class Container>
int Walk(const Container& container) {
  int nothing = container.NobodyHasThis();
  return container->template Cast<int>(1) + nothing;
}
struct Any {
  template <class T>
  T Cast(int value) const;
};

// In TVM: IR_EXPR_FUNCTOR_DISPATCH, and `static FType vtable = InitVTable(); return vtable(n, this, ..);`
#define DISPATCH(OP) \
  table.Set([](const void* n, Visitor* self) { return self->Visit_(static_cast<const OP*>(n)); })

template <class Function>
struct Table {
  void Set(Function function);
  int operator()(const void* node, void* self) const;
};
template <class R>
struct Visitor {
  virtual R Visit_(const AddNode* node);
  virtual R Visit_(const MulNode* node);
  static Table<R (*)(const void*, Visitor*)> Init() {
    Table<R (*)(const void*, Visitor*)> table;
    DISPATCH(AddNode);
    DISPATCH(MulNode);
    return table;
  }
  R Visit(const void* node) {
    static Table<R (*)(const void*, Visitor*)> vtable = Init();
    return vtable(node, this);
  }
};
struct Counter : Visitor<int> {
  int Visit_(const MulNode* node) override;
};

template <class T>
struct Ptr {
  explicit Ptr(T* pointer);
};
template <class T>
Ptr<T> Wrap(T* pointer) {
  return Ptr<T>(pointer);
}

// constructors that take as many arguments as the template gives
struct Made {
  Made();
  explicit Made(int x);
  Made(int x, int y);
};
template <class T>
T MakeDefault() {
  T local;
  return T();
}
template <class T>
T MakeOf(int x) {
  return T(x);
}
template <class T, class... Args>
T MakeAny(Args... args) {
  return T(args...);
}
void UseMade() {
  MakeDefault<Made>();
  MakeOf<Made>(1);
  MakeAny<Made>(1, 2);
}

}  // namespace tvm
