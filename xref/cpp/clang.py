"""A thin ctypes binding of the libclang functions that xref calls once per cursor.

`clang.cindex` wraps every result in an object and asks for strings eagerly; a walk over TVM visits twenty million
cursors, so the hot calls are bound here directly, on structures whose layout is libclang's stable C interface
(clang-c/Index.h).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint, c_ulong, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

from xref.cpp import kinds
from xref.model import ExitCode, XrefError


class CXCursor(Structure):
    """A place in the syntax tree. `decl` (data[0]) is the address of the declaration when the cursor is one."""

    _fields_ = (("kind", c_int), ("xdata", c_int), ("decl", c_void_p), ("data1", c_void_p), ("data2", c_void_p))


class CXString(Structure):
    _fields_ = (("data", c_void_p), ("flags", c_uint))


class CXSourceLocation(Structure):
    _fields_ = (("ptr0", c_void_p), ("ptr1", c_void_p), ("offset", c_uint))


class CXToken(Structure):
    _fields_ = (("data", c_uint * 4), ("pointer", c_void_p))


class CXSourceRange(Structure):
    _fields_ = (("ptr0", c_void_p), ("ptr1", c_void_p), ("begin", c_uint), ("end", c_uint))


class CXType(Structure):
    _fields_ = (("kind", c_int), ("data0", c_void_p), ("data1", c_void_p))


class CXUnsavedFile(Structure):
    _fields_ = (("name", c_char_p), ("contents", c_char_p), ("length", c_ulong))


class CXSourceRangeList(Structure):
    _fields_ = (("count", c_uint), ("ranges", POINTER(CXSourceRange)))


VISITOR = CFUNCTYPE(c_int, CXCursor, CXCursor, c_void_p)
_INCLUSION_VISITOR = CFUNCTYPE(None, c_void_p, c_void_p, c_uint, c_void_p)
CONTINUE, RECURSE = 1, 2

DETAILED_PREPROCESSING_RECORD = 0x01
INCOMPLETE = 0x02
FOR_SERIALIZATION = 0x10
SKIP_FUNCTION_BODIES = 0x40
KEEP_GOING = 0x200

SEVERITY_ERROR = 3

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "clang_createIndex": (c_void_p, (c_int, c_int)),
    "clang_disposeIndex": (None, (c_void_p,)),
    "clang_parseTranslationUnit2": (
        c_int,
        (c_void_p, c_char_p, POINTER(c_char_p), c_int, c_void_p, c_uint, c_uint, POINTER(c_void_p)),
    ),
    "clang_saveTranslationUnit": (c_int, (c_void_p, c_char_p, c_uint)),
    "clang_disposeTranslationUnit": (None, (c_void_p,)),
    "clang_getTranslationUnitCursor": (CXCursor, (c_void_p,)),
    "clang_visitChildren": (c_uint, (CXCursor, c_void_p, c_void_p)),
    "clang_getCursorReferenced": (CXCursor, (CXCursor,)),
    "clang_getCursorDefinition": (CXCursor, (CXCursor,)),
    "clang_getCanonicalCursor": (CXCursor, (CXCursor,)),
    "clang_getCursorSemanticParent": (CXCursor, (CXCursor,)),
    "clang_getCursorLexicalParent": (CXCursor, (CXCursor,)),
    "clang_getSpecializedCursorTemplate": (CXCursor, (CXCursor,)),
    "clang_isCursorDefinition": (c_uint, (CXCursor,)),
    "clang_getCursorUSR": (CXString, (CXCursor,)),
    "clang_getCursorSpelling": (CXString, (CXCursor,)),
    "clang_getCursorDisplayName": (CXString, (CXCursor,)),
    "clang_Cursor_getRawCommentText": (CXString, (CXCursor,)),
    "clang_getCursorLinkage": (c_int, (CXCursor,)),
    "clang_getCXXAccessSpecifier": (c_int, (CXCursor,)),
    "clang_CXXMethod_isVirtual": (c_uint, (CXCursor,)),
    "clang_CXXMethod_isDefaulted": (c_uint, (CXCursor,)),
    "clang_CXXMethod_isDeleted": (c_uint, (CXCursor,)),
    "clang_CXXMethod_isConst": (c_uint, (CXCursor,)),
    "clang_Cursor_isDynamicCall": (c_int, (CXCursor,)),
    "clang_Cursor_getReceiverType": (CXType, (CXCursor,)),
    "clang_Cursor_getNumTemplateArguments": (c_int, (CXCursor,)),
    "clang_Cursor_getTemplateArgumentKind": (c_int, (CXCursor, c_uint)),
    "clang_Cursor_getTemplateArgumentType": (CXType, (CXCursor, c_uint)),
    "clang_Cursor_getNumArguments": (c_int, (CXCursor,)),
    "clang_Cursor_getArgument": (CXCursor, (CXCursor, c_uint)),
    "clang_Cursor_getVarDeclInitializer": (CXCursor, (CXCursor,)),
    "clang_Cursor_Evaluate": (c_void_p, (CXCursor,)),
    "clang_EvalResult_getKind": (c_int, (c_void_p,)),
    "clang_EvalResult_getAsStr": (c_char_p, (c_void_p,)),
    "clang_EvalResult_getAsInt": (c_int, (c_void_p,)),
    "clang_EvalResult_dispose": (None, (c_void_p,)),
    "clang_Cursor_isAnonymousRecordDecl": (c_uint, (CXCursor,)),
    "clang_Cursor_hasAttrs": (c_uint, (CXCursor,)),
    "clang_getNumOverloadedDecls": (c_uint, (CXCursor,)),
    "clang_getOverloadedDecl": (CXCursor, (CXCursor, c_uint)),
    "clang_getOverriddenCursors": (None, (CXCursor, POINTER(POINTER(CXCursor)), POINTER(c_uint))),
    "clang_disposeOverriddenCursors": (None, (POINTER(CXCursor),)),
    "clang_getCursorType": (CXType, (CXCursor,)),
    "clang_getCursorResultType": (CXType, (CXCursor,)),
    "clang_getNumArgTypes": (c_int, (CXType,)),
    "clang_getArgType": (CXType, (CXType, c_uint)),
    "clang_getArrayElementType": (CXType, (CXType,)),
    "clang_getPointeeType": (CXType, (CXType,)),
    "clang_getCanonicalType": (CXType, (CXType,)),
    "clang_getTypedefDeclUnderlyingType": (CXType, (CXCursor,)),
    "clang_getTypeDeclaration": (CXCursor, (CXType,)),
    "clang_getTypeSpelling": (CXString, (CXType,)),
    "clang_Type_getTemplateArgumentAsType": (CXType, (CXType, c_uint)),
    "clang_getCursorLocation": (CXSourceLocation, (CXCursor,)),
    "clang_getCursorExtent": (CXSourceRange, (CXCursor,)),
    "clang_getRangeStart": (CXSourceLocation, (CXSourceRange,)),
    "clang_getRangeEnd": (CXSourceLocation, (CXSourceRange,)),
    "clang_getFileLocation": (
        None,
        (CXSourceLocation, POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)),
    ),
    "clang_getFileName": (CXString, (c_void_p,)),
    "clang_Cursor_getTranslationUnit": (c_void_p, (CXCursor,)),
    "clang_getFileContents": (c_char_p, (c_void_p, c_void_p, POINTER(c_size_t))),
    "clang_getLocationForOffset": (CXSourceLocation, (c_void_p, c_void_p, c_uint)),
    "clang_getRange": (CXSourceRange, (CXSourceLocation, CXSourceLocation)),
    "clang_tokenize": (None, (c_void_p, CXSourceRange, POINTER(POINTER(CXToken)), POINTER(c_uint))),
    "clang_getTokenKind": (c_int, (CXToken,)),
    "clang_getTokenSpelling": (CXString, (c_void_p, CXToken)),
    "clang_getTokenLocation": (CXSourceLocation, (c_void_p, CXToken)),
    "clang_disposeTokens": (None, (c_void_p, POINTER(CXToken), c_uint)),
    "clang_getFile": (c_void_p, (c_void_p, c_char_p)),
    "clang_getInclusions": (None, (c_void_p, c_void_p, c_void_p)),
    "clang_getIncludedFile": (c_void_p, (CXCursor,)),
    "clang_getSkippedRanges": (POINTER(CXSourceRangeList), (c_void_p, c_void_p)),
    "clang_disposeSourceRangeList": (None, (POINTER(CXSourceRangeList),)),
    "clang_getNumDiagnostics": (c_uint, (c_void_p,)),
    "clang_getDiagnostic": (c_void_p, (c_void_p, c_uint)),
    "clang_getDiagnosticSeverity": (c_int, (c_void_p,)),
    "clang_getDiagnosticSpelling": (CXString, (c_void_p,)),
    "clang_getDiagnosticLocation": (CXSourceLocation, (c_void_p,)),
    "clang_disposeDiagnostic": (None, (c_void_p,)),
    "clang_getCursorBinaryOperatorKind": (c_int, (CXCursor,)),
    "clang_getCursorUnaryOperatorKind": (c_int, (CXCursor,)),
    "clang_getClangVersion": (CXString, ()),
    "clang_toggleCrashRecovery": (None, (c_uint,)),
    "clang_getCString": (c_char_p, (CXString,)),
    "clang_disposeString": (None, (CXString,)),
}


def library_path() -> Path:
    """The libclang to load: $XREF_LIBCLANG, else the one that the `libclang` package brings.

    Raises `XrefError` (exit code 5) when there is none.
    """
    named = os.environ.get("XREF_LIBCLANG")
    if named:
        if Path(named).is_file():
            return Path(named)
        raise XrefError(f"XREF_LIBCLANG names {named}, which is no file", ExitCode.UNUSABLE_INPUT)
    try:
        import clang
    except ImportError:
        found: list[Path] = []
    else:
        found = sorted(Path(clang.__file__).parent.glob("native/libclang.*"))
    if not found:
        raise XrefError(
            "libclang is missing: run `pip install libclang`, or name one in XREF_LIBCLANG", ExitCode.UNUSABLE_INPUT
        )
    return found[0]


@cache
def load() -> Any:
    """libclang with typed functions. Raises `XrefError` (exit code 5) when it is missing or too old."""
    path = library_path()
    try:
        library = ctypes.CDLL(str(path))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise XrefError(
            f"{path} cannot be used ({error}): xref needs libclang 18 or later, run `pip install -U libclang`",
            ExitCode.UNUSABLE_INPUT,
        ) from error
    return library


def die_on_crash() -> None:
    """For a process that may die: a crash inside libclang ends it, instead of leaving it with what the parse held."""
    os.environ["LIBCLANG_DISABLE_CRASH_RECOVERY"] = "1"  # read by clang_createIndex
    load().clang_toggleCrashRecovery(0)  # what this process is a copy of may have parsed


def text(string: CXString) -> str:
    """The Python string of a CXString, which is freed."""
    library = load()
    raw = library.clang_getCString(string)
    library.clang_disposeString(string)
    return raw.decode("utf-8", "replace") if raw else ""


def version() -> str:
    """libclang's own words for its version."""
    return text(load().clang_getClangVersion())


