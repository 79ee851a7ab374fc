// Operands that are not evaluated: `decltype(body())` of include/tvm/ir/scope_stack.h, sizeof, noexcept, typeid of what
// is not polymorphic, requirements. What stands in them is used, and never called.
// show: refs
// std: c++20
namespace std {
struct type_info {
  const char* name() const;
};
}  // namespace std
namespace tvm {
struct Plain {
  int Size() const;
};
struct Node {
  virtual ~Node();
};
Plain MakePlain(int value);
Node& FindNode(int value);
Node MakeNode(int value);
int Make(int value);
template <typename T>
struct Box {
  T value;
};
int Operands() {
  int size = sizeof(Make(1)) + sizeof MakePlain(2).Size() + alignof(decltype(Make(3)));
  bool quiet = noexcept(Make(4));
  decltype(Make(5)) value = Make(6);
  Box<decltype(Make(7) + 1)> box{Make(8)};
  using Size = decltype(MakePlain(9).Size());
  int extents[sizeof(Make(10))] = {Make(11)};
  return sizeof(new Plain()) + size;
}
void Types() {
  typeid(MakePlain(12)).name();
  typeid(FindNode(13)).name();
  typeid(MakeNode(14)).name();
}
decltype(Make(15)) global = Make(16);
template <typename F>
auto Run(F body) -> decltype(body(Make(17))) {
  return body(sizeof(body(1)));
}
template <typename T>
concept Sized = requires(T value) { value.Size(); Make(value); };
}  // namespace tvm
