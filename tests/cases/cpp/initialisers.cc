// Values that libclang shows in part or not at all: of a lambda's init-captures (`[t, name = GetName()]` of for_kind.cc,
// which the function around computes), structured bindings and static members, switch statements, variable templates.
// show: refs
namespace tvm {
struct Pair {
  int first, second;
};
Pair MakePair();
int Make(int value);
int Captures(int value) {
  auto inner = [made = Make(1), &alias = value, nested = [deep = Make(2)] { return Make(deep); }, value] {
    return nested() + Make(made);
  };
  return inner();
}
int Statements(int value) {
  switch (int chosen = Make(3); chosen) {
    case 1:
      return chosen;
  }
  switch (int chosen = Make(4)) {
    default:
      break;
  }
  switch (Make(5); value) {
    default:
      break;
  }
  if (int made = Make(6); made) return made;
  if (int made = Make(7)) return made;
  while (int made = Make(8)) return made;
  auto [first, second] = MakePair();
  return first;
}
auto [left, right] = MakePair();
int sum = left + right;

struct Config {
  static inline int count = Make(9);
  static const int limit;
  static constexpr int plain = 3;
  int field = Make(10);
};
const int Config::limit = Make(11);
template <typename T>
struct Registry {
  static inline int entry = Make(12);
};
template <typename T>
int known = Make(sizeof(T));
template <typename T>
int unused = Make(13);
template <>
int known<int> = Make(14);
int Use() { return known<char>; }
}  // namespace tvm

// The names of a structured binding of what is like a tuple are made by `get<I>`, a member or found by its argument: of
// ffi::Tuple (tvm-ffi container/tuple.h), and of std::pair in each `for (const auto& [var, expr] : map)`.
namespace std {
template <typename T>
struct tuple_size;
template <unsigned long I, typename T>
struct tuple_element;
}  // namespace std
namespace tvm {
struct Tuple {
  template <unsigned long I>
  int get() const;
};
struct Other {};
template <unsigned long I>
int get(const Other& other);
struct Range {
  Tuple* begin();
  Tuple* end();
};
Tuple MakeTuple();
}  // namespace tvm
template <>
struct std::tuple_size<tvm::Tuple> {
  static constexpr int value = 2;
};
template <unsigned long I>
struct std::tuple_element<I, tvm::Tuple> {
  using type = int;
};
template <>
struct std::tuple_size<tvm::Other> {
  static constexpr int value = 1;
};
template <unsigned long I>
struct std::tuple_element<I, tvm::Other> {
  using type = int;
};
namespace tvm {
auto [one, two] = MakeTuple();
int Bindings(Range range, Other other) {
  auto [first, second] = MakeTuple();
  auto& [only] = other;
  for (auto& [left, right] : range) Make(left);
  return first + only;
}
}  // namespace tvm