class Diagnostic:
    """An error that libclang reports: severity (3 error, 4 fatal), message, file name ("" when unknown), line."""

    __slots__ = ("file", "line", "message", "severity")

    def __init__(self, severity: int, message: str, file: str, line: int) -> None:
        self.severity, self.message, self.file, self.line = severity, message, file, line


class TranslationUnit:
    """A parsed unit. Use as a context manager; cursors die with it."""

    def __init__(self, handle: c_void_p) -> None:
        self.handle = handle

    def __enter__(self) -> TranslationUnit:
        return self

    def __exit__(self, *_: object) -> None:
        load().clang_disposeTranslationUnit(self.handle)

    @property
    def cursor(self) -> CXCursor:
        """The root of the unit's tree."""
        result: CXCursor = load().clang_getTranslationUnitCursor(self.handle)
        return result

    def save(self, path: Path) -> None:
        """Write the unit as a precompiled header. Raises OSError when libclang cannot."""
        if code := load().clang_saveTranslationUnit(self.handle, os.fsencode(path), 0):
            raise OSError(f"libclang could not save {path} (CXSaveError {code})")

    def errors(self) -> list[Diagnostic]:
        """The unit's errors and fatal errors, in order."""
        library = load()
        result = []
        for i in range(library.clang_getNumDiagnostics(self.handle)):
            diagnostic = library.clang_getDiagnostic(self.handle, i)
            severity = library.clang_getDiagnosticSeverity(diagnostic)
            if severity >= SEVERITY_ERROR:
                file, line, _, _ = file_location(library.clang_getDiagnosticLocation(diagnostic))
                name = text(library.clang_getFileName(file)) if file else ""
                message = text(library.clang_getDiagnosticSpelling(diagnostic))
                result.append(Diagnostic(severity, message, name, line))
            library.clang_disposeDiagnostic(diagnostic)
        return result

    def included(self) -> list[str]:
        """The names of all files that the unit consists of, its own included, those of a precompiled header not."""
        library = load()
        names: list[str] = []

        def collect(file: int, _stack: object, _depth: int, _data: object) -> None:
            names.append(text(library.clang_getFileName(file)))

        library.clang_getInclusions(self.handle, ctypes.cast(_INCLUSION_VISITOR(collect), c_void_p), None)
        return names

    def skipped_lines(self, path: str) -> list[tuple[int, int]]:
        """The line ranges of `path` that the preprocessor left out (first line = the directive before them)."""
        library = load()
        file = library.clang_getFile(self.handle, os.fsencode(path))
        if not file:
            return []
        ranges = library.clang_getSkippedRanges(self.handle, file)
        result = []
        for i in range(ranges.contents.count):
            start = file_location(library.clang_getRangeStart(ranges.contents.ranges[i]))
            end = file_location(library.clang_getRangeEnd(ranges.contents.ranges[i]))
            result.append((start[1], end[1]))
        library.clang_disposeSourceRangeList(ranges)
        return result


