"""What C++ says of values that Python gets from it: fields of objects and results of FFI functions, by their C++ types.

The C++ half of the index knows the type of each registered field and the result of each registered function as text;
object types of both languages meet in their type keys. A type without a Python class of its own is seen from Python as
the nearest parent type that has one (tvm-ffi, object.pxi: the class of a type index is looked up along its ancestors).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xref.python.flow.containers import OF_CPP
from xref.python.flow.graph import CONTAINER, DECLARED
from xref.python.flow.summary import NOTHING

if TYPE_CHECKING:
    from xref.python.flow.classes import Classes
    from xref.python.flow.containers import Containers

_TEMPLATE = re.compile(r"(?:tvm::)?(?:ffi::|runtime::)?(\w+)<(.*)>$")
_SEQUENCES = ("Array", "List")
_MAPPINGS = ("Map", "Dict")
_DEPTH = 4
_CALLBACK = re.compile(r"(?:tvm::)?(?:ffi::|runtime::)?Typed(?:Packed)?(?:Function|Func)<[^()]*\((.*)\)>$")
_HOLDERS = frozenset({"Optional", "ObjectPtr", "RValueRef", "Variant", "Tuple", *_SEQUENCES, *_MAPPINGS})
"""Templates that hold a function only where one of their arguments is a type that does."""
_FUNCTION_TYPE = re.compile(r"\b(?:Typed)?(?:Packed)?Func(?:tion)?\b")
"""A type of functions, or a template that holds one."""
_FUNCTIONS = ("::ffi::Function", "::PackedFunc", "::Object", "::ObjectRef")
"""How the classes end that a function is an object of, the oldest of `tvm::runtime`."""
_NO_FUNCTION = frozenset(
    (
        "bool", "char", "int", "unsigned", "long", "short", "float", "double", "size_t",
        "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
        "String", "string", "Bytes", "Shape", "Tensor", "NDArray", "DataType", "Device", "DLDataType", "DLDevice",
        "DLTensor",
    )
)  # fmt: skip
"""Types of C++, by their last names, that a function is never converted to (tvm-ffi, type_traits.h)."""
PLAIN_TYPES = frozenset({"DLDataType", "DLDevice"})
"""C++ types that no type key stands for. The binding is told their Python classes by calls of `_set_class_dtype` and
`_set_class_device` (tvm-ffi, dtype.pxi and device.pxi).
"""


@dataclass
class ForeignTypes:
    """`classes`: C++ class, without the suffix of its node, -> code of the Python class. `views`: class of references
    without a node of its own -> codes of the Python classes that its objects may have. `fields`: code of a class and
    name -> (namespace to look types up in, type). `results`: key of a function -> likewise. `made`: key of a function
    whose result is declared as a view -> codes of the classes whose objects it makes. `parameters`: key -> the
    namespace and the types of the parameters. `containers`: "list" and "dict" -> code of the FFI's class for it.
    `keepers`: codes of the classes whose objects may hold functions.
    """

    classes: dict[str, int] = field(default_factory=dict)
    views: dict[str, tuple[int, ...]] = field(default_factory=dict)
    fields: dict[tuple[int, str], tuple[str, str]] = field(default_factory=dict)
    results: dict[str, tuple[str, str]] = field(default_factory=dict)
    made: dict[str, tuple[int, ...]] = field(default_factory=dict)
    parameters: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    containers: dict[str, int] = field(default_factory=dict)
    keepers: frozenset[int] = frozenset()


class Foreign:
    """Nodes for such values; `first_classes` leads from the codes of classes to the classes."""

    def __init__(self, solver: Containers, classes: Classes) -> None:
        self._solver = solver
        self._classes = classes
        self._views: dict[tuple[str, tuple[int, ...]], int] = {}
        self._results: dict[str, int | None] = {}
        self._graph = solver.graph
        self.types = ForeignTypes()
        self.first_classes: dict[int, int] = {}
        self._nodes: dict[tuple[str, str], int | None] = {}
        self._plain: dict[str, int] = {}
        self._takes: dict[tuple[str, str], bool | None] = {}

    def result(self, key: str) -> int | None:
        """The node of what an FFI function returns."""
        if key not in self._results:
            found = self.types.results.get(key)
            self._results[key] = None if found is None else self._made(key, *found) or self.node(*found)
        return self._results[key]

    def _made(self, key: str, namespace: str, written: str) -> int | None:
        """The node of the objects that a function makes, where its declared result is a view."""
        name = self._class(namespace, plain_type(written))
        codes = self.types.made.get(key) or self.types.views.get(name or "", ())
        if not codes or name is None:
            return None
        node = self._graph.node()
        self._put(node, self.types.classes[name], name, codes)
        return node

    def callback(self, key: str, number: int) -> list[int | None] | None:
        """The nodes of what C++ gives to a function that an FFI function takes as its argument `number`; None when
        its type does not say so.
        """
        namespace, types = self.types.parameters.get(key, ("", ()))
        called = _CALLBACK.match(plain_type(types[number])) if number < len(types) else None
        if called is None:
            return None
        return [self.node(namespace, written) for written in split_arguments(called[1])]

    def takes_function(self, key: str, number: int) -> bool | None:
        """Whether the argument `number` of an FFI function may be a function, or hold one: C++ refuses one where it
        declares an object of another class, a number or a text. None where it does not tell (`Any`, packed arguments).
        """
        namespace, types = self.types.parameters.get(key, ("", ()))
        if number >= len(types):
            return None
        known = (namespace, types[number])
        if known not in self._takes:
            named = _FUNCTION_TYPE.search(plain_type(types[number])) is not None
            self._takes[known] = True if named else False if refuses_function(self.types.classes, *known) else None
        return self._takes[known]

    def keeps_functions(self, codes: list[int]) -> bool:
        """Whether an object, of a class with these bases (by their codes, the class first), may hold a function that it
        was made with. Of a class that C++ does not know, it may.
        """
        known = [code for code in codes if code in self.first_classes]
        return not known or any(code in self.types.keepers for code in known)

    def plain(self, name: str) -> int:
        """The node of values of a C++ type without a type key, whose Python class is told at run time."""
        node = self._plain.get(name)
        if node is None:
            node = self._plain[name] = self._graph.node()
        return node

    def field(self, codes: list[int], name: str) -> int | None:
        """The node of a field, of the first of the classes (by their codes) that has it in C++."""
        for code in codes:
            found = self.types.fields.get((code, name))
            if found is not None:
                return self.node(*found)
        return None

    def node(self, namespace: str, written: str, depth: int = 0) -> int | None:
        """The node of values of a C++ type; None when Python has no class for it."""
        key = (namespace, written)
        if key not in self._nodes:
            self._nodes[key] = self._make(namespace, plain_type(written), depth)
        return self._nodes[key]

    def _make(self, namespace: str, written: str, depth: int) -> int | None:
        graph = self._graph
        if written in PLAIN_TYPES:
            return self.plain(written)
        template = _TEMPLATE.match(written)
        if template is not None and depth < _DEPTH:
            name, arguments = template.groups()
            if name in ("Optional", "ObjectPtr", "RValueRef"):
                return self.node(namespace, arguments, depth + 1)
            kind = "list" if name in _SEQUENCES else "dict" if name in _MAPPINGS else ""
            if not kind:
                return None
            node = graph.node()
            container = graph.object(CONTAINER, (OF_CPP, namespace, written), kind)
            element = self.node(namespace, split_arguments(arguments)[-1], depth + 1)
            if element is not None:
                graph.flow(element, self._solver.slot(container, None))
            graph.put(node, container)
            self._put(node, self.types.containers.get(kind))
            return node
        name = self._class(namespace, written)
        if name is None:
            return None
        node = graph.node()
        self._put(node, self.types.classes[name], name)
        return node

    def _put(self, node: int, code: int | None, name: str = "", made: tuple[int, ...] = ()) -> None:
        number = self.first_classes.get(code) if code is not None else None
        if number is not None:
            self._graph.put(node, self._graph.object(DECLARED, self._view(name, number, made)))

    def _view(self, name: str, number: int, made: tuple[int, ...]) -> int:
        """The class that stands for those that references of a class may refer to, where C++ tells them; `made`: those
        of them that are known to be made.
        """
        codes = self.types.views.get(name)
        if codes is None:
            return number
        if (name, made) not in self._views:
            wide = self._view(name, number, ()) if made else NOTHING
            codes = made or codes
            classes = self._classes
            base = classes.all[number]
            codes = tuple(code for code in codes if not self._is_text(code))
            members = [classes.all[self.first_classes[code]] for code in codes if code in self.first_classes]
            below = [one for one in members if one is not base and number in classes.order(one)]
            if made:
                number = classes.view(base, below, wide).number if below else wide
            else:
                number = (classes.view(base, below) if len(below) > 1 else below[0] if below else base).number
            self._views[name, made] = number
        return self._views[name, made]

    def _is_text(self, code: int) -> bool:
        """Whether objects of a class stand for a text: no operator is applied to these, though C++ lets them be where
        numbers are (`StringImm` is a `PrimExpr`, for arguments of intrinsics).
        """
        _, written = self.types.fields.get((code, "value"), ("", ""))
        return plain_type(written).endswith("String")

    def _class(self, namespace: str, name: str) -> str | None:
        return class_named(self.types.classes, namespace, name)


def class_named(classes: Mapping[str, object], namespace: str, name: str) -> str | None:
    """The whole name of a C++ class by the name that code in `namespace` uses for it."""
    while True:
        whole = f"{namespace}::{name}" if namespace else name
        if whole in classes or not namespace:
            return whole if whole in classes else None
        namespace = namespace.rpartition("::")[0]


def refuses_function(classes: Mapping[str, int], namespace: str, written: str) -> bool:
    """Whether no function is converted to a C++ type: it is the class of other objects, a number or a text."""
    name = plain_type(written)
    template = _TEMPLATE.match(name)
    if template is not None and template[1] in _HOLDERS:
        return all(refuses_function(classes, namespace, inner) for inner in split_arguments(template[2]))
    whole = class_named(classes, namespace, name)
    return name.rpartition("::")[2] in _NO_FUNCTION or (whole is not None and not f"::{whole}".endswith(_FUNCTIONS))


def plain_type(written: str) -> str:
    """A type without const, & and class-keys."""
    return re.sub(r"\b(?:const|class|struct|typename)\b|[&*]", "", written).strip()


def split_arguments(text: str) -> list[str]:
    """The arguments of a template, at its own level of brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    parts.append(text[start:].strip())
    return parts
