// TVM v0.22 on registers so, 1,087 times in main: src/relax/transform/fold_constant.cc:440 (def),
// src/runtime/cpu_device_api.cc:160 (def_packed), src/s_tir/schedule/schedule.cc:178 (def_method),
// src/tirx/ir/layout/layout.cc:34 (a named builder).
#include <tvm/ffi/reflection/registry.h>

namespace tvm {
namespace tirx {

class ScheduleNode : public ffi::Object {
 public:
  virtual int Seed(int at) { return at; }
  int Seed(int from, int to) { return from + to; }
};

class Layout {
 public:
  explicit Layout(int size) {}
  static int Size(const Layout& layout) { return 0; }
};

int Fold(int x) { return x; }
int Unfold(int x) { return x; }
double Unfold(double x) { return x; }

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = tvm::ffi::reflection;
  refl::GlobalDef()
      .def("tirx.Fold", Fold)
      .def("tirx.FoldAddress", &Fold, "with documentation")
      .def_packed("tirx.FoldPacked",
                  [](ffi::PackedArgs args, ffi::Any* rv) {
                    Fold(1);
                  })
      .def_method("tirx.ScheduleSeed", static_cast<int (ScheduleNode::*)(int)>(&ScheduleNode::Seed))
      .def("tirx.UnfoldDouble", (double (*)(double))Unfold)
      .def("tirx.LayoutSize", &Layout::Size);
}

TVM_FFI_STATIC_INIT_BLOCK() {
  auto def = ffi::reflection::GlobalDef();
  def.def("tirx.LayoutOf", [](int size) { return Layout(size); });
  auto fold_twice = [](int x) { return Fold(Fold(x)); };
  def.def("tirx.FoldTwice", fold_twice);
}

// A function that is registered, and passed on in the same file: both must be known.
int Apply(int (*f)(int), int x) { return f(x); }
int FoldByValue(int x) { return Apply(Fold, x); }

}  // namespace tirx
}  // namespace tvm
