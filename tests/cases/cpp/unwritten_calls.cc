// Calls that nobody writes where they run: the values of parameters that a call leaves out, and the ends of temporaries.
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

}  // namespace tvm
