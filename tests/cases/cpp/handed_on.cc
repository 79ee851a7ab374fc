// What a function is given through pointers to methods, std::bind, aliases and types within a parameter.
// In TVM: `def_method("AsJSON", &TraceNode::AsJSON)`, `MutateArray(reads, std::bind(&M::VisitRegion, this, _1))`,
// FunctionObjImpl::TStorage (v0.22), `ref.as<BaseFunc>()`.
#include <small_std.h>
namespace std {
template <class T>
T&& forward(T& value);
template <class T>
T&& move(T& value);
template <class F, class Self>
struct _Bind {
  int operator()(int x);
};
template <class F, class Self>
_Bind<F, Self> bind(F f, Self self);
}  // namespace std

namespace tvm {

struct Function {
  template <class F>
  static Function FromTyped(F callable);
  template <class F>
  static Function FromPacked(F packed);
};
struct AnyView {
  template <class T>
  operator T() const;
};
template <class F>
int unpack_call(const F& f) {
  return f(AnyView(), AnyView());
}
template <class F>
Function Function::FromTyped(F callable) {
  auto call_packed = [callable = std::move(callable)](int x) -> int { return unpack_call(callable); };
  return FromPacked(std::move(call_packed));
}
template <class F>
struct FunctionObjImpl {
  using TStorage = typename std::remove_reference<F>::type;
  using TSelf = FunctionObjImpl<F>;
  explicit FunctionObjImpl(F f) : callable_(std::move(f)) {}
  static int CppCall(const void* self) { return static_cast<const TSelf*>(self)->callable_(1); }
  TStorage callable_;
};
namespace ffi {
template <class T, class... Args>
T* make_object(Args&&... args);
}
template <class F>
Function Function::FromPacked(F packed) {
  using Impl = FunctionObjImpl<F>;
  ffi::make_object<Impl>(std::forward<F>(packed));
  return Function();
}

struct Trace {
  int AsJSON(int x) const;
  int Append(int x);
};
struct Registry {
  template <class Class, class R, class... Args>
  static Function GetMethod(const char* name, R (Class::*func)(Args...)) {
    auto fwrap = [func](Class* target, Args... params) -> R { return (target->*func)(params...); };
    return Function::FromTyped(fwrap);
  }
  template <class Class, class R, class... Args>
  static Function GetMethod(const char* name, R (Class::*func)(Args...) const) {
    auto fwrap = [func](const Class* target, Args... params) -> R { return (target->*func)(params...); };
    return Function::FromTyped(fwrap);
  }
  template <class Func>
  static Function GetMethod(const char* name, Func&& func) {
    return Function::FromTyped(std::forward<Func>(func));
  }
  template <class Func>
  Registry& def_method(const char* name, Func&& func) {
    GetMethod(name, std::forward<Func>(func));
    return *this;
  }
};
void Register() {
  Registry().def_method("AsJSON", &Trace::AsJSON).def_method("Append", &Trace::Append);
}

// v0.25: what WrapFunction returns is called.
template <class Func>
Func&& Wrap(Func&& func) {
  return std::forward<Func>(func);
}
template <class Class, class R, class... Args>
auto Wrap(R (Class::*func)(Args...)) {
  return [func](Class* target, Args... params) -> R { return (target->*func)(params...); };
}
template <class Func>
Function WrapAndRegister(Func&& func) {
  return Function::FromTyped(Wrap(std::forward<Func>(func)));
}
int Plain(Trace* trace, int x);
struct Replay {
  int Step(int x);
};
void RegisterWrapped() {
  WrapAndRegister(&Replay::Step);
  WrapAndRegister(Plain);
}

struct Regions {
  template <class F>
  int Map(F fmap) const {
    return fmap(1);
  }
};
struct Lowerer {
  int VisitRegion(int region);
  int Visit(Regions regions) { return regions.Map(std::bind(&Lowerer::VisitRegion, this)); }
};

struct BaseFuncNode {
  static int RuntimeTypeIndex();
};
struct Object {
  template <class Target>
  bool IsInstance() const {
    return Target::RuntimeTypeIndex() == 1;
  }
};
struct ObjectRef {
  Object* data;
  template <class Ref>
  Ref as() const {
    using ContainerType = typename Ref::ContainerType;
    return data->IsInstance<typename Ref::ContainerType>() || data->IsInstance<ContainerType>() ? Ref() : Ref();
  }
};
struct BaseFunc : ObjectRef {
  using ContainerType = BaseFuncNode;
};
struct PrimFunc : BaseFunc {};
bool IsFunc(ObjectRef ref) {
  ref.as<PrimFunc>();
  return true;
}

// A template that calls itself with a type within its parameter.
struct End {
  static int Size();
};
struct List {
  using Next = End;
  static int Size();
};
template <class T>
int TotalSize() {
  return T::Size() + TotalSize<typename T::Next>();
}
template <>
int TotalSize<End>() {
  return 0;
}
int CountList() { return TotalSize<List>(); }

// Classes of templates that are made in templates: patterns of arith/pattern_match.h, WithGroup::Emplace.
struct AddNode {};
struct Add {
  Add(int a, int b);
};
template <class T>
struct PEqualChecker {
  bool operator()(const T& a, const T& b) { return a == b; }
};
struct PrimExpr {};
template <>
struct PEqualChecker<PrimExpr> {
  bool operator()(const PrimExpr& a, const PrimExpr& b) { return true; }
};
template <class T>
struct PVar {
  bool Match(const T& x) { return PEqualChecker<T>()(value, x); }
  T value;
};
template <class Op, class A, class B>
struct PBinary {
  PBinary(const A& a, const B& b) {}
  auto Eval() { return Op(1, 2); }
};
template <class A, class B>
PBinary<Add, A, B> operator+(const PVar<A>& a, const PVar<B>& b) {
  return PBinary<Add, A, B>(a.value, b.value);
}
template <class Context>
struct With {
  template <class... Args>
  explicit With(Args&&... args) : context(std::forward<Args>(args)...) {
    context.Enter();
  }
  Context context;
};
template <class Context>
struct WithGroup {
  template <class... Args>
  void Emplace(Args&&... args) {
    ffi::make_object<With<Context>>(std::forward<Args>(args)...);
  }
};

struct IRModuleNode {
  IRModuleNode();
};
struct TypeInfo {
  int (*creator)(void** result);
};
struct ReflectionDefBase {
  template <class T>
  static int ObjectCreatorDefault(void** result) {
    *result = ffi::make_object<T>();
    return 0;
  }
};
template <class Class>
struct ObjectDef : ReflectionDefBase {
  explicit ObjectDef(TypeInfo* info) { info->creator = ObjectCreatorDefault<Class>; }
};
void RegisterModule(TypeInfo* info) {
  ObjectDef<IRModuleNode> def(info);
}
template <class T>
struct DefContext {
  DefContext(int self, T object) { object.Enter(); }
};
template <class T>
void WithDef(T object) {
  DefContext(1, object);
}
struct ConstraintContext {
  explicit ConstraintContext(int value);
  void Enter();
};
void Prove(WithGroup<ConstraintContext> group) {
  group.Emplace(1);
}

}  // namespace tvm
