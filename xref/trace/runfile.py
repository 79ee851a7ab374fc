"""A run file: all that one recorded command did, as JSON lines in one gzip file, with no index (docs/tracing.md).

The first line is the header, the last one tells the number of lines, so that a file that was cut off is noticed. A run
file may come from another machine: nothing in it is believed before its type and range have been checked.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xref.model import ExitCode, XrefError
from xref.trace.rows import (
    Callback,
    Code,
    FfiCall,
    Function,
    Key,
    NativeCall,
    PassRun,
    Process,
    PythonCall,
    Row,
    SourceFile,
    TensorCrossing,
    Text,
)

__all__ = [
    "FORMAT",
    "Callback",
    "Code",
    "FfiCall",
    "Function",
    "Key",
    "NativeCall",
    "PassRun",
    "Process",
    "PythonCall",
    "Row",
    "RunFile",
    "SourceFile",
    "TensorCrossing",
    "Text",
    "read_header",
    "read_run",
    "write_run",
]

FORMAT = 4
"""The number in the header's `xref_run`; raised when a row changes its meaning, or a kind of row or name is added."""
_READABLE = (1, 2, 3, FORMAT)
"""A file of format 1 has fewer kinds of rows, and its passes end at their duration; up to 2 a key ends at its name; up
to 3 no function is named as an operator's attribute.
"""

FUNCTION_KINDS = ("symbol", "target", "wrapper", "address")
NAME_KINDS = ("global", "method", "attribute", "python", "named", "returned", "unknown")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MAX_LINE = 1 << 24
"""Characters; only the text of a module with large constants comes near it (recorder/passes.py cuts it)."""


_N, _S = int, str
_NONE = type(None)
_ROWS: dict[str, tuple[type[Any], tuple[Any, ...]]] = {
    "process": (Process, (_N, (_N, _NONE), _N, _S, (int, float))),
    "file": (SourceFile, (_N, _S, (_S, _NONE), (_S, _NONE))),
    "code": (Code, (_N, _N, (_S, _NONE), _S, _N)),
    "key": (Key, (_N, _S, _S, (_N, _NONE))),
    "python": (PythonCall, (_N,) * 6),
    "ffi": (FfiCall, (_N, _N, (_N, _NONE), _N, _N, (_N, _NONE), _N, _N)),
    "callback": (Callback, (_N,) * 5),
    "text": (Text, (_N, _S)),
    "pass": (PassRun, (_N, _N, _N, _N, _S, _N, _N, *((_N, _NONE),) * 4)),
    "tensor": (TensorCrossing, (_N, _N, (_N, _NONE), _N, _N, (_N, _NONE), *(_N,) * 4)),
    "function": (Function, (_N, _S, _S, _S, _N, _S)),
    "native": (NativeCall, (_N,) * 5),
}
"""Word at the head of a row -> its type, and the types of its parts."""
_OLD_PARTS: dict[type[Any], int] = {PassRun: 8, Key: 3}
"""How many parts these rows had in earlier formats: what came later is unknown of them."""
_WORDS = {row_type: word for word, (row_type, _) in _ROWS.items()}

_HEADER: dict[str, Any] = {
    "id": str, "command": list, "cwd": str, "started": str, "seconds": (int, float), "exit": dict, "python": dict,
    "tvm": (dict, _NONE), "tvm_ffi": (dict, _NONE), "recorded": dict, "notes": list,
}  # fmt: skip


@dataclass
class RunFile:
    """A run. `header` has the keys of docs/tracing.md; the tables are in the order of the file."""

    header: dict[str, Any]
    processes: list[Process] = field(default_factory=list)
    files: list[SourceFile] = field(default_factory=list)
    codes: list[Code] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    python: list[PythonCall] = field(default_factory=list)
    ffi: list[FfiCall] = field(default_factory=list)
    callbacks: list[Callback] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    passes: list[PassRun] = field(default_factory=list)
    tensors: list[TensorCrossing] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    native: list[NativeCall] = field(default_factory=list)

    @property
    def id(self) -> str:
        """The run's id, fit to be a file's name."""
        return str(self.header["id"])

    @property
    def tvm_version(self) -> str:
        """The version that the TVM which ran gives itself; "" when none was imported."""
        return _version(self.header["tvm"])

    def tables(self) -> tuple[Sequence[Row], ...]:
        """All rows, in the order of the file."""
        return (
            self.processes, self.files, self.codes, self.keys, self.python, self.ffi, self.callbacks, self.texts,
            self.passes, self.tensors, self.functions, self.native,
        )  # fmt: skip


