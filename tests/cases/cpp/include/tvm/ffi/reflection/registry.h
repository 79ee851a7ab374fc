// GlobalDef (v0.21 on), and the block that runs when the library is loaded: the shape of v0.22 on, or that of v0.21,
// which takes the code as the macro's argument, when a case defines CASE_OF_V0_21.
#pragma once

#include <tvm/ffi/function.h>

namespace tvm {
namespace ffi {
namespace reflection {

class GlobalDef {
 public:
  template <typename Func, typename... Extra>
  GlobalDef& def(const char* name, Func&& func, Extra&&... extra) {
    RegisterFunc(name, Function::FromTyped(func, std::string(name)));
    return *this;
  }
  template <typename Func, typename... Extra>
  GlobalDef& def_packed(const char* name, Func func, Extra&&... extra) {
    RegisterFunc(name, Function::FromPacked(func));
    return *this;
  }
  template <typename Func, typename... Extra>
  GlobalDef& def_method(const char* name, Func&& func, Extra&&... extra) {
    return *this;
  }

 private:
  void RegisterFunc(const char* name, Function func);
};

class AttachFieldFlag {
 public:
  static AttachFieldFlag SEqHashIgnore();
};

template <typename... Args>
struct init {};

template <typename Class>
class ObjectDef {
 public:
  template <typename... Extra>
  explicit ObjectDef(Extra&&... extra) {}
  template <typename T, typename Base, typename... Extra>
  ObjectDef& def_ro(const char* name, T Base::*field, Extra&&... extra) {
    return *this;
  }
  template <typename T, typename Base, typename... Extra>
  ObjectDef& def_rw(const char* name, T Base::*field, Extra&&... extra) {
    return *this;
  }
  template <typename Func, typename... Extra>
  ObjectDef& def(const char* name, Func&& func, Extra&&... extra) {
    return *this;
  }
  template <typename... Args, typename... Extra>
  ObjectDef& def(init<Args...> constructor, Extra&&... extra) {
    return *this;
  }
  template <typename Func, typename... Extra>
  ObjectDef& def_static(const char* name, Func&& func, Extra&&... extra) {
    return *this;
  }
};

namespace type_attr {
inline constexpr const char* kRepr = "__ffi_repr__";
}

template <typename Class>
class TypeAttrDef {
 public:
  template <typename Func>
  TypeAttrDef& def(const char* name, Func&& func) {
    return *this;
  }
};

}  // namespace reflection
}  // namespace ffi
}  // namespace tvm

#ifdef CASE_OF_V0_21
#define TVM_FFI_STATIC_INIT_BLOCK_VAR_DEF __attribute__((unused)) static inline int __##TVMFFIStaticInitReg
#define TVM_FFI_STATIC_INIT_BLOCK(Body) \
  TVM_FFI_STR_CONCAT(TVM_FFI_STATIC_INIT_BLOCK_VAR_DEF, __COUNTER__) = []() { Body return 0; }()
#else
#define TVM_FFI_STATIC_INIT_BLOCK_DEF_(FnName) __attribute__((constructor)) static void FnName()
#define TVM_FFI_STATIC_INIT_BLOCK() \
  TVM_FFI_STATIC_INIT_BLOCK_DEF_(TVM_FFI_STR_CONCAT(__TVMFFIStaticInitFunc, __COUNTER__))
#endif
