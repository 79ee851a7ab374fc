"""Switches callgrind on around the compilation, in the further run that `xref trace --native` makes under valgrind; and
tells which machine code the registry's functions are, which names what a library without symbols hides.

A compilation is the outermost of: a pass that runs, or one of TVM's functions that compile (`ENTRIES`).
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

ENTRIES = (
    ("tvm", "compile"), ("tvm", "build"), ("tvm", "lower"), ("tvm.relax", "build"), ("tvm.relay", "build"),
    ("tvm.tir", "build"), ("tvm.tirx", "build"),
)  # fmt: skip
"""Functions of TVM (0.20 to 0.27) that lower or compile, by module."""

_MARK = "_xref_entry"

_OBJECT_HEADER = 24
"""Bytes of TVMFFIObject (tvm_ffi c_api.h). A function object goes on with two pointers, `safe_call` and `cpp_call`, and
then holds the callable: for a plain C++ function its address.
"""


class Window:
    """Open while something compiles; callgrind instruments exactly then. `library` is the compiled callgrind.c.

    Raises AttributeError or OSError when it is not that.
    """

    def __init__(self, library: str) -> None:
        import ctypes

        loaded = ctypes.PyDLL(library)
        self._on, self._off = loaded.xref_native_start, loaded.xref_native_stop
        self._depth = 0

    def enter(self) -> None:
        """Something begins to compile."""
        self._depth += 1
        if self._depth == 1:
            self._on()

    def leave(self) -> None:
        """It ended."""
        self._depth -= 1
        if self._depth == 0:
            self._off()

    def wrap_entries(self) -> None:
        """Let the functions that compile open the window, in the modules that are imported."""
        for module_name, name in ENTRIES:
            module = sys.modules.get(module_name)
            function = getattr(module, name, None)
            known = isinstance(function, type) or getattr(function, _MARK, False)
            if callable(function) and not known:
                setattr(module, name, self._wrapped(function))

    def _wrapped(self, function: Any) -> Any:
        def compile_it(*args: Any, **kwargs: Any) -> Any:
            self.enter()
            try:
                return function(*args, **kwargs)
            finally:
                self.leave()

        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(compile_it, name, getattr(function, name, None))
        setattr(compile_it, _MARK, True)
        return compile_it


def registry_pointers() -> Iterator[list[Any]]:
    """Rows: library (its file's name), address in it, registry key, "target" or "wrapper".

    A target is the C++ function that the key runs. A wrapper is the code that unpacks the arguments. Only code that
    serves a single key is told, since only then its name is the key's. Raises what tvm_ffi and /proc raise.
    """
    import ctypes

    tvm_ffi, maps = sys.modules["tvm_ffi"], _Maps()
    found: dict[tuple[str, int, str], set[str]] = {}
    for name in tvm_ffi.registry.list_global_func_names():
        function = tvm_ffi.get_global_func(name, allow_missing=True)
        if function is None:
            continue
        words = (ctypes.c_size_t * 3).from_address(hash(function) + _OBJECT_HEADER)
        for word, kind in ((words[1], "wrapper"), (words[2], "target")):
            place = maps.place(word)
            if place is not None:
                found.setdefault((*place, kind), set()).add(str(name))
    targets = {(library, address) for library, address, kind in found if kind == "target"}
    for (library, address, kind), names in found.items():
        if len(names) == 1 and (kind == "target" or (library, address) not in targets):
            yield [library, address, *names, kind]


class _Maps:
    """The executable parts of this process's libraries."""

    def __init__(self) -> None:
        base: dict[str, int] = {}
        self._parts: list[tuple[int, int, str, int]] = []
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as stream:
            for line in stream:
                words = line.split(None, 5)
                if len(words) < 6 or not words[5].startswith("/"):
                    continue
                path = words[5].rstrip("\n")
                start, end = (int(word, 16) for word in words[0].split("-"))
                # A library's first segment is linked for address 0: what is added to its addresses is its start.
                base.setdefault(path, start - int(words[2], 16))
                if "x" in words[1]:
                    self._parts.append((start, end, path, base[path]))

    def place(self, address: int) -> tuple[str, int] | None:
        """File name of the library with code at `address`, and the address in it; None where there is no code."""
        for start, end, path, base in self._parts:
            if start <= address < end:
                return path.rpartition("/")[2], address - base
        return None
