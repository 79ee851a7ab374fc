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

}  // namespace tvm