class ParseError(Exception):
    """libclang gave no tree at all: its CXErrorCode (1 failure, 2 crashed, 3 invalid arguments, 4 AST read error)."""

    def __init__(self, code: int) -> None:
        super().__init__(f"libclang gave no tree (CXErrorCode {code})")
        self.code = code


class Index:
    """A set of units. `exclude_pch` keeps a precompiled header's declarations out of walks."""

    def __init__(self, exclude_pch: bool = True) -> None:
        self._handle = load().clang_createIndex(int(exclude_pch), 0)

    def parse(self, path: str, arguments: list[str], options: int, content: str | None = None) -> TranslationUnit:
        """Parse `path` (absolute), as if it held `content` when given.

        Raises `ParseError` when there is no tree; errors in the code are diagnostics.
        """
        encoded = [os.fsencode(a) for a in arguments]
        array = (c_char_p * len(encoded))(*encoded)
        handle = c_void_p()
        unsaved, count = None, 0
        if content is not None:
            data = os.fsencode(content)
            unsaved, count = byref(CXUnsavedFile(os.fsencode(path), data, len(data))), 1
        code = load().clang_parseTranslationUnit2(
            self._handle, os.fsencode(path), array, len(encoded), unsaved, count, options, byref(handle)
        )
        if code or not handle.value:
            raise ParseError(code)
        return TranslationUnit(handle)


