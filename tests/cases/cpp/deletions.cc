// delete and new: `delete impl_` of src/arith/rewrite_simplify.cc runs the destructor of the class behind the pointer,
// `tptr->T::~T()` of tvm-ffi's memory.h that of what a template is given. A class may have its own operator new.
// show: refs
#include "small_std.h"
void* operator new(std::size_t size, void* place) noexcept;
namespace tvm {
struct Impl {
  ~Impl();
};
struct Module {
  virtual ~Module();
};
struct GraphModule : Module {
  ~GraphModule() override;
};
struct SourceModule : Module {};
struct Derived : Impl {
  int x;
};
struct Plain {
  int x;
};
void Destroy(Impl* impl, Module* module, GraphModule* graph, SourceModule* source, Derived* derived, Plain* plain) {
  delete impl;
  delete module;
  delete graph;
  delete source;
  delete derived;
  delete plain;
  module->~Module();
  module->Module::~Module();
}

struct Arena;
struct Node {
  void* operator new(std::size_t size);
  void* operator new(std::size_t size, Arena* arena);
  void* operator new(std::size_t size, int alignment);
  void* operator new[](std::size_t size);
  void operator delete(void* node);
  void operator delete(void* node, std::size_t size);
  void operator delete[](void* nodes);
};
struct Leaf : Node {
  Leaf();
  ~Leaf();
};
void Allocate(Arena* arena, void* place) {
  Leaf* leaf = new Leaf();
  Leaf* in_arena = new (arena) Leaf();
  Leaf* leaves = new Leaf[4];
  Leaf* global = ::new Leaf();
  delete leaf;
  delete[] leaves;
  ::delete global;
  Plain* plain = new (place) Plain();
}

template <typename T>
struct Handler {
  static void Delete(T* object) { object->T::~T(); }
};
template <typename T>
void Dispose(T* object) {
  delete object;
}
void Instances(Impl* impl, Plain* plain) {
  Handler<Leaf>::Delete(nullptr);
  Dispose(impl);
  Dispose(plain);
}
template <typename T>
struct Box {
  ~Box();
};
template <typename T>
void DisposeBox(Box<T>* box) {
  delete box;
}
}  // namespace tvm
