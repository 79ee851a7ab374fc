"""Follows a Python name through the modules of the tree: imports, re-exports, star imports, base classes, FFI modules.

What a name stands for is a `Target`. Names are never guessed: what the tables do not settle is None.
"""

from __future__ import annotations

import builtins
import functools
import marshal
from pathlib import Path
from typing import NamedTuple

from xref.model import Id, symbol_id
from xref.python.declarations import member_key
from xref.python.scratch import SURVEY
from xref.python.survey import ModuleTable
from xref.registry.python_ffi import CANDIDATES
from xref.registry.python_look_ups import REMOTE

BUILTINS = frozenset(dir(builtins))
_DEPTH = 40
"""Hops through imports or bases before a name is given up: more than any real chain, less than a cycle."""


class Target(NamedTuple):
    """What a name stands for. `kind`:

    - "module": the module `module` of the tree;
    - "member": `name` (a key suffix) in the tree's `module`;
    - "instance": an object of the class `name` in the tree's `module`;
    - "ffi": the FFI function `name`;
    - "external": the dotted `name`, outside the tree.
    """

    kind: str
    module: str
    name: str

    @property
    def dotted(self) -> str:
        """The dotted name, as a person writes it."""
        return f"{self.module}.{self.name}" if self.module and self.name else self.module or self.name

    @property
    def key(self) -> str:
        """The symbol key of a module, a member, or an external (taken to be in its first component's module)."""
        if self.kind == "external":
            module, _, name = self.name.rpartition(".")
            return member_key(module, name) if module else member_key(name, "")
        return member_key(self.module, self.name)


