// What values in braces construct: elements, fields and bases, those too that the list leaves out. libclang shows the list
// as written. In TVM: `std::vector<Stmt> seq{stmt}` (tirx/transform/tile_primitive_dispatch.cc), `ImageInfo info{}`
// (opencl_device_api.cc), `return {Expr(x), y}` of every pass that returns an Array.
// show: refs
// std: c++20
#include <small_std.h>
namespace tvm {

int Count();
struct Expr {
  Expr();
  Expr(int value);
  Expr(const Expr& other);
  virtual int Size();
};
struct Array {
  Array(std::initializer_list<Expr> values);
};
struct Span {
  Expr start;
};
struct Info : Span {
  int count = Count();
  Expr end;
  Span inner = {4};
  int size = end.Size();
};
union Slot {
  int number;
  Expr expr;
};
struct Fixed {
  Expr pair[2];
  Info info;
  Fixed() : pair{1, 2}, info{{3}} {}
};
typedef int (*Handler)(int);
struct Table {
  Handler handler;
};
int Handle(int x);
int Handle(Expr x);

void Lists(const Expr& given) {
  Array array{1, given};
  Info left_out{};
  Info some = {{1}, 2};
  Info named{.count = 3, .inner = {.start = 5}};
  Expr elements[2]{1, given};
  Expr rest[3] = {1};
  Expr nested[2][2] = {1, 2, 3, 4};
  Expr none[2];
  auto* many = new Expr[2]{1, 2};
  auto* one = new Info{{1}};
  Slot slot = {7};
  Slot other = {.expr = 7};
  Table table{Handle};
  int plain[] = {1, Count()};
}
Span Returned() { return {8}; }
Array Global = {9};

template <typename T>
T Dependent(T x) {
  Span span{1};
  T made{x, Count()};
  return {x};
}
}  // namespace tvm
