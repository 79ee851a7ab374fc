"""Schedule a matrix multiplication: tile its loops, cache its output and inputs, and generate code.

    python examples/schedule.py                            the loops before and after, and the first lines of C
    xref trace -- python examples/schedule.py              and what each scheduling primitive called

Needs TVM with `tvm.te`. The scheduling module is `tvm.s_tir` since TVM 0.25, `tvm.tir` before.

What a reader will see in the trace:

- each primitive is one FFI call of a method of the C++ class `Schedule`: `ScheduleSplit`, `ScheduleReorder`,
  `ScheduleCacheRead`, `ScheduleCacheWrite`, `ScheduleComputeAt`, ... (with the namespace `s_tir.schedule` or
  `tir.schedule`). The Python method above it only prepares arguments;
- every primitive is checked and replaces a part of the loop tree at once: no pass runs until `tvm.compile`;
- `tvm.compile` then lowers the scheduled function by a pipeline of passes, and `target.build.*` writes the code.
"""

from __future__ import annotations

from typing import Any

import tvm
from tvm import te

N, TILE = 64, 8


def matmul() -> Any:
    """C = A B for matrices of N by N, as a function of loops."""
    a = te.placeholder((N, N), name="A")
    b = te.placeholder((N, N), name="B")
    k = te.reduce_axis((0, N), name="k")
    c = te.compute((N, N), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    return te.create_prim_func([a, b, c])


def schedule(function: Any) -> Any:
    """Tile both loops of the output by TILE; compute a tile in a cache, with the part of A that it reads beside it."""
    module = getattr(tvm, "s_tir", None) or tvm.tir
    sch = module.Schedule(tvm.IRModule({"main": function}))
    find = getattr(sch, "get_sblock", None) or sch.get_block
    block = find("C")
    i, j, k = sch.get_loops(block)
    outer_i, inner_i = sch.split(i, [None, TILE])
    outer_j, inner_j = sch.split(j, [None, TILE])
    outer_k, inner_k = sch.split(k, [None, TILE])
    sch.reorder(outer_i, outer_j, outer_k, inner_k, inner_i, inner_j)
    written = sch.cache_write(block, 0, "global")
    sch.reverse_compute_at(written, outer_j)
    read = sch.cache_read(block, 0, "global")
    sch.compute_at(read, outer_k)
    sch.unroll(inner_j)
    return sch.mod


def main() -> None:
    """Schedule and compile."""
    function = matmul()
    print(function)
    module = schedule(function)
    print(module)
    target = "llvm" if tvm.get_global_func("target.build.llvm", allow_missing=True) is not None else "c"
    built = tvm.compile(module, target=target)
    print(f"compiled for {target} into a {type(built).__name__}")


if __name__ == "__main__":
    main()
