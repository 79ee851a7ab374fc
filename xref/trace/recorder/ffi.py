"""Records calls through tvm_ffi: by the preloaded shim (shim.c) where there is one, else by sys.monitoring, which came
with Python 3.12 and misses what Cython code calls. Older Pythons without the shim record none.

Also finds the names: the registry's table of global functions, and the methods of registered types.
"""

from __future__ import annotations

import sys
import time

from .edges import NEW_MONITORING, Cell, Lines, PythonCalls, ThreadState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any

_MAX_OPEN = 512


class FfiRow:
    """Calls of the function `handle` from one line of `code` (None: no Python frame). `via` is the handle of the open
    call whose native code made them, 0 when Python did; `origin` tells which function returned `handle`, None when none
    did. `ns` is nanoseconds, everything inside included. `tensors` counts calls with tensors by what became of their
    memory: the same, different, passed, made (shim.c, enum tensor). `reused`: the function was freed, and another one
    got its address later.
    """

    __slots__ = ("calls", "code", "handle", "line", "ns", "origin", "reused", "tensors", "thread", "via")

    def __init__(
        self, thread: int, code: CodeType | None, line: int, handle: int, via: int, origin: Origin | None, calls: int,
        ns: int, tensors: tuple[int, ...] = (), reused: bool = False,
    ) -> None:  # fmt: skip
        self.thread = thread
        self.code = code
        self.line = line
        self.handle = handle
        self.via = via
        self.origin = origin
        self.calls = calls
        self.ns = ns
        self.tensors = tensors
        self.reused = reused


class ShimCalls:
    """Reads the counts of the shim. Raises AttributeError or OSError when the library at `path` is not the shim."""

    backend = "shim"

    def __init__(self, path: str, calls: PythonCalls) -> None:
        import ctypes

        self._calls = calls
        self._ctypes: Any = ctypes
        word = ctypes.c_size_t

        class Row(ctypes.Structure):
            """As `struct row` of shim.c."""

            _fields_ = [
                ("next_in_bucket", word), ("next", word), ("code", word), ("handle", word), ("via", word),
                ("origin", word), ("name", ctypes.c_char_p), ("line", ctypes.c_int64), ("thread", word),
                ("count", ctypes.c_uint64), ("ns", ctypes.c_uint64), ("tensors", ctypes.c_uint64 * 4),
            ]  # fmt: skip

        # PyDLL keeps the GIL: these calls are short, and made from within hooks.
        self._library: Any = ctypes.PyDLL(path)
        self._row = Row
        self._threads: dict[int, int] = {}
        """Address of the shim's `struct thread` -> number."""
        for name, result, arguments in (
            ("thread", word, []), ("next", word, [word]), ("record", None, [ctypes.c_int]), ("reset", None, []),
            ("pause", None, [ctypes.c_int]), ("origin", word, [word]),
            ("open", ctypes.c_uint64, [ctypes.c_void_p, ctypes.c_uint64]),
        ):  # fmt: skip
            function = getattr(self._library, "xref_ffi_" + name)
            function.restype, function.argtypes = result, arguments
        self._open_numbers = (ctypes.c_uint64 * _MAX_OPEN)()

    def start(self) -> None:
        """Let the Python side know of open calls from now on; the shim itself counts from the process's start."""
        self._calls.attach = self._attach
        self._attach(self._calls.state())

    def _attach(self, state: ThreadState) -> None:
        """Let `state`, of the running thread, see the two words at the head of the shim's `struct thread`."""
        address = self._library.xref_ffi_thread()
        if address:
            self._threads[address] = state.number
            word = self._ctypes.c_size_t
            state.handle = word.from_address(address + self._ctypes.sizeof(word))
            state.frame = word.from_address(address)

    def record(self, on: bool) -> None:
        """Pause or go on; for the recorder's own calls."""
        self._library.xref_ffi_record(int(on))

    def pause(self, on: bool) -> None:
        """Stop recording the running thread, or go on."""
        self._library.xref_ffi_pause(int(on))

    def forget(self) -> None:
        """Drop the counts, and the threads that a fork left behind."""
        self._library.xref_ffi_reset()
        self._threads = {self._library.xref_ffi_thread(): self._calls.state().number}

    def open_calls(self) -> list[int]:
        """The numbers of the running thread's open calls, outermost first."""
        numbers = self._open_numbers
        return list(numbers[: self._library.xref_ffi_open(numbers, _MAX_OPEN)])

    def rows(self) -> Iterator[FfiRow]:
        """All counts, newest row first."""
        ctypes, threads = self._ctypes, dict(self._threads)
        first_unknown = len(self._calls.states)
        address = self._library.xref_ffi_next(0)
        while address:
            row = self._row.from_address(address)
            # A thread that never ran Python code is known to the shim only.
            number = threads.setdefault(row.thread, first_unknown + len(threads) - len(self._threads))
            code = ctypes.cast(row.code, ctypes.py_object).value if row.code else None
            tensors = tuple(row.tensors)
            if row.count or any(tensors):
                origin = (row.origin, (row.name or b"").decode("utf-8", "replace")) if row.origin else None
                reused = bool(row.origin) and self._library.xref_ffi_origin(row.handle) != row.origin
                yield FfiRow(number, code, row.line, row.handle, row.via, origin, row.count, row.ns, tensors, reused)
            address = self._library.xref_ffi_next(address)


