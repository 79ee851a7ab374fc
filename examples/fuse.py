"""Run FuseOps and FuseTIR alone, on a module of three operators, and print the module after each.

    python examples/fuse.py                                what the two passes do
    xref trace --ir -- python examples/fuse.py             and how; then `xref run --ir SEQ` shows a pass as a diff
    xref trace --native -- python examples/fuse.py         and which C++ functions of fuse_ops.cc and fuse_tir.cc ran

Needs TVM with `tvm.relax`.

What a reader will see in the trace:

- four passes one after another, each on its own: LegalizeOps gives every operator a loop nest, AnnotateTIROpPattern
  says of each what kind it is (elementwise, broadcast, ...), FuseOps puts operators that may be fused into one relax
  function with the attribute `Primitive`, FuseTIR makes one loop nest of each such function;
- `relax.transform.FuseOps` and `relax.transform.FuseTIR` only make a pass: the work is inside `transform.RunPass`,
  which has all of the time;
- C++ calls back into Python for LegalizeOps, whose rules are Python functions; for the other passes it never does;
- with --native: `FuseOps` calls `GraphCreator::Create` and `OperatorFusor::Transform`; `FuseTIR` makes a
  `FusedTIRConstructor` for each group.
"""

from __future__ import annotations

import tvm
from tvm import relax


def build() -> tvm.IRModule:
    """add, multiply, relu, one after another, on a vector of 16."""
    builder = relax.BlockBuilder()
    # What describes a tensor has another name since TVM 0.26.
    tensor = getattr(relax, "TensorStructInfo", None) or relax.TensorType
    x = relax.Var("x", tensor((16,), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit(relax.op.add(x, relax.const(1.0, "float32")))
            y = builder.emit(relax.op.multiply(y, relax.const(2.0, "float32")))
            y = builder.emit_output(relax.op.nn.relu(y))
        builder.emit_func_output(y)
    return builder.get()


def main() -> None:
    """Run the passes one by one."""
    module = build()
    for make in (
        relax.transform.LegalizeOps,
        relax.transform.AnnotateTIROpPattern,
        relax.transform.FuseOps,
        relax.transform.FuseTIR,
    ):
        module = make()(module)
        names = sorted(function.name_hint for function in module.get_global_vars())
        print(f"after {make.__name__}: {', '.join(names)}")
    print(module)


if __name__ == "__main__":
    main()
