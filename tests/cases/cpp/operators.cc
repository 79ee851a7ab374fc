// Calls without a name: operators, constructors, conversions, range-for (include/tvm/tirx/op.h, the implicit
// constructors of every ObjectRef, `for (const auto& x : array)` everywhere). Not in libclang's tree, and so not here:
// destructors, and the end() of a range-for.
namespace tvm {

struct Expr {
  Expr(int value) : value(value) {}
  explicit operator bool() const { return value != 0; }
  Expr& operator+=(const Expr& other);
  Expr operator[](int i) const { return *this; }
  int operator()(int x) const { return x; }
  Expr* operator->() { return this; }
  int value = 0;
};
Expr operator+(Expr a, Expr b) { return Expr(a.value + b.value); }
bool operator<(const Expr& a, const Expr& b) { return a.value < b.value; }

struct Plain {
  Expr member{1};
  int untouched;
};

struct Range {
  Expr* begin();
  Expr* end();
};

struct Iterator {
  Expr operator*();
  Iterator& operator++();
  bool operator!=(const Iterator& other) const;
};
struct Pairs {
  Iterator begin() const;
  Iterator end() const;
};

struct Guard {
  explicit Guard(int level);
  ~Guard();
};

int Use(Expr a, Expr b, Range range, const Pairs& pairs) {
  Expr sum = a + b + 3;
  sum += a;
  if (sum) return sum(1) + sum[0].value;
  for (const Expr& each : range) sum = each;
  // each element is a pair: the parts are locals, not calls
  for (const auto& [bound] : pairs) sum.value += bound;
  Guard guard(1);
  Plain plain{a};
  Plain copied = plain;
  sum->value++;
  plain.untouched = sum->value;
  Expr* heap = new Expr(plain.untouched);
  return a < b;
}

}  // namespace tvm
