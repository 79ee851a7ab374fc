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

// What is captured by copy is copied in the function around: `[=](IRModule mod, PassContext pc)` of every pass.
struct Ref {
  Ref();
  Ref(int value);
  Ref(const Ref& other);
  ~Ref();
  Ref Self() {
    return [*this] { return *this; }();
  }
};
void Use(const Ref& ref);
template <typename F>
void Give(F f);
void Copies(Ref one, Ref& other) {
  Ref several[2];
  auto named = [one, &other] { Use(one); };
  auto all = [=] { Use(one), Use(other); };
  auto array = [several, made = Ref(1), same = one] { Use(several[0]); };
  auto nested = [one] { return [one] { Use(one); }; };
  auto none = [&] { Use(one); };
  Give([other] { Use(other); });
}
template <typename T>
void CopiesInTemplate(T unsure, Ref sure) {
  auto named = [unsure, sure] { Use(sure); };
  auto all = [=] { Use(sure); };
}

}  // namespace tvm
