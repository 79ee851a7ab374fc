// Passes: src/relax/transform/fuse_tir.cc:1271 (the lambda in a variable, two functions of one name),
// src/relax/transform/fold_constant.cc:435, v0.18 src/relay/backend/te_compiler.cc (Sequential).
#include <tvm/ffi/reflection/registry.h>
#include <tvm/ir/transform.h>

namespace tvm {
namespace relax {

IRModule FuseTIR(IRModule mod) { return mod.Copy(); }

class ConstantFolder {
 public:
  static Function Fold(Function func, IRModule mod);
};

namespace transform {

Pass FuseTIR() {
  auto pass_func = [=](IRModule m, PassContext pc) { return relax::FuseTIR(m); };
  auto inner_pass = CreateModulePass(pass_func, 0, "FuseTIRInner", {});
  return tvm::transform::Sequential({inner_pass, CreateModulePass(pass_func, 1, "Again", {"FuseTIRInner"})}, "FuseTIR");
}

Pass FoldConstant() {
  return CreateFunctionPass([=](Function f, IRModule m, PassContext pc) { return ConstantFolder::Fold(f, m); }, 0,
                            "FoldConstant", {});
}

Pass Unnamed(ffi::Array<Pass> passes) { return tvm::transform::Sequential(passes); }

Pass NamedByCaller(ffi::String name) {
  return tvm::transform::CreateModulePass([](IRModule m, PassContext pc) { return m; }, 0, name, {});
}

TVM_FFI_STATIC_INIT_BLOCK() {
  namespace refl = tvm::ffi::reflection;
  refl::GlobalDef().def("relax.transform.FuseTIR", FuseTIR).def("relax.transform.FoldConstant", FoldConstant);
}

}  // namespace transform
}  // namespace relax
}  // namespace tvm
