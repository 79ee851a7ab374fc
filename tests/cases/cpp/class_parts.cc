// The rest of what classes hold: src/s_tir/transform/inject_virtual_thread.cc (using IRMutatorWithAnalyzer::
// IRMutatorWithAnalyzer), include/tvm/runtime/c_backend_api.h (extern "C"), unions and anonymous structs (tvm-ffi
// c_api.h), friends, enums, deduction guides.
namespace tvm {

struct Base {
  explicit Base(int x);
  Base(int x, int y);
  void Run();
  void Run(int x);
};
using BaseAlias = Base;

struct Inherits : BaseAlias {
  using BaseAlias::BaseAlias;
  using Base::Run;
};
struct InheritsTwice : Inherits {
  using Inherits::Inherits;
};

void UseInherited() {
  Inherits one(3);
  InheritsTwice two(3, 4);
  one.Run();
  one.Run(2);
}

template <typename T>
struct Holder {
  T x;
  Holder(T x) : x(x) {}
};
template <typename T>
Holder(T*) -> Holder<int>;
Holder deduced(3);

union Value {
  int as_int;
  struct {
    int low, high;
  };
};
int UseUnion(Value v) { return v.as_int + v.low; }

enum class Color { kRed, kGreen = 3 };
enum { kPlain };
Color color = Color::kRed;

extern "C" {
int TVMBackendCall(int x);
}
extern "C" int TVMBackendDefined(int x) { return TVMBackendCall(x); }

inline namespace v1 {
int Versioned() { return kPlain; }
}  // namespace v1

class Node {
  friend int Reveal(Node node) { return node.secret_; }
  friend struct Base;
  int secret_ = Versioned();
  static constexpr int kDefault = 7;

 public:
  Node(int x = kDefault) : Node(x, Versioned()) {}
  Node(int x, int y);
  virtual ~Node() = default;
  bool operator==(const Node& other) const { return secret_ == other.secret_; }
  explicit operator int() const { return secret_; }
};
int UseNode() { return Reveal(Node()) + int(Node(1)) + (Node(2) == Node(3)); }

}  // namespace tvm

// A destructor that nothing here runs (SessionObj in include/tvm/runtime/disco/session.h): `= default` defines it.
struct SessionObj {
  virtual ~SessionObj() = default;
  virtual int NumWorkers() = 0;
};
