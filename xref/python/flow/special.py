"""Special methods and what runs them, as tables."""

from __future__ import annotations

_NAMES = """add sub mul truediv floordiv mod pow lshift rshift or xor and matmul neg pos invert getitem"""
OPERATORS = frozenset(f"__{form}{name}__" for name in _NAMES.split() for form in ("", "r"))
"""Special methods of expressions, which mostly make expressions."""


REFLECTED = {
    **{f"__{name}__": f"__r{name}__" for name in _NAMES.split() if name not in ("neg", "pos", "invert", "getitem")},
    "__eq__": "__eq__", "__ne__": "__ne__", "__lt__": "__gt__", "__gt__": "__lt__", "__le__": "__ge__",
    "__ge__": "__le__",
}  # fmt: skip
"""Operators -> what the right operand is asked for."""
MIRRORED = frozenset({"__eq__", "__ne__|__eq__", "__ne__", "__lt__", "__gt__", "__le__", "__ge__"})
"""Comparisons are their own reflections."""
ASKED_OF_PLAIN = ("__bool__", "__format__", "__str__", "__repr__")
"""Special methods of which an object says little where texts, numbers and lists are asked too."""


STACKS = frozenset({"contextlib.ExitStack", "contextlib.AsyncExitStack"})
CLOSING = "closing"
"""The kind of container that `contextlib.closing` is taken to be."""
_WORDS = """add sub mul truediv floordiv mod pow lshift rshift or_ xor and_ matmul eq ne lt le gt ge neg pos invert"""
OPERATOR_FUNCTIONS = (*_WORDS.split(), "getitem", "setitem", "delitem", "contains")
"""Functions of the module `operator` that are named as the special method that they run."""
