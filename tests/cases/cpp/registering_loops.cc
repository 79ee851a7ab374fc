// Registrations in loops of every kind, and helpers that are generic lambdas. TVM's are over tables (target_builtin.cc);
// projects built on it loop over whatever they hold names in.
#include <small_std.h>
#include <tvm/ffi/reflection/registry.h>

namespace tvm {
using Def = ffi::reflection::GlobalDef;

int First(int x) { return x; }
int Second(int x) { return x; }
std::string Asked();
void RegisterOne(const char* name, int (*f)(int)) { Def().def(name, f); }

// one that would go on for hours: what it registers is its loop's, what follows is not
TVM_FFI_STATIC_INIT_BLOCK() {
  for (int i = 0; i < 100000000; ++i) {
    RegisterOne("often", First);
  }
}
TVM_FFI_STATIC_INIT_BLOCK() { RegisterOne("after.endless", Second); }
TVM_FFI_STATIC_INIT_BLOCK() {
  std::string doubled = "x";
  for (int i = 0; i < 1000; ++i) doubled += doubled;
  Def().def(doubled.c_str(), First);
}

// names known only at run time, many times: one row says so
TVM_FFI_STATIC_INIT_BLOCK() {
  for (int i = 0; i < 1000; ++i) {
    Def().def((Asked() + "x").c_str(), First);
  }
}

// tables of the loop itself, of a local variable, of pairs
TVM_FFI_STATIC_INIT_BLOCK() {
  for (const char* name : {"braced.a", "braced.b"}) {
    Def().def(name, First);
  }
  for (std::string name : {"string.a", "string.b"}) {
    Def().def(name.c_str(), First);
  }
  std::vector<std::string> names{"vector.a", "vector.b"};
  for (const std::string& name : names) {
    Def().def(name.c_str(), First);
  }
  std::vector<std::string> grown;
  grown.push_back("grown.a");
  grown.push_back("grown.b");
  for (const auto& name : grown) {
    Def().def(name.c_str(), First);
  }
  std::vector<std::pair<std::string, int (*)(int)>> pairs = {{"pair.a", First}, {"pair.b", Second}};
  for (const auto& pair : pairs) {
    Def().def(pair.first.c_str(), pair.second);
  }
  for (const auto& [name, f] : pairs) {
    Def().def(("bound." + name).c_str(), f);
  }
}

// loops that count otherwise
TVM_FFI_STATIC_INIT_BLOCK() {
  int i = 0;
  while (i < 2) {
    Def().def(("while." + std::to_string(i)).c_str(), First);
    i += 1;
  }
  do {
    Def().def(("do." + std::to_string(i)).c_str(), First);
    --i;
  } while (i > 0);
  for (int j = 0; j < 9; j++) {
    if (j == 1) continue;
    if (j == 3) break;
    Def().def(("jump." + std::to_string(j)).c_str(), First);
  }
}

// helpers that are lambdas, with types of their own or any
TVM_FFI_STATIC_INIT_BLOCK() {
  auto typed = [](const char* name, int (*f)(int)) { Def().def(name, f); };
  typed("lambda.typed", First);
  auto any = [](const char* name, auto f) { Def().def(name, f); };
  any("lambda.any", Second);
  auto counted = [&](auto... names) { (Def().def(names, First), ...); };
  counted("lambda.pack");
}
}  // namespace tvm
