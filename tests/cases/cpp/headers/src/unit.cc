// Headers below src are claimed by the first unit that includes them: src/relax/op/op_common.h. This unit also reaches
// one through `..`, as src/runtime/vm does.
// show: includes
#include "claimed.h"

#include "deep/../deep/inner.h"

int Unit() { return Claimed(1) + Inner(); }
// The base is constructed where the constructor stands, not where its class does: arith::Analyzer, tirx::Var
Derived::Derived(int x) { Later(); }
