"""Lists the registries of the TVM that is installed beside the interpreter that runs this file, as JSON.

Standard library only, and read by any Python 3.8 or newer: `xref verify` hands the file to the interpreter that has
TVM, which need not have xref. Reads {"op_attrs": [..]} from its input: TVM can say whether an operator has an
attribute, not which attributes there are. APIs: tvm_ffi of v0.22 on, tvm.ffi of v0.21, tvm._ffi before.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any


def _ffi() -> tuple[Any, Any]:
    """(module of the binding, its core or None): where names and look-ups are, in each era."""
    binding: Any
    try:
        binding = import_module("tvm_ffi")
    except ImportError:
        tvm = import_module("tvm")
        binding = getattr(tvm, "ffi", None)
        if not hasattr(binding, "core"):
            return import_module("tvm._ffi"), None
    return binding, binding.core


def _look_up(registry: Any, name: str) -> Any:
    try:
        return registry.get_global_func(name, allow_missing=True)
    except ValueError:
        return None


def _types(registry: Any, core: Any) -> dict[str, Any] | None:
    """Type key -> parent, fields, methods; the key alone where the binding does not describe types."""
    keys = getattr(registry, "get_registered_type_keys", None)
    describe = getattr(core, "_lookup_or_register_type_info_from_type_key", None)
    if keys is None or describe is None:
        return None
    found: dict[str, Any] = {}
    for key in map(str, keys()):
        info = describe(key)
        above = getattr(info, "parent_type_info", None)
        found[key] = {
            "parent": str(above.type_key) if above else None,
            "fields": [str(field.name) for field in info.fields or ()],
            "methods": [str(method.name) for method in info.methods or ()],
        }
    return found


def _operators(registry: Any, candidates: list[str]) -> dict[str, list[str]] | None:
    """Operator -> its attributes among the candidates."""
    names, get = _look_up(registry, "ir.ListOpNames"), _look_up(registry, "ir.GetOp")
    has, value = _look_up(registry, "ir.OpHasAttr"), _look_up(registry, "ir.OpGetAttr")
    if None in (names, get, has, value):
        return None
    operators = [get(name) for name in map(str, names())]
    known = [key for key in candidates if operators and has(operators[0], key)]  # TVM's OpHasAttr ignores the operator
    found: dict[str, list[str]] = {}
    for operator in operators:
        attributes: list[str] = []
        found[str(operator.name)] = attributes
        for key in known:
            try:
                held = value(operator, key)
            except Exception:  # noqa: BLE001  a value that Python cannot hold is a value
                held = True
            if held is not None:
                attributes.append(key)
    return found


def _names(registry: Any, function: str) -> list[str] | None:
    found = _look_up(registry, function)
    return sorted(map(str, found())) if found is not None else None


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def main() -> None:
    """Write the registries to the original standard output; whatever importing TVM prints goes to the error output."""
    wanted = json.load(sys.stdin)
    output = os.dup(1)
    os.dup2(2, 1)
    tvm = import_module("tvm")
    binding, core = _ffi()
    registry = getattr(binding, "registry", binding)
    types = _types(registry, core)
    operators = _operators(registry, wanted["op_attrs"])
    result = {
        "version": tvm.__version__,
        "ffi_version": _version("apache-tvm-ffi"),
        "modules": sorted(name for name in sys.modules if name.split(".")[0] in ("tvm", "tvm_ffi")),
        "ffi": sorted(map(str, registry.list_global_func_names())),
        "type": sorted(types) if types is not None else None,
        "parents": {key: row["parent"] for key, row in types.items() if row["parent"]} if types else {},
        "field": [key + "." + name for key, row in types.items() for name in row["fields"]] if types else None,
        "method": [key + "." + name for key, row in types.items() for name in row["methods"]] if types else None,
        "op": sorted(operators) if operators is not None else None,
        "op_attr": [name + ":" + key for name, keys in operators.items() for key in keys] if operators else None,
        "pass_config": _names(registry, "transform.ListConfigs"),
        "target_kind": _names(registry, "target.ListTargetKinds"),
        "target_tag": _names(registry, "target.TargetTagListTags"),
    }
    with os.fdopen(output, "w") as stream:
        json.dump(result, stream)
    os._exit(0)  # without the destructors of libraries, which may crash at exit


if __name__ == "__main__":
    main()
