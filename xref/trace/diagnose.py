"""Says why a TVM could not be imported and what helps. Known causes are a table; nothing is imported here."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

from xref.trace.collect import Part, module_of


class Cause(NamedTuple):
    """A known reason for a failed import: a pattern of the exception's text, what it means, and what to install."""

    pattern: str
    meaning: str
    install: str


# Each was seen with the versions it names, by installing them.
CAUSES = (
    Cause(
        r"undefined symbol: _ZN3tvm3ffi4json9Stringify",
        "this TVM (0.25) was built for an older apache-tvm-ffi than the one installed",
        "apache-tvm-ffi==0.1.12",
    ),
    Cause(
        r"load_lib_ctypes",
        "this TVM (0.25) was built for a newer apache-tvm-ffi than the one installed",
        "apache-tvm-ffi==0.1.12",
    ),
    Cause(
        r"libz3\.so\.4\.15",
        "this TVM (of tilelang) needs the library of z3-solver 4.15, and LD_LIBRARY_PATH must name its z3/lib folder",
        "z3-solver<4.15.5",
    ),
    Cause(
        r"undefined symbol: \S*tvm3ffi",
        "this TVM and the installed apache-tvm-ffi do not fit together",
        "--upgrade apache-tvm apache-tvm-ffi",
    ),
    Cause(
        r"No module named 'tvm_ffi'",
        "this TVM needs apache-tvm-ffi, which is not installed",
        "apache-tvm-ffi",
    ),
)


def why_nothing(parts: list[Part], errors: list[str], program: str) -> str | None:
    """Why there is nothing to keep of a recording, with the remedy; None when there is something.

    There is when some process imported tvm, or used tvm_ffi without it.
    """
    if not parts:
        if errors:
            return f"nothing was recorded: the recorder failed ({errors[0]}); please report this"
        return (
            f"nothing was recorded: {program} started no Python that the recorder could enter"
            " (it comes by PYTHONPATH, which `env -i`, `python -I` and the like drop)"
        )
    tvm, ffi = module_of(parts, "tvm"), module_of(parts, "tvm_ffi")
    interpreter = parts[0][0]["python"]["executable"] or program
    if tvm is not None:
        return _failed_import("TVM", tvm, ffi, interpreter) if tvm["error"] else None
    if ffi is not None:
        return _failed_import("tvm_ffi", ffi, ffi, interpreter) if ffi["error"] else None
    if any((Path(entry) / "tvm" / "__init__.py").is_file() for part in parts for entry in part[0]["sys_path"]):
        return "nothing was recorded: the script imported neither tvm nor tvm_ffi"
    return (
        f"nothing was recorded: {interpreter} has no TVM; install it (`{_pip(interpreter)} apache-tvm`),"
        " or name an interpreter that has it by --python"
    )


def _failed_import(what: str, module: dict[str, Any], ffi: dict[str, Any] | None, interpreter: str) -> str:
    versions = [f"{what} {_installed(module)}".rstrip()]
    if ffi is not None and ffi is not module:
        versions.append(f"apache-tvm-ffi {ffi['version']}")
    error = module["error"].splitlines()[0]
    text = f"nothing was recorded: {' with '.join(versions)} could not be imported by {interpreter}: {error}"
    for cause in CAUSES:
        if re.search(cause.pattern, module["error"]):
            return f"{text}\n{cause.meaning}; try: {_pip(interpreter)} {_quoted(cause.install)}"
    return f"{text}\ntry `{shlex.quote(interpreter)} -c 'import tvm'` by itself"


def _pip(interpreter: str) -> str:
    return f"{shlex.quote(interpreter)} -m pip install"


def _quoted(requirements: str) -> str:
    return " ".join(shlex.quote(word) if "<" in word else word for word in requirements.split())


def _installed(module: dict[str, Any]) -> str:
    """The version: as the module says, else by the metadata that stands beside its package."""
    if module["version"] or not module["path"]:
        return str(module["version"])
    beside = Path(module["path"]).parent.parent
    found = sorted(folder.name for folder in beside.glob("apache_tvm-*.dist-info"))
    return found[0].split("-")[1].removesuffix(".dist") if found else ""
