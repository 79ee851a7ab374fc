// FFI functions whose names no literal of the registering call spells, and functions that the call does not name: what
// a macro, a loop, a helper or an object of some class decides. TVM has few; projects built on it have more.
#include <small_std.h>
#include <tvm/ffi/reflection/registry.h>

namespace tvm {
namespace refl = ffi::reflection;
using Def = refl::GlobalDef;
using ffi::Function;

int First(int x) { return x; }
int Second(int x) { return x; }

// a helper, and one that is a template: the call of the helper is the registration
void Register(const char* name, int (*f)(int)) { Def().def(name, f); }
template <typename F>
void RegisterAny(const char* name, F f) {
  Def().def(name, f);
}
TVM_FFI_STATIC_INIT_BLOCK() {
  Register("helper.first", First);
  RegisterAny("helper.second", Second);
}

// an object whose constructor registers
struct Registrar {
  Registrar(const char* name, int (*f)(int)) { Def().def(name, f); }
};
static Registrar registrar("constructor.first", First);

// once for each type
template <typename T>
struct Name;
template <>
struct Name<int> {
  static constexpr const char* value = "type.int";
};
template <>
struct Name<float> {
  static constexpr const char* value = "type.float";
};
template <typename T>
T Identity(T x) {
  return x;
}
template <typename T>
void RegisterType() {
  Def().def(Name<T>::value, Identity<T>);
}
TVM_FFI_STATIC_INIT_BLOCK() {
  RegisterType<int>();
  RegisterType<float>();
}

// a loop over a table
struct Row {
  const char* name;
  int (*f)(int);
};
static const Row kRows[] = {
    {"row.first", First},
    {"row.second", Second},
};
TVM_FFI_STATIC_INIT_BLOCK() {
  for (const Row& row : kRows) {
    Def().def(row.name, row.f);
  }
}

// variables and objects that hold the function
struct Adder {
  int operator()(int x) const { return x + 1; }
};
static Adder adder;
TVM_FFI_STATIC_INIT_BLOCK() {
  int (*pointer)(int) = &First;
  int (*changed)(int) = &First;
  changed = Second;
  std::function<int(int)> function = Second;
  Def()
      .def("held.by_pointer", pointer)
      .def("held.by_one_that_changes", changed)
      .def("held.by_function", function)
      .def("object", adder)
      .def("temporary", Adder());
}

// look-ups: a string that grows, a table
void LookUp(std::string kind, int which) {
  std::string grown = "grown.";
  grown += kind;
  Function::GetGlobal(grown);
  static const char* table[] = {"table.a", "table.b"};
  Function::GetGlobal(table[which]);
}

// what this parse leaves out is in some build
#ifdef CASE_WITH_VENDOR
TVM_FFI_STATIC_INIT_BLOCK() {
  Def().def("left_out.alias", First);
  auto def = Def();
  def.def("left_out.variable", First);
}
#endif
#if 0
TVM_FFI_STATIC_INIT_BLOCK() { refl::GlobalDef().def("never", First); }
#endif
}  // namespace tvm
