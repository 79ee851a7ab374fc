"""The rows of a run file: what each kind tells (docs/tracing.md). runfile.py reads and writes them."""

from __future__ import annotations

from typing import NamedTuple


class Process(NamedTuple):
    """A process that was recorded; 0 is the first. `parent` is a process's number, None when it was not recorded."""

    number: int
    parent: int | None
    pid: int
    ended: str
    seconds: float


class SourceFile(NamedTuple):
    """A file with code that ran. `relative` is its path below the entry of sys.path that holds it, with forward
    slashes; None when there is none. `sha256` is of its content right after the run; None when it could not be read.
    """

    number: int
    path: str
    relative: str | None
    sha256: str | None


class Code(NamedTuple):
    """A code object. `qualname` is `__qualname__` (with `<locals>`), None from Pythons before 3.11. `line` is the first
    line, that of the first decorator.
    """

    number: int
    file: int
    qualname: str | None
    name: str
    line: int


class Key(NamedTuple):
    """A function behind the FFI; see `kind` in docs/tracing.md. `code` is that of one written in Python."""

    number: int
    kind: str
    name: str
    code: int | None = None


class PythonCall(NamedTuple):
    """`calls` calls of one code object by another, from `line` of the caller's file."""

    process: int
    thread: int
    caller: int
    line: int
    callee: int
    calls: int


class FfiCall(NamedTuple):
    """`calls` calls of the function `key` from `line` of `caller` (None: no Python frame). `via` is the function whose
    native code made them, None when Python did. `ns` is nanoseconds in all, everything inside included.
    """

    process: int
    thread: int
    caller: int | None
    line: int
    key: int
    via: int | None
    calls: int
    ns: int


class Callback(NamedTuple):
    """`calls` times that native code, within an FFI call of `key`, entered a Python function."""

    process: int
    thread: int
    key: int
    callee: int
    calls: int


class PassRun(NamedTuple):
    """One pass, in the order of starting. `start` is nanoseconds since the recorder started; `ns` is None when the pass
    did not end. `changed` is 1 when the module after it differs from that before it, 0 when not, None when that is not
    known; `before` and `after` are numbers of texts, None without `--ir`.
    """

    process: int
    thread: int
    seq: int
    depth: int
    name: str
    opt_level: int
    start: int
    ns: int | None
    changed: int | None = None
    before: int | None = None
    after: int | None = None


class TensorCrossing(NamedTuple):
    """Calls of `key` from `line` of `caller` that had tensors, by what became of their memory: an address that came out
    is one that went in (`same`), or not (`different`); it went in and there is nothing to compare with: the callee got
    that very address (`passed`); or a tensor came out and none went in (`made`).
    """

    process: int
    thread: int
    caller: int | None
    line: int
    key: int
    via: int | None
    same: int
    different: int
    passed: int
    made: int


class Function(NamedTuple):
    """A function of machine code. `kind` is "symbol" (`name` is demangled), "target" or "wrapper" (`name` is the
    registry key that it implements, or whose arguments it unpacks), or "address" (no name). `library` is its file's
    name, `address` where it begins in there (0 when it has a symbol). `file` is its source by debug information, "".
    """

    number: int
    kind: str
    name: str
    library: str
    address: int
    file: str


class NativeCall(NamedTuple):
    """`calls` calls of one function by another during compilations, `instructions` executed in them in all."""

    process: int
    caller: int
    callee: int
    calls: int
    instructions: int


class Text(NamedTuple):
    """The text of a module."""

    number: int
    text: str


Row = (
    Process | SourceFile | Code | Key | PythonCall | FfiCall | Callback | PassRun | TensorCrossing | Function
    | NativeCall | Text
)  # fmt: skip
