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

// A TypedFunction that is kept and called later; the C ABI's cell of pointers (tvm-ffi function.h, FunctionObj).
template <typename Signature>
class TypedFunction;
template <typename R, typename... Args>
class TypedFunction<R(Args...)> {
 public:
  template <typename F>
  TypedFunction(F f) {}
  R operator()(Args... args) const;
};
class Rewriter {
 public:
  explicit Rewriter(TypedFunction<int(int)> rewrite) : rewrite_(rewrite) {}
  int Run() { return rewrite_(1); }

 private:
  TypedFunction<int(int)> rewrite_;
};
int Rewrite(TypedFunction<int(int)> rewrite) { return Rewriter(rewrite).Run(); }
int UseRewrite() { return Rewrite([](int x) { return Two(x); }) + Rewriter(One).Run(); }
void Log(void (*sink)(int), int x) { sink(x); }
void Silent(int x);
void UseLog() { Log(Silent, 1); }

struct Cell {
  void* call;
};
struct FunctionObj : Cell {
  using FCall = void (*)(FunctionObj*);
  void Call() {
    FCall pointer = this->call ? reinterpret_cast<FCall>(this->call) : Fallback;
    (*pointer)(this);
  }
  static void Fallback(FunctionObj* self);
};
template <typename T>
struct FunctionObjImpl : FunctionObj {
  FunctionObjImpl() { this->call = reinterpret_cast<void*>(CppCall); }
  static void CppCall(FunctionObj* self);
};

// what a function returns is what its result runs: of each return, of overriders, of what is handed on
using Op = int (*)(int);
Op Get() { return One; }
Op Declared();
Op Handed(Op op) { return op; }
struct Source {
  virtual Op Find() { return Get(); }
};
struct OtherSource : Source {
  Op Find() override { return Two; }
};
TypedFunction<int(int)> Wrapped() { return [](int x) { return One(x); }; }
int Apply(Op op) { return op(1); }
int UseResults(Source& source) {
  auto one = Get();
  one(1);
  (*Get())(2);
  Pick(false)(3);
  Declared()(4);
  Handed(Two)(5);
  source.Find()(6);
  auto wrapped = Wrapped();
  wrapped(7);
  (source.Find)()(8);
  return Apply(Get());
}
template <typename T>
int UseResultsInTemplate(T t) {
  auto one = Get();
  return one(t) + (*Get())(1);
}

// in brackets: a call as any other
int UseBrackets(bool first, Base& base) { return (One)(1) + (*One)(2) + (&One)(3) + (base.Run)(4); }

// what a declaration gives: to a variable of a namespace, to fields of which each constructor sets them
static Op kept = Two;
struct Fields {
  Fields() {}
  int Run() { return kept(1) + op(2) + typed(3) + lambda(4) + declared(5); }
  Op op = One;
  TypedFunction<int(int)> typed = Two;
  TypedFunction<int(int)> lambda = [](int x) { return One(x); };
  Op declared;
};
extern Op elsewhere;
int UseElsewhere() { return elsewhere(1); }

}  // namespace tvm
