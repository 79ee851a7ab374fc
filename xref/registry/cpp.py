"""Everything that looks at C++ calls and variables for a string-keyed table, as one object for the walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xref.registry import cpp_ffi, cpp_passes, cpp_types

if TYPE_CHECKING:
    from xref.cpp.clang import CXCursor
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

_CALL_HOOKS = (cpp_ffi.on_call, cpp_passes.on_call)
_VARIABLE_HOOKS = (cpp_types.on_variable,)


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
