// What runs before a constructor's body though nobody wrote a call: initialisers of fields, default constructors of bases.
// In TVM: `DefaultStructInfoFieldMutator default_field_mutator_{this};` in relax::ExprMutatorBase, which every mutator
// runs through implicit constructors (include/tvm/relax/expr_functor.h).
namespace tvm {

struct BlockBuilder {
  static BlockBuilder Create();
};
struct Helper {
  explicit Helper(void* owner);
};

struct MutatorBase {  // its constructor is the compiler's, and nothing names it
  Helper helper_{this};
};
struct Mutator : MutatorBase {
  explicit Mutator(int level) {}
  Mutator() : Mutator(1) {}  // delegates: the other one runs the initialisers
  BlockBuilder builder_ = BlockBuilder::Create();
};

struct Analyzer {
  Analyzer();
};
struct Pass : Analyzer {
  Pass() {}
};
struct Named : Analyzer {
  Named() : Analyzer() {}
};

// A field without an initialiser, and a base whose only constructor has a value for its parameter (ExprMutator's).
struct Builder {
  explicit Builder(int level = 0);
};
struct Detector : Builder {
  Analyzer analyzer;
  int count;
};

void Run() {
  Detector detector;
  Mutator mutator;
  Pass pass;
  Named named;
}

// All constructors are the compiler's: VarVisitor of relax/analysis.cc, whose base class has a field with an initialiser.
struct FieldVisitor {
  explicit FieldVisitor(int parent);
};
struct ImplicitVisitor {
  FieldVisitor fields{1};
};
struct ImplicitVarVisitor : ImplicitVisitor {
  int Bound() { return 1; }
};
void UseBase() { ImplicitVisitor visitor; }
int UseDerived() { return ImplicitVarVisitor().Bound(); }

// A constructor's own initialiser takes the place of the field's. A copy copies parts, and runs no initialiser, whether
// the compiler makes it or `= default` says so (ObjectRef's, tvm-ffi object.h). Of a union one member is made at most.
struct Ref {
  Ref();
  explicit Ref(int value);
  Ref(const Ref& other);
  Ref(Ref&& other);
  ~Ref();
};
int Next();
struct Counter {
  Ref ref;
  Ref given{1};
  int count = Next();
  Counter() : given(2), count(0) {}
  explicit Counter(int count) : ref(3), count(count) {}
};
struct Plain {
  Ref refs[2];
  int count = Next();
};
struct Derived : Plain {
  Ref more;
};
struct Defaulted : Analyzer {
  Ref ref;
  int count = Next();
  Defaulted() = default;
  Defaulted(const Defaulted&) = default;
  Defaulted(Defaulted&&) = default;
};
struct Fixed {
  Ref ref;
  Fixed(const Fixed& other) {}  // it makes another
};
struct Guard {  // has a destructor, so that a move copies
  Ref ref;
  ~Guard();
};
struct Holder {
  Plain plain;
  Guard guard;
  Holder() {}
};
void Copies(Derived derived, Defaulted defaulted, const Fixed& fixed, Holder holder) {
  Derived copied(derived);
  Derived moved(static_cast<Derived&&>(derived));
  Defaulted one(defaulted);
  Defaulted two(static_cast<Defaulted&&>(defaulted));
  Fixed other(fixed);
  Holder also(static_cast<Holder&&>(holder));
  Derived made;
}

union Slot {
  Ref first;
  int number = Next();
  Slot() {}
  explicit Slot(int value) : first(value) {}
};
struct Variant {
  union {
    Ref ref;
    int number = Next();
  };
  struct {
    Ref left, right;
  };
  Variant() {}
  explicit Variant(int value) : ref(value), left(value) {}
  ~Variant() {}
};

// `using Base::Base` makes the derived class's other parts too (IRMutatorWithAnalyzer's subclasses); not the base again.
struct Stage {
  Stage();
  explicit Stage(int level);
};
template <typename T>
struct Typed {
  Typed();
  explicit Typed(T level);
  Typed(int level, T other);
};
struct Inherits : Stage, Analyzer {
  using Stage::Stage;
  int count = Next();
};
struct InheritsTwice : Inherits {
  using Inherits::Inherits;
  Ref ref;
};
struct InheritsTyped : Typed<char> {
  using Typed::Typed;
  int count = Next();
};
struct InheritsAlone : Stage {
  using Stage::Stage;
};
void Inherited() {
  Inherits one(1);
  InheritsTwice two(2);
  InheritsTyped three('3'), four(4, 'x');
  InheritsAlone five(5);
  Inherits none;
}

// What the compiler declares is a function of its own, and does to the parts what is done to the whole: PassNode is a
// field's class (ir/transform.h), ObjectPtr is assigned by value (tvm-ffi object.h).
struct Entry {
  Ref ref;
};
struct Owner {
  Entry entry;
  explicit Owner(int level) {}
};
struct Assigned {
  Assigned& operator=(const Assigned& other);
  Assigned& operator=(Assigned&& other);
};
struct Pointer {
  Pointer(const Pointer& other);
  Pointer(Pointer&& other);
  Pointer& operator=(Pointer other);
};
struct Assigns : Assigned {
  Assigned parts[2];
  Pointer pointer;
};
struct Outer {
  Assigns inside;
  Outer& operator=(const Outer& other) = default;
};
template <typename T>
struct Pair {
  T first;
  Ref second;
};
void Assign(Assigns& to, Assigns& from, Outer& outer, Pair<int>& ints, Pair<char>& chars) {
  to = from;
  to = static_cast<Assigns&&>(from);
  outer = outer;
  Pair<int> copied(ints);
  Pair<char> moved(static_cast<Pair<char>&&>(chars));
}

}  // namespace tvm
