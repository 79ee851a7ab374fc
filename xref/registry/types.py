"""What the C++ side, the Python side and the linker agree on about object types, their fields and their methods."""

from __future__ import annotations

REGISTRY = "type"
FIELD = "field"
METHOD = "method"
"""Keys of fields and methods are `<type key>.<name>`; they are defined where the type registers them as its own, and
looked up through its parents."""
RESERVED_BELOW_OBJECT = "reserved below ffi.Object"
"""Note of a type that has no class: the linker knows its parent from here."""
ROOT = "ffi.Object"
