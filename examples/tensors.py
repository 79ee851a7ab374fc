"""Hand tensors to TVM and take them back: which of them are copied, and which are the same memory.

    python examples/tensors.py                             what it prints are addresses of the tensors' data
    xref trace -- python examples/tensors.py               the same, and what crossed the FFI at each call site

Needs TVM and numpy; PyTorch is used when it is there.

What a reader will see in the trace:

- `from_dlpack`: a tensor of numpy (or PyTorch) becomes one of TVM by DLPack, a struct with a pointer in it. The memory
  is the same, whatever its size;
- `to_dlpack`: the way back, `numpy.from_dlpack` of TVM's tensor, is the same memory again;
- `runtime.TVMTensorCopyFromBytes`, in `tvm.runtime.tensor`: numpy data is copied into memory that TVM allocated
  (`runtime.TVMTensorAllocWithScope`, or a name like it: a tensor was "made"), so the addresses are different;
- a Python function that became one of tvm_ffi (`TVMFFIFunctionCreate`) got the very address of the tensor that it was
  called with, and gave it back: a call carries a pointer to the tensor, no copy of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm
import tvm_ffi


def address(tensor: Any) -> int:
    """Where the data of a tensor begins. It is read by DLPack, so that every kind of tensor has one."""
    return int(np.from_dlpack(tensor).ctypes.data)


def copied(array: np.ndarray) -> Any:
    """`array` in memory that TVM allocated. The function has had another name up to TVM 0.22."""
    make = getattr(tvm.runtime, "tensor", None) or tvm.nd.array
    return make(array)


def told(what: str, before: int, after: int) -> None:
    """Print whether two tensors are one piece of memory."""
    print(f"{what}: {'the same memory' if before == after else 'a copy'}")


def main() -> None:
    """Send one array there and back, in each of the ways."""
    array = np.arange(1 << 12, dtype="float32")
    shared = tvm_ffi.from_dlpack(array)
    told("numpy to TVM, by DLPack", array.ctypes.data, address(shared))
    back = np.from_dlpack(shared)
    told("TVM to numpy, by DLPack", address(shared), back.ctypes.data)
    told("numpy to TVM, by tvm.runtime.tensor", array.ctypes.data, address(copied(array)))
    echo = tvm_ffi.convert(lambda tensor: tensor)
    told("through an FFI function and back", address(shared), address(echo(shared)))
    array[0] = 42
    print(f"a change of the array is seen through TVM's tensor: {bool(back[0] == 42)}")
    try:
        import torch
    except ImportError:
        print("PyTorch is not there: left out")
        return
    tensor = torch.arange(16, dtype=torch.float32)
    told("PyTorch to TVM, by DLPack", tensor.data_ptr(), address(tvm_ffi.from_dlpack(tensor)))


if __name__ == "__main__":
    main()
