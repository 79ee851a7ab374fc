// Calls made through a macro stand at the macro's line (ICHECK, TVM_FFI_THROW, IR_EXPR_FUNCTOR_DISPATCH of
// include/tvm/tirx/expr_functor.h:159); functions that a macro defines (RELAX_REGISTER_*).
// show: refs
#define CHECK_OR_FAIL(cond) \
  if (!(cond)) tvm::Fail(#cond, __LINE__)
#define CALL(f, ...) f(__VA_ARGS__)
#define TWICE(x) (CALL(tvm::Log, x) + CALL(tvm::Log, x))
#define DEFINE_GETTER(Type, name) \
  Type get_##name() const { return name##_; }

namespace tvm {

void Fail(const char* what, int line);
int Log(int x) { return x; }

class Node {
 public:
  DEFINE_GETTER(int, size)
  DEFINE_GETTER(double, weight)

 private:
  int size_;
  double weight_;
};

int Use(const Node& node, int x) {
  CHECK_OR_FAIL(x > Log(0));
  auto nested = [&](int y) {
    CHECK_OR_FAIL(y > 1);
    return TWICE(y);
  };
  return nested(
             TWICE(x)) +
         node.get_size();
}

struct Outer {
  int First() {
    struct Local {
      int Inside() { return TWICE(1); }
    };
    return TWICE(2);
  }
};

static int at_load = TWICE(3);

}  // namespace tvm
