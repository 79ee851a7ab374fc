"""Reads pyrefly's report for Pysa: which function each call site reaches, which method overrides which.

`main` (a process of its own, see typecheck.py) turns the definitions of all modules into one small
table that names functions and classes by our symbol keys; workers load that table and the call graphs of their own
files. Locations in the report read "line:column-line:column", with columns in bytes, 1-based.
"""

from __future__ import annotations

import functools
import json
import marshal
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from xref.python.declarations import member_key
from xref.python.names import Tree, load_tree
from xref.python.scratch import CALLS, KEPT, RECEIVERS, TYPES, load_plan
from xref.python.survey import ModuleTable

Span = tuple[int, int, int, int]
"""First line, first byte column (0-based), last line, byte column behind the last one: as `ast` counts."""

_INDEX = "pyrefly.pysa.json"
_EXPRESSIONS = "type_of_expressions"


class Types(NamedTuple):
    """The digest. `reports`: tree path -> offset and length of its call graph in the scratch folder's CALLS.

    `functions`, `classes`: module id -> local id -> key. `external`: keys of functions and classes that no file of the
    plan declares -> kind; `stubs`: those of them that are of the tree all the same (a compiled module's stub declares
    them, or a call makes them). `bases`, `ancestors`: class key -> class keys (ancestors: the whole method resolution
    order). `overridden`: method key -> the method that it overrides. `owners`: method key -> class key. `receivers`:
    tree path -> offset and length of the classes of its expressions in RECEIVERS.
    """

    reports: dict[str, tuple[int, int]]
    functions: dict[int, dict[str, str]]
    classes: dict[int, dict[int, str]]
    external: dict[str, str]
    stubs: set[str]
    bases: dict[str, list[str]]
    ancestors: dict[str, list[str]]
    overridden: dict[str, str]
    owners: dict[str, str]
    receivers: dict[str, tuple[int, int]]


def main(scratch: Path, pysa: Path) -> None:
    """Write the digest of the reports in the folder `pysa` into `scratch`; nothing refers to `pysa` afterwards."""
    plan = load_plan(scratch)
    tree = load_tree(scratch)
    paths = {str(plan.root / file.path): file for file in plan.files}
    types = Types({}, {}, {}, {}, set(), {}, {}, {}, {}, {})
    later: list[tuple[int, dict[str, Any]]] = []
    graphs: dict[str, Path] = {}
    for row in json.loads((pysa / _INDEX).read_bytes())["modules"].values():
        report = pysa / "definitions" / (row["info_filename"] or "")
        if not report.is_file():  # a namespace package has none
            continue
        source = row["source_path"]
        path = source.get("FileSystem", "") if isinstance(source, dict) else ""
        file = paths.get(path)
        if file is not None:
            graphs[file.path] = pysa / "call_graphs" / row["info_filename"]
        definitions = json.loads(report.read_bytes())
        module = file.module if file is not None else row["module_name"]
        table = tree.modules.get(module) if file is not None and not file.is_stub else None
        _name_module(row["module_id"], module, definitions, table, types, inside=file is not None)
        if file is None and path and Path(path).is_relative_to(plan.root):
            types.stubs.update(types.functions[row["module_id"]].values(), types.classes[row["module_id"]].values())
        relevant = {"classes": definitions["class_definitions"], "functions": definitions["function_definitions"]}
        later.append((row["module_id"], relevant))
    for module_id, relevant in later:
        _relate(module_id, relevant, types)
    with (scratch / CALLS).open("wb") as calls:
        for path, graph in graphs.items():
            types.reports[path] = (calls.tell(), calls.write(graph.read_bytes()))
    with (scratch / RECEIVERS).open("wb") as receivers:
        for path, graph in graphs.items():
            found = _classes_of_expressions(pysa / _EXPRESSIONS / graph.name, types)
            types.receivers[path] = (receivers.tell(), receivers.write(marshal.dumps(found)))
    (scratch / TYPES).write_bytes(marshal.dumps(tuple(types)))
    (scratch / KEPT).write_bytes(_lasting(tree, types))


def _lasting(tree: Tree, types: Types) -> bytes:
    """What the index keeps of the tree as a whole (xref.python.kept): the survey, and how the types of all files hang
    together. Places, and numbers of one run, are left out.
    """
    survey = {module: {**table, "at": {}} for module, table in tree.modules.items()}
    types = types._replace(reports={}, functions={}, classes={}, receivers={})
    return zlib.compress(marshal.dumps((survey, tree.failed, tuple(types))), 1)


