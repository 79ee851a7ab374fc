"""Records passes: a pass instrument in every PassContext that Python code makes, and in the one that is there from the
start. (Contexts that C++ code makes, and the default contexts of other threads, are out of its reach.)

Each start and end goes to the log at once, so that after a crash the pass is known in which it happened.

Whether a pass changed its module is told by TVM's own structural comparison; the module before it is kept alive as long
as the pass runs, so a pass that would change it in place makes a copy. Time spent here counts for no pass.
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


_LONGEST_TEXT = 1 << 21
"""Characters of a module's text that are kept: large constants are written out in it. Written as JSON in ASCII, that
is at most 1 << 24 (runfile.py reads no longer line).
"""


class _Open:
    """A pass that has started: its number, its name, the frame (its id: nothing is kept alive) and instruction that
    called into C++, and the numbers of the FFI calls then open (empty when nobody records them). `spent` is what
    comparing modules had taken when it started, `text` the number of its module's text (-1: not asked for).
    """

    __slots__ = ("calls", "frame", "module", "name", "offset", "seq", "spent", "started", "text")

    def __init__(
        self, seq: int, name: str, module: Any, frame: FrameType | None, calls: list[int], spent: int, text: int
    ) -> None:
        self.started = time.perf_counter_ns()
        self.module = module
        self.spent = spent
        self.text = text
        self.seq = seq
        self.name = name
        self.frame = id(frame) if frame is not None else 0
        self.offset = frame.f_lasti if frame is not None else 0
        self.calls = calls


class Passes:
    """The recorder of passes. `open_calls` gives the numbers of the thread's open FFI calls, `pause` stops (True) the
    recording of this thread's. `window` is opened around outermost passes; `texts` is whether modules are written out.
    """

    def __init__(self, log: Log, calls: PythonCalls, origin: int, tick: Callable[[], None]) -> None:
        self.open_calls: Callable[[], list[int]] = list
        self.pause: Callable[[bool], object] = bool
        self.window: Any = None
        self.texts = False
        self._log = log
        self._calls = calls
        self._origin = origin
        self._tick = tick
        self._stacks: dict[int, list[_Open]] = {}
        self._next = 0
        self._instrument: Any = None
        self._compare: Any = None
        self._spent = 0
        self._texts = Texts(log)
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
        self._compare = _comparison()
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

    def _before(self, module: Any, info: Any) -> None:
        if self.on:
            try:
                self._begin(module, info, sys._getframe(1))  # noqa: SLF001
            except Exception as problem:  # noqa: BLE001
                self._give_up(problem)

    def _after(self, module: Any, info: Any) -> None:
        now = time.perf_counter_ns()
        if self.on:
            try:
                self._end(module, str(info.name), now)
            except Exception as problem:  # noqa: BLE001
                self._give_up(problem)

    def _give_up(self, problem: Exception) -> None:
        """What goes wrong here must not become an error of the pass."""
        self.on = False
        self.trouble = f"{type(problem).__name__}: {problem}"

    def _begin(self, module: Any, info: Any, frame: FrameType) -> None:
        self._end_dead(frame)
        stack = self._stacks.setdefault(_thread.get_ident(), [])
        name, opt_level, seq = str(info.name), int(info.opt_level), self._next
        self._next += 1
        self._tick()
        text = self._texts.number(module) if self.texts else -1
        opened = _Open(seq, name, module, frame, self.open_calls(), self._spent, text)
        row = ["start", seq, self._calls.state().number, len(stack), name, opt_level]
        self._log.write([*row, opened.started - self._origin])
        stack.append(opened)
        if self.window is not None:
            self.window.enter()

    def _end(self, module: Any, name: str, now: int) -> None:
        stack = self._stacks.get(_thread.get_ident(), [])
        if any(opened.name == name for opened in stack):
            while stack[-1].name != name:
                self._close(stack.pop())
            opened = stack.pop()
            self._close(opened)
            spent = now - opened.started - (self._spent - opened.spent)
            after = self._texts.number(module) if self.texts else -1
            changed = int(after != opened.text) if self.texts else self._changed(opened.module, module)
            self._log.write(["end", opened.seq, spent, changed, opened.text, after])
            self._spent += time.perf_counter_ns() - now

    def _close(self, _opened: _Open) -> None:
        if self.window is not None:
            self.window.leave()

    def _changed(self, before: Any, after: Any) -> int:
        """1 or 0; -1 when it cannot be told."""
        if hash(before) == hash(after):
            return 0
        if self._compare is None or self.window is not None:
            return -1
        self.pause(True)
        try:
            return int(not self._compare(before, after))
        except Exception:  # noqa: BLE001
            # A type that cannot be compared.
            return -1
        finally:
            self.pause(False)

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
        for opened in stack[alive:]:
            self._close(opened)
        del stack[alive:]


def _comparison() -> Any:
    """TVM's structural comparison of two objects; None when this version has none. It is called without Python code in
    between, which would be recorded. Source: src/node/structural_equal.cc up to 0.25, tvm_ffi's since 0.26.
    """
    find = sys.modules["tvm_ffi"].get_global_func
    older = find("node.StructuralEqual", allow_missing=True)
    if older is not None:
        return lambda before, after: older(before, after, False, False)
    newer = find("ffi.StructuralEqual", allow_missing=True)
    return None if newer is None else lambda before, after: newer(before, after, False, True)


class Texts:
    """Numbers the texts of modules, and logs each text once. A module is TVMScript as it prints itself."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._numbers: dict[str, int] = {}
        self._last: Any = None
        self._last_number = -1

    def number(self, module: Any) -> int:
        """The number of `module`'s text. Raises what TVM's printer raises."""
        if self._last is None or hash(self._last) != hash(module):
            text = str(module)
            if len(text) > _LONGEST_TEXT:
                text = f"{text[:_LONGEST_TEXT]}\n# ... cut by xref: {len(text)} characters"
            number = self._numbers.setdefault(text, len(self._numbers))
            if number == len(self._numbers) - 1:
                self._log.write(["text", number, text])
            self._last, self._last_number = module, number
        return self._last_number
