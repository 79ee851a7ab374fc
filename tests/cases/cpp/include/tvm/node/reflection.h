// How a class visited its fields to v0.20 (include/tvm/node/reflection.h, include/tvm/ir/attrs.h).
#pragma once

#include <tvm/ffi/object.h>

namespace tvm {

class AttrVisitor {
 public:
  virtual void Visit(const char* key, int* value) = 0;
  virtual void Visit(const char* key, double* value) = 0;
  virtual void Visit(const char* key, ffi::ObjectRef* value) = 0;
};

}  // namespace tvm

#define TVM_DECLARE_FINAL_OBJECT_INFO(TypeName, ParentType) \
  static const int _type_child_slots = 0;                   \
  using _parent_of_##TypeName = ParentType

#define TVM_DECLARE_ATTRS(ClassName, TypeKey)       \
  static constexpr const char* _type_key = TypeKey; \
  template <typename FVisit>                        \
  void _tvm_VisitAttrs(FVisit& _tvm_fvisit)

#define TVM_ATTR_FIELD(FieldName) _tvm_fvisit(#FieldName, &FieldName)
