// Tables from node types to functions (TVM main: tvm/ir/node_functor.h).
#pragma once

#include <tvm/ffi/function.h>

namespace tvm {

template <typename FType>
class NodeFunctor;
template <typename R, typename... Args>
class NodeFunctor<R(const ffi::ObjectRef& n, Args...)> {
 public:
  R operator()(const ffi::ObjectRef& n, Args... args) const;
  template <typename TNode>
  NodeFunctor& set_dispatch(R (*f)(const ffi::ObjectRef& n, Args...)) {
    return *this;
  }
};

}  // namespace tvm

#define TVM_STATIC_IR_FUNCTOR(ClsName, FField) \
  [[maybe_unused]] static auto& TVM_FFI_STR_CONCAT(__make_functor, __COUNTER__) = ClsName::FField()
