// Calls that nobody writes where they run: the values of parameters that a call leaves out, and the ends of temporaries.
// A function does not run the values of its own parameters, declared or defined.
// In TVM: `Call(.., Span span = Span())` (tirx/expr.h), `LogFatal(__FILE__, __LINE__).stream() << ..` (runtime/logging.h).
namespace tvm {

struct Span {
  Span();
};
struct Stream {
  Stream& operator<<(int x);
};
class LogFatal {
 public:
  explicit LogFatal(int line);
  ~LogFatal() { Finalize(); }
  Stream& stream();
  void Finalize();
};
int Now();
struct Call {
  explicit Call(int op, Span span = Span(), int at = Now());
  template <class T>
  int As(T x, int at = Now()) {
    return x;
  }
};

int Make(int op) {
  if (op < 0) LogFatal(1).stream() << op;
  Call with_default(op);
  Call with_span(op, Span(), 3);
  return with_span.As(1) + with_span.As(1, 2);
}

int Later();
int Twice(int x);
using Hook = int (*)();
int Declared(int op, int at = Twice(Now()), Hook hook = Later);
int Defined(Hook hook = Later, Call call = Call(1)) { return hook(); }
int WithLambda(Hook hook = [] { return Later(); }) { return hook(); }
struct Base {
  virtual int Run(int at = Now());
};
struct Made {
  explicit Made(int op, int at = Now());
};
template <class T>
T* make(int op) {
  return new T(op);
}
int UseDefaults(Base& base) {
  return Declared(1) + Declared(1, 2) + Declared(1, 2, Later) + Defined() + WithLambda() + base.Run() + base.Run(1);
}
template <class T>
struct Overloaded {
  int Run(T t, int at = Now());
  int Run(int op, T t, int at, int with = Later());
  int Use(T t) { return Run(t) + Run(t, 1) + Run(1, t, 2); }
};

// Arrays and unions end with the function as well, where somebody wrote a destructor.
union Slot {
  int number;
  LogFatal log;
  Slot() : number(0) {}
  ~Slot() {}
};
union Plain {
  int number;
};
void Ends(LogFatal (&given)[2]) {
  LogFatal several[2] = {LogFatal(1), LogFatal(2)};
  LogFatal (&other)[2] = given;
  LogFatal* pointers[2];
  Slot slot;
  Slot slots[2][3];
  Plain plain;
}

}  // namespace tvm
