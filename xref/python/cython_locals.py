"""The local names of one Cython function, and the classes of those whose class is written down or follows from what
they are given: Cython itself infers an extension type where every assignment is of that type.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from xref.python.cython_declare import CythonModule, arguments, children, kind_of

_NESTED = ("DefNode", "CFuncDefNode", "PyClassDefNode", "CClassDefNode", "LambdaNode")
_CALLS = ("SimpleCallNode", "GeneralCallNode")


def local_names(node: Any, kind: str, module: CythonModule) -> tuple[dict[str, str], frozenset[str]]:
    """Names whose class is known (`cdef C x`, a parameter `C x`, `x = f()` where f returns C), by the suffix of the
    class, and all names that the function binds.
    """
    found = _Names(module)
    for argument in arguments(node, kind):
        found.add_argument(argument)
    for star in (getattr(node, "star_arg", None), getattr(node, "starstar_arg", None)):
        if star is not None:
            found.bind(str(star.name))
    if node.body is not None:
        found.read(node.body)
    return found.classes(), frozenset(found.names - found.outer)


def argument_name(node: Any) -> str:
    """The name of an argument; `self` without a type parses as a type."""
    declarator = node.declarator
    while declarator is not None and kind_of(declarator) != "CNameDeclaratorNode":
        declarator = getattr(declarator, "base", None)
    name = str(declarator.name) if declarator is not None else ""
    return name or str(getattr(node.base_type, "name", "") or "")


class _Names:
    def __init__(self, module: CythonModule) -> None:
        self._module = module
        self._declared: dict[str, str] = {}
        self._given: dict[str, set[str]] = defaultdict(set)
        """Name -> classes of what is assigned to it; "" for what has no known class."""
        self.names: set[str] = set()
        self.outer: set[str] = set()
        """Names that are declared `global`."""

    def bind(self, name: str) -> None:
        """The name is bound to something of which nothing is known."""
        self.names.add(name)
        self._given[name].add("")

    def add_argument(self, argument: Any) -> None:
        name = argument_name(argument)
        self.bind(name)
        declared = getattr(argument.base_type, "name", "")
        if self._is_class(declared) and declared != name:
            self._declared[name] = declared

    def read(self, body: Any) -> None:
        """The statements of a body, nested functions and classes left out."""
        stack = [body]
        while stack:
            node = stack.pop()
            kind = kind_of(node)
            if kind == "GlobalNode":
                self.outer.update(map(str, node.names))
            if kind in _NESTED:
                if name := getattr(node, "name", None) or getattr(node, "class_name", None):
                    self._given[str(name)].add("")
                continue
            if kind == "CVarDefNode":
                self._declaration(node)
            elif kind == "SingleAssignmentNode":
                self._assign(node.lhs, self._class_of(node.rhs))
            elif kind == "CascadedAssignmentNode":
                for target in node.lhs_list:
                    self._assign(target, self._class_of(node.rhs))
            else:
                for field in ("lhs", "target"):
                    if (target := getattr(node, field, None)) is not None:
                        self._assign(target, "")
            stack += children(node)

    def classes(self) -> dict[str, str]:
        """Name -> suffix of its class, where it is declared or the same for all that the name is given."""
        inferred = {
            name: next(iter(given))
            for name, given in self._given.items()
            if len(given) == 1 and "" not in given and name not in self.outer
        }
        return {**inferred, **self._declared}

    def _is_class(self, name: str) -> bool:
        return self._module.kinds.get(name) == "class"

    def _declaration(self, node: Any) -> None:
        declared = getattr(node.base_type, "name", "")
        for declarator in node.declarators:
            name = str(getattr(declarator, "name", "") or getattr(getattr(declarator, "base", None), "name", ""))
            self.bind(name)
            if self._is_class(declared) and kind_of(declarator) == "CNameDeclaratorNode":
                self._declared[name] = declared

    def _assign(self, target: Any, class_: str) -> None:
        """A target is given an object of a class; the parts of a tuple are given what is not known."""
        if kind_of(target) == "NameNode":
            self.names.add(str(target.name))
            self._given[str(target.name)].add(class_)
        elif kind_of(target) in ("TupleNode", "ListNode", "StarredUnassignableNode", "StarredTargetNode"):
            for part in children(target):
                self._assign(part, "")

    def _class_of(self, value: Any) -> str:
        """The class of a value: what `C()`, `C.__new__(C)`, `<C>x` and a function declared to return C give."""
        if kind_of(value) == "TypecastNode":
            name = getattr(value.base_type, "name", "")
            return name if self._is_class(name) else ""
        if kind_of(value) not in _CALLS:
            return ""
        callee = value.function
        if kind_of(callee) == "AttributeNode" and str(callee.attribute) == "__new__":
            callee = (getattr(value, "args", None) or [None])[0]
            name = str(getattr(callee, "name", ""))
            return name if kind_of(callee) == "NameNode" and self._is_class(name) else ""
        if kind_of(callee) != "NameNode":
            return ""
        name = str(callee.name)
        return name if self._is_class(name) else self._module.returns.get(name, "")
