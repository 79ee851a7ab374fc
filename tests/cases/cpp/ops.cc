// Operators: src/relax/op/nn/convolution.cc (a helper takes the operator's name), src/relax/op/op_common.h (macros that
// glue names), src/backend/cuda/op/target_builtin.cc (a table and a loop), src/relax/ir/block_builder.cc (who reads).
#include <tvm/ffi/reflection/registry.h>
#include <tvm/ir/op.h>

namespace tvm {
namespace relax {

int InferTypeConv(const Call& call) { return 1; }
int InferTypeUnary(const Call& call) { return 2; }

inline Call MakeConv(ffi::ObjectRef data, std::string op_name) {
  const Op& op = Op::Get(op_name);
  return Call(op, {data});
}
Call conv2d(ffi::ObjectRef data) { return MakeConv(data, /*op_name=*/"relax.nn.conv2d"); }

#define REGISTER_UNARY_OP(OpName)                            \
  Call OpName(ffi::ObjectRef x) {                            \
    static const Op& op = Op::Get("relax." #OpName);         \
    return Call(op, {x});                                    \
  }                                                          \
  TVM_REGISTER_OP("relax." #OpName).set_attr<FInferType>("FInferType", InferTypeUnary)

TVM_REGISTER_OP("relax.nn.conv2d")
    .set_num_inputs(2)
    .set_attr<FInferType>("FInferType", InferTypeConv)
    .set_attr<bool>("FPurity", true);
REGISTER_UNARY_OP(exp);
TVM_REGISTER_OP("relax.exp").set_attr<FInferType>("dist.FInferType", [](const Call& call) { return 3; });

bool IsConv(const Op& op) {
  static const Op& conv = Op::Get("relax.nn.conv2d");
  return &op == &conv;
}

class Normalizer {
 public:
  int Infer(const Call& call, const Op& op) { return infer_[op](call); }
  int Legalize(const Call& call, const Op& op) {
    static const auto& map = Op::GetAttrMap<FInferType>("dist.FInferType");
    return map.count(op) ? map[op](call) : 0;
  }

 private:
  OpAttrMap<FInferType> infer_ = Op::GetAttrMap<FInferType>("FInferType");
};

struct Intrinsic {
  const char* name;
  const char* home;
  int effect;
};
#define INTRINSIC(Name, Home) {#Name, #Home, 1}
const Intrinsic kIntrinsics[] = {
    INTRINSIC(cuda_add, cuda),
    INTRINSIC(fence, ptx),
};

void RegisterOne(const Intrinsic& entry) {
  std::string name(entry.name);
  std::string prefix = std::string(entry.home) + "_";
  if (name.rfind(prefix, 0) == 0) {
    name = name.substr(prefix.size());
  }
  auto add = [&](const std::string& full) {
    ffi::String printer(std::string(entry.home) + "." + "x");
    OpRegEntry::RegisterOrGet(full).set_name().set_attr<ffi::String>("TScriptPrinterName", printer);
  };
  add("tirx." + std::string(entry.home) + "." + name);
}

void RegisterAll() {
  static bool registered = false;
  if (registered) return;
  registered = true;
  for (const auto& entry : kIntrinsics) {
    RegisterOne(entry);
  }
}

TVM_FFI_STATIC_INIT_BLOCK() {
  RegisterAll();
  ffi::reflection::GlobalDef().def("ir.RegisterOp", [](ffi::String name) { OpRegEntry::RegisterOrGet(name); });
}

}  // namespace relax
}  // namespace tvm

namespace missing {
TVM_REGISTER_OP("tirx.sqrt").set_attr<int>("llvm.FLowerIntrinsic", Dispatch<::llvm::Intrinsic::sqrt, 1>);

// src/backend/hexagon/codegen/llvm/intrin_rule_hexagon.cc:28
#define REGISTER_QHL_OP(INTRIN, NUM_SIGN)                                                        \
  TVM_REGISTER_OP("tirx." #INTRIN)                                                               \
      .set_attr<int>("hexagon.FLowerIntrinsic",                                                  \
                     Dispatch<wrapper_##INTRIN, ::llvm::Intrinsic::INTRIN, NUM_SIGN>);

void RegisterRules() {
  TVM_REGISTER_OP("tirx.fma").set_attr<int>("hexagon.FLowerIntrinsic", Dispatch<::llvm::Intrinsic::fma, 3>);
  REGISTER_QHL_OP(ceil, 1)

  REGISTER_QHL_OP(floor, 1)
}
}