def _classes_of_expressions(report: Path, types: Types) -> dict[Span, list[str]]:
    """The classes whose objects each expression may be, where the type checker knows all or some of them."""
    found: dict[Span, list[str]] = {}
    if not report.exists():
        return found
    for scope in json.loads(report.read_bytes())["functions"].values():
        table = []
        for row in scope["type_table"]:
            named = row.get("class_names", {}).get("classes", ())
            keys = (_class_key(one["class"], types) for one in named if not one.get("modifiers"))
            table.append([key for key in keys if key])
        for where, index in scope["locations"].items():
            if table[index]:
                found[span(where)] = table[index]
    return found


def _name_module(
    module_id: int, module: str, definitions: dict[str, Any], table: ModuleTable | None, types: Types, *, inside: bool
) -> None:
    at = table["at"] if table is not None else {}
    functions = definitions["function_definitions"]
    classes = {int(local): row for local, row in definitions["class_definitions"].items()}

    def qualname(row: dict[str, Any], depth: int = 0) -> str:
        parent = row.get("parent")
        if not isinstance(parent, dict) or depth > 50:
            return str(row["name"])
        if "Class" in parent:
            outer = classes.get(parent["Class"]["class_id"])
        else:
            outer = functions.get(f"F:{parent['Function']['func_def_index']}")
        return f"{qualname(outer, depth + 1)}.{row['name']}" if outer else str(row["name"])

    def key(row: dict[str, Any], kind: str) -> str:
        where = row.get("name_location")
        if where is None and inside and isinstance(row.get("parent"), dict) and "Class" in row["parent"]:
            # What a dataclass or an enum gets without writing it: its class stands for it.
            return types.classes[module_id][row["parent"]["Class"]["class_id"]]
        suffix = at.get(span(where)[:2] if where else (0, 0)) or qualname(row)
        found = member_key(module, suffix)
        if not inside:
            types.external[found] = kind
        elif table is not None and suffix not in table["kinds"]:
            types.external[found] = kind  # made by a call: `namedtuple(...)`, `Enum(...)`
            types.stubs.add(found)
        return found

    named = types.classes[module_id] = {}
    for local, row in sorted(classes.items()):
        named[local] = key(row, "class")
    types.functions[module_id] = {
        local: key(row, "method" if "defining_class" in row else "function") for local, row in functions.items()
    }


def _relate(module_id: int, relevant: dict[str, Any], types: Types) -> None:
    for local, row in relevant["classes"].items():
        key = types.classes[module_id][int(local)]
        bases = [found for base in row.get("bases", ()) if (found := _class_key(base, types))]
        if bases:
            types.bases[key] = bases
        order = row.get("mro")
        resolved = order.get("Resolved", ()) if isinstance(order, dict) else ()
        ancestors = [found for base in resolved if (found := _class_key(base, types))]
        if ancestors:
            types.ancestors[key] = ancestors
    for local, row in relevant["functions"].items():
        key = types.functions[module_id][local]
        if "defining_class" in row and (owner := _class_key(row["defining_class"], types)):
            types.owners[key] = owner
        base = row.get("overridden_base_method")
        if base:
            found = types.functions.get(base["module_id"], {}).get(base["function_id"])
            if found and found != key:
                types.overridden[key] = found


def _class_key(row: dict[str, Any], types: Types) -> str | None:
    return types.classes.get(row["module_id"], {}).get(row["class_id"])


def span(text: str) -> Span:
    """A location of the report in `ast`'s terms."""
    first, _, last = text.partition("-")
    line, _, column = first.partition(":")
    end_line, _, end_column = last.partition(":")
    return int(line), int(column) - 1, int(end_line), int(end_column) - 1


class Reach(NamedTuple):
    """A function that a site reaches. `dispatched`: the method is looked up on the receiver, of class `receiver`
    ("" unknown), so that an override of it may run instead.
    """

    key: str
    dispatched: bool
    receiver: str


class SiteReport(NamedTuple):
    """What the type checker says about one site. `kind`: "call", "property" (an attribute whose access runs code) or
    the artificial kind ("binary", "for-iter", "for-decorated-target", ...). `initializers` are what constructing an
    object runs; `constructs` is the class then. `reason`: why the callee, or part of it, is unknown.
    """

    kind: str
    span: Span
    targets: list[Reach]
    initializers: list[Reach]
    constructs: str
    reason: str


