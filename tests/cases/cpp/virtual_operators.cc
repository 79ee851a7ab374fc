// Virtual operators, called as operators: `functor(n, args)` of TVM's visitors, comparisons, conversions. They are
// dispatched below the static type as calls by `.` and `->` are; so is a method that is called through a pointer.
namespace tvm {
struct Value {
  virtual int operator()(int x);
  virtual Value& operator+=(int x);
  virtual bool operator==(const Value& other) const;
  virtual operator int() const;
  virtual int operator[](int i);
  virtual Value& operator++();
  virtual Value* operator->();
  virtual int Visit(int x);
  int field;
};
struct Small : Value {
  int operator()(int x) override;
  Small& operator+=(int x) override;
  bool operator==(const Value& other) const override;
  operator int() const override;
  int operator[](int i) override;
  Small& operator++() override;
  Value* operator->() override;
  int Visit(int x) override;
};
struct Other : Value {
  int operator()(int x) override;
  int Visit(int x) override;
};
int Operators(Value& value, const Value& other) {
  value(1);
  value += 2;
  bool same = value == other;
  int converted = value;
  if (value) value[0];
  ++value;
  return value->field;
}
int Below(Small& small, Value* value) {
  small(1);
  (*value)(2);
  value->operator()(3);
  value->Value::operator()(4);
  return static_cast<int>(small);
}
struct Caller : Other {
  int Self() { return (*this)(1); }
};
int Pointer(Value* value, Other& other) {
  int (Value::*method)(int) = &Value::Visit;
  (other.*method)(1);
  return (value->*method)(2);
}
}  // namespace tvm