class _OpenCall:
    """A call that has not returned: its number, the id of the frame that made it, and its row."""

    __slots__ = ("frame", "handle", "number", "row", "started")

    def __init__(self, number: int, frame: int, handle: int, row: list[int]) -> None:
        self.number = number
        self.frame = frame
        self.handle = handle
        self.row = row
        self.started = time.perf_counter_ns()


class MonitoredCalls:
    """Counts calls whose callable is a tvm_ffi.Function. Constructors, conversions of arguments and compiled modules
    call without the interpreter's knowledge: they are not seen.
    """

    backend = "sys.monitoring"

    def __init__(self, calls: PythonCalls) -> None:
        self._calls = calls
        self._rows: dict[tuple[int, int, int, int], list[int]] = {}
        self._codes: dict[int, CodeType] = {}
        self._open: dict[int, list[_OpenCall]] = {}
        self._on = True
        self._made = 0

    def start(self) -> None:
        """Record from now on."""
        monitoring = vars(sys)["monitoring"]
        tool = next(tool for tool in (4, 3, 2, 1, 0) if monitoring.get_tool(tool) is None)
        monitoring.use_tool_id(tool, "xref-ffi")
        self._calls.attach = _attach_cells
        _attach_cells(self._calls.state())
        function, get_frame, events = sys.modules["tvm_ffi"].Function, sys._getframe, monitoring.events  # noqa: SLF001

        def called(code: CodeType, offset: int, callee: object, _argument: object) -> None:
            if type(callee) is function and self._on:
                self._begin(code, offset, hash(callee), id(get_frame(1)))

        def returned(_code: CodeType, _offset: int, callee: object, _argument: object) -> None:
            if type(callee) is function and self._on:
                self._end(hash(callee))

        monitoring.register_callback(tool, events.CALL, called)
        monitoring.register_callback(tool, events.C_RETURN, returned)
        monitoring.register_callback(tool, events.C_RAISE, returned)
        monitoring.set_events(tool, events.CALL)

    def _begin(self, code: CodeType, offset: int, handle: int, frame: int) -> None:
        state = self._calls.state()
        self._codes[id(code)] = code
        self._made += 1
        row = self._rows.setdefault((state.number, id(code), offset, handle), [0, 0])
        row[0] += 1
        state.handle.value, state.frame.value = handle, frame
        self._open.setdefault(state.number, []).append(_OpenCall(self._made, frame, handle, row))

    def _end(self, handle: int) -> None:
        now = time.perf_counter_ns()
        state = self._calls.state()
        stack = self._open.get(state.number, [])
        while stack:
            call = stack.pop()
            if call.handle == handle:
                call.row[1] += now - call.started
                break
        state.handle.value, state.frame.value = (stack[-1].handle, stack[-1].frame) if stack else (0, 0)

    def record(self, on: bool) -> None:
        """Pause or go on; for the recorder's own calls."""
        self._on = on

    def pause(self, on: bool) -> None:
        """The same: of Python's threads one runs at a time, and the recorder's calls do not wait."""
        self._on = not on

    def forget(self) -> None:
        """Drop the counts."""
        for row in self._rows.values():
            row[:] = [0, 0]

    def open_calls(self) -> list[int]:
        """The numbers of the running thread's open calls, outermost first."""
        return [call.number for call in self._open.get(self._calls.state().number, ())]

    def rows(self) -> Iterator[FfiRow]:
        """All counts."""
        lines = Lines()
        for (thread, code_id, offset, handle), (count, ns) in list(self._rows.items()):
            if count:
                code = self._codes[code_id]
                yield FfiRow(thread, code, lines.of(code, offset), handle, 0, None, count, ns)


def _attach_cells(state: ThreadState) -> None:
    state.handle, state.frame = Cell(), Cell()


