"""What the files of one Cython module declare: functions, classes, fields, C functions of `cdef extern` blocks."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from xref.model import FileFacts, Ref, Role, Symbol, shorten, symbol_id
from xref.python.cython_parse import Parsed
from xref.python.declarations import member_key

_DOC_LIMIT = 4000
_SIGNATURE_ROWS = 12


@dataclass(slots=True)
class CythonModule:
    """The namespace that a module's files share. `kinds`: suffix -> kind. `bases`: class -> names of its bases.
    `imports`: name -> (module, attribute or ""). `scopes`: id() of a def or class node -> (suffix, kind). `externs`: C
    function -> the header that its `cdef extern` block names. `returns`: function -> the class that it is declared to
    return, as a name of the module.
    """

    name: str
    kinds: dict[str, str] = field(default_factory=dict)
    bases: dict[str, list[str]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    scopes: dict[int, tuple[str, str]] = field(default_factory=dict)
    externs: dict[str, str] = field(default_factory=dict)
    returns: dict[str, str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def member(self, owner: str, name: str, depth: int = 0) -> str | None:
        """The suffix of the attribute `name` of class `owner`, its own or inherited within the module."""
        if f"{owner}.{name}" in self.kinds:
            return f"{owner}.{name}"
        if depth < 20:
            for base in self.bases.get(owner, ()):
                found = self.member(base, name, depth + 1)
                if found is not None:
                    return found
        return None

    def number(self, suffix: str) -> str:
        """`suffix`, or with `#2` and so on when it was handed out before."""
        self._counts[suffix] = count = self._counts.get(suffix, 0) + 1
        return suffix if count == 1 else f"{suffix}#{count}"


def kind_of(node: Any) -> str:
    """The name of a node's class in Cython's compiler."""
    return type(node).__name__


def children(node: Any) -> Iterator[Any]:
    """The child nodes of a node, in the compiler's order."""
    for name in (*(node.child_attrs or ()), *_MORE_CHILDREN.get(kind_of(node), ())):
        child = getattr(node, name, None)
        for item in child if isinstance(child, list) else [child]:
            if hasattr(item, "child_attrs"):
                yield item


_MORE_CHILDREN = {"LambdaNode": ("result_expr",), "CClassDefNode": ("bases",), "TypecastNode": ("base_type",)}
_DEFINITIONS = ("DefNode", "CFuncDefNode", "CClassDefNode", "PyClassDefNode")


def declare_cython(module: CythonModule, parsed: Parsed, facts: FileFacts) -> None:
    """Add the symbols of one file to its facts, and to the module's namespace."""
    _Declarer(module, parsed.rows, facts).visit(parsed.tree, "", "module", extern=False)


