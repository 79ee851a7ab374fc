// Objective-C++ holds Metal's runtime (3 .mm files: src/runtime/metal/metal_device_api.mm).
#include <tvm/ffi/reflection/registry.h>

namespace tvm {

int GetDevices() { return 1; }

int InPool(int x) {
  @autoreleasepool {
    return GetDevices() + x;
  }
}

TVM_FFI_STATIC_INIT_BLOCK() { ffi::reflection::GlobalDef().def("metal.devices", GetDevices); }

}  // namespace tvm
