"""Registries that a chain of calls fills, entry by entry: target kinds and tags, pass options, instructions.

An opener takes the key; later calls of the chain add options (keys of their own, "<key>:<option>") or functions that
the key runs. Macros (TVM_REGISTER_TARGET_KIND, TVM_REGISTER_INST_KIND_TRAITS, ...) are such chains after expansion.
Look-ups by name are listed beside them. Operators have more to them: see xref.registry.cpp_ops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, load, text
from xref.registry.cpp_record import callee_of, constant, define, opener_of, use
from xref.registry.cpp_values import argument, function_of, string_of

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

KIND, TAG, OPTION = "target_kind", "target_tag", "target_option"
CONFIG, INSTRUCTION = "pass_config", "inst"


class LookUp(NamedTuple):
    """A function whose first argument is a key of `registry`. `prefix`: what stands before it in the key."""

    registry: str
    prefix: str = ""
    optional: bool = False


SCHEDULES = ("tir", "s_tir")
"""Namespaces of schedules: tir to v0.23, s_tir from v0.24 on."""
OPENERS = {
    "tvm::TargetKindRegEntry::RegisterOrGet": KIND,
    "tvm::TargetTagRegEntry::RegisterOrGet": TAG,
    "tvm::transform::PassContext::RegisterConfigOption": CONFIG,
    **{f"tvm::{ns}::InstructionKindRegEntry::RegisterOrGet": INSTRUCTION for ns in SCHEDULES},
}
OPTIONS = {"tvm::TargetKindRegEntry::add_attr_option": OPTION, "tvm::TargetKindRegEntry::set_attr": OPTION}
"""Methods that add "<key>:<first argument>" to a registry."""
FUNCTIONS = frozenset(
    (
        "tvm::TargetKindRegEntry::set_attrs_preprocessor",  # to v0.14
        "tvm::TargetKindRegEntry::set_target_parser",
        "tvm::TargetKindRegEntry::set_target_canonicalizer",  # v0.24 on
        *(
            f"tvm::{ns}::InstructionKindRegEntry::set_{role}"
            for ns in SCHEDULES
            for role in ("apply_to_schedule", "attrs_as_json", "attrs_from_json", "as_python")
        ),
    )
)
"""Methods that give the key a function to run; the method's name is the note."""
LOOK_UPS = {
    "tvm::TargetKind::Get": LookUp(KIND, optional=True),
    "tvm::TargetTag::Get": LookUp(TAG, optional=True),
    "tvm::TargetNode::GetAttr": LookUp(OPTION, "*:", optional=True),
    "tvm::transform::PassContextNode::GetConfig": LookUp(CONFIG),
    **{f"tvm::{ns}::InstructionKind::Get": LookUp(INSTRUCTION) for ns in SCHEDULES},
}
NAMES = frozenset(form.rsplit("::", 1)[1] for form in (*OPENERS, *OPTIONS, *FUNCTIONS, *LOOK_UPS))


def on_call(walk: Walk, call: CXCursor, callee: Declaration) -> None:
    """Record what the call says of a key of these registries, if anything."""
    if callee.name not in NAMES:
        return
    qualname = callee.qualname
    if qualname in OPENERS:
        _open(walk, call, OPENERS[qualname])
    elif qualname in OPTIONS or qualname in FUNCTIONS:
        _add(walk, call, callee)
    elif (look_up := LOOK_UPS.get(qualname)) is not None:
        _look_up(walk, call, look_up)


def _open(walk: Walk, call: CXCursor, registry: str) -> None:
    place = argument(call, 0)
    name = constant(place)
    if name is not None and place is not None:
        define(walk, registry, name, place)
    else:
        file, line, col = walk.position(call)
        if file in walk.facts:
            walk.note_unreadable(file, line, col, call, f"name of a registered {registry} is known only at run time")


def _add(walk: Walk, call: CXCursor, method: Declaration) -> None:
    opener = opener_of(walk, call, OPENERS)
    opened = callee_of(walk, opener) if opener is not None else None
    key = constant(argument(opener, 0)) if opener is not None else None
    value = argument(call, 0)
    if opened is None or key is None or value is None:
        return
    if method.qualname in OPTIONS:
        option = constant(value)
        if option is not None:
            function = function_of(walk, argument(call, 1), f"{key}:{option}").target
            runs = function if function is not None and function.is_function else None
            define(walk, OPTIONS[method.qualname], f"{key}:{option}", value, runs)
        return
    found = function_of(walk, value, f"{key}.{method.name.removeprefix('set_')}")
    if found.target is not None and found.target.is_function:
        walk.registered.add(found.named_at)
        runs = _unpacked(walk, value, found.target) or found.target
        define(walk, OPENERS[opened.qualname], key, value, runs, method.name.removeprefix("set_"))


def _unpacked(walk: Walk, value: CXCursor, method: Declaration) -> Declaration | None:
    """The method of the traits' own class that `SplitTraits::ApplyToSchedule`, inherited from a template, hands its
    unpacked arguments to: `SplitTraits::UnpackedApplyToSchedule` (src/s_tir/schedule/instruction_traits.h)."""
    library = load()
    pending = [value]
    while pending:
        at = pending.pop()
        if at.kind == kinds.TYPE_REF:
            traits = library.clang_getCursorDefinition(library.clang_getCursorReferenced(at))
            inner = children(traits) if traits.decl else []
            wanted = f"Unpacked{method.name}"
            found = next((c for c in inner if text(library.clang_getCursorSpelling(c)) == wanted), None)
            if found is not None and found.kind in kinds.FUNCTION_LIKE:
                return walk.declarations.of(found)
        pending += children(at)
    return None


def _look_up(walk: Walk, call: CXCursor, look_up: LookUp) -> None:
    place = argument(call, 0)
    name = string_of(place, variables=True)
    if name is not None and place is not None:
        calls = look_up.registry == INSTRUCTION
        use(walk, look_up.registry, look_up.prefix + name, place, calls=calls, optional=look_up.optional)
