// What a range-for runs: `for (const auto& kv : map)` of src/ir/transform.cc calls begin() and end() of the map, and !=,
// ++ and * of its iterator, at the place of its colon. TVM's templates loop over ranges of unknown class too.
// show: refs
// std: c++20
#include "small_std.h"
namespace tvm {
struct Iterator {
  int& operator*() const;
  Iterator& operator++();
  Iterator operator++(int);
  bool operator!=(const Iterator& other) const;
};
struct Map {
  Iterator begin() const;
  Iterator end() const;
};
int Members(const Map& map) {
  int sum = 0;
  for (int value : map) sum += value;
  return sum;
}

// free begin() and end(), found by the class of the argument; a sentinel, compared by a free operator
struct List {};
struct Last {};
struct Cursor {
  int operator*() const;
  Cursor& operator++();
};
bool operator!=(const Cursor&, const Last&);
Cursor begin(const List&);
Last end(const List&);
int Free(const List& list) {
  for (int value : list) return value;
  return 0;
}

// the iterators are pointers, of a class and of an array
struct Shape {
  const int* begin() const;
  const int* end() const;
};
int Pointers(const Shape& shape) {
  int extents[2] = {1, 2};
  for (int extent : extents) return extent;
  for (int extent : shape) return extent;
  return 0;
}

// C++20: a comparison that is made of operator==, and an initialiser
struct Equal {
  int operator*() const;
  Equal& operator++();
  bool operator==(const Equal& other) const;
};
struct Rows {
  Equal begin() const;
  Equal end() const;
};
Rows MakeRows();
int Rewritten() {
  for (Rows rows = MakeRows(); int row : rows) return row;
  return 0;
}

// a range that is made for the loop, and a loop within
Map Make(int x);
void Nested() {
  for (int x : Make(1)) {
    for (int y : Make(x)) {
    }
  }
}

// in templates: a class that is known, and one that an instance knows
template <typename T>
struct Vector {
  struct iterator {
    T operator*() const;
    iterator& operator++();
    iterator operator++(int);
    bool operator!=(const iterator& other) const;
  };
  iterator begin() const;
  iterator end() const;
};
template <typename T>
int Known(const Vector<T>& values) {
  for (const T& value : values) {
  }
  return 0;
}
template <typename R>
int Unknown(const R& range) {
  for (auto value : range) {
  }
  return 0;
}
int Instance(const Map& map) { return Unknown(map); }

// begin and end that are functions, found by the argument: in its namespace, or in that of its base
template <typename T>
struct Pool {
  T* data;
};
template <typename T>
T* begin(const Pool<T>& pool);
template <typename T>
T* end(const Pool<T>& pool);
template <typename T>
struct Tree : Pool<T> {};
template <typename T>
struct Chain {};
template <typename T>
struct Step {
  T operator*() const;
  Step& operator++();
  Step operator++(int);
  bool operator!=(const Step& other) const;
};
template <typename T>
Step<T> begin(const Chain<T>& chain);
template <typename T>
Step<T> end(const Chain<T>& chain);
template <typename T>
auto begin(const Vector<T>& chain, int from);
template <typename T>
struct Nothing {};
template <typename T>
void ByArgument(const Pool<T>& pool, const Tree<T>& tree, const Chain<T>& chain, const Nothing<T>& nothing) {
  for (const T& value : pool) {
  }
  for (const T& value : tree) {
  }
  for (const T& value : chain) {
  }
  for (const T& value : nothing) {
  }
}
int InstanceByArgument(const Pool<int>& pool) { return Unknown(pool); }
template <typename T>
int OfArray() {
  T values[2];
  for (T& value : values) {
  }
  return 0;
}
}  // namespace tvm
