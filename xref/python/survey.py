"""The first pass over the tree's Python: what every module declares, imports, re-exports, and which of them are filled
from the FFI. Its table lets the second pass, file by file, follow a name through any other file.

Runs as a process of its own (see typecheck.py) while the type checker works; a file that kills the
interpreter's parser is named in the table and left out on the next attempt.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypedDict

from xref.python.declarations import FUNCTION_NODES, declare, scope_statements
from xref.python.scratch import CURRENT, DEADLY, load_plan, save_survey
from xref.python.source import Source, read_source
from xref.python.tables import Given, Row, given, tables
from xref.registry import python_ops
from xref.registry.python_c_functions import loaded_libraries
from xref.registry.python_dialects import redirected_modules
from xref.registry.python_ffi import namespace_target
from xref.registry.python_look_ups import forwarded_look_ups
from xref.registry.python_site import Setter, literal
from xref.registry.python_types import wrapper_prefix


class ModuleTable(TypedDict):
    """What other files may ask of a module. Plain containers: it is stored with marshal.

    `kinds`: suffix -> kind. `at`: (line, 0-based byte of the name) -> suffix, for functions and classes. `imports`:
    name -> (module, attribute or ""). `stars`: modules imported with `*`. `bases`: class suffix -> dotted base names.
    `metaclasses`: class suffix -> dotted name of the metaclass that its own statement names.
    `exports`: a literal `__all__`, else None. `fills`: (target module, namespace) of calls that fill a module with FFI
    functions. `wrappers`: function -> prefix of the type key that it registers its argument under. `setters`: function
    -> how it sets an attribute of an operator. `strings`: variables of the module that are assigned once, a literal
    string. `decorated`: functions whose name stands for what a decorator made of them. `redirects`: module names made
    at run time -> the module that each stands for. `injected`: (imported module, attribute, imported value) of each
    `module.attribute = value`: how TVM breaks import cycles (relax/op/__init__.py sets `expr._op_ffi_api`). `aliases`:
    name, of the module or of one of its classes -> the dotted name that is assigned to it. `libraries`: names bound to
    a shared library that ctypes has loaded. `forwards`: function -> [parameter, its position, what is put before it,
    whether a missing key is coped with] of each look-up of an FFI function by the value of a parameter. `stubs`:
    functions that stand only below `if TYPE_CHECKING:`, so that they never run; tvm-ffi's stub generator writes them
    into modules that it fills. `abstract`: methods that only say what others are to do: see `is_abstract`. `tables`:
    variables that hold a table of objects, and its rows. `given`: calls of functions with names as arguments.
    `returned`: function -> the function within it that is all that it returns.
    """

    path: str
    is_package: bool
    kinds: dict[str, str]
    at: dict[tuple[int, int], str]
    imports: dict[str, tuple[str, str]]
    stars: list[str]
    bases: dict[str, list[str]]
    metaclasses: dict[str, str]
    exports: list[str] | None
    fills: list[tuple[str, str]]
    wrappers: dict[str, str]
    setters: dict[str, Setter]
    strings: dict[str, str]
    decorated: list[str]
    redirects: dict[str, str]
    injected: list[tuple[tuple[str, str], str, tuple[str, str]]]
    aliases: dict[str, str]
    libraries: list[str]
    forwards: dict[str, list[tuple[str, int, str, bool]]]
    stubs: list[str]
    abstract: list[str]
    tables: dict[str, list[Row]]
    given: list[Given]
    returned: dict[str, str]


TRANSPARENT = frozenset({"staticmethod", "classmethod", "property", "overload", "typing.overload", "abstractmethod",
                          "abc.abstractmethod"})  # fmt: skip


_ACCESSORS = ("setter", "getter", "deleter")


def is_transparent(decorator: ast.expr) -> bool:
    """Whether a decorated function is still what its name stands for: a method's form, a property's part, a mark."""
    name = dotted(decorator)
    return name in TRANSPARENT or name.rpartition(".")[2] in _ACCESSORS


def is_abstract(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a method is marked as abstract, or does nothing but raise `NotImplementedError`, or nothing at all beyond
    its docstring; `pass` is a default that may run.
    """
    if any(dotted(one).rpartition(".")[2] == "abstractmethod" for one in node.decorator_list):
        return True
    body = [one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    if len(body) == 1 and isinstance(body[0], ast.Raise):
        raised = body[0].exc
        named = raised.func if isinstance(raised, ast.Call) else raised
        return named is not None and dotted(named) == "NotImplementedError"
    return not body


def survey_module(path: str, module: str, is_package: bool, source: Source) -> ModuleTable:
    """The table of one parsed module (an empty one when the file could not be parsed)."""
    table = ModuleTable(
        path=path, is_package=is_package, kinds={}, at={}, imports={}, stars=[], bases={}, metaclasses={}, exports=None,
        fills=[], wrappers={}, setters={}, strings={}, decorated=[], redirects={}, injected=[], aliases={},
        libraries=[], forwards={}, stubs=[], abstract=[], tables={}, given=[], returned={},
    )  # fmt: skip
    if source.tree is None:
        return table
    declarations = declare(module, source.tree)
    _read_strings(source.tree, table)
    for item in declarations.items:
        table["kinds"][item.suffix] = item.kind
        node = item.node
        if isinstance(node, (*FUNCTION_NODES, ast.ClassDef)):
            table["at"][source.name_position(node)] = item.suffix
        if isinstance(node, ast.ClassDef):
            table["bases"][item.suffix] = [name for base in node.bases if (name := dotted(base))]
            for word in node.keywords:
                if word.arg == "metaclass" and (name := dotted(word.value)):
                    table["metaclasses"][item.suffix] = name
            for statement in node.body:
                if isinstance(statement, ast.Assign):
                    _read_alias(statement, table, f"{item.suffix}.")
        elif isinstance(node, FUNCTION_NODES):
            _read_function(node, item.suffix, table)
    methods = [one for one in declarations.items if one.kind == "method"]
    table["abstract"] = [
        one.suffix for one in methods if isinstance(one.node, FUNCTION_NODES) and is_abstract(one.node)
    ]
    _read_statements(source.tree, module, is_package, table)
    table["libraries"] = loaded_libraries(source.tree)
    for item in declarations.items:
        if isinstance(item.node, FUNCTION_NODES):
            _read_injections(scope_statements(item.node.body), module, is_package, table)
    return table


def _read_function(node: ast.FunctionDef | ast.AsyncFunctionDef, suffix: str, table: ModuleTable) -> None:
    if prefix := wrapper_prefix(node):
        table["wrappers"][suffix] = prefix
    if made := _returned(node):
        table["returned"][suffix] = f"{suffix}.{made}"
    if forwarded := forwarded_look_ups(node):
        table["forwards"][suffix] = forwarded
    how = python_ops.BASE.get(suffix) or python_ops.setter(node, table["strings"])
    if how is not None:
        table["setters"][suffix] = how
    if not all(is_transparent(decorator) for decorator in node.decorator_list):
        table["decorated"].append(suffix)


def _returned(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The name of the function within `node` that is all that it returns: a `def`, or its only lambda; else ""."""
    statements = list(scope_statements(node.body))
    values = [one.value for one in statements if isinstance(one, ast.Return)]
    if len(values) != 1:
        return ""
    value = values[0]
    if isinstance(value, ast.Lambda):
        lambdas = [one for statement in node.body for one in ast.walk(statement) if isinstance(one, ast.Lambda)]
        return "<lambda>" if lambdas == [value] else ""
    made = [one for one in statements if isinstance(one, FUNCTION_NODES)]
    names = [one.name for one in made if not one.decorator_list]
    is_one = isinstance(value, ast.Name) and [one.name for one in made].count(value.id) == 1 and value.id in names
    return value.id if isinstance(value, ast.Name) and is_one and not _is_assigned(value.id, node) else ""


def _is_assigned(name: str, node: ast.AST) -> bool:
    """Whether a statement within `node` gives the name a value, other than by defining a function."""
    return any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store) for one in ast.walk(node)
    )


def _read_strings(tree: ast.Module, table: ModuleTable) -> None:
    counts: dict[str, int] = {}
    for node in module_statements(tree):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name):
                counts[target.id] = counts.get(target.id, 0) + 1
                text = literal(node.value)  # type: ignore[attr-defined]
                if text is not None:
                    table["strings"][target.id] = text
    for name, count in counts.items():
        if count > 1:
            table["strings"].pop(name, None)


def _read_statements(tree: ast.Module, module: str, is_package: bool, table: ModuleTable) -> None:
    statements = module_statements(tree)
    table["stubs"] = _stubs(statements)
    table["tables"] = tables(statements)
    _read_injections(statements, module, is_package, table)
    for node in statements:
        if isinstance(node, ast.Import):
            for alias in node.names:
                name, target = bound_import(alias)
                table["imports"].setdefault(name, (target, ""))
        elif isinstance(node, ast.ImportFrom):
            base = import_base(node, module, is_package)
            for alias in node.names:
                if alias.name == "*":
                    table["stars"].append(base)
                else:
                    table["imports"].setdefault(alias.asname or alias.name, (base, alias.name))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            _read_call(node.value, module, table)
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            _read_exports(node, table)
            if isinstance(node, ast.Assign):
                _read_alias(node, table)


def _stubs(statements: Iterable[ast.stmt]) -> list[str]:
    """Names of functions declared under `if TYPE_CHECKING:`, and nowhere else."""
    shown: set[ast.stmt] = set()
    for node in statements:
        if isinstance(node, ast.If) and dotted(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            shown.update(module_statements(ast.Module(node.body, [])))
    functions = [(node.name, node in shown) for node in statements if isinstance(node, FUNCTION_NODES)]
    real = {name for name, is_shown in functions if not is_shown}
    return sorted({name for name, is_shown in functions if is_shown} - real)


def _read_injections(statements: Iterable[ast.stmt], module: str, is_package: bool, table: ModuleTable) -> None:
    imports: dict[str, tuple[str, str]] = {}
    for node in statements:
        if isinstance(node, ast.ImportFrom):
            base = import_base(node, module, is_package)
            imports.update((alias.asname or alias.name, (base, alias.name)) for alias in node.names)
        elif isinstance(node, ast.Import):
            imports.update((name, (target, "")) for name, target in map(bound_import, node.names))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            value = imports.get(node.value.id) or table["imports"].get(node.value.id)
            for target in node.targets:
                if value and isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    holder = imports.get(target.value.id) or table["imports"].get(target.value.id)
                    if holder:
                        table["injected"].append((holder, target.attr, value))


def _read_call(call: ast.Call, module: str, table: ModuleTable) -> None:
    name = dotted(call.func)
    if not name:
        return
    head, _, rest = name.partition(".")
    if head in table["imports"]:
        base, attribute = table["imports"][head]
        head = f"{base}.{attribute}" if attribute else base
    elif head in table["kinds"]:
        head = f"{module}.{head}"
    name = f"{head}.{rest}" if rest else head
    table["redirects"].update(redirected_modules(name, call))
    if handed := given(call, name):
        table["given"].append(handed)
    fill = namespace_target(name, call, module, table["strings"])
    if fill:
        table["fills"].append(fill)


def _read_alias(node: ast.Assign, table: ModuleTable, owner: str = "") -> None:
    value = dotted(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else ""
    for target in node.targets:
        if value and isinstance(target, ast.Name):
            table["aliases"][owner + target.id] = value


def _read_exports(node: ast.Assign | ast.AugAssign, table: ModuleTable) -> None:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not isinstance(target, ast.Name) or target.id != "__all__" or not isinstance(node.value, (ast.List, ast.Tuple)):
        return
    names = [e.value for e in node.value.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    table["exports"] = [*(table["exports"] or []), *names]


def module_statements(tree: ast.Module) -> list[ast.stmt]:
    """Every statement that runs when the module is imported, in source order; bodies of classes and defs left out."""
    found: list[ast.stmt] = []
    stack: list[ast.AST] = list(reversed(tree.body))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt):
            found.append(node)
        if isinstance(node, (*FUNCTION_NODES, ast.ClassDef)):
            continue
        for name in ("finalbody", "orelse", "cases", "handlers", "body"):
            stack.extend(reversed(getattr(node, name, ())))
    return found


def dotted(node: ast.expr) -> str:
    """`a.b.c` of a chain of names, through subscripts (`Generic[T]` is Generic); "" of anything else."""
    parts = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            break
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def bound_import(alias: ast.alias) -> tuple[str, str]:
    """The name that `import a.b` or `import a.b as c` binds, and the module it is bound to."""
    if alias.asname:
        return alias.asname, alias.name
    top = alias.name.partition(".")[0]
    return top, top


def import_base(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """The absolute module that `from ... import` names; relative dots count from the importing package."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    up = node.level - (1 if is_package else 0)
    if up:
        parts = parts[:-up]
    return ".".join([*parts, *([node.module] if node.module else [])])


def main(scratch: Path) -> None:
    """Survey every file of the plan stored in `scratch`; writes the table there."""
    plan = load_plan(scratch)
    deadly = read_deadly(scratch)
    modules: dict[str, Any] = {}
    failed = dict.fromkeys(deadly, "line 1: the Python parser itself crashed on this file")
    current = scratch / CURRENT
    for file in plan.files:
        if file.path in deadly or (file.is_stub and file.module in modules):
            continue
        current.write_text(file.path, "utf-8", "surrogateescape")
        source = read_source(plan.root / file.path)
        modules[file.module] = survey_module(file.path, file.module, file.is_package, source)
    current.unlink(missing_ok=True)
    save_survey(scratch, modules, failed)


def read_deadly(scratch: Path) -> list[str]:
    """The files that killed an earlier survey."""
    path = scratch / DEADLY
    return path.read_text("utf-8", "surrogateescape").split("\0")[:-1] if path.exists() else []