class Tree:
    """The survey's table, with the look-ups over it."""

    def __init__(self, modules: dict[str, ModuleTable], failed: dict[str, str] | None = None) -> None:
        self.modules = modules
        self.failed = failed or {}
        self.ffi: dict[str, list[str]] = {}
        self._redirects: dict[str, str] = {}
        self._injected: dict[tuple[str, str], Target] = {}
        for table in modules.values():
            self._redirects.update(table["redirects"])
            for target, namespace in table["fills"]:
                self.ffi.setdefault(target, []).append(namespace)
        self._inject()

    def _inject(self) -> None:
        """Settle `module.attribute = other_module` of any file, once all modules are known."""
        for table in self.modules.values():
            for holder, attribute, value in table["injected"]:
                module, found = self.imported(*holder), self.imported(*value)
                if module is not None and found is not None and module.kind == found.kind == "module":
                    self._injected[module.module, attribute] = found

    @functools.cached_property
    def forwards(self) -> dict[Id, list[tuple[str, int, str, bool]]]:
        """The functions that look up an FFI function by the value of a parameter; see `ModuleTable`."""
        found = {
            symbol_id(member_key(module, suffix)): forwards
            for module, table in self.modules.items()
            for suffix, forwards in table["forwards"].items()
        }
        for name, remote in REMOTE.items():
            module, _, suffix = name.rpartition(".")
            module, _, class_ = module.rpartition(".")
            if self.has(module, f"{class_}.{suffix}"):
                key = member_key(module, f"{class_}.{suffix}")
                found[symbol_id(key)] = [(remote.keyword, remote.position, "", False)]
        return found

    @functools.cached_property
    def given(self) -> dict[Target, list[tuple[str, list[str]]]]:
        """Functions that statements of other modules call: (the module, the names of the arguments) of each call."""
        found: dict[Target, list[tuple[str, list[str]]]] = {}
        for module, table in self.modules.items():
            for callee, names in table["given"]:
                target = self.dotted_anywhere(callee)
                if target is not None and target.kind == "member" and target.module != module:
                    found.setdefault(target, []).append((module, names))
        return found

    def dotted_anywhere(self, name: str) -> Target | None:
        """What the absolute dotted `name` stands for: the longest module that begins it, and the rest in there."""
        module, rest = name, ""
        while module and module not in self.modules:
            module, _, last = module.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
        if not module:
            return None
        return self.dotted(module, rest) if rest else Target("module", module, "")

    def has(self, module: str, suffix: str) -> bool:
        """Whether the tree's `module` declares `suffix` ("" is the module itself)."""
        table = self.modules.get(module)
        return table is not None and (not suffix or suffix in table["kinds"])

    def kind(self, target: Target) -> str:
        """The symbol kind of a module or member, "" of others."""
        if target.kind == "module":
            return "module"
        return self.modules[target.module]["kinds"].get(target.name, "") if target.kind == "member" else ""

    def imported(self, module: str, attribute: str, depth: int = 0) -> Target | None:
        """What `from module import attribute` (or `import module`, with "") binds."""
        module = self._redirected(module)
        if not attribute:
            return Target("module", module, "") if self._is_module(module) else Target("external", "", module)
        return self.member(module, attribute, depth + 1)

    def _redirected(self, module: str) -> str:
        """The module that the name stands for: it, or a module above it, may be redirected."""
        head, tail = module, ""
        while head and self._redirects:
            if head in self._redirects:
                return self._redirects[head] + tail
            head, _, last = head.rpartition(".")
            tail = f".{last}{tail}"
        return module

    def _is_module(self, module: str) -> bool:
        return module in self.modules or f"{module}." in self._prefixes

    @functools.cached_property
    def _prefixes(self) -> frozenset[str]:
        """`a.` and `a.b.` for a module a.b.c: namespace packages have no file of their own."""
        return frozenset(
            module[: at + 1] for module in self.modules for at, letter in enumerate(module) if letter == "."
        )

    def member(self, module: str, name: str, depth: int = 0) -> Target | None:
        """The attribute `name` of `module`: a definition, an import, a submodule, an FFI function, a star's name."""
        if depth > _DEPTH:
            return None
        table = self.modules.get(module)
        if table is None:
            if self._is_module(module):
                inner = f"{module}.{name}"
                return Target("module", inner, "") if self._is_module(inner) else None
            return Target("external", "", f"{module}.{name}")
        kind = table["kinds"].get(name, "")
        if module in self.ffi and name in table["stubs"]:  # for type checkers: at run time the key's function is there
            return self._filled(module, name)
        if kind and kind != "variable":
            return Target("member", module, name)
        if name in table["imports"]:
            base, attribute = table["imports"][name]
            if (base, attribute) != (module, name):
                found = self.imported(base, attribute, depth)
                if found is not None:
                    return found
        if kind:
            return self._injected.get((module, name)) or Target("member", module, name)
        inner = self._redirected(f"{module}.{name}")
        if self._is_module(inner):
            return Target("module", inner, "")
        return self._filled(module, name) or self._starred(table, name, depth)

    def _filled(self, module: str, name: str) -> Target | None:
        namespaces = self.ffi.get(module)
        if not namespaces or (name.startswith("__") and name.endswith("__")):
            return None
        return Target("ffi", "", CANDIDATES.join(f"{namespace}.{name}" for namespace in dict.fromkeys(namespaces)))

    def _starred(self, table: ModuleTable, name: str, depth: int) -> Target | None:
        if name.startswith("_") or name in BUILTINS:
            return None
        filled = None
        for star in table["stars"]:
            if star not in self.modules:
                continue
            exports = self.modules[star]["exports"]
            if exports is not None and name not in exports:
                continue
            found = self.member(star, name, depth + 1)
            if found is not None and found.kind != "ffi":
                return found
            filled = filled or found
        return filled

    def class_member(self, module: str, suffix: str, name: str, depth: int = 0) -> Target | None:
        """The attribute `name` of a class of the tree, its own or inherited (bases left to right, depth first)."""
        table = self.modules.get(module)
        if table is None or depth > _DEPTH:
            return None
        if f"{suffix}.{name}" in table["kinds"]:
            return Target("member", module, f"{suffix}.{name}")
        for base in self.bases(module, suffix):
            if base.kind == "member":
                found = self.class_member(base.module, base.name, name, depth + 1)
                if found is not None:
                    return found
        return None

    def metaclass(self, module: str, suffix: str, depth: int = 0) -> Target | None:
        """The metaclass of a class of the tree: the one that it or, before it, a class above it names."""
        table = self.modules.get(module)
        if table is None or depth > _DEPTH:
            return None
        if suffix in table["metaclasses"]:
            return self.dotted(module, table["metaclasses"][suffix])
        above = (self.metaclass(base.module, base.name, depth + 1) for base in self.bases(module, suffix))
        return next((found for found in above if found is not None), None)

    def methods(self, target: Target, prefix: str, depth: int = 0) -> dict[str, Target]:
        """The methods of a class of the tree, its own and inherited, whose names begin with `prefix`."""
        if self.kind(target) != "class" or depth > _DEPTH:
            return {}
        found: dict[str, Target] = {}
        for base in reversed(self.bases(target.module, target.name)):
            found.update(self.methods(base, prefix, depth + 1))
        start = f"{target.name}.{prefix}"
        for suffix in self.modules[target.module]["kinds"]:
            if suffix.startswith(start):
                found[suffix[len(target.name) + 1 :]] = Target("member", target.module, suffix)
        return found

    def bases(self, module: str, suffix: str) -> list[Target]:
        """The base classes of a class of the tree, as far as their names lead anywhere."""
        names = self.modules[module]["bases"].get(suffix, ())
        return [target for name in names if (target := self.dotted(module, name)) is not None]

    def dotted(self, module: str, name: str) -> Target | None:
        """What the dotted `name` stands for at the top of `module`."""
        head, *rest = name.split(".")
        target = self.member(module, head)
        if target is None and head in BUILTINS:
            target = Target("external", "", f"builtins.{head}")
        for part in rest:
            if target is None:
                return None
            target = self.attribute(target, part)
        return target

    def attribute(self, target: Target, name: str) -> Target | None:
        """The attribute `name` of `target`."""
        if target.kind == "module":
            return self.member(target.module, name)
        if target.kind == "external":
            return Target("external", "", f"{target.name}.{name}")
        if target.kind == "instance" or self.kind(target) == "class":
            return self.class_member(target.module, target.name, name)
        module = self.aliased_module(target)
        return self.member(module.module, name) if module is not None else None

    def aliased_module(self, target: Target) -> Target | None:
        """The module that a variable, or an attribute of a class, is another name of: `api = _ffi_api`."""
        table = self.modules.get(target.module) if target.kind == "member" else None
        value = table["aliases"].get(target.name) if table is not None else None
        found = self.dotted(target.module, value) if value and value.partition(".")[0] != target.name else None
        return found if found is not None and found.kind == "module" else None


@functools.lru_cache(maxsize=2)
def load_tree(scratch: Path) -> Tree:
    """The tree's table as the survey left it in `scratch`; one copy in each process."""
    modules, failed = marshal.loads((scratch / SURVEY).read_bytes())  # noqa: S302  our own file
    return Tree(modules, failed)