_file, _line, _column, _offset = c_void_p(), c_uint(), c_uint(), c_uint()
_out = (byref(_file), byref(_line), byref(_column), byref(_offset))


def file_location(location: CXSourceLocation) -> tuple[int, int, int, int]:
    """(file handle or 0, line, column, offset): where the token was written, or the macro invocation that made it."""
    load().clang_getFileLocation(location, *_out)
    return _file.value or 0, _line.value, _column.value, _offset.value


def children(cursor: CXCursor) -> list[CXCursor]:
    """The direct children of `cursor`."""
    result: list[CXCursor] = []

    def collect(child: CXCursor, _parent: CXCursor, _data: object) -> int:
        result.append(child)
        return CONTINUE

    visit(cursor, collect)
    return result


def unwrapped(cursor: CXCursor, through: tuple[int, ...] = kinds.WRAPPERS) -> CXCursor:
    """The expression below parentheses and implicit conversions, or below what else `through` lists."""
    while cursor.kind in through and len(inner := children(cursor)) == 1:
        cursor = inner[0]
    return cursor


def visit(cursor: CXCursor, callback: Callable[[CXCursor, CXCursor, object], int]) -> None:
    """Call `callback(child, parent, None)` for each child; it returns CONTINUE or RECURSE. Exceptions propagate."""
    failure: list[BaseException] = []

    def guarded(child: CXCursor, parent: CXCursor, data: object) -> int:
        try:
            return callback(child, parent, data)
        except BaseException as error:  # noqa: BLE001  # ctypes would print and drop it
            failure.append(error)
            return 0

    load().clang_visitChildren(cursor, ctypes.cast(VISITOR(guarded), c_void_p), None)
    if failure:
        raise failure[0]
