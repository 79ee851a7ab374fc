// Names for types, constraints and template constants: include/tvm/ffi/container/container_details.h
// (storage_enabled_v), tvm-ffi's use_default_type_traits_v, TVM main's C++20.
// std: c++20
// show: refs
template <typename T>
struct Vector {
  template <typename U>
  using Rebound = Vector<U>;
};
template <typename K>
using Short = Vector<K>;
typedef Vector<int> Ints;
using Chars = Vector<char>;

Short<int> short_ints;
Vector<int>::Rebound<char> rebound;
Ints ints;
Chars chars;

template <typename T>
concept Addable = sizeof(T) < 8;
template <Addable T>
T Add(T a) {
  return a + a;
}
int Three(Addable auto x) { return Add(x); }

template <typename T>
constexpr bool enabled_v = sizeof(T) > 1;
template <>
constexpr bool enabled_v<int> = false;
namespace {
template <typename T>
int hidden_v = 2;
}

template <typename T>
bool Dependent() {
  if constexpr (enabled_v<T>) return true;
  return enabled_v<T*>;
}
bool Use() { return enabled_v<char> || enabled_v<int> || hidden_v<int>; }
