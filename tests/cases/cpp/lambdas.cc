// Lambdas are half of TVM's functions: src/relax/transform/fuse_ops.cc (named by their variable), tvm-ffi
// src/ffi/dtype.cc:207 (called again and again), src/tirx/transform/lower_warp_memory.cc (nested), immediately invoked
// initialisers (src/runtime/thread_pool.cc), generic ones (include/tvm/node/functor.h).
#include <small_std.h>

namespace tvm {

int Visit(int node) { return node; }
int Log(int value) { return value; }

int InVariable(int x) {
  auto parse = [&](int i) { return Visit(i); };
  auto twice = [&](int i) { return parse(i) + parse(i); };
  return twice(x) + parse(x);
}

int Nested(int x) {
  auto outer = [=](int a) {
    auto inner = [=](int b) { return Visit(b); };
    return inner(a);
  };
  return outer(x);
}

template <typename F>
int PostOrderVisit(int root, F fvisit) {
  return fvisit(root);
}

int Inline(int x) {
  PostOrderVisit(x, [](int node) { return Visit(node); });
  return PostOrderVisit(x, [](int node) { return Log(node); });
}

int ImmediatelyInvoked(int x) {
  static int once = [x]() { return Visit(x); }();
  return [&x](int y) { return Log(y) + x; }(once);
}

int Generic(int x) {
  auto visit_any = [](auto value) { return Visit(value) + value.size(); };
  auto log_any = [](const auto& value) -> int { return Log(value); };
  return log_any(x);
}

int Copied(int x) {
  auto original = [](int i) { return Visit(i); };
  auto copy = original;
  const auto& reference = original;
  return copy(x) + reference(x);
}

int ThroughFunction(int x) {
  std::function<int(int)> recursive;
  recursive = [&](int i) { return i ? recursive(i - 1) : Log(i); };
  std::function<int(int)> step = [](int i) { return Visit(i); };
  return step(x) + recursive(x);
}

int (*pointer)(int) = [](int x) { return Log(x); };
int (*plus)(int) = +[](int x) { return Log(x); };
const auto at_namespace_scope = [](int x) { return Visit(x); };
int UseBoth() { return at_namespace_scope(1) + pointer(2) + plus(3); }

struct Holder {
  std::function<int(int)> on_visit = [](int x) { return Visit(x); };
  int Run() { return on_visit(1); }
};

}  // namespace tvm
