// Modules, functions and what makes passes of them (TVM main: tvm/ir/transform.h, tvm/relax/transform.h).
#pragma once

#include <tvm/ffi/function.h>

namespace tvm {

class IRModule : public ffi::ObjectRef {
 public:
  IRModule Copy() const;
};

namespace transform {

class PassContext {
 public:
  static PassContext Current();
  template <typename T>
  T GetConfig(const char* key, T otherwise) const {
    return otherwise;
  }
};

class Pass : public ffi::ObjectRef {
 public:
  IRModule operator()(IRModule mod) const;
};

Pass CreateModulePass(std::function<IRModule(IRModule, PassContext)> pass_func, int opt_level, ffi::String name,
                      ffi::Array<ffi::String> required, bool traceable = false);

class Sequential : public Pass {
 public:
  Sequential(ffi::Array<Pass> passes, ffi::String name = "sequential");
};

}  // namespace transform

namespace relax {

class Function : public ffi::ObjectRef {};

namespace transform {
using tvm::transform::CreateModulePass;
using tvm::transform::Pass;
using tvm::transform::PassContext;

Pass CreateFunctionPass(std::function<Function(Function, IRModule, PassContext)> pass_func, int opt_level,
                        ffi::String name, ffi::Array<ffi::String> required);
}  // namespace transform

}  // namespace relax
}  // namespace tvm
