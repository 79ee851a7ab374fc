// Object types: include/tvm/runtime/timer.h:68 (TVM_FFI_DECLARE_OBJECT_INFO, v0.22 on); v0.18 include/tvm/ir/expr.h
// (a member _type_key written by hand beside TVM_DECLARE_FINAL_OBJECT_INFO); TVM_DECLARE_ATTRS of v0.14 to v0.21.
#include <tvm/ffi/object.h>

namespace tvm {

class TimerNode : public ffi::Object {
 public:
  virtual void Start() = 0;
  static constexpr const bool _type_mutable = true;
  TVM_FFI_DECLARE_OBJECT_INFO("runtime.TimerNode", TimerNode, ffi::Object);
};

class CPUTimerNode final : public TimerNode {
 public:
  void Start() final {}
  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("runtime.CPUTimerNode", CPUTimerNode, TimerNode);
};

#define TVM_DECLARE_FINAL_OBJECT_INFO(TypeName, ParentType) \
  static const int _type_child_slots = 0;                   \
  using _parent_of_##TypeName = ParentType

class OldVarNode : public ffi::Object {
 public:
  static constexpr const char* _type_key = "relay.Var";
  TVM_DECLARE_FINAL_OBJECT_INFO(OldVarNode, ffi::Object);
};

#define TVM_DECLARE_ATTRS(ClassName, TypeKey)          \
  static constexpr const char* _type_key = TypeKey;    \
  template <typename FVisit>                           \
  void VisitNonDefaultAttrs(FVisit& fvisit)

struct ConvAttrs : public ffi::Object {
  int groups;
  TVM_DECLARE_ATTRS(ConvAttrs, "relay.attrs.ConvAttrs") { fvisit("groups", &groups); }
};

}  // namespace tvm
