// Instructions of schedules: src/s_tir/schedule/primitive/loop_transformation.cc, SplitTraits. The traits inherit from a
// template what is registered; what a reader looks for is the method of their own that it hands the arguments to.
namespace tvm {
namespace s_tir {

class InstructionKindRegEntry {
 public:
  static InstructionKindRegEntry& RegisterOrGet(const char* name);
  InstructionKindRegEntry& set_apply_to_schedule(int (*apply)(int));
  InstructionKindRegEntry& set_as_python(int (*show)(int));
};
class InstructionKind {
 public:
  static InstructionKind Get(const char* name);
};

template <typename Traits>
struct UnpackedInstTraits {
  static int ApplyToSchedule(int x) { return Traits::UnpackedApplyToSchedule(x); }
  static int AsPython(int x) { return x; }
};
struct SplitTraits : public UnpackedInstTraits<SplitTraits> {
  static int UnpackedApplyToSchedule(int x) { return x + 1; }
};

#define TVM_REGISTER_INST_KIND_TRAITS(Name, Traits)                                                \
  static InstructionKindRegEntry& entry = InstructionKindRegEntry::RegisterOrGet(Name)             \
                                              .set_apply_to_schedule(Traits::ApplyToSchedule)      \
                                              .set_as_python(Traits::AsPython)
TVM_REGISTER_INST_KIND_TRAITS("Split", SplitTraits);

void Replay() { InstructionKind::Get("Split"); }

}  // namespace s_tir
}  // namespace tvm
