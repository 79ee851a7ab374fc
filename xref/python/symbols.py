"""The symbols of one file: its module, everything it declares, its lambdas, and the public paths that an __init__.py
makes by importing; with the relations between them (base, overrides, alias).
"""

from __future__ import annotations

import ast
import inspect

from xref.model import Ref, Relation, Role, Symbol, shorten, symbol_id
from xref.python.context import FileContext
from xref.python.declarations import FUNCTION_NODES, Declared, alias_key, member_key, module_key
from xref.python.names import Target
from xref.python.plan import PythonFile
from xref.python.walk import Import

_DOC_LIMIT = 4000
_SIGNATURE_LIMIT = 1000
_OBJECT = "py:builtins:object"


def module_symbol(file: PythonFile, lines: int, doc: str = "") -> Symbol:
    """The module that the file is; a file that cannot be read is one too, and others import it."""
    name = file.module.rpartition(".")[2]
    return Symbol(
        module_key(file.module), "module", name, file.module, 1, 1, max(lines, 1), doc=doc,
        is_definition=not file.is_stub,
    )  # fmt: skip


def add_symbols(context: FileContext) -> None:
    """Add all symbols and relations of the file to its facts."""
    tree = context.walk.root.node
    assert isinstance(tree, ast.Module)
    defined = not context.file.is_stub
    context.facts.symbols.append(module_symbol(context.file, context.facts.lines, _doc(tree)))
    for item in context.walk.declarations.items:
        _add_declared(context, item, defined)
    _add_lambdas(context)
    if context.file.is_package:
        _add_aliases(context)
    for item in context.walk.classes:
        _add_bases(context, item)
    for item in context.walk.declarations.items:
        if item.kind in ("method", "property"):
            _add_override(context, item)


def _add_declared(context: FileContext, item: Declared, defined: bool) -> None:
    module, node = context.file.module, item.node
    line, byte = item.line, item.byte
    signature = doc = ""
    if isinstance(node, (*FUNCTION_NODES, ast.ClassDef)):
        line, byte = context.source.name_position(node)
        doc = _doc(node)
        signature = _signature(node)
    column = context.source.column(line, byte)
    parent = symbol_id(member_key(module, item.parent))
    key = member_key(module, item.suffix)
    defined = defined and not item.is_overload
    access = "private" if item.name.startswith("_") and not item.name.endswith("__") else "public"
    context.facts.symbols.append(
        Symbol(key, item.kind, item.name, f"{module}.{item.qual}", line, column, item.end_line, signature, doc, parent,
               defined, access=access)
    )  # fmt: skip
    role = Role.DEFINITION if defined else Role.DECLARATION
    context.facts.refs.append(Ref(symbol_id(key), line, column, role, parent))


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    try:
        if isinstance(node, ast.ClassDef):
            bases = ", ".join(ast.unparse(base) for base in (*node.bases, *node.keywords))
            return shorten(f"{node.name}({bases})" if bases else node.name, _SIGNATURE_LIMIT)
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return shorten(f"{node.name}({ast.unparse(node.args)}){returns}", _SIGNATURE_LIMIT)
    except RecursionError:
        return f"{node.name}(…)"


def _doc(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return inspect.cleandoc(first.value.value)[:_DOC_LIMIT]
    return ""


def _add_lambdas(context: FileContext) -> None:
    module = context.file.module
    for scope in context.walk.lambdas:
        node = scope.node
        assert isinstance(node, ast.Lambda)
        assert scope.parent is not None
        column = context.source.column(node.lineno, node.col_offset)
        key = member_key(module, scope.suffix)
        signature = shorten(context.source.text(node))
        context.facts.symbols.append(
            Symbol(key, "lambda", "<lambda>", f"{module}.{scope.qual}", node.lineno, column,
                   node.end_lineno or node.lineno, signature, parent=scope.parent.function().symbol)
        )  # fmt: skip


def _add_aliases(context: FileContext) -> None:
    package = context.file.module
    seen: set[str] = set()
    for item in context.walk.imports:
        if item.scope is not context.walk.root:
            continue
        names = [item.bound] if item.name != "*" else _star_names(context, item)
        for name in names:
            target = context.tree.imported(item.base, name if item.name == "*" else item.name)
            _add_alias(context, f"{package}.{name}", item, target, seen)


def _star_names(context: FileContext, item: Import) -> list[str]:
    """What `from m import *` brings: `__all__` when it is a literal, else the public names that m defines or imports
    from within the tree.
    """
    table = context.tree.modules.get(item.base)
    if table is None:
        return []
    if table["exports"] is not None:
        return table["exports"]
    own = [name for name in table["kinds"] if "." not in name and "#" not in name]
    return [name for name in dict.fromkeys((*own, *table["imports"])) if not name.startswith("_")]


def _add_alias(context: FileContext, qualname: str, item: Import, target: Target | None, seen: set[str]) -> None:
    if target is None or target.kind not in ("module", "member") or qualname in seen:
        return
    found = context.tree_id(target.module, target.name)
    if found is None or target.dotted == qualname or (item.name == "*" and target.kind == "module"):
        return
    seen.add(qualname)
    line, byte = (item.node.lineno, item.node.col_offset) if item.name != "*" else (
        item.statement.lineno, item.statement.col_offset
    )  # fmt: skip
    key = alias_key(qualname)
    context.facts.symbols.append(
        Symbol(key, "alias", qualname.rpartition(".")[2], qualname, line, context.source.column(line, byte), line,
               parent=context.walk.root.symbol)
    )  # fmt: skip
    context.facts.relations.append(Relation(symbol_id(key), "alias", found))


def _add_bases(context: FileContext, item: Declared) -> None:
    module = context.file.module
    own = symbol_id(member_key(module, item.suffix))
    if context.report is not None and (bases := context.report.types.bases.get(member_key(module, item.suffix))):
        found = [context.key_id(base) for base in bases if base != _OBJECT]
    else:
        targets = context.tree.bases(module, item.suffix)
        found = [base for target in targets if (base := context.target_id(target)) is not None]
    context.facts.relations += [Relation(own, "base", base) for base in found if base != own]


def _add_override(context: FileContext, item: Declared) -> None:
    module = context.file.module
    key = member_key(module, item.suffix)
    base = None
    if context.report is not None:
        over = context.report.types.overridden.get(key)
        if over is not None and not over.startswith(_OBJECT):
            base = context.key_id(over)
    else:
        for parent in context.tree.bases(module, item.parent):
            if parent.kind == "member":
                base = context.target_id(context.tree.class_member(parent.module, parent.name, item.name))
                if base is not None:
                    break
    if base is not None and base != symbol_id(key):
        context.facts.relations.append(Relation(symbol_id(key), "overrides", base))