class Report:
    """The digest, opened by a worker, with the report of any one file."""

    def __init__(self, scratch: Path, types: Types) -> None:
        self._scratch = scratch
        self.types = types
        self._overriders: dict[str, list[str]] = {}
        self._always: dict[str, bool] = {}
        for method, base in types.overridden.items():
            self._overriders.setdefault(base, []).append(method)

    def knows(self, path: str) -> bool:
        """Whether the type checker read `path`."""
        return path in self.types.reports

    def sites(self, path: str) -> Iterator[SiteReport]:
        """Every site of `path` that the type checker has something to say about."""
        offset, length = self.types.reports[path]
        with (self._scratch / CALLS).open("rb") as calls:
            calls.seek(offset)
            text = calls.read(length)
        for scope in json.loads(text)["call_graphs"].values():
            for where, row in scope.items():
                location, _, tag = where.partition("|")
                if tag.startswith("identifier"):
                    continue
                if "Call" in row:
                    kind = tag.rpartition("|")[2] if tag else "call"
                    yield self._site(kind, span(location), row["Call"])
                elif "AttributeAccess" in row:
                    accessors = [
                        row["AttributeAccess"].get(f"property_{which}", ()) for which in ("getters", "setters")
                    ]
                    if any(accessors):
                        targets = {"call_targets": [target for some in accessors for target in some]}
                        yield self._site("property", span(location), targets)

    def receivers(self, path: str) -> dict[Span, list[str]]:
        """The keys of the classes whose objects each expression of `path` may be, as far as they are known."""
        offset, length = self.types.receivers[path]
        with (self._scratch / RECEIVERS).open("rb") as receivers:
            receivers.seek(offset)
            found: dict[Span, list[str]] = marshal.loads(receivers.read(length))  # noqa: S302  our own file
        return found

    def _site(self, kind: str, where: Span, row: dict[str, Any]) -> SiteReport:
        made = [*row.get("init_targets", ()), *row.get("new_targets", ())]
        classes = (_class_key(target["receiver_class"], self.types) for target in made if "receiver_class" in target)
        initializers = [reach for target in made if (reach := self._reach(target))]
        constructs = next((found for found in classes if found), "")
        if not constructs:
            owners = (self.types.owners.get(reach.key, "") for reach in initializers)
            constructs = next((owner for owner in owners if owner not in ("", "py:builtins:object")), "")
        unresolved = row.get("unresolved")
        reason = unresolved.get("True", "") if isinstance(unresolved, dict) else ""
        targets = [reach for target in row.get("call_targets", ()) if (reach := self._reach(target))]
        return SiteReport(kind, where, targets, initializers, constructs, reason)

    def _reach(self, row: dict[str, Any]) -> Reach | None:
        target = row["target"]
        if not isinstance(target, dict):
            return None
        for form in ("Function", "Overrides"):
            if form in target:
                key = self.types.functions.get(target[form]["module_id"], {}).get(target[form]["function_id"])
                receiver = _class_key(row["receiver_class"], self.types) if "receiver_class" in row else None
                return Reach(key, form == "Overrides", receiver or "") if key else None
        return None

    def overriders(self, method: str, receiver: str) -> list[str]:
        """The methods that override `method`, directly or not, in classes below `receiver` (all when it is "").

        The chains in pyrefly's own stubs contain a cycle, so every method is visited once.
        """
        found: list[str] = []
        seen = {method}
        pending = [method]
        while pending:
            for overrider in self._overriders.get(pending.pop(), ()):
                if overrider in seen:
                    continue
                seen.add(overrider)
                pending.append(overrider)
                owner = self.types.owners.get(overrider, "")
                if not receiver or receiver in self.types.ancestors.get(owner, ()):
                    found.append(overrider)
        return sorted(found)

    def is_always_overridden(self, method: str) -> bool:
        """Whether every class below the method's own that has none below itself finds an override of it."""
        if method not in self._always:
            owner = self.types.owners.get(method, "")
            below = {key: set(above) for key, above in self.types.ancestors.items() if owner in above and key != owner}
            bases = set().union(*below.values()) if below else set()
            own = {self.types.owners.get(one, "") for one in self.overriders(method, owner)}
            leaves = [{key, *above} for key, above in below.items() if key not in bases]
            self._always[method] = bool(leaves) and all(not own.isdisjoint(leaf) for leaf in leaves)
        return self._always[method]


@functools.lru_cache(maxsize=2)
def load_report(scratch: Path) -> Report:
    """The report in `scratch`; one copy in each process."""
    return Report(scratch, Types(*marshal.loads((scratch / TYPES).read_bytes())))  # noqa: S302  our own file


REASONS = {
    "UnexpectedPyreflyTarget": "the callee's type is unknown",
    "EmptyPyreflyCallTarget": "the callee's type is known, but no function belongs to it",
    "UnknownClassField": "the class has no attribute of that name",
    "UnexpectedDefiningClass": "the method's class is a type that is not modelled",
    "UnexpectedCalleeExpression": "the callee is the result of another expression",
    "UnresolvedMagicDunderAttr": "the callee's type has no such method",
    "UnresolvedMagicDunderAttrDueToNoBase": "the operand's type is unknown",
    "UnresolvedMagicDunderAttrDueToNoAttribute": "the operand's type has no such operator",
    "UnsupportedFunctionTarget": "the callee is a function that is not modelled",
    "Mixed": "some of the possible callees are unknown",
}
"""pyrefly's reasons, in words; a reason that is not listed is shown as pyrefly writes it."""
