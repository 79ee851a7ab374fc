"""Calls and references of one Cython file, by the names of its module: what is called through a variable whose class
is not written down stays unresolved, and says so.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any

from xref.model import Call, Evidence, FileFacts, KeyUse, Ref, Relation, Role, Symbol, Unresolved, shorten, symbol_id
from xref.python.cython_declare import CythonModule, arguments, children, kind_of
from xref.python.cython_locals import argument_name, local_names
from xref.python.cython_parse import Parsed
from xref.python.declarations import member_key
from xref.registry.python_c_functions import c_function_use
from xref.registry.python_ffi import CYTHON_GET_FORMS, REGISTRY

_STRINGS = ("UnicodeNode", "StringNode", "BytesNode")
_BUILTINS = frozenset(dir(builtins))
_INITIALIZERS = ("__init__", "__cinit__")


def walk_cython(module: CythonModule, parsed: Parsed, facts: FileFacts, own_headers: Callable[[str], bool]) -> None:
    """Add calls, references and base-class relations of one file to its facts. `own_headers` tells whether a header
    that the file names is one of the tree."""
    walker = _Walker(module, parsed.rows, facts, own_headers)
    walker.visit(parsed.tree, "", {}, frozenset())


class _Walker:
    """`variables` maps a local name to the suffix of its class in the module, `hidden` are the other local names."""

    def __init__(
        self, module: CythonModule, rows: list[str], facts: FileFacts, own_headers: Callable[[str], bool]
    ) -> None:
        self._module = module
        self._is_own = own_headers
        self._rows = rows
        self._facts = facts
        self._externals: set[str] = set()

    def visit(self, node: Any, suffix: str, variables: dict[str, str], hidden: frozenset[str]) -> None:
        """Walk `node`, whose code is charged to the symbol `suffix`."""
        kind = kind_of(node)
        if kind in ("CClassDefNode", "PyClassDefNode"):
            inner, _ = self._module.scopes[id(node)]
            self._bases(inner)
            for child in (*(node.decorators or ()), node.bases):
                if child is not None:
                    self.visit(child, suffix, variables, hidden)
            if node.body is not None:
                self.visit(node.body, inner, variables, hidden)
            return
        if kind in ("DefNode", "CFuncDefNode"):
            self._function(node, kind, suffix, variables, hidden)
            return
        if kind in ("SimpleCallNode", "GeneralCallNode"):
            self._call(node.function, suffix, variables, hidden, node)
            self._look_up(node, suffix)
        elif kind in ("NameNode", "AttributeNode"):
            self._reference(node, suffix, variables, hidden, Role.READ)
        elif kind == "DecoratorNode" and kind_of(node.decorator) in ("NameNode", "AttributeNode"):
            self._call(node.decorator, suffix, variables, hidden)
        for child in children(node):
            if (
                kind not in ("SimpleCallNode", "GeneralCallNode")
                or child is not node.function
                or kind_of(child) not in ("NameNode", "AttributeNode")
            ):
                self.visit(child, suffix, variables, hidden)
            else:
                self._reference(child, suffix, variables, hidden, Role.CALL)
                for inner_child in children(child):
                    self.visit(inner_child, suffix, variables, hidden)

    def _function(self, node: Any, kind: str, suffix: str, variables: dict[str, str], hidden: frozenset[str]) -> None:
        inner, _ = self._module.scopes[id(node)]
        for decorator in node.decorators or ():
            self.visit(decorator, suffix, variables, hidden)
        local, names = local_names(node, kind, self._module)
        owner = suffix if self._module.kinds.get(suffix) == "class" else ""
        args = arguments(node, kind)
        static = any(getattr(d.decorator, "name", "") == "staticmethod" for d in node.decorators or ())
        if owner and args and not static:
            local[argument_name(args[0])] = owner
        if node.body is not None:
            self.visit(node.body, inner, {**variables, **local}, (hidden - local.keys()) | (names - local.keys()))

    def _bases(self, suffix: str) -> None:
        for base in self._module.bases.get(suffix, ()):
            if base in self._module.kinds:
                own = symbol_id(member_key(self._module.name, suffix))
                target = symbol_id(member_key(self._module.name, base))
                self._facts.relations.append(Relation(own, "base", target))

    def _resolve(self, node: Any, variables: dict[str, str], hidden: frozenset[str]) -> tuple[str, str]:
        """("member", suffix), ("external", key), ("instance", class suffix), or ("", reason)."""
        if kind_of(node) == "TypecastNode":
            name = getattr(node.base_type, "name", "")
            return ("instance", name) if self._module.kinds.get(name) == "class" else ("", _UNTYPED)
        if kind_of(node) == "NameNode":
            return self._resolve_name(str(node.name), variables, hidden)
        if kind_of(node) != "AttributeNode":
            return "", "the callee is the result of another expression"
        what, value = self._resolve(node.obj, variables, hidden)
        if what == "external":
            is_module = ":" not in value.removeprefix("py:")
            return "external", f"{value}:{node.attribute}" if is_module else f"{value}.{node.attribute}"
        if what == "instance" or (what == "member" and self._module.kinds.get(value) == "class"):
            found = self._module.member(value, str(node.attribute))
            return ("member", found) if found else ("", "the class has no attribute of that name in this module")
        return "", _UNTYPED

    def _resolve_name(self, name: str, variables: dict[str, str], hidden: frozenset[str]) -> tuple[str, str]:
        if name in variables:
            return "instance", variables[name]
        if name in hidden:
            return "", "the callee is a local variable"
        if name in self._module.kinds:
            return "member", name
        if name in self._module.imports:
            base, attribute = self._module.imports[name]
            return "external", f"py:{base}:{attribute}" if attribute else f"py:{base}"
        if name in _BUILTINS:
            return "external", f"py:builtins:{name}"
        return "", "the name is not declared in this module"

    def _call(
        self, callee: Any, suffix: str, variables: dict[str, str], hidden: frozenset[str], call: Any = None
    ) -> None:
        caller = symbol_id(member_key(self._module.name, suffix))
        line, column = self._position(callee)
        what, value = self._resolve(callee, variables, hidden)
        if what == "instance":
            found = self._module.member(value, "__call__")
            what, value = ("member", found) if found else ("", "the class has no __call__ in this module")
        if what == "member" and self._module.kinds[value] in ("function", "method", "class"):
            if self._module.kinds[value] == "class":
                made = (self._module.member(value, name) for name in _INITIALIZERS)
                value = next((found for found in made if found), value)
            target = symbol_id(member_key(self._module.name, value))
        elif what == "external":
            target = self._external(value)
        else:
            text = shorten(self._rows[callee.pos[1] - 1].strip())
            reason = value if not what else "the callee is a variable"
            self._facts.unresolved.append(Unresolved(line, column, caller, text, reason))
            return
        self._facts.calls.append(Call(caller, target, Evidence.DIRECT, line, column))
        if what == "member" and (header := self._module.externs.get(value)) and self._is_own(header):
            self._facts.key_uses.append(c_function_use(value, line, column, caller))
            self._callbacks(getattr(call, "args", None) or (), target, variables, hidden)

    def _callbacks(
        self, arguments: Iterable[Any], c_function: int, variables: dict[str, str], hidden: frozenset[str]
    ) -> None:
        """A function of the module that a C function is given may be called by it."""
        for argument in arguments:
            node = argument
            while kind_of(node) in ("TypecastNode", "AmpersandNode"):
                node = node.operand
            what, value = self._resolve(node, variables, hidden) if kind_of(node) == "NameNode" else ("", "")
            if what == "member" and self._module.kinds[value] == "function" and value not in self._module.externs:
                line, column = self._position(node)
                target = symbol_id(member_key(self._module.name, value))
                self._facts.calls.append(Call(c_function, target, Evidence.VALUE, line, column))

    def _look_up(self, node: Any, suffix: str) -> None:
        """A look-up of an FFI function by a literal name: the module runs what it finds."""
        if getattr(node.function, "name", None) not in CYTHON_GET_FORMS or kind_of(node) != "SimpleCallNode":
            return
        name = getattr(node.args[0], "value", None) if node.args else None
        if not isinstance(name, str) or kind_of(node.args[0]) not in _STRINGS:
            return
        optional = len(node.args) > 1 and getattr(node.args[1], "value", None) is True
        line, column = self._position(node.args[0])
        within = symbol_id(member_key(self._module.name, suffix))
        self._facts.key_uses.append(KeyUse(REGISTRY, str(name), "python", line, column, within, True, optional))

    def _external(self, key: str) -> int:
        if key not in self._externals:
            self._externals.add(key)
            module, _, name = key.removeprefix("py:").partition(":")
            qualname = f"{module}.{name}" if name else module
            kind = "function" if name else "module"
            self._facts.externals.append(Symbol(key, kind, qualname.rpartition(".")[2], qualname, 0, 0, 0))
        return symbol_id(key)

    def _reference(self, node: Any, suffix: str, variables: dict[str, str], hidden: frozenset[str], role: Role) -> None:
        what, value = self._resolve(node, variables, hidden)
        if what != "member":
            return
        line, column = self._position(node)
        within = symbol_id(member_key(self._module.name, suffix))
        self._facts.refs.append(Ref(symbol_id(member_key(self._module.name, value)), line, column, role, within))

    def _position(self, node: Any) -> tuple[int, int]:
        """Line and column of a node's own name; the parser gives the dot of an attribute."""
        line, column = node.pos[1], node.pos[2]
        if kind_of(node) == "AttributeNode" and 0 < line <= len(self._rows):
            found = self._rows[line - 1].find(str(node.attribute), column)
            column = found if found >= 0 else column
        return line, column + 1


_UNTYPED = "the receiver's type is unknown"
