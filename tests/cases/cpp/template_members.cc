// Templates whose parts stand apart: declared before they are defined (include/tvm/node/functor.h), members out of line
// (include/tvm/ffi/container/map_base.h), member templates, specialised members (src/runtime/vm/attn_utils.h).
template <typename T>
class Later;
template <typename T>
class Never;
Later<int>* early;
Never<int>* never;

template <typename T>
class Later {
 public:
  void Run();
  template <typename U>
  void Any(U u);
  static int count;
  struct Inner {
    void Deep();
  };
};
template <typename T>
void Later<T>::Run() {}
template <typename T>
template <typename U>
void Later<T>::Any(U u) {}
template <typename T>
int Later<T>::count = 3;
template <typename T>
void Later<T>::Inner::Deep() {}

template <typename T>
T Declared(T t);

int UseEarly() {
  Later<int> later;
  later.Run();
  later.Any(1);
  Later<int>::Inner inner;
  inner.Deep();
  Declared(1);
  return Later<int>::count;
}

template <typename T>
T Declared(T t) {
  return t;
}

// specialised: symbols of their own
template <>
template <typename U>
void Later<bool>::Any(U u) {}
template <>
template <>
void Later<bool>::Any(int u) {}

void UseSpecialised() {
  Later<bool> later;
  later.Any(1);
  later.Any(1.0);
  later.Run();
}
