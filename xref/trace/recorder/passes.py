"""Records passes: a pass instrument in every PassContext that Python code makes, and in the one that is there from the
start. (Contexts that C++ code makes, and the default contexts of other threads, are out of its reach.)

Each start and end goes to the log at once, so that after a crash the pass is known in which it happened.
"""

from __future__ import annotations

import _thread
import sys
import time

from .edges import PythonCalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from .part import Log


class _Open:
    """A pass that has started: its number, its name, the frame (its id: nothing is kept alive) and instruction that
    called into C++, and the numbers of the FFI calls then open (empty when nobody records them).
    """

    __slots__ = ("calls", "frame", "name", "offset", "seq", "started")

    def __init__(self, seq: int, name: str, frame: FrameType | None, calls: list[int], started: int) -> None:
        self.seq = seq
        self.name = name
        self.frame = id(frame) if frame is not None else 0
        self.offset = frame.f_lasti if frame is not None else 0
        self.calls = calls
        self.started = started


class Passes:
    """The recorder of passes. `open_calls` gives the numbers of the thread's open FFI calls."""

    def __init__(self, log: Log, calls: PythonCalls, origin: int, tick: Callable[[], None]) -> None:
        self.open_calls: Callable[[], list[int]] = list
        self._log = log
        self._calls = calls
        self._origin = origin
        self._tick = tick
        self._stacks: dict[int, list[_Open]] = {}
        self._next = 0
        self._instrument: Any = None
        self.on = True
        self.trouble = ""

    def install(self) -> None:
        """Instrument the passes of the tvm that is now imported. Raises whatever is not there in this version."""
        instrument, transform = sys.modules["tvm.ir.instrument"], sys.modules["tvm.ir.transform"]
        made = instrument.PassInstrument.__new__(instrument.PassInstrument)
        # The class's own __init__ would look methods up by name; C++ takes any callable.
        made.__init_handle_by_constructor__(
            sys.modules["tvm.ir._ffi_instrument_api"].PassInstrument,
            "xref",
            self._enter,
            self._exit,
            None,
            self._before,
            self._after,
        )
        self._instrument = made
        context = transform.PassContext
        context.current().override_instruments([made])
        context.__init__ = self._wrapped(context.__init__)
        context.override_instruments = self._wrapped(context.override_instruments)

    def forget(self) -> None:
        """Begin again: for the child of a fork. Passes that are open belong to the parent."""
        self._next = 0
        self._stacks.clear()

    def _wrapped(self, original: Any) -> Any:
        """`original`, with our instrument added to its argument `instruments`."""
        position = original.__code__.co_varnames.index("instruments")
        get_frame, add_call, code = sys._getframe, self._calls.add_call, original.__code__  # noqa: SLF001

        def method(*args: Any, **kwargs: Any) -> Any:
            add_call(get_frame(1), code)
            if len(args) > position:
                args = (*args[:position], self._joined(args[position]), *args[position + 1 :])
            else:
                kwargs["instruments"] = self._joined(kwargs.get("instruments"))
            return original(*args, **kwargs)

        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(method, name, getattr(original, name))
        method.__wrapped__ = original  # type: ignore[attr-defined]
        return method

    def _joined(self, instruments: Any) -> Any:
        try:
            return [*(instruments or ()), self._instrument]
        except TypeError:
            return instruments

    # called from C++

    def _enter(self) -> None:
        pass

    def _exit(self) -> None:
        """A context ends: so do its passes, also those that raised."""
        try:
            self._end_dead(sys._getframe(1))  # noqa: SLF001
        except Exception as problem:  # noqa: BLE001
            self._give_up(problem)

    def _before(self, _module: Any, info: Any) -> None:
        if self.on:
            try:
                self._begin(info, sys._getframe(1))  # noqa: SLF001
            except Exception as problem:  # noqa: BLE001
                self._give_up(problem)

    def _after(self, _module: Any, info: Any) -> None:
        now = time.perf_counter_ns()
        if self.on:
            try:
                self._end(str(info.name), now)
            except Exception as problem:  # noqa: BLE001
                self._give_up(problem)

    def _give_up(self, problem: Exception) -> None:
        """What goes wrong here must not become an error of the pass."""
        self.on = False
        self.trouble = f"{type(problem).__name__}: {problem}"

    def _begin(self, info: Any, frame: FrameType) -> None:
        self._end_dead(frame)
        stack = self._stacks.setdefault(_thread.get_ident(), [])
        name, opt_level, seq = str(info.name), int(info.opt_level), self._next
        self._next += 1
        self._tick()
        opened = _Open(seq, name, frame, self.open_calls(), time.perf_counter_ns())
        row = ["start", seq, self._calls.state().number, len(stack), name, opt_level]
        self._log.write([*row, opened.started - self._origin])
        stack.append(opened)

    def _end(self, name: str, now: int) -> None:
        stack = self._stacks.get(_thread.get_ident(), [])
        if any(opened.name == name for opened in stack):
            while stack[-1].name != name:
                stack.pop()
            opened = stack.pop()
            self._log.write(["end", opened.seq, now - opened.started])

    def _end_dead(self, frame: FrameType | None) -> None:
        """Drop the passes that are no longer running, because they raised: the FFI call, or the frame and instruction,
        that each of them was started by is not open any more.
        """
        stack = self._stacks.get(_thread.get_ident())
        if not stack:
            return
        open_calls = self.open_calls()
        running = {}
        while frame is not None:
            running[id(frame)] = frame.f_lasti
            frame = frame.f_back
        alive = 0
        for opened in stack:
            if open_calls[: len(opened.calls)] != opened.calls:
                break
            if opened.frame and running.get(opened.frame) != opened.offset:
                break
            alive += 1
        del stack[alive:]