def _version(module: dict[str, Any] | None) -> str:
    return str(module.get("version", "")) if module else ""


def write_run(run: RunFile, path: Path) -> None:
    """Write `run` to `path`, whole or not at all. Raises `XrefError` (exit code 5) when that cannot be written."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(partial, "wb") as raw:
            with io.BufferedWriter(gzip.GzipFile("", "wb", 6, raw, 0), 1 << 16) as stream:  # gzip takes 3 us a write
                for line in _lines(run):
                    stream.write(line.encode("ascii") + b"\n")
            raw.flush()
            os.fsync(raw.fileno())
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise XrefError(f"{path} cannot be written ({error.strerror or error}): name another place",
                        ExitCode.UNUSABLE_INPUT) from error  # fmt: skip


def _lines(run: RunFile) -> Iterator[str]:
    yield json.dumps({"xref_run": FORMAT, **run.header})
    count = 1
    for table in run.tables():
        for row in table:
            yield json.dumps([_WORDS[type(row)], *row])
            count += 1
    yield json.dumps({"end": count})


def read_header(path: Path) -> dict[str, Any]:
    """The header alone. Raises `XrefError` (exit code 5) like `read_run`; of the rest only the end is looked for."""
    with _troubles(path):
        lines = _text_lines(path)
        first = next(lines, "null")
        header = _check_header(json.loads(first), path)
        last = deque(lines, maxlen=1)
        if not last or not last[0].startswith('{"end"'):
            raise EOFError
        return header


def has_texts(path: Path) -> bool:
    """Whether a run holds texts of modules; its other rows are not looked at. Raises `XrefError` like `read_header`."""
    with _troubles(path):
        return any(line.startswith(f'["{_WORDS[Text]}",') for line in _text_lines(path))


def read_run(path: Path) -> RunFile:
    """Read and check a run file.

    Raises `XrefError` (exit code 5) when it is none, is cut off or damaged, or has another version of the format.
    """
    with _troubles(path):
        lines = _text_lines(path)
        run = RunFile(_check_header(json.loads(next(lines, "null")), path))
        tables: dict[type[Any], list[Any]] = {
            Process: run.processes, SourceFile: run.files, Code: run.codes, Key: run.keys, PythonCall: run.python,
            FfiCall: run.ffi, Callback: run.callbacks, Text: run.texts, PassRun: run.passes,
            TensorCrossing: run.tensors, Function: run.functions, NativeCall: run.native,
        }  # fmt: skip
        count, ended = 1, False
        for line in lines:
            value = json.loads(line)
            if ended:
                raise _damaged(path, "something follows its end")
            if isinstance(value, dict):
                if value.get("end") != count:
                    raise _damaged(path, f"it should have {value.get('end')} lines before its end and has {count}")
                ended = True
                continue
            row = _row(value)
            tables[type(row)].append(row)
            count += 1
        if not ended:
            raise EOFError
        _check_numbers(run)
    return run


class _troubles:  # noqa: N801  # used like a function
    """Turns what reading a damaged file raises into an `XrefError` that names it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is None or isinstance(error, XrefError):
            return
        if isinstance(error, (EOFError, zlib.error)):
            raise _damaged(self._path, "it is cut off") from error
        if isinstance(error, gzip.BadGzipFile):
            message = f"{self._path} is no run file of xref (it is not gzip): name a file that `xref trace` wrote"
            raise XrefError(message, ExitCode.UNUSABLE_INPUT) from error
        if isinstance(error, OSError):
            raise XrefError(f"{self._path} cannot be read: {error.strerror or error}",
                            ExitCode.UNUSABLE_INPUT) from error  # fmt: skip
        if isinstance(error, (ValueError, RecursionError)):
            raise _damaged(self._path, str(error)) from error


