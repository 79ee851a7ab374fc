"""Import a model from PyTorch or ONNX into TVM, whichever is there, and compile it.

    python examples/importer.py                            import and compile
    xref trace -- python examples/importer.py              and which converter made which operator

Needs TVM with `tvm.relax`, and PyTorch 2.4 or newer (`pip install torch`) or ONNX (`pip install onnx`). With neither it
says so and ends well.

What a reader will see in the trace:

- PyTorch: `from_exported_program` walks the graph of `torch.export`, and calls one method of
  `ExportedProgramImporter` for each node, found in a table by the name of the PyTorch operator. A static index cannot
  follow a table that is filled at run time: these edges are known from the run only;
- ONNX: `from_onnx` makes an `ONNXGraphImporter`, which finds a class for each operator by its name and calls its method
  `_impl_vN`, N being the newest version that the model's opset allows;
- every converter emits relax operators by FFI calls (`relax.op.matmul`, `relax.op.nn.relu`) into a `BlockBuilder`;
- weights cross the FFI: see the list of tensors for which of them were copied.
"""

from __future__ import annotations

import importlib.util

import tvm
from tvm import relax


def from_torch() -> tvm.IRModule:
    """A linear layer and relu, by torch.export."""
    import torch
    from tvm.relax.frontend.torch import from_exported_program

    network = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU())
    with torch.no_grad():
        program = torch.export.export(network, (torch.zeros(2, 8),))
    return from_exported_program(program)


def from_onnx() -> tvm.IRModule:
    """The same, written down as an ONNX graph."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
    from tvm.relax.frontend.onnx import from_onnx as load

    weight = numpy_helper.from_array(np.ones((8, 4), dtype="float32"), "weight")
    nodes = [helper.make_node("MatMul", ["x", "weight"], ["y"]), helper.make_node("Relu", ["y"], ["z"])]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 8])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [2, 4])],
        [weight],
    )
    return load(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def main() -> None:
    """Import by what is there, and compile."""
    for package, load in (("torch", from_torch), ("onnx", from_onnx)):
        if importlib.util.find_spec(package) is None:
            print(f"{package} is not installed: left out")
            continue
        module = load()
        print(f"imported from {package}:")
        print(module)
        target = "llvm" if tvm.get_global_func("target.build.llvm", allow_missing=True) is not None else "c"
        with tvm.transform.PassContext(opt_level=2):
            module = relax.get_pipeline("zero")(module)
            built = tvm.compile(module, target=tvm.target.Target(target))
        print(f"compiled for {target} into a {type(built).__name__}")


if __name__ == "__main__":
    main()