def make_ffi_calls(shim: str, calls: PythonCalls) -> Any:
    """The best recorder that this process can have; None when there is none. tvm_ffi must have been imported."""
    if shim:
        return ShimCalls(shim, calls)
    return MonitoredCalls(calls) if NEW_MONITORING else None


if TYPE_CHECKING:
    Name = tuple[str, str]
    """Kind and text: what a function is called. Kinds: "global" (a key of the registry), "method"
    (`<type key>.<method>`), "attribute" (`<operator>:<attribute>`), "named" (another function returned it when asked
    for this name: `f("name")`), "returned" (the text is that of the function that returned it), "unknown".
    """
    Origin = tuple[int, str]
    """The handle of the function that returned a function, and the one string that it was given, "" for none."""

UNKNOWN = ("unknown", "")
CREATED = 3
"""What shim.c gives as the origin of a function that Python code handed to tvm_ffi."""
_CONSTRUCTOR = "__ffi_init__"
_ATTRIBUTE_GETTER = "ir.OpGetAttr"
_MOST_ORIGINS = 8
"""Functions that return functions that return functions: more than any, less than a cycle of reused addresses."""


class Names:
    """Handle -> name of the functions that tvm_ffi knows by name."""

    def __init__(self) -> None:
        # What shim.c records under these: an exchange of a tensor by DLPack, which no registered function makes, and
        # what "returned" a function that Python code handed to tvm_ffi.
        self._known: dict[int, Name] = {
            1: ("method", "from_dlpack"),
            2: ("method", "to_dlpack"),
            CREATED: ("global", "TVMFFIFunctionCreate"),
        }

    def read(self) -> None:
        """Read the registry as it is now; what was known stays known. Raises what tvm_ffi raises."""
        tvm_ffi = sys.modules["tvm_ffi"]
        # A Function hashes to its handle, in every tvm_ffi up to 0.1.15.
        for name in tvm_ffi.registry.list_global_func_names():
            function = tvm_ffi.get_global_func(name, allow_missing=True)
            if function is not None:
                self._known.setdefault(hash(function), ("global", str(name)))
        pending = [tvm_ffi.Object]
        for cls in pending:
            pending.extend(cls.__subclasses__())
            info = cls.__dict__.get("__tvm_ffi_type_info__")
            for method in getattr(info, "methods", None) or ():
                self._add_method(info, method.name, method.func)
            find = getattr(getattr(tvm_ffi, "core", None), "_lookup_type_attr", None)
            if info is not None and find is not None:
                self._add_method(info, _CONSTRUCTOR, find(info.type_index, _CONSTRUCTOR))

    def _add_method(self, info: Any, name: str, function: Any) -> None:
        if function is not None:
            self._known.setdefault(hash(function), ("method", f"{info.type_key}.{name}"))

    def read_attributes(self, made: list[FfiRow]) -> None:
        """Find the operators whose attributes the functions in `made` are: those that `Op.get_attr` returned. One that
        several operators share stays without a name. Raises what tvm_ffi raises.
        """
        known = self._known
        asked = {
            row.origin[1] for row in made if row.origin and known.get(row.origin[0], UNKNOWN)[1] == _ATTRIBUTE_GETTER
        }
        find = sys.modules["tvm_ffi"].get_global_func
        names, get_op, get = (
            find(name, allow_missing=True) for name in ("ir.ListOpNames", "ir.GetOp", _ATTRIBUTE_GETTER)
        )
        if not asked or names is None or get_op is None:
            return
        function, found = sys.modules["tvm_ffi"].Function, dict[int, list[str]]()
        for name in names():
            operator = get_op(name)
            for attribute in asked:
                value = get(operator, attribute)
                if isinstance(value, function):
                    found.setdefault(hash(value), []).append(f"{name}:{attribute}")
        for handle, owners in found.items():
            if len(owners) == 1:
                known.setdefault(handle, ("attribute", owners[0]))

    def of(self, handle: int, origins: dict[int, Origin], origin: Origin | None = None, reused: bool = False) -> Name:
        """The name of `handle`; `origins` maps functions to those that returned them, `origin` returned this one. The
        name that the address has at the end is not that of a function whose address was `reused`.
        """
        known, asked = None if reused else self._known.get(handle), list[str]()
        while known is None and len(asked) < _MOST_ORIGINS:
            origin = origin or origins.get(handle)
            if origin is None:
                return UNKNOWN
            (handle, name), origin = origin, None
            asked.append(name)
            known = self._known.get(handle)
        if known is None or not asked:
            return known or UNKNOWN
        if not any(asked):
            return "returned", known[1] + "()" * (len(asked) - 1)
        return "named", known[1] + "".join(f'("{name}")' if name else "()" for name in reversed(asked))
