"""The C++ flags of a tree without running its build: language standard, include folders and macros.

The macros open what build options would cut away: a registration inside `#ifdef TVM_LLVM_VERSION` is as real as any
other. Where the two branches of an option exclude each other, the one that a default build takes is kept.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from xref.cpp.includes import IncludeScan

FFI_PARTS = ("3rdparty/tvm-ffi", "ffi")
"""Where a TVM tree keeps its tvm-ffi: a submodule since v0.22, a plain folder in v0.21."""


class Macro(NamedTuple):
    """A macro defined for every unit, and what would be lost without it."""

    define: str
    reason: str


MACROS = (
    Macro("TVM_LLVM_VERSION=170", "20 .cc files of main stand wholly inside #ifdef TVM_LLVM_VERSION (USE_LLVM)"),
    Macro("TVM_LLVM_HAS_AARCH64_TARGET=1", "8 target tags in src/target/tag.cc, v0.14 to v0.22"),
    Macro("TVM_USE_Z3=1", "src/arith/z3_prover.cc: 880 of its 926 lines (USE_Z3)"),
    Macro("TVM_ENABLE_SPIRV=1", "spirv_utils.cc wholly (USE_VULKAN)"),
    Macro("TVM_GRAPH_EXECUTOR_TENSORRT=1", "tensorrt_runtime.cc: three quarters (USE_TENSORRT_RUNTIME)"),
    Macro("TVM_GRAPH_EXECUTOR_CLML=1", "src/runtime/**/clml wholly (USE_CLML_GRAPH_EXECUTOR)"),
    Macro("TVM_GRAPH_EXECUTOR_NNAPI=1", "src/runtime/**/nnapi wholly (USE_NNAPI_RUNTIME)"),
    Macro("TVM_GRAPH_EXECUTOR_ARM_COMPUTE_LIB=1", "acl_runtime.cc, v0.14 to v0.21"),
    Macro("TVM_GRAPH_EXECUTOR_EXAMPLE_NPU=1", "the example NPU's runtime, v0.22 on"),
    Macro("ETHOSN_HW=1", "ethosn_device.cc, v0.14 to v0.19"),
    Macro("ENABLE_QHL=1", "a third of intrin_rule_hexagon.cc; has no #else"),
    Macro("RUST_COMPILER_EXT=1", "rust_extension.cc wholly, v0.14 to v0.21"),
    Macro("CUTLASS_ARCH_MMA_MODIFIABLE_TMA_SM90_SUPPORTED=1", "the registrations of 5 CUTLASS .cu files for sm90"),
    Macro("CUTLASS_ARCH_MMA_SM100_SUPPORTED=1", "the registrations of 3 CUTLASS .cu files for sm100"),
    Macro("CUDA_VERSION=12040", "half of cuda_device_api.cc; what cuda.h would define"),
    Macro("CUDART_VERSION=12040", "half of cublas.cc with its registrations; what cuda_runtime.h would define"),
    Macro("TVM_USE_CUDNN_FRONTEND=1", "the cuDNN frontend's branch of conv_forward.cc"),
    Macro("TVM_USE_LIBBACKTRACE=1", "the back half of src/runtime/logging.cc up to v0.21; on by default (AUTO)"),
    Macro("TVM_FFI_USE_LIBBACKTRACE=1", "tvm-ffi's backtrace.cc; on by default"),
    Macro("TVM_FFI_BACKTRACE_ON_SEGFAULT=1", "tvm-ffi's signal handler; on by default"),
    Macro("TVM_INDEX_DEFAULT_I64=1", "CMake's own default (INDEX_DEFAULT_I64)"),
    Macro("USE_FALLBACK_STL_MAP=0", "CMake's own default, v0.14 to v0.22"),
    Macro("DMLC_USE_FOPEN64=0", "cmake/modules/LLVM.cmake defines it for the whole build"),
    Macro("DMLC_USE_LOGGING_LIBRARY=<tvm/runtime/logging.h>", "target_compile_definitions of every target to v0.22"),
)
"""Found by comparing the #if lines of src/ and include/ in v0.14.0, v0.18.0, v0.20.0 to v0.24.0, v0.26.0 and main with
the share of each file, and the registrations, that stand inside them.

