// What a template does with its arguments is done on behalf of its callers; what it calls are the functions it is given.
// In TVM: `expr.as<IntImmNode>()`, `With<ConstraintContext>`, `array.Map([](..) {..})`, `Function::FromTyped(f)`.
#include <small_std.h>
namespace std {
template <class T>
T&& forward(T& value);
template <class T>
struct decay {
  using type = T;
};
template <class T>
using decay_t = typename decay<T>::type;
}  // namespace std

namespace tvm {

struct IntImmNode {
  static int RuntimeTypeIndex();
};
struct CallNode {
  static int RuntimeTypeIndex();
};
struct Object {
  int index;
  template <class Target>
  bool IsInstance() const {
    return index == Target::RuntimeTypeIndex();
  }
};
struct ObjectRef {
  Object* data;
  template <class T>
  const T* as() const {
    return data->IsInstance<T>() ? (const T*)data : nullptr;
  }
};
bool IsInt(ObjectRef ref) {
  return ref.as<IntImmNode>() != nullptr;
}

template <class Context>
struct With {
  template <class... Args>
  explicit With(Args&&... args) : context(std::forward<Args>(args)...) {
    context.Enter();
  }
  ~With() { context.Exit(); }
  Context context;
};
struct ConstraintContext {
  explicit ConstraintContext(int value);
  void Enter();
  void Exit();
};
void Prove() {
  With<ConstraintContext> scope(1);
}

template <class T>
struct Array {
  template <class F>
  Array Map(F fmap) const {
    return MapHelper(data, fmap);
  }
  template <class F>
  static Array MapHelper(T item, F fmap) {
    fmap(item);
    return Array();
  }
  T data;
};
ObjectRef Same(ObjectRef ref);
struct Renew {
  ObjectRef operator()(ObjectRef ref) const;
};
void Visit(Array<ObjectRef> all) {
  all.Map([](ObjectRef ref) { return Same(ref); });
  auto named = [](ObjectRef ref) { return ref; };
  all.Map(named);
  all.Map(Same);
  all.Map(Renew());
}

namespace ffi {
template <class T, class... Args>
T* make_object(Args&&... args) {
  return new T(std::forward<Args>(args)...);
}
}  // namespace ffi
template <class Callable>
struct FunctionImpl {
  using Self = FunctionImpl<Callable>;
  template <class... Args>
  explicit FunctionImpl(Args&&... args) : callable(std::forward<Args>(args)...) {}
  static void Call(void* self, int value) { static_cast<Self*>(self)->callable(value); }
  Callable callable;
};
template <class F>
int unpack_call(const F& function, int value) {
  return function(value);
}
struct Function {
  template <class Callable>
  static Function FromTyped(Callable&& callable) {
    auto packed = [callable = std::forward<Callable>(callable)](int value) { return unpack_call(callable, value); };
    return FromPacked(std::move(packed));
  }
  template <class Packed>
  static Function FromPacked(Packed&& packed) {
    using Implementation = FunctionImpl<std::decay_t<Packed>>;
    ffi::make_object<Implementation>(std::forward<Packed>(packed));
    return Function();
  }
};
struct Definitions {
  template <class Func>
  void add(const char* name, Func&& func) {
    Function::FromTyped(std::forward<Func>(func));
  }
};
int AddOne(int value);
void Register() {
  Definitions().add("AddOne", AddOne);
  Definitions().add("AddTwo", [](int value) { return AddOne(value) + 1; });
}

// `CreateRV<SBlockRV>` (concrete_schedule.h), `ObjectCreatorDefault` (tvm-ffi reflection/registry.h)
struct SBlockRV {
  SBlockRV();
  SBlockRV(const SBlockRV& other);
};
template <class T>
T CreateRV() {
  T rv;
  return rv;
}
template <class Class>
Class* Create() {
  return ffi::make_object<Class>();
}
void Schedule() {
  CreateRV<SBlockRV>();
  Create<IntImmNode>();
}

}  // namespace tvm
