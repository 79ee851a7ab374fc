"""Pass names in C++: the string given to the function that makes a pass, and what the pass runs.

Forms by qualified name; `tir`, `tirx`, `relay` and `relax` are the namespaces of different eras (v0.14 to main).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, load, text
from xref.model import KeyDef
from xref.registry.cpp_values import argument, function_of, is_default, string_of, unquote

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

REGISTRY = "pass"


class Maker(NamedTuple):
    """Argument indices of the pass name and of the function it runs (None: the maker's caller stands for the pass)."""

    name: int
    function: int | None


MAKERS = {
    "tvm::transform::CreateModulePass": Maker(2, 0),
    **{
        f"tvm::{dialect}::transform::Create{kind}Pass": Maker(2, 0)
        for dialect, kind in (
            ("relay", "Function"),
            ("relax", "Function"),
            ("relax", "DataflowBlock"),
            ("tir", "PrimFunc"),
            ("tirx", "PrimFunc"),
            ("s_tir", "PrimFunc"),
        )
    },
    "tvm::transform::Sequential::Sequential": Maker(1, None),
}
REQUIRED = 3
"""Index of the argument that names the passes which must have run before."""
REQUIRES = "requires "
"""What the note of a pass with such passes ends with; their names follow (xref.link.keys makes relations of it)."""
NAMES = frozenset(form.rsplit("::", 1)[1] for form in MAKERS)


def on_call(walk: Walk, call: CXCursor, callee: Declaration) -> None:
    """Record the pass that this call makes, if it makes one."""
    if callee.name not in NAMES:
        return
    maker = MAKERS.get(callee.qualname)
    if maker is None:
        return
    name_cursor = argument(call, maker.name)
    name = string_of(name_cursor)
    if name_cursor is None:
        return
    file, line, col = walk.position(name_cursor)
    if name is None and is_default(name_cursor):
        name = _default(walk, call, maker.name)
        file, line, col = walk.position(call)
    facts = walk.facts.get(file)
    if facts is None:
        return
    if name is None or name.endswith("*"):
        walk.note_unreadable(file, line, col, call, f"name of a {REGISTRY} is known only at run time")
        return
    if maker.function is not None:
        target, note, _ = function_of(walk, argument(call, maker.function), name)
    else:
        target, note = walk.scope, "a sequence of passes"
    required = _strings(argument(call, REQUIRED)) if maker.function is not None else []
    if required:
        note = "; ".join((*(part for part in (note,) if part), REQUIRES + ", ".join(required)))
    facts.key_defs.append(KeyDef(REGISTRY, name, "cpp", line, target.id if target is not None else None, note=note))


def _strings(cursor: CXCursor | None) -> list[str]:
    """The literals of a list such as `{"InferType", "FoldConstant"}`, converted however often."""
    if cursor is None:
        return []
    if cursor.kind == kinds.STRING_LITERAL:
        return [unquote(text(load().clang_getCursorSpelling(cursor)))]
    return list(dict.fromkeys(name for child in children(cursor) for name in _strings(child)))


def _default(walk: Walk, call: CXCursor, index: int) -> str | None:
    """The default of the called function's parameter: `Sequential(passes, String name = "sequential")`."""
    function = walk.library.clang_getCursorReferenced(call)
    parameters = [c for c in children(function) if c.kind == kinds.PARAMETER]
    values = [c for c in children(parameters[index]) if c.kind in kinds.EXPRESSIONS] if index < len(parameters) else []
    return string_of(values[-1]) if values else None