Left undefined on purpose: `TVM_MLIR_VERSION` (the global `arith.PresburgerSet` is registered in the #else branch only),
`USE_JSON_RUNTIME` (its #ifndef branch is two thirds of DNNL's codegen), `__hexagon__`, `_MSC_VER` and the like (they
choose a platform everywhere at once), `NDEBUG` (so that the arguments of assertions are seen).
"""

_INCLUDE_DIRS = (
    "include", "src", *(f"{part}/{sub}" for part in FFI_PARTS for sub in ("include", "3rdparty/dlpack/include")),
    "3rdparty/dmlc-core/include", "3rdparty/dlpack/include", "3rdparty/compiler-rt", "3rdparty/rang/include",
    "3rdparty/picojson", "3rdparty/libcrc/include", "3rdparty/OpenCL-Headers", "3rdparty/libbacktrace",
    *(f"{part}/3rdparty/libbacktrace" for part in FFI_PARTS), "3rdparty/cnpy", "3rdparty/nvbench",
    "3rdparty/mscclpp/include", "3rdparty/cutlass/include", "3rdparty/cutlass/tools/util/include",
    "3rdparty/cutlass_fpA_intB_gemm", "3rdparty/libflash_attn/include",
)  # fmt: skip
_FFI_FOLDER, _DLPACK_FOLDER = "tvm/ffi/", "dlpack/"
_FFI_HEADER, _DLPACK_HEADER = f"{_FFI_FOLDER}c_api.h", f"{_DLPACK_FOLDER}dlpack.h"

TVM_FFI_OF_TVM = {"0.22": "0.1.0", "0.23": "0.1.8.post2", "0.24": "0.1.11", "0.25": "0.1.12", "0.26": "0.1.13.post2"}
"""The tvm-ffi release that each TVM release has as its submodule (`git ls-tree vX.Y.0 3rdparty/tvm-ffi`)."""


class Headers(NamedTuple):
    """Where the compiler looks: folders in order, and what the user should know about them."""

    include_dirs: tuple[str, ...]
    notes: tuple[str, ...]


def defines() -> tuple[str, ...]:
    """The macros of `MACROS` as NAME=VALUE."""
    return tuple(macro.define for macro in MACROS)


def cpp_standard(version: str, cmake_text: str) -> str:
    """The C++ standard as the compiler's -std value ("c++17").

    Read from CMakeLists.txt (`CMAKE_CXX_STANDARD`, or -std= in the flags up to v0.20). Without one, by version: TVM
    moved to C++20 between 0.25 and 0.26 (apache/tvm#19734), and was C++17 since before v0.14.
    """
    found = re.search(r"^\s*set\s*\(\s*CMAKE_CXX_STANDARD\s+(\d\d)", cmake_text, re.MULTILINE)
    found = found or re.search(r"-std=c\+\+(\d\d)", cmake_text) or re.search(r"\bcxx_std_(\d\d)\b", cmake_text)
    if found:
        return f"c++{found[1]}"
    return "c++20" if _release(version) >= (0, 26) else "c++17"


def find_headers(
    root: Path, project: str, version: str, sources: Sequence[str] = (), vendored: Iterable[str] = ()
) -> Headers:
    """The include folders that exist and hold something, and how to get the headers that do not.

    `sources`: the tree's C++ files, tree-relative. When they include headers of tvm-ffi or dlpack that are missing,
    those of an installed tvm_ffi package (never imported), or of $XREF_TVM_FFI_INCLUDE, come last.
    `vendored`: tree-relative folders of third-party code, which for an "other" project are searched for a TVM, for
    tvm-ffi and for include folders.
    """
    found_dirs = [root / name for name in _INCLUDE_DIRS]
    if project == "other":
        found_dirs.append(root)
        for name in sorted(vendored, key=lambda name: os.path.basename(name) not in ("tvm", "tvm-ffi")):
            found_dirs += [root / name / inner for inner in _INCLUDE_DIRS if inner != "src" or name.endswith("/tvm")]
    folders = [str(folder) for folder in found_dirs if _holds_something(folder)]
    missing = _missing_headers(root, sources, folders)
    if not missing:
        return Headers(tuple(folders), ())
    what = " and ".join(missing)
    wanted = wanted_ffi_release(root, version)
    remedy = _remedy(root, wanted, _FFI_HEADER in missing)
    package = _installed_ffi()
    if package is None:
        return Headers(
            tuple(folders),
            (f"{what} missing in the tree, so that C++ files which include it parse only in part: {remedy}",),
        )
    found, origin, release = package
    note = f"{what} missing in the tree; taken from {origin}, tvm-ffi {release or 'of unknown version'}"
    if wanted and release and _release(wanted) != _release(release):
        note += f", but this tree wants {wanted}: if units fail, {remedy}"
    return Headers((*folders, *found), (note,))


def _missing_headers(root: Path, sources: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Of tvm-ffi and dlpack, the header of each that is missing and that the sources need."""
    missing = [
        header
        for header in (_FFI_HEADER, _DLPACK_HEADER)
        if not any(Path(folder, header).is_file() for folder in folders)
    ]
    if not missing:
        return []
    scan = IncludeScan(root, frozenset(sources), folders)
    lost = {
        name
        for path in sources
        for name in scan.names(path)
        if name.startswith((_FFI_FOLDER, _DLPACK_FOLDER)) and not scan.find(name, str((root / path).parent))
    }
    needs_ffi = any(name.startswith(_FFI_FOLDER) for name in lost)
    return [header for header in missing if needs_ffi or (header == _DLPACK_HEADER and lost)]  # tvm-ffi's include it


def wanted_ffi_release(root: Path, version: str) -> str:
    """The tvm-ffi release that fits the TVM at `root` ("" unknown): from its pyproject.toml, else by TVM's version."""
    requirement = re.search(r"apache-tvm-ffi\s*[>=~]=\s*([0-9][0-9a-z.]*)", read_text(root / "pyproject.toml"))
    return requirement[1] if requirement else TVM_FFI_OF_TVM.get(".".join(version.split(".")[:2]), "")


def ffi_header_release(include: Path) -> str:
    """The version that tvm/ffi/c_api.h below `include` declares ("" none), as MAJOR.MINOR.PATCH."""
    text = read_text(include / _FFI_HEADER)
    parts = [re.search(rf"#define TVM_FFI_VERSION_{part} (\d+)", text) for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(part[1] for part in parts if part) if all(parts) else ""


def read_text(path: Path, limit: int = 1 << 20) -> str:
    """The text of a regular file, at most `limit` bytes of it; "" when there is none or it cannot be read."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as stream:
            return stream.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""


def _holds_something(folder: Path) -> bool:
    """Whether a folder has an entry: a submodule that is not checked out is an empty folder."""
    try:
        return any(folder.iterdir())
    except OSError:
        return False


def _release(version: str) -> tuple[int, ...]:
    """The leading numbers of a version: (0, 26) of "0.26.dev0"."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _remedy(root: Path, wanted: str, needs_ffi: bool) -> str:
    """How to get the headers: the submodule in a git checkout, else the package."""
    pip = f"pip install apache-tvm-ffi=={wanted}" if wanted else "pip install apache-tvm-ffi"
    if (root / ".git").exists() and (root / ".gitmodules").is_file():
        path = "3rdparty/tvm-ffi" if needs_ffi else "3rdparty/dlpack"
        return f"run `git submodule update --init --recursive {path}`, or `{pip}`"
    return f"`{pip}`"


def _installed_ffi() -> tuple[list[str], str, str] | None:
    """Include folders of a tvm-ffi outside the tree, where they come from and its version; the package is not run."""
    chosen = os.environ.get("XREF_TVM_FFI_INCLUDE", "")
    if chosen:
        folders = [Path(part) for part in chosen.split(os.pathsep) if part]
        return (
            [str(f) for f in folders if f.is_dir()],
            "$XREF_TVM_FFI_INCLUDE",
            _first(map(ffi_header_release, folders)),
        )
    spec = importlib.util.find_spec("tvm_ffi")
    if spec is None or not spec.submodule_search_locations:
        return None
    package = Path(next(iter(spec.submodule_search_locations)))
    folders = [folder for folder in (package / "include", package / "3rdparty/dlpack/include") if folder.is_dir()]
    if not folders:
        return None
    named = importlib.metadata.distributions(name="apache-tvm-ffi", path=[str(package.parent)])
    release = _first(found.version for found in named) or ffi_header_release(folders[0])
    return [str(folder) for folder in folders], "the installed package apache-tvm-ffi", release


def _first(items: Iterable[str]) -> str:
    return next((item for item in items if item), "")
