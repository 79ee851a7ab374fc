"""Compile a small convolution network with TVM: conv2d, relu, linear, through relax.

    python examples/conv2d.py                              compile it
    xref trace -- python examples/conv2d.py                compile it, and record how

Needs TVM with `tvm.relax` (apache-tvm 0.26 or newer, or the TVM inside tilelang 0.1.14) and numpy. The target is llvm
when this TVM can generate code for it, else c; `--target` chooses. `--opt-level` and `--repeat` are there to try out.

What a reader will see in the trace:

- building: `nn.Module.export_tvm` calls `Net.forward`, whose operators (`nn.op.relu`, `Conv2D.forward`) become relax
  expressions by FFI calls such as `relax.op.nn.conv2d`, emitted into a `BlockBuilder`;
- compiling: `relax.get_pipeline("zero")` and then `tvm.compile` run some hundred passes, nested up to five deep. In
  `LegalizeOps`, C++ calls back into Python: the legaliser of each operator is a Python function, which builds the loops
  of conv2d with TOPI and TE. `FuseOps` then groups operators, and `FuseTIR` makes one function of each group;
- generating code: passes of the lower dialect (`tirx`) turn the loops into calls of the runtime, and the FFI function
  `target.build.llvm` (or `target.build.c`) writes the module.
"""

from __future__ import annotations

import argparse

import tvm
from tvm import relax
from tvm.relax.frontend import nn

CHANNELS, SIZE, FILTERS, CLASSES = 3, 8, 8, 10


class Net(nn.Module):
    """An image of CHANNELS x SIZE x SIZE to CLASSES scores."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(CHANNELS, FILTERS, 3, padding=1)
        self.linear = nn.Linear(FILTERS * SIZE * SIZE, CLASSES)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        """The scores of `x`, of shape (1, CLASSES)."""
        x = nn.op.relu(self.conv(x))
        x = nn.op.reshape(x, (1, FILTERS * SIZE * SIZE))
        return self.linear(x)


def build() -> tvm.IRModule:
    """The network as a relax module."""
    spec = {"forward": {"x": nn.spec.Tensor((1, CHANNELS, SIZE, SIZE), "float32")}}
    module, _ = Net().export_tvm(spec=spec)
    return module


def default_target() -> str:
    """llvm when this TVM was built with it, else c."""
    return "llvm" if tvm.get_global_func("target.build.llvm", allow_missing=True) is not None else "c"


def main() -> None:
    """Compile as often as asked, and say what came out."""
    parser = argparse.ArgumentParser(description="Compile a small convolution network with TVM.")
    parser.add_argument("--target", default=default_target(), help="llvm, c, or any other that this TVM knows")
    parser.add_argument("--opt-level", type=int, default=2, metavar="N", help="of the PassContext")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="compile N times")
    options = parser.parse_args()
    target = tvm.target.Target(options.target)
    for _ in range(options.repeat):
        module = build()
        operators = len(module.functions)
        with target, tvm.transform.PassContext(opt_level=options.opt_level):
            module = relax.get_pipeline("zero")(module)
            executable = tvm.compile(module, target=target)
    print(f"TVM {tvm.__version__}, target {target.kind.name}: {operators} function became {len(module.functions)},")
    print(f"compiled into a {type(executable).__name__}")


if __name__ == "__main__":
    main()