class _Declarer:
    def __init__(self, module: CythonModule, rows: list[str], facts: FileFacts) -> None:
        self._module = module
        self._rows = rows
        self._facts = facts
        self._header = ""

    def visit(self, node: Any, suffix: str, scope: str, *, extern: bool) -> None:
        """Declare what stands in `node`, inside the scope `suffix` of kind `scope`."""
        kind = kind_of(node)
        if kind == "CDefExternNode":
            self._header = str(node.include_file or "")
        if kind in _DEFINITIONS:
            self._definition(node, kind, suffix, scope)
            return
        if kind in ("CVarDefNode", "CStructOrUnionDefNode", "CEnumDefNode", "CTypeDefNode"):
            self._declaration(node, kind, suffix, scope, extern=extern)
            return
        if kind in ("SingleAssignmentNode", "FromImportStatNode", "FromCImportStatNode", "CImportStatNode"):
            self._binding(node, kind, suffix, scope)
            return
        for child in children(node):
            self.visit(child, suffix, scope, extern=extern or kind == "CDefExternNode")

    def _definition(self, node: Any, kind: str, suffix: str, scope: str) -> None:
        name = _definition_name(node, kind)
        if kind in ("CClassDefNode", "PyClassDefNode"):
            what = "class"
        elif scope == "class":
            decorators = (getattr(d.decorator, "name", "") for d in node.decorators or ())
            what = "property" if "property" in decorators else "method"
        else:
            what = "function"
        full = self._module.number(f"{suffix}.{name}" if suffix else name)
        self._module.scopes[id(node)] = (full, what)
        if kind == "CFuncDefNode" and kind_of(node.declarator) == "CFuncDeclaratorNode":  # the result is no pointer
            self._module.returns[full] = str(getattr(node.base_type, "name", "") or "")
        if what == "class":
            self._module.bases[full] = [b.name for b in getattr(node.bases, "args", ()) if hasattr(b, "name")]
        if kind == "CClassDefNode" and node.body is None:  # a forward declaration
            self._add(what, name, full, suffix, node.pos, node.pos[1], defined=False)
            return
        doc = inspect.cleandoc(str(node.doc))[:_DOC_LIMIT] if node.doc else ""
        self._add(what, name, full, suffix, node.pos, _last_line(node), doc=doc)
        if node.body is not None:
            self.visit(node.body, full, what, extern=False)

    def _declaration(self, node: Any, kind: str, suffix: str, scope: str, *, extern: bool) -> None:
        if scope not in ("module", "class"):
            return
        if kind == "CVarDefNode":
            named = [found for declarator in node.declarators if (found := _declarator(declarator))]
        elif kind == "CTypeDefNode":
            named = [found for found in [_declarator(node.declarator)] if found]
        else:
            named = [(node.name, node.pos, False)] if getattr(node, "name", None) else []
            for item in getattr(node, "items", None) or ():
                named.append((item.name, item.pos, False))
        for name, pos, is_function in named:
            if is_function:
                what = "function"
            elif kind == "CVarDefNode":
                what = "field" if scope == "class" else "variable"
            else:
                what = "variable" if (name, pos) != (getattr(node, "name", ""), node.pos) else "class"
            full = f"{suffix}.{name}" if suffix else name
            if extern and what == "function":
                self._module.externs.setdefault(full, self._header)
            if full not in self._module.kinds:
                self._add(what, name, full, suffix, pos, pos[1], defined=not extern, linkage="c" if extern else "")

    def _binding(self, node: Any, kind: str, suffix: str, scope: str) -> None:
        if kind == "FromImportStatNode":
            base = str(node.module.module_name.value)
            for name, target in node.items:
                self._module.imports.setdefault(getattr(target, "name", name), (base, str(name)))
        elif kind == "FromCImportStatNode":
            for _, name, bound in node.imported_names:
                self._module.imports.setdefault(bound or name, (str(node.module_name), name))
        elif kind == "CImportStatNode":
            name = str(node.module_name)
            self._module.imports.setdefault(node.as_name or name.partition(".")[0], (name, ""))
        elif kind_of(node.rhs) == "ImportNode":
            self._module.imports.setdefault(node.lhs.name, (str(node.rhs.module_name.value), ""))
        elif kind_of(node.lhs) == "NameNode" and scope in ("module", "class"):
            full = f"{suffix}.{node.lhs.name}" if suffix else node.lhs.name
            if full not in self._module.kinds:
                what = "field" if scope == "class" else "variable"
                self._add(what, node.lhs.name, full, suffix, node.lhs.pos, node.lhs.pos[1])

    def _add(
        self, kind: str, name: str, full: str, parent: str, pos: Any, end: int, *, doc: str = "", defined: bool = True,
        linkage: str = "",
    ) -> None:  # fmt: skip
        module = self._module
        module.kinds[full] = kind
        line, column = self._name_position(name, pos)
        signature = self._signature(line, column) if kind in ("function", "method", "property", "class") else ""
        owner = symbol_id(member_key(module.name, parent))
        key = member_key(module.name, full)
        qualname = f"{module.name}.{full.replace('#', '.#').partition('.#')[0]}"
        access = "private" if name.startswith("_") and not name.endswith("__") else "public"
        self._facts.symbols.append(
            Symbol(key, kind, name, qualname, line, column, max(end, line), signature, doc, owner, defined, linkage,
                   access)
        )  # fmt: skip
        role = Role.DEFINITION if defined else Role.DECLARATION
        self._facts.refs.append(Ref(symbol_id(key), line, column, role, owner))

    def _name_position(self, name: str, pos: Any) -> tuple[int, int]:
        """Where the name itself stands: at or behind the position that the parser gives (a keyword, a decorator)."""
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        for line in range(pos[1], min(pos[1] + _SIGNATURE_ROWS, len(self._rows) + 1)):
            row = self._rows[line - 1]
            if line == pos[1] or not row.lstrip().startswith("@"):
                match = pattern.search(row, pos[2] if line == pos[1] and not row.lstrip().startswith("@") else 0)
                if match and not (line == pos[1] and row.lstrip().startswith("@")):
                    return line, match.start() + 1
        return pos[1], pos[2] + 1

    def _signature(self, line: int, column: int) -> str:
        """The text from the name to the colon that opens the body."""
        text = self._rows[line - 1][column - 1 :]
        for row in self._rows[line : line + _SIGNATURE_ROWS]:
            if text.rstrip().endswith(":") or "(" not in text or text.count("(") == text.count(")"):
                break
            text += " " + row.strip()
        return shorten(text.strip().removesuffix(":"), 400)


def _definition_name(node: Any, kind: str) -> str:
    if kind == "CClassDefNode":
        return str(node.class_name)
    if kind == "CFuncDefNode":
        found = _declarator(node.declarator)
        return found[0] if found else "?"
    return str(node.name)


def _declarator(node: Any) -> tuple[str, Any, bool] | None:
    """Name, position, and whether it is a function, of a C declarator (`*f(int)`, `x[3]`, ...)."""
    is_function = False
    while node is not None and kind_of(node) != "CNameDeclaratorNode":
        if kind_of(node) == "CFuncDeclaratorNode":
            is_function = kind_of(node.base) == "CNameDeclaratorNode" or is_function
        node = getattr(node, "base", None)
    return (str(node.name), node.pos, is_function) if node is not None and node.name else None


def arguments(node: Any, kind: str) -> list[Any]:
    """The argument declarations of a DefNode or CFuncDefNode (whose declarator may be a pointer to a function's)."""
    holder = node.declarator if kind == "CFuncDefNode" else node
    while kind == "CFuncDefNode" and kind_of(holder) != "CFuncDeclaratorNode" and hasattr(holder, "base"):
        holder = holder.base
    return list(getattr(holder, "args", None) or ())


def _last_line(node: Any) -> int:
    last = int(node.pos[1])
    stack = [node]
    while stack:
        current = stack.pop()
        last = max(last, current.pos[1])
        stack += children(current)
    return last
