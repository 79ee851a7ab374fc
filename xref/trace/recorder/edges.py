"""Counts Python calls: which code object called which, from where. Python 3.12 and newer tell by sys.monitoring, older
ones by the profile hook.

The hot path handles ids of code objects and instruction offsets only; names and lines are looked up when a part is
written. A code object hashes by its content, which would cost more than everything else here.
"""

from __future__ import annotations

import _thread
import sys
from _bisect import bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

_VERSION = sys.version_info[:2]
NEW_MONITORING = _VERSION >= (3, 12)
BACKEND = "sys.monitoring" if NEW_MONITORING else "sys.setprofile"
_HAS_OFFSETS = _VERSION >= (3, 10)
_GENERATORS = 0x20 | 0x80 | 0x200
"""Code flags of generators, coroutines and asynchronous generators."""
_OWN_FOLDER = __file__.rpartition("_xref_recorder")[0] or __file__.rpartition("edges.py")[0]


class Cell:
    """A number that another part changes; ctypes' integers have the same attribute."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


class ThreadState:
    """What one thread did. `calls`: (caller code id, offset or line, callee code id, callee's offset) -> count.

    `frame` and `handle` hold the id of the Python frame that made the thread's innermost open FFI call, and the
    function it called (None until somebody records FFI calls): a Python function whose caller's frame is that very
    frame was entered from C++, and is counted in `callbacks`: (handle, callee code id) -> count.
    """

    __slots__ = ("callbacks", "calls", "frame", "handle", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.calls: dict[tuple[int, int, int, int], int] = {}
        self.callbacks: dict[tuple[int, int], int] = {}
        self.frame: Any = None
        self.handle: Any = None


class PythonCalls:
    """The recorder of Python calls. `on_new` is called when a call is seen for the first time."""

    def __init__(self, on_new: Callable[[], None]) -> None:
        self.states: list[ThreadState] = []
        # Not by thread id: that of a thread which has ended is used again.
        self._local: Any = _thread._local()  # noqa: SLF001
        self.codes: dict[int, CodeType] = {}
        """Every code object of a key, kept alive: ids stay theirs."""
        self.attach: Callable[[ThreadState], None] | None = None
        """Gives a state its `frame` and `handle`; called in the thread itself."""
        self.on_new = on_new
        self._tool = 0
        self._hook: Any = None if NEW_MONITORING else self._profile_hook()
        self.state()

    def state(self) -> ThreadState:
        """The state of the running thread; the first thread has number 0."""
        state: ThreadState | None = getattr(self._local, "state", None)
        if state is None:
            state = self._local.state = ThreadState(len(self.states))
            self.states.append(state)
            if self.attach is not None:
                self.attach(state)
        return state

    def start(self) -> None:
        """Record from now on, in this thread and (`thread_hook`) in those that it starts."""
        if NEW_MONITORING:
            self._start_monitoring()
        else:
            sys.setprofile(self._hook)

    def thread_hook(self) -> Any:
        """What threading.setprofile needs in order to record new threads; None where that is not needed."""
        return self._hook

    def stop(self) -> str:
        """Stop recording; returns why it had stopped earlier, "" when it had not."""
        if NEW_MONITORING:
            monitoring = vars(sys)["monitoring"]
            monitoring.set_events(self._tool, 0)
            monitoring.free_tool_id(self._tool)
            return ""
        running = sys.getprofile()
        sys.setprofile(None)
        if running is self._hook:
            return ""
        return "another profiler took the profile hook, or a RecursionError removed it: later Python calls are missing"

    def forget(self) -> None:
        """Drop all counts, and all threads but the running one: for the child of a fork."""
        mine = self.state()
        mine.number = 0
        mine.calls.clear()
        mine.callbacks.clear()
        self.states[:] = [mine]

    def _profile_hook(self) -> Any:
        local, new = self._local, self._new

        def hook(frame: FrameType, event: str, _argument: object) -> None:
            if event != "call":
                return
            back = frame.f_back
            if back is None:
                return
            state = getattr(local, "state", None) or self.state()
            code = frame.f_code
            if state.frame is not None and state.frame.value == id(back):
                entry = (state.handle.value, id(code))
                self.codes[id(code)] = code
                state.callbacks[entry] = state.callbacks.get(entry, 0) + 1
                return
            key = (id(back.f_code), back.f_lasti if _HAS_OFFSETS else back.f_lineno, id(code), frame.f_lasti)
            count = state.calls.get(key)
            state.calls[key] = 1 if count is None else count + 1
            if count is None:
                new(back.f_code, code)

        return hook

    def _start_monitoring(self) -> None:
        monitoring = vars(sys)["monitoring"]
        # 0, 1, 2 and 5 are for debuggers, coverage tools, profilers and optimisers: the script's own may need them.
        self._tool = next(tool for tool in (4, 3, 2, 1, 0) if monitoring.get_tool(tool) is None)
        monitoring.use_tool_id(self._tool, "xref")
        local, get_frame, new = self._local, sys._getframe, self._new  # noqa: SLF001

        def started(code: CodeType, _offset: int) -> None:
            back = get_frame(1).f_back
            if back is None:
                return
            state = getattr(local, "state", None) or self.state()
            if state.frame is not None and state.frame.value == id(back):
                entry = (state.handle.value, id(code))
                self.codes[id(code)] = code
                state.callbacks[entry] = state.callbacks.get(entry, 0) + 1
                return
            key = (id(back.f_code), back.f_lasti, id(code), 0)
            count = state.calls.get(key)
            state.calls[key] = 1 if count is None else count + 1
            if count is None:
                new(back.f_code, code)

        monitoring.register_callback(self._tool, monitoring.events.PY_START, started)
        monitoring.set_events(self._tool, monitoring.events.PY_START)

    def add_call(self, back: FrameType | None, code: CodeType) -> None:
        """Count a call that the hook attributes to a function of the recorder, which stands in between."""
        if back is not None:
            state = self.state()
            key = (id(back.f_code), back.f_lasti if _HAS_OFFSETS else back.f_lineno, id(code), -2)
            state.calls[key] = state.calls.get(key, 0) + 1
            self._new(back.f_code, code)

    def _new(self, caller: CodeType, callee: CodeType) -> None:
        self.codes[id(caller)] = caller
        self.codes[id(callee)] = callee
        self.on_new()


def is_own(code: CodeType) -> bool:
    """Whether the code is the recorder's."""
    return code.co_filename.startswith(_OWN_FOLDER)


def is_import_machinery(code: CodeType) -> bool:
    """Whether the code is Python's import system, which stands between every module and what imports it."""
    return code.co_filename.startswith("<frozen importlib")


class Lines:
    """Lines of instructions."""

    def __init__(self) -> None:
        self._tables: dict[int, tuple[list[int], list[int]]] = {}

    def of(self, code: CodeType, offset: int) -> int:
        """The line of the instruction at `offset` (Python 3.9 records lines instead of offsets); 0 when it has none."""
        if not _HAS_OFFSETS:
            return offset
        table = self._tables.get(id(code))
        if table is None:
            rows = list(code.co_lines())
            table = self._tables[id(code)] = ([start for start, _, _ in rows], [line or 0 for _, _, line in rows])
        at = bisect_right(table[0], offset) - 1
        return table[1][at] if at >= 0 else 0


def is_resumption(code: CodeType, offset: int) -> bool:
    """Whether a call event at `offset` of `code` went on with a generator, rather than called something.

    Only the profile hook reports these. The operand of RESUME is 0 at the start (CPython 3.11, Doc/library/dis.rst);
    before 3.11, a frame that has not run yet is at -1.
    """
    if NEW_MONITORING or offset == -2 or not code.co_flags & _GENERATORS:
        return False
    if _VERSION >= (3, 11):
        return bool(code.co_code[offset + 1] & 3)
    return offset != -1
