// Names that no text search finds: glued by macros (src/topi/broadcast.cc:58 TOPI_DEF_BCAST_OP, src/tirx/op/op.cc:1328
// DEF_MAKE_BINARY_OP, RELAX_REGISTER_*_OP), joined literals, constants (src/runtime/device_api.cc:207).
#include <tvm/ffi/reflection/registry.h>

namespace tvm {
namespace symbol {
constexpr const char* tvm_set_device = "__tvm_set_device";
}  // namespace symbol

static const char* const kPlainConstant = "runtime.PlainConstant";
const char* mutable_name = "runtime.Mutable";

int AddImpl(int a, int b) { return a + b; }
int MulImpl(int a, int b) { return a * b; }
int SetDevice(int id) { return id; }

#define RELAX_REGISTER_BINARY(OpName)                                                        \
  int OpName(int a, int b) { return OpName##Impl(a, b); }                                    \
  TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::GlobalDef().def("relax.op." #OpName, OpName); }

RELAX_REGISTER_BINARY(Add)
RELAX_REGISTER_BINARY(Mul)

#define TOPI_DEF_BCAST_OP(OpName, Op) def_packed(OpName, [](ffi::PackedArgs args, ffi::Any* rv) { Op(1, 2); })

TVM_FFI_STATIC_INIT_BLOCK() {
  ffi::reflection::GlobalDef()
      .TOPI_DEF_BCAST_OP("topi.add", AddImpl)
      .TOPI_DEF_BCAST_OP("topi.multiply", MulImpl);
}

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = ffi::reflection;
  refl::GlobalDef()
      .def("runtime."
           "JoinedLiterals",
           SetDevice)
      .def(symbol::tvm_set_device, SetDevice)
      .def(kPlainConstant, SetDevice)
      .def(mutable_name, SetDevice)
      .def("runtime.with \"quotes\" and \\ and \xc3\xa9", SetDevice);
}

}  // namespace tvm
