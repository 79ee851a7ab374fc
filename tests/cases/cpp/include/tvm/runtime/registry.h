// Registration as it was up to v0.20: TVM_REGISTER_GLOBAL defines a variable, initialised with a chain of calls
// (TVM v0.20.0, include/tvm/runtime/registry.h).
#pragma once

#include <small_std.h>

namespace tvm {
namespace runtime {

class TVMArgs {};
class TVMRetValue {
 public:
  TVMRetValue& operator=(int value);
};

class PackedFunc {
 public:
  PackedFunc();
  template <typename TCallable>
  explicit PackedFunc(TCallable callable) {}
  template <typename... Args>
  TVMRetValue operator()(Args&&... args) const {
    return TVMRetValue();
  }
};

template <typename FType>
class TypedPackedFunc;
template <typename R, typename... Args>
class TypedPackedFunc<R(Args...)> {
 public:
  template <typename FLambda>
  TypedPackedFunc(FLambda callable) {}
  R operator()(Args... args) const;
  const PackedFunc& packed() const;
};

class Registry {
 public:
  Registry& set_body(PackedFunc f);
  template <typename TCallable>
  Registry& set_body(TCallable f) {
    return set_body(PackedFunc(f));
  }
  template <typename FLambda>
  Registry& set_body_typed(FLambda f) {
    return set_body(PackedFunc(f));
  }
  template <typename T, typename R, typename... Args>
  Registry& set_body_method(R (T::*f)(Args...)) {
    return *this;
  }
  template <typename TObjectRef, typename TNode, typename R, typename... Args>
  Registry& set_body_method(R (TNode::*f)(Args...) const) {
    return *this;
  }

  static Registry& Register(const std::string& name, bool can_override = false);
  static const PackedFunc* Get(const std::string& name);
};

}  // namespace runtime
}  // namespace tvm

#define TVM_STR_CONCAT_(a, b) a##b
#define TVM_STR_CONCAT(a, b) TVM_STR_CONCAT_(a, b)
#define TVM_FUNC_REG_VAR_DEF static __attribute__((unused)) ::tvm::runtime::Registry& __mk_##TVM
#define TVM_REGISTER_GLOBAL(OpName) \
  TVM_STR_CONCAT(TVM_FUNC_REG_VAR_DEF, __COUNTER__) = ::tvm::runtime::Registry::Register(OpName)
