"""Everything that looks at C++ calls, variables and functions for a string-keyed table, as one object for the walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xref.registry import (
    cpp_attrs,
    cpp_c_functions,
    cpp_entries,
    cpp_ffi,
    cpp_functors,
    cpp_look_ups,
    cpp_members,
    cpp_op_calls,
    cpp_ops,
    cpp_passes,
    cpp_tables,
    cpp_types,
    cpp_uncompiled,
)

if TYPE_CHECKING:
    from xref.cpp.clang import CXCursor
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

_CALL_HOOKS = (
    cpp_ffi.on_call, cpp_passes.on_call, cpp_types.on_call, cpp_members.on_call, cpp_ops.on_call, cpp_entries.on_call,
    cpp_op_calls.on_call, cpp_functors.on_call, cpp_attrs.on_call,
)  # fmt: skip
_VARIABLE_HOOKS = (cpp_types.on_variable, cpp_ops.on_variable, cpp_attrs.on_variable)
_FUNCTION_HOOKS = (
    cpp_members.on_function, cpp_c_functions.on_function, cpp_functors.on_function, cpp_attrs.on_function
)  # fmt: skip


class CppRegistries:
    """The visitor's hooks; see `xref.cpp.walk.Hooks`."""

    def on_call(self, walk: Walk, call: CXCursor, callee: Declaration) -> None:
        """Ask each mechanism about a call."""
        for hook in _CALL_HOOKS:
            hook(walk, call, callee)

    def on_variable(self, walk: Walk, cursor: CXCursor, variable: Declaration) -> None:
        """Ask each mechanism about a variable."""
        for hook in _VARIABLE_HOOKS:
            hook(walk, cursor, variable)

    def on_function(self, walk: Walk, cursor: CXCursor, function: Declaration) -> None:
        """Ask each mechanism about the definition of a function."""
        for hook in _FUNCTION_HOOKS:
            hook(walk, cursor, function)

    def finish(self, walk: Walk, root: CXCursor) -> None:
        """Record what needs the whole unit: look-ups; registrations that are computed or did not compile."""
        cpp_look_ups.finish(walk, root)
        if cpp_tables.is_needed(walk):
            cpp_tables.finish(walk, root, cpp_ops.COMPUTED + cpp_ffi.COMPUTED)
        cpp_uncompiled.finish(walk, root)
