// Operators, their attributes and the nodes that call them (TVM main: tvm/ir/op.h, tvm/ir/attr_registry_map.h).
#pragma once

#include <tvm/ffi/function.h>

namespace tvm {

template <typename KeyType, typename ValueType>
class AttrRegistryMap {
 public:
  int count(const KeyType& key) const;
  const ValueType& operator[](const KeyType& key) const;
};

class Op;
template <typename ValueType>
class OpAttrMap : public AttrRegistryMap<Op, ValueType> {};

class Op : public ffi::ObjectRef {
 public:
  static const Op& Get(const ffi::String& op_name);
  template <typename ValueType>
  static OpAttrMap<ValueType> GetAttrMap(const ffi::String& attr_name) {
    return OpAttrMap<ValueType>();
  }
};

class OpRegEntry {
 public:
  static OpRegEntry& RegisterOrGet(const ffi::String& name);
  OpRegEntry& set_name() { return *this; }
  OpRegEntry& set_num_inputs(int n) { return *this; }
  template <typename ValueType>
  OpRegEntry& set_attr(const std::string& attr_name, const ValueType& value, int plevel = 10) {
    return *this;
  }
};

namespace relax {

class Call : public ffi::ObjectRef {
 public:
  Call(Op op, ffi::Array<ffi::ObjectRef> args);
};

using FInferType = ffi::TypedFunction<int(const Call& call)>;

}  // namespace relax
}  // namespace tvm

#define TVM_REGISTER_OP(OpName) \
  [[maybe_unused]] static ::tvm::OpRegEntry& TVM_FFI_STR_CONCAT(__make_Op, __COUNTER__) = \
      ::tvm::OpRegEntry::RegisterOrGet(OpName).set_name()
