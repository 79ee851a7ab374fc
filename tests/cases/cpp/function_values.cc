// Functions as values: tables (src/runtime/vm/builtin.cc), pointers to members (set_body_method's wrappers, v0.20), results
// that are called (TVMFuncGetGlobal's loaders). What cannot be followed says through what it goes.
namespace tvm {

struct Base {
  virtual int Run(int x) { return x; }
};
int CallMember(Base& base, int (Base::*method)(int)) { return (base.*method)(1); }
int UseMember(Base& base) { return CallMember(base, &Base::Run); }

static int One(int x) { return x; }
static int Two(int x) { return x; }
static int (*const table[])(int) = {One, &Two};
struct Entry {
  const char* name;
  int (*run)(int);
};
static const Entry entries[] = {{"one", One}, {"two", [](int x) { return Two(x); }}};
int UseTable(int i) { return table[i](1) + entries[i].run(2); }

int Ternary(bool first) { return (first ? One : Two)(1); }

int (*Pick(bool first))(int) { return first ? One : Two; }
int UsePick() { return Pick(true)(1); }

template <typename Self>
struct Visitor {
  int Visit(int x) { return static_cast<Self*>(this)->VisitImpl(x); }
};
struct Concrete : Visitor<Concrete> {
  int VisitImpl(int x) { return One(x); }
};
int UseConcrete() { return Concrete().Visit(1); }

}  // namespace tvm
