// Functions of tvm-ffi: the global table, and v0.21's TVM_FFI_REGISTER_GLOBAL (TVM v0.21.0, ffi/include/tvm/ffi/).
#pragma once

#include <tvm/ffi/object.h>

#define TVM_FFI_STR_CONCAT_(a, b) a##b
#define TVM_FFI_STR_CONCAT(a, b) TVM_FFI_STR_CONCAT_(a, b)

namespace tvm {
namespace ffi {

template <typename T>
class Optional {
 public:
  bool has_value() const;
  T value() const;
  T& operator*();
  explicit operator bool() const;
};

class Any {};
class AnyView {};
class PackedArgs {};

class Function : public ObjectRef {
 public:
  class Registry;

  template <typename F>
  static Function FromPacked(F callable) {
    return Function();
  }
  template <typename F>
  static Function FromTyped(F callable, std::string name) {
    return Function();
  }
  static Optional<Function> GetGlobal(std::string name);
  static Function GetGlobalRequired(std::string name);
  static void SetGlobal(const char* name, Function func, bool override = false);
  template <typename... Args>
  Any operator()(Args&&... args) const {
    return Any();
  }
};

template <typename FType>
class TypedFunction;
template <typename R, typename... Args>
class TypedFunction<R(Args...)> {
 public:
  template <typename FLambda>
  TypedFunction(FLambda callable) {}
  R operator()(Args... args) const;
};

class Function::Registry {
 public:
  explicit Registry(const char* name) : name_(name) {}
  template <typename F>
  Registry& set_body_packed(F callable) {
    return Register(Function::FromPacked(callable));
  }
  template <typename F>
  Registry& set_body_typed(F callable) {
    return Register(Function::FromTyped(callable, name_));
  }
  template <typename T, typename R, typename... Args>
  Registry& set_body_method(R (T::*f)(Args...) const) {
    return *this;
  }

 protected:
  Registry& Register(Function f) {
    Function::SetGlobal(name_, f);
    return *this;
  }
  const char* name_;
};

}  // namespace ffi
}  // namespace tvm

#define TVM_FFI_FUNC_REG_VAR_DEF \
  __attribute__((unused)) static inline ::tvm::ffi::Function::Registry& __##TVMFFIFuncReg
#define TVM_FFI_REGISTER_GLOBAL(OpName) \
  TVM_FFI_STR_CONCAT(TVM_FFI_FUNC_REG_VAR_DEF, __COUNTER__) = ::tvm::ffi::Function::Registry(OpName)
