// Calls of what nothing declares, since a header is missing: `cudaGetDeviceCount(&count)` of cuda_device_api.cc without
// CUDA. Clang keeps the name of some, and drops others with the statement or the function around them.
#include <vendor/not_installed.h>

#define CHECK_CALL(expr)                           \
  do {                                             \
    auto status = (expr);                          \
    if (status != 0) {                             \
      Report(vendorName(status), vendorText(status)); \
    }                                              \
  } while (0)

namespace tvm {
int Known(int value);
int Count(int value) {
  vendorCount(value);
  auto count = vendorMake(Known(2));
  int twice = vendorMake(3) + vendorMake(4);
  CHECK_CALL(vendorSet(value));
  return vendorCount(twice);
}
int Dropped(int value) {
  vendor::Run(value);
  auto made = vendor::Make(Known(value));
  device->Open(Known(1), [](int x) { return Known(x); });
  for (auto x : vendor::List()) {
    Known(x);
  }
  if (vendor::IsOpen(value)) Known(2);
  vendor::Handle handle(value);
  return Known(unknown_value);
}
void vendor::Listener::Call() { Known(3); }
int global = vendor::Start(5);
vendor::Value Declared(int value);
struct Module {
  vendor::Value Get(int value) { return Known(value); }
  int field = vendorMake(6);
  void Member(Module* other) { other->missing(1); }
};
template <typename T>
void Template(T value) {
  vendorCount(value);
  value.Open(1);
}
}  // namespace tvm
