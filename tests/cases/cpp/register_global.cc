// TVM up to v0.20 registers functions so: v0.18.0 src/node/repr_printer.cc:90, src/relay/ir/op_strategy.cc,
// src/node/object_path.cc:48, src/runtime/vulkan/vulkan_wrapped_func.cc.
#include <tvm/ffi/object.h>
#include <tvm/runtime/registry.h>

namespace tvm {
using runtime::TVMArgs;
using runtime::TVMRetValue;

class PathNode : public ffi::Object {
 public:
  int Length() const;
};

class Path : public ffi::ObjectRef {
 public:
  int Depth(int limit);
};

int Add(int a, int b) { return a + b; }
static int AddThree(int a, int b, int c) { return Add(Add(a, b), c); }

TVM_REGISTER_GLOBAL("node.Add").set_body_typed(Add);

TVM_REGISTER_GLOBAL("node.AddThree").set_body_typed(&AddThree);

TVM_REGISTER_GLOBAL("node.Print").set_body([](TVMArgs args, TVMRetValue* rv) { *rv = Add(1, 2); });

TVM_REGISTER_GLOBAL("node.Sub").set_body_typed([](int a, int b) -> int {
  return Add(a, -b);
});

TVM_REGISTER_GLOBAL("node.PathDepth").set_body_method(&Path::Depth);
TVM_REGISTER_GLOBAL("node.PathLength").set_body_method<Path>(&PathNode::Length);

// the name on a line of its own, the body chained two lines below
TVM_REGISTER_GLOBAL(
    "node.FarAway")
    .set_body_typed(Add);

// an opener whose body is set elsewhere, or never
TVM_REGISTER_GLOBAL("node.NoBody");

void RegisterLater(const std::string& suffix) {
  runtime::Registry::Register("node.Later").set_body_typed(Add);
  runtime::Registry::Register("node.suffixed." + suffix).set_body_typed(Add);
}

// names that a loop or a helper puts together
static bool registered = []() {
  for (const char* name : {"loop.add", "loop.plus"}) {
    runtime::Registry::Register(name).set_body_typed(Add);
  }
  return true;
}();
template <typename F>
bool RegisterAs(std::string name, F f) {
  runtime::Registry::Register("helper." + name, true).set_body_typed(f);
  return true;
}
static bool helped = RegisterAs("three", AddThree);

}  // namespace tvm
