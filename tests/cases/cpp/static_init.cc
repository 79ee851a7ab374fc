// Code that runs when the library is loaded: src/runtime/registry.cc, TVM_REGISTER_OP's variables
// (include/tvm/ir/op.h), src/target/tag.cc; constants run nothing.
#include <tvm/ffi/reflection/registry.h>

namespace tvm {

int Compute(int x) { return x; }
struct Registrar {
  explicit Registrar(const char* name);
  Registrar& describe(const char* text);
};

static int table = Compute(3);
const int plain = 42;
static Registrar by_constructor("by.constructor");
static Registrar& chained = Registrar("op.chained").describe("a chain");
static int* address = &table;
static int (*function)(int) = Compute;

namespace {
Registrar hidden("hidden");
}  // namespace

class Holder {
 public:
  static int member;
  static Registrar* Global() {
    static Registrar inst("op.inst");
    return &inst;
  }
};
int Holder::member = Compute(4);

// what a macro makes has no name that a reader wrote: it is called by the string in it
#define TVM_REGISTER_OP(Name) static __attribute__((unused)) Registrar& __make_Op = Registrar(Name)
TVM_REGISTER_OP("relax.add").describe("add");

// a string that is no name, and what a lambda says, are not what the code registers
struct Table {
  Table& set_dispatch(int (*print)(const char* text));
};
Table& Printers(const char* separator);
#define PRINTS static __attribute__((unused)) Table& __make_printer
PRINTS = Printers(" [").set_dispatch([](const char* text) { return Compute(text == "InternalError"); });
TVM_FFI_STATIC_INIT_BLOCK() {
  auto infer = [](int x) { return Registrar("said.when.it.runs"), x; };
  Registrar("named.below").describe(infer(1) ? "a" : "b");
}

TVM_FFI_STATIC_INIT_BLOCK() { Compute(1); }
TVM_FFI_STATIC_INIT_BLOCK() { Holder::Global(); }

}  // namespace tvm
