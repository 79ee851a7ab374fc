// Objects and references of tvm-ffi, and the macro that declares a type key (v0.22 on: tvm-ffi, object.h).
#pragma once

#include <small_std.h>

namespace tvm {
namespace ffi {

class Object {};

class ObjectRef {
 public:
  ObjectRef();
  const Object* get() const;
};

template <typename T>
class Array : public ObjectRef {
 public:
  Array();
  Array(std::initializer_list<T> items);
  const T* begin() const;
  const T* end() const;
  T operator[](int i) const;
  void push_back(const T& item);
  int size() const { return 0; }
};

class String : public ObjectRef {
 public:
  String(const char* text);
  String(const std::string& text);
  operator std::string() const;
};
String operator+(const String& left, const String& right);

}  // namespace ffi
}  // namespace tvm

#define TVM_FFI_DECLARE_OBJECT_INFO(TypeKey, TypeName, ParentType) \
  static constexpr const char* _type_key = TypeKey;                \
  static int RuntimeTypeIndex() { return _type_index; }            \
  static constexpr int _type_index = 7;                            \
  using _type_parent [[maybe_unused]] = ParentType

#define TVM_FFI_DECLARE_OBJECT_INFO_FINAL(TypeKey, TypeName, ParentType) \
  static constexpr bool _type_final [[maybe_unused]] = true;             \
  TVM_FFI_DECLARE_OBJECT_INFO(TypeKey, TypeName, ParentType)
