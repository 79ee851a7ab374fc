// A virtual call through an ObjectRef: `sch->Split(..)` of src/s_tir/schedule/traced_schedule.cc goes through
// `operator->`, whose result is an alias of a pointer; the overrider below the pointed-to class may run.
namespace tvm {
struct ScheduleNode {
  virtual ~ScheduleNode();
  virtual int Split(int factor) = 0;
};
struct Schedule {
  using Pointer = ScheduleNode*;
  Pointer operator->() const;
};
struct ConcreteScheduleNode : ScheduleNode {
  int Split(int factor) override { return factor; }
};
int Tile(Schedule sch) { return sch->Split(4); }
}  // namespace tvm