def _damaged(path: Path, why: str) -> XrefError:
    return XrefError(
        f"{path} is a damaged run file ({why}): copy it again from where it was made, or record the run again",
        ExitCode.UNUSABLE_INPUT,
    )


def _text_lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rb") as stream:
        while line := stream.readline(_MAX_LINE + 1):
            if len(line) > _MAX_LINE:
                raise ValueError(f"a line is longer than {_MAX_LINE} characters")
            if not line.endswith(b"\n"):
                raise EOFError
            yield line.decode("ascii")


def _check_header(value: Any, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict) or "xref_run" not in value:
        raise ValueError("its first line is not the header of a run")
    version = value.pop("xref_run")
    if version not in _READABLE:
        newer = isinstance(version, int) and version > FORMAT
        remedy = "upgrade xref" if newer else "record the run again"
        raise XrefError(
            f"{path} has format {version!r} of run files, and this xref reads up to {FORMAT}: {remedy}",
            ExitCode.UNUSABLE_INPUT,
        )
    for name, types in _HEADER.items():
        if not isinstance(value.get(name), types):
            raise ValueError(f"the header's {name} is missing or malformed")  # noqa: TRY004
    if not all(isinstance(item, str) for item in (*value["command"], *value["notes"])):
        raise ValueError("the header's command or notes are malformed")
    if not _ID.fullmatch(value["id"]):
        raise ValueError("the header's id is no file name")
    return value


def _row(value: Any) -> Row:
    word, *parts = value if isinstance(value, list) and value else [None]
    if not isinstance(word, str) or word not in _ROWS:
        raise ValueError("a row is of no kind that there is")
    row_type, types = _ROWS[word]
    if len(parts) == _OLD_PARTS.get(row_type):
        parts += [None] * (len(types) - len(parts))
    if len(parts) != len(types) or not all(
        isinstance(part, kind) and not isinstance(part, bool) for part, kind in zip(parts, types, strict=True)
    ):
        raise ValueError(f"a row of kind {word} is malformed")
    if any(isinstance(part, int) and not 0 <= part < 1 << 63 for part in parts):
        raise ValueError(f"a row of kind {word} has a number out of range")
    made: Row = row_type(*parts)
    return made


def _check_numbers(run: RunFile) -> None:
    """Every table is numbered from 0, and every number leads to a row."""
    numbered: tuple[Sequence[Process | SourceFile | Code | Key | Text | Function], ...] = (
        run.processes, run.files, run.codes, run.keys, run.texts, run.functions,
    )  # fmt: skip
    for rows in numbered:
        if any(row.number != place for place, row in enumerate(rows)):
            raise ValueError("a table is not numbered in order")
    processes, codes, keys = len(run.processes), len(run.codes), len(run.keys)
    _check_range((code.file for code in run.codes), len(run.files))
    _check_range((process.parent for process in run.processes), processes)
    for table in (run.python, run.ffi, run.callbacks, run.passes, run.tensors, run.native):
        _check_range((row.process for row in table), processes)
    _check_range((number for row in run.python for number in (row.caller, row.callee)), codes)
    _check_range((key.code for key in run.keys), codes)
    _check_range((row.caller for row in run.ffi), codes)
    _check_range((number for row in run.ffi for number in (row.key, row.via)), keys)
    _check_range((row.callee for row in run.callbacks), codes)
    _check_range((row.key for row in run.callbacks), keys)
    _check_range((row.caller for row in run.tensors), codes)
    _check_range((number for row in run.tensors for number in (row.key, row.via)), keys)
    _check_range((number for row in run.passes for number in (row.before, row.after)), len(run.texts))
    _check_range((number for row in run.native for number in (row.caller, row.callee)), len(run.functions))
    if any(function.kind not in FUNCTION_KINDS for function in run.functions):
        raise ValueError("a function has an unknown kind")
    if any(row.changed not in (None, 0, 1) for row in run.passes):
        raise ValueError("a pass has changed its module neither once nor not at all")
    if any(key.kind not in NAME_KINDS for key in run.keys):
        raise ValueError("a key has an unknown kind")


def _check_range(numbers: Iterable[int | None], end: int) -> None:
    if any(number is not None and number >= end for number in numbers):
        raise ValueError("a row refers to a row that is not there")
