// What a lambda captures, and its own locals: src/relax/transform/fuse_ops.cc ([&]), src/runtime/thread_pool.cc
// ([this, worker = std::move(worker)]), structured bindings everywhere (for (const auto& [gv, func] : mod->functions)).
// show: refs locals
namespace tvm {

struct Pair {
  int first, second;
};
int Log(int x);

struct Pool {
  int size;
  int Run(int count, Pair pair) {
    auto [left, right] = pair;
    auto work = [this, count, &pair, moved = right](auto value, int depth) {
      namespace inner = tvm;
      return inner::Log(size + count + pair.first + moved + depth);
    };
    return work(left, 1);
  }
};

}  // namespace tvm
