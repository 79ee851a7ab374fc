// Two files of one base name with functions of one name: src/s_tir/meta_schedule/schedule/{cuda,cpu}/winograd.cc both
// have a static ScheduleDataPack; a query for one must not find the other's callers.
namespace tvm {

// a line more than the other file has, to tell their rows apart below
static int ScheduleDataPack(int x) { return x + 1; }
static int shared_counter = ScheduleDataPack(0);

namespace {
struct Local {
  int Pack() { return ScheduleDataPack(2); }
};
auto pack = [](int x) { return ScheduleDataPack(x); };
}  // namespace

int Apply_cuda() { return ScheduleDataPack(1) + Local().Pack() + pack(3) + shared_counter; }

}  // namespace tvm
