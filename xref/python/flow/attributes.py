"""Attributes, items and protocols in the solver: what reading, setting, indexing, iterating, entering objects does."""

from __future__ import annotations

from typing import Any

from xref.python.flow.calls import Site
from xref.python.flow.candidates import BY_ITERATION, Candidates
from xref.python.flow.classes import Classes, Klass
from xref.python.flow.containers import Containers
from xref.python.flow.foreign import Foreign
from xref.python.flow.graph import (
    BOUND,
    CONSTANT,
    CONSTRUCTOR,
    CONTAINER,
    DECLARED,
    FUNCTION,
    KLASS,
    METHOD_OF_CONTAINER,
    MODULE,
    OBJECT,
    OUTSIDE,
    OUTSIDE_OBJECT,
    PARTIAL,
    RUNNING,
    SUPER_OF,
    Graph,
)
from xref.python.flow.models import CONTAINER_METHODS
from xref.python.flow.program import Program
from xref.python.flow.summary import NODE_MASK, NOTHING
from xref.registry.python_ffi import CONSTRUCTOR_METHOD

MAX_BY_PREFIX = 200
"""Attributes that a name which begins with known text may stand for."""
MAX_OWNERS = 24
"""Classes below a declared one that may have an attribute that it lacks."""
MAX_BELOW = 150
"""Classes that the type of an object may be, of which only a base class is known."""
_NAMES = """add sub mul truediv floordiv mod pow lshift rshift or xor and matmul neg pos invert getitem"""
OPERATORS = frozenset(f"__{form}{name}__" for name in _NAMES.split() for form in ("", "r"))
"""Special methods of expressions, which mostly make expressions."""
ANY_BELOW = "<class>"
"""What marks a class as one of those below a declared one: `type(x)`, of which only a base class of x is known."""
_MAX_DOTS = 6
_INSTANCES = (OBJECT, DECLARED)


class Attributes(Containers):
    """Loads and stores."""

    def __init__(self, graph: Graph, program: Program, classes: Classes) -> None:  # noqa: PLR0915  one line each
        super().__init__(graph)
        self.program = program
        self.classes = classes
        self.foreign = Foreign(self, classes)
        self.edges: set[tuple[int, int, int]] = set()
        """(calling code, position, called code)."""
        self.itemized: dict[int, None] = {}
        """Dicts of which the items were asked for."""
        self.bound_calls: dict[tuple[int, int], set[tuple[int, int]]] = {}
        """(calling code, position) -> (method, receiver) of the bound methods that were called as values there."""
        self.candidates = Candidates()
        """What may run instead, or at a site without parentheses."""
        self.handed_over: set[tuple[int, int, int, str]] = set()
        """(calling code, position, function or bound method, key of the FFI function that may run it)."""
        self.untold: dict[tuple[int, int, int, str], int] = {}
        """Of these, where C++ does not say that it takes a function: the node of the argument."""
        self.reached: set[tuple[int, int, int, str]] = set()
        """(calling code, position, class of an argument, key of the FFI function)."""
        self.given_to_compiled: set[tuple[str, str, int]] = set()
        """(Cython module, its variable, function that is put there)."""
        self.outside_edges: set[tuple[int, int, str]] = set()
        self.constructions: set[tuple[int, int, int]] = set()
        """(calling code, position, number of the class)."""
        self.cuts = classes.cuts
        self.factories: dict[int, int] = {}
        """defaultdict -> the node of what makes a missing value."""
        self.namespaces: dict[int, int] = {}
        """Dict of attributes -> the module or class that it belongs to."""
        self.registered: set[int] = set()
        """Codes of the classes that are registered under a type key."""
        self.containers_of_objects: dict[str, int] = {}
        """"list", "dict" -> the class whose objects are the values of such fields of registered classes."""
        self.dispatches: set[tuple[int, int, int, int, str]] = set()
        """(calling code, position, class that the receiver is declared to have, method there, `how` of the site)."""
        self.operated: set[int] = set()
        self.declined: set[int] = set()
        """Sites (by number) at which a function may have returned `NotImplemented`."""
        self.answered: set[int] = set()
        self.typed: dict[tuple[int, int], list[int]] = {}
        """(file, position) -> codes that the type checker says are called."""
        self.first_functions: dict[int, int] = {}
        self.first_classes: dict[int, int] = {}
        self.defaults: dict[int, dict[int, int]] = {}
        self.sifted: list[tuple[int, int, tuple[int, ...], bool, bool]] = []
        self.applied = 0
        self._named_sets: dict[tuple[int, int], dict[tuple[int, int, int], Site]] = {}
        """(calling code, position) -> (class or module, node of names, node of values) -> site."""
        self._builtin_below: dict[tuple[int, str], bool] = {}
        self._called: set[tuple[Any, ...]] = set()
        self._lacking: list[tuple[int, Site, int | None]] = []
        self._attributes: dict[tuple[int, str], int] = {}
        self._fields_of: dict[tuple[int, str], int] = {}
        self._unanswered: list[tuple[int, str, Site]] = []
        self._unanswered_modules: list[tuple[str, str, Site]] = []
        self._loads: dict[tuple[int, int], int | None] = {}
        """(calling code, position) -> number of the class that the first object asked for an attribute there is of."""
        self._alike_pending: list[tuple[int, int]] = []
        self._name_nodes: dict[str, int] = {}
        self._sets_pending: list[tuple[int, int, int]] = []
        self._keys_pending: list[tuple[int, int, Site]] = []

    # to be supplied by the class that knows calls

    def invoke(self, item: int, site: Site) -> None:
        """The object is called."""
        raise NotImplementedError

    def call_function(self, item: int, site: Site, receiver: int | None, is_only: bool = False) -> None:
        """A function is called."""
        raise NotImplementedError

    def call_bound(self, item: int, payload: tuple[int, Site]) -> None:
        """A method is called on a receiver."""
        raise NotImplementedError

    def bound_to(self, form: str, receiver: int) -> int | None:
        """What a method gets as its first argument."""
        raise NotImplementedError

    def frame(self, code_number: int, around: tuple[int, ...], site: int) -> int:
        """The frame that a function runs in."""
        raise NotImplementedError

    def apply_flow(self, source: int, target: int) -> None:
        """A flow that a deferred rule adds."""
        self.applied += 1
        self.graph.flow(source, target)

    def klass(self, item: int) -> Klass:
        """The class of an object, or the class that the object is."""
        number: int = self.graph.firsts[item]
        return self.classes.all[number]

    # loading

    def load(self, item: int, payload: tuple[str, Site]) -> None:
        """`item.name`, with the value at the site's target."""
        name, site = payload
        graph = self.graph
        kind, first = graph.kinds[item], graph.firsts[item]
        if site.position:
            self._note_load(site, first if kind in _INSTANCES else None)
        if kind in _INSTANCES:
            self._load_from_object(item, name, site)
        elif kind == KLASS:
            self._load_class_fact(item, name, site.target)
            graph.flow(self.attribute(item, name), site.target)
        elif kind == MODULE and name == "__dict__":
            graph.put(site.target, self.namespace(item))
        elif kind == MODULE:
            graph.flow(self.program.member(first, name), site.target)
            self.missing_member(first, name, site)
        elif kind == CONTAINER:
            if name in CONTAINER_METHODS:
                graph.put(site.target, graph.object(METHOD_OF_CONTAINER, item, name))
        elif kind in (OUTSIDE, OUTSIDE_OBJECT):
            if first.count(".") < _MAX_DOTS:
                graph.put(site.target, graph.object(OUTSIDE, f"{first}.{name}"))
        elif kind == SUPER_OF:
            self._load_super(item, name, site)
        elif kind in (FUNCTION, BOUND, PARTIAL):
            if name == "__call__":
                graph.put(site.target, item)
            elif name == "__func__" and kind == BOUND:
                graph.put(site.target, first)
            else:
                graph.flow(self.field(item, name), site.target)

    def _note_load(self, site: Site, number: int | None) -> None:
        """Where objects of several classes are asked for an attribute, `__getattr__` of one says little: what has the
        attribute is more likely meant.
        """
        at = (site.code, site.position)
        if self._loads.setdefault(at, number) != number:
            self.candidates.plain(site, "__getattr__")

    def _load_class_fact(self, item: int, name: str, target: int) -> None:
        """`C.__base__`, `C.__bases__`, `C.__mro__`, `C.__dict__`."""
        klass = self.klass(item)
        if name == "__dict__":
            self.graph.put(target, self.namespace(item))
        elif name == "__base__":
            for node in klass.base_nodes[:1]:
                if node >= 0:
                    self.graph.when(node, self._put_klass, target)
        elif name in ("__bases__", "__mro__"):
            listed = self.made((name, item), "list")
            self.graph.put(target, listed)
            if name == "__mro__":
                self.graph.put(self.slot(listed, None), item)
            for node in klass.base_nodes:
                if node >= 0:
                    self.graph.when(node, self._put_klass, self.slot(listed, None))

    def _put_klass(self, item: int, target: int) -> None:
        if self.graph.kinds[item] == KLASS:
            self.graph.put(target, item)

    def namespace(self, item: int) -> int:
        """The dict of a module's or class's own attributes."""
        found = self.made(("__dict__", item), "dict")
        if found not in self.namespaces:
            self.namespaces[found] = item
            first = self.graph.firsts[item]
            if self.graph.kinds[item] == KLASS:
                klass = self.classes.all[first]
                for name, node in klass.code.names.items():
                    if node <= NODE_MASK:
                        self.graph.flow(klass.frame + node, self.slot(found, name))
            elif first in self.program.modules:
                for name in self.program.summaries[self.program.modules[first]].codes[0].names:
                    self.graph.flow(self.program.member(first, name), self.slot(found, name))
        return found

    def _load_from_object(self, item: int, name: str, site: Site) -> None:
        if name == "__class__":
            self.put_class(item, site.target)
            return
        self.graph.flow(self.attribute(item, name), site.target)
        klass = self.klass(item)
        if name == CONSTRUCTOR_METHOD:
            self.graph.put(site.target, self.graph.object(CONSTRUCTOR, item))
        if name in self.program.property_names and site.position:
            self.graph.when(self.classes.lookup(klass, name), self._get_property, (item, site))
        if self.classes.finds(klass, "__getattr__"):
            self._unanswered.append((item, name, site))

    def put_class(self, item: int, node: int) -> None:
        """`type(item)`: any class below, when the object is only declared."""
        graph = self.graph
        graph.put(node, graph.object(KLASS, graph.firsts[item]))
        if graph.kinds[item] == DECLARED:
            below = list(self.classes.below(self.klass(item)))
            if len(below) <= MAX_BELOW:
                for klass in below:
                    graph.put(node, graph.object(KLASS, klass.number, ANY_BELOW))

    def missing_member(self, module: str, name: str, site: Site) -> None:
        """Remember a module attribute that may be made by the module's own `__getattr__`."""
        file = self.program.modules.get(module)
        if file is None or "__getattr__" not in self.program.summaries[file].codes[0].names:
            return
        self._unanswered_modules.append((module, name, site))

    def attribute(self, item: int, name: str) -> int:
        """The node of an attribute of an object or class."""
        key = (item, name)
        node = self._attributes.get(key)
        if node is not None:
            return node
        graph = self.graph
        node = self._attributes[key] = graph.node()
        klass = self.klass(item)
        found = self.classes.lookup(klass, name)
        if graph.kinds[item] == KLASS:
            graph.when(found, self._bind_to_class, (item, node))
            if klass.meta >= 0:
                meta = self.classes.all[klass.meta]
                if self.classes.finds(meta, name):
                    graph.when(self.classes.lookup(meta, name), self._bind_to_object, (item, node))
            if name in klass.code.names and self.classes.is_enum(klass):
                graph.put(node, graph.object(OBJECT, klass.number))
        else:
            graph.flow(self.field(item, name), node)
            graph.when(found, self._bind_to_object, (item, node))
            typed = self.foreign.field([self.classes.all[at].code_number for at in self.classes.order(klass)], name)
            if typed is not None:
                graph.flow(typed, node)
            if graph.kinds[item] == DECLARED and not self.classes.finds(klass, name):
                self._look_below(item, name, node)
        return node

    def _look_below(self, item: int, name: str, node: int) -> None:
        """An attribute that only classes below the declared one have."""
        owners = self.classes.found_below(self.classes.widest(self.klass(item)), name)
        if len(owners) <= MAX_OWNERS:
            for own in owners:
                self.graph.when(own, self._bind_to_object, (item, node))

    def _bind_to_object(self, item: int, payload: tuple[int, int]) -> None:
        receiver, node = payload
        graph = self.graph
        if graph.kinds[item] != FUNCTION:
            graph.put(node, item)
            if graph.kinds[item] == CONTAINER and self.containers_of_objects:
                self._put_foreign_container(item, receiver, node)
            return
        form = graph.seconds[item][1]
        if form == "property":
            self.call_function(item, Site(-1, 0, 0, node), receiver)
        elif form != "setter":
            first = self.bound_to(form, receiver)
            graph.put(node, item if first is None else graph.object(BOUND, item, first))

    def _put_foreign_container(self, item: int, receiver: int, node: int) -> None:
        klass = self.containers_of_objects.get(self.graph.seconds[item])
        if klass is not None and self.is_registered(self.klass(receiver)):
            self.graph.put(node, self.graph.object(DECLARED, klass))

    def _bind_to_class(self, item: int, payload: tuple[int, int]) -> None:
        receiver, node = payload
        graph = self.graph
        if graph.kinds[item] == FUNCTION and graph.seconds[item][1] == "class":
            item = graph.object(BOUND, item, receiver)
        graph.put(node, item)

    def _get_property(self, item: int, payload: tuple[int, Site]) -> None:
        receiver, site = payload
        if self.graph.kinds[item] == FUNCTION and self.graph.seconds[item][1] == "property":
            self.call_function(item, site._replace(target=NOTHING, how="<property>"), receiver)

    def _load_super(self, item: int, name: str, site: Site) -> None:
        after = self.classes.all[self.graph.firsts[item]]
        receiver = self.graph.seconds[item]
        found = self.classes.lookup_after(self.klass(receiver), after, name)
        if found is None:
            return
        if name in self.program.property_names and site.position:
            self.graph.when(found, self._get_property, (receiver, site))
        bind = self._bind_to_object
        if name in ("__new__", "__init_subclass__"):
            bind = self._bind_to_class
        self.graph.when(found, bind, (receiver, site.target))

    def load_named(self, item: int, payload: tuple[int, Site]) -> None:
        """`getattr(item, name)`, the name being what a node holds."""
        self.graph.when(payload[0], self._load_named, (item, payload[1]))

    def _load_named(self, constant: int, payload: tuple[int, Site]) -> None:
        item, site = payload
        if self.graph.kinds[constant] != CONSTANT:
            return
        name = self.graph.firsts[constant]
        if isinstance(name, str):
            self.load(item, (name, site))
        elif isinstance(name, tuple):
            self._load_some(item, name[0], site)

    def _load_some(self, item: int, prefix: str, site: Site) -> None:
        """`getattr` with a name that begins with known text: any such attribute."""
        kind = self.graph.kinds[item]
        if kind in (OBJECT, DECLARED, KLASS):
            names = self.classes.names(self.klass(item), lambda name: name.startswith(prefix))
        elif kind == MODULE and self.graph.firsts[item] in self.program.modules:
            own = self.program.summaries[self.program.modules[self.graph.firsts[item]]].codes[0].names
            names = [name for name in own if name.startswith(prefix)]
        else:
            return
        if len(names) > MAX_BY_PREFIX:
            self.cuts.add((site.code, site.position, f"getattr with one of {len(names)} names"))
            return
        for name in names:
            self.load(item, (name, site))

    def is_registered(self, klass: Klass) -> bool:
        """Whether objects of the class are held by the FFI, so that its containers hold their lists and dicts."""
        return any(self.classes.all[at].code_number in self.registered for at in self.classes.order(klass))

    # storing

    def field(self, item: int, name: str) -> int:
        """The node of what was set on the object itself."""
        node = self._fields_of.get((item, name))
        if node is None:
            node = self._fields_of[item, name] = self.graph.node()
        return node

    def field_to_set(self, item: int, name: str) -> int:
        """The node to which a value set on the object flows: an object of declared class sees it too."""
        node = self.field(item, name)
        if self.graph.kinds[item] == OBJECT:
            for at in self.classes.order(self.klass(item)):
                self.graph.flow(node, self.field(self.graph.object(DECLARED, at), name))
        elif self.graph.kinds[item] == DECLARED:
            self.graph.flow(node, self.field(self.graph.object(OBJECT, self.graph.firsts[item]), name))
        return node

    def save(self, item: int, payload: tuple[str | None, int, Site]) -> None:
        """`item.name = source`; a name that is computed (None) may still run `__setattr__`."""
        name, source, site = payload
        kind, first = self.graph.kinds[item], self.graph.firsts[item]
        if kind in _INSTANCES:
            klass = self.classes.all[first]
            if source != NOTHING and name is not None:
                self.graph.flow(source, self.field_to_set(item, name))
            if name in self.program.property_names and site.position:
                self.graph.when(self.classes.lookup(klass, name), self._set_property, (item, site))
            if self.classes.finds(klass, "__setattr__"):
                arguments = site._replace(positional=(NOTHING, source))
                self.graph.when(self.classes.lookup(klass, "__setattr__"), self.call_bound, (item, arguments))
        elif source == NOTHING or name is None:
            return
        elif kind == KLASS:
            klass = self.classes.all[first]
            if not (name.startswith("__") and name in klass.code.names):  # what installs special methods spares these
                self.graph.flow(source, self.classes.add(klass, name))
        elif kind == MODULE:
            self.graph.flow(source, self.program.member(first, name))
            file = self.program.modules.get(first)
            own = self.program.summaries[file].codes[0].names.get(name) if file is not None else None
            if own is not None:
                self.graph.flow(source, self.program.roots[first] + own)
        elif kind in (FUNCTION, BOUND, PARTIAL):
            self.graph.flow(source, self.field(item, name))
        elif kind == OUTSIDE and first in self.program.compiled:
            self.graph.when(source, self._give_to_compiled, (first, name))

    def save_named(self, item: int, payload: tuple[int, int, Site]) -> None:
        """`setattr(item, name, source)`, the name being what a node holds: see `deferred_sets`."""
        if self.graph.kinds[item] in (KLASS, MODULE):
            names, source, site = payload
            self._named_sets.setdefault((site.code, site.position), {})[item, names, source] = site

    def deferred_sets(self) -> None:
        """A name that is computed is followed where one class or module is set: where a function sets what it is given,
        names and values of all its callers would combine.
        """
        for place, sets in self._named_sets.items():
            if len({item for item, _, _ in sets}) > 1:
                self.cuts.add((*place, "attributes of several classes are set under computed names"))
                continue
            for item, names, source in list(sets):
                if (place, item, names, source) not in self._called:
                    self._called.add((place, item, names, source))
                    self.applied += 1
                    self.graph.when(names, self._save_named, (item, source, sets[item, names, source]))

    def _save_named(self, constant: int, payload: tuple[int, int, Site]) -> None:
        item, source, site = payload
        name = self.graph.firsts[constant]
        if self.graph.kinds[constant] == CONSTANT and isinstance(name, str):
            self.save(item, (name, self._value_beside(name, source), site))

    def _value_beside(self, name: str, source: int) -> int:
        """Of the values that `for name, value in d.items()` goes through, the node of the one under a name."""
        held = self.graph.held(source)
        for item in self.itemized if held else ():
            if ("str", name) in self._slots.get(item, {}) and held <= self.graph.held(self.everything(item)):
                return self.slot(item, name)
        return source

    def _give_to_compiled(self, item: int, payload: tuple[str, str]) -> None:
        if self.graph.kinds[item] == FUNCTION:
            self.given_to_compiled.add((*payload, self.graph.firsts[item]))

    def _set_property(self, item: int, payload: tuple[int, Site]) -> None:
        receiver, site = payload
        if self.graph.kinds[item] == FUNCTION and self.graph.seconds[item][1] == "setter":
            self.call_function(item, site, receiver)

    # methods that no parentheses show

    def method(self, item: int, name: str, site: Site, how: str = "") -> bool:
        """Call a special method, looked up on the object's class; False when the class has none."""
        kind = self.graph.kinds[item]
        site = site._replace(how=how or name)
        if kind == KLASS:
            meta = self.klass(item).meta
            if meta < 0:
                return False
            klass = self.classes.all[meta]
        else:
            klass = self.klass(item)
        if self.classes.finds(klass, name):
            self.graph.when(self.classes.lookup(klass, name), self.call_bound, (item, site))
            return True
        if kind != DECLARED:
            return False
        found = self.classes.found_below(klass, name)
        if len(found) > MAX_BELOW:
            return False
        if klass.wider >= 0:
            found = self.classes.found_by_most(klass, name)
        rest = site._replace(target=self.graph.node(), is_rest=True)
        if len(found) > 1 and name in OPERATORS:
            # which of them runs is not known, so neither is what it makes: it is taken to be of the same base class
            if site.target != NOTHING:
                self._made_alike(item, found, site.target)
            site = site._replace(target=self.graph.node())
        for node in found:
            self.graph.when(node, self.call_bound, (item, site))
        for node in self.classes.found_below(self.classes.widest(klass), name) if klass.wider >= 0 else ():
            if node not in found:
                self.graph.when(node, self.call_bound, (item, rest))
        return bool(found)

    def _made_alike(self, item: int, methods: list[int], target: int) -> None:
        """Of what the methods return, the objects that are declared to be of the same class as `item`: what a function
        of C++ is known to make. Where there are none, another `item`.
        """
        for node in methods:
            self.graph.when(node, self._when_returned, (item, target))
        self._alike_pending.append((item, target))

    def _when_returned(self, function: int, payload: tuple[int, int]) -> None:
        if self.graph.kinds[function] == FUNCTION:
            code_number = self.graph.firsts[function]
            base = self.frame(code_number, self.graph.seconds[function][0], 0)
            self.graph.when(base + self.program.places[code_number].code.result, self._put_alike, payload)

    def _put_alike(self, returned: int, payload: tuple[int, int]) -> None:
        item, target = payload
        if self._is_alike(returned, item):
            self.graph.put(target, returned)

    def _is_alike(self, item: int, other: int) -> bool:
        kinds, classes = self.graph.kinds, self.classes
        if kinds[item] != DECLARED or kinds[other] != DECLARED:
            return False
        klass = self.klass(item)
        return klass.is_view and classes.widest(klass) is classes.widest(self.klass(other))

    def deferred_results(self) -> None:
        """What an operator makes of which nothing else is known."""
        pending, self._alike_pending = self._alike_pending, []
        for item, target in pending:
            if not any(self._is_alike(held, item) for held in self.graph.held(target)):
                self.applied += 1
                self.graph.put(target, item)

    def operate(self, item: int, payload: tuple[str, Site]) -> None:
        """An operator; `payload` names the methods to try, the first of which counts."""
        names, site = payload
        kind = self.graph.kinds[item]
        if kind in (OBJECT, DECLARED, KLASS):
            for name in names.split("|"):
                how = "__bool__" if names.startswith("__bool__") else ""
                if name == "__eq__" and names.startswith("__ne__"):
                    site = site._replace(target=self.graph.node())  # `object.__ne__` turns the answer into a bool
                if self.method(item, name, site, how):
                    self.operated.add(site.number)
                    return
        elif kind in (CONTAINER, CONSTANT) and names.startswith("__bool__"):
            self.candidates.plain(site, "__bool__")
        elif kind == CONTAINER and names.startswith(("__add__", "__iadd__", "__or__", "__ior__", "__mul__")):
            self.graph.put(site.target, item)
        elif kind == CONTAINER and names.startswith("__contains__"):
            self.seek(item, site)

    def seek(self, item: int, site: Site) -> None:
        """`wanted in item`, `item.index(wanted)`: a list compares its elements, a set or dict its keys."""
        wanted = site.positional[0] if site.positional else NOTHING
        if wanted == NOTHING:
            return
        if self.graph.seconds[item] == "list":
            self.graph.when(self.everything(item), self.equated, site._replace(positional=(wanted,)))
        elif not self.is_of_cpp(item):
            self.graph.when(wanted, self.as_key, site)

    def hashes(self, item: int) -> bool:
        """Whether a container is a dict of Python, which hashes its keys; those of C++ are compared by C++."""
        return self.graph.seconds[item] == "dict" and not self.is_of_cpp(item)

    def as_key(self, item: int, site: Site) -> None:
        """The object is a key of a dict or an element of a set: it is hashed, and compared with those of its hash."""
        if self.graph.kinds[item] in _INSTANCES:
            site = site._replace(keywords=(), is_key=True)
            self.method(item, "__hash__", site._replace(target=NOTHING, positional=()))
            self.equated(item, site._replace(positional=(NOTHING,)))

    def equated(self, item: int, site: Site) -> None:
        """The object is compared by a container, which then asks for the truth of the result."""
        if self.graph.kinds[item] in _INSTANCES:
            result = self.graph.node()
            self.method(item, "__eq__", site._replace(target=result, keywords=()))
            truth = site._replace(target=NOTHING, positional=(), keywords=(), follows="__eq__")
            self.graph.when(result, self.operate, ("__bool__|__len__", truth))

    def get_item(self, item: int, payload: tuple[Any, int, Site]) -> None:
        """`item[key]`."""
        key, node, site = payload
        kind = self.graph.kinds[item]
        if kind == CONTAINER:
            self.candidates.plain(site, "__getitem__")
            if item in self.factories:
                made = site._replace(target=self.slot(item, None), positional=())
                self.graph.when(self.factories[item], self.invoke, made)
            if key is not None:
                self.read_slot(item, key, site.target)
            elif node == NOTHING:
                self.graph.flow(self.everything(item), site.target)
            else:
                self.graph.when(node, self._get_by_constant, (item, site))
                self._keys_pending.append((item, node, site))
                if self.hashes(item):
                    self.graph.when(node, self.as_key, site)
        elif kind in _INSTANCES:
            self.method(item, "__getitem__", site)
        elif kind == OUTSIDE and self.graph.firsts[item] == "sys.modules":
            asked = site._replace(positional=(self.name_node(key),)) if isinstance(key, str) else site
            self.invoke(self.graph.object(OUTSIDE, "sys.modules.get"), asked.silent())
        elif kind == KLASS and not self.method(item, "__getitem__", site):
            klass = self.klass(item)
            if self.classes.finds(klass, "__class_getitem__"):
                self.graph.when(self.classes.lookup(klass, "__class_getitem__"), self.call_bound, (item, site))
            else:
                self.graph.put(site.target, item)  # a generic class with its parameters
            if self.classes.is_enum(klass):
                self.graph.put(site.target, self.graph.object(OBJECT, klass.number))

    def _get_by_constant(self, constant: int, payload: tuple[int, Site]) -> None:
        if self.graph.kinds[constant] != CONSTANT:
            return
        key = self.graph.firsts[constant]
        if isinstance(key, tuple):
            self.graph.flow(self.everything(payload[0]), payload[1].target)
        else:
            self.read_slot(payload[0], key, payload[1].target)

    def deferred_keys(self) -> None:
        """A key of which no constant is known may be any."""
        pending, self._keys_pending = self._keys_pending, []
        for item, node, site in pending:
            held = self.graph.held(node)
            if any(self.graph.kinds[one] == CONSTANT for one in held):
                continue
            if held and self._is_list(item) and all(self._is_list(one) for one in held):
                continue  # `x[i, j]`: no list takes a tuple
            if held and all(self._is_class(one) for one in held):  # no text equals a class
                self.apply_flow(self.slot(item, None), site.target)
            else:
                self.apply_flow(self.everything(item), site.target)
        sets, self._sets_pending = self._sets_pending, []
        for item, node, value in sets:
            if all(self._is_vague(held) for held in self.graph.held(node)):
                self.apply_flow(value, self.slot(item, None))

    def _is_list(self, item: int) -> bool:
        """Whether the object is a list or a tuple."""
        return self.graph.kinds[item] == CONTAINER and self.graph.seconds[item] == "list"

    def _is_class(self, item: int) -> bool:
        kind, first = self.graph.kinds[item], self.graph.firsts[item]
        return kind == KLASS or (kind == OUTSIDE_OBJECT and first == "builtins.type")

    def _is_vague(self, item: int) -> bool:
        """Whether a key may be any: it is no constant, or only its beginning is known."""
        return self.graph.kinds[item] != CONSTANT or isinstance(self.graph.firsts[item], tuple)

    def set_item(self, item: int, payload: tuple[Any, int, int, Site]) -> None:
        """`item[key] = value`."""
        key, node, value, site = payload
        kind = self.graph.kinds[item]
        if kind == CONTAINER:
            if value == NOTHING:
                return
            if item in self.namespaces:
                owner = self.namespaces[item]
                if isinstance(key, str):
                    self.save(owner, (key, value, site.silent()))
                elif node != NOTHING:
                    self.save_named(owner, (node, value, site))
            if key is not None or node == NOTHING:
                self.graph.flow(value, self.slot(item, key))
            else:
                self.graph.when(node, self._set_by_constant, (item, value))
                self._sets_pending.append((item, node, value))
                if self.hashes(item):
                    self.graph.when(node, self.as_key, site)
        elif kind in _INSTANCES:
            self.method(item, "__setitem__", site)

    def _set_by_constant(self, constant: int, payload: tuple[int, int]) -> None:
        if self.graph.kinds[constant] == CONSTANT and not isinstance(self.graph.firsts[constant], tuple):
            self.graph.flow(payload[1], self.slot(payload[0], self.graph.firsts[constant]))

    def iterate(self, item: int, payload: tuple[Site, bool]) -> None:
        """`for target in item`."""
        site, is_async = payload
        kind = self.graph.kinds[item]
        if kind == CONTAINER:
            self.candidates.plain(site, BY_ITERATION)
            self.elements(item, site.target)
        elif kind == RUNNING:
            self._yielded(item, site)
        elif kind in (OBJECT, DECLARED, KLASS):
            made = self.graph.node()
            if self.method(item, "__aiter__" if is_async else "__iter__", site._replace(target=made)):
                self.graph.when(made, self.step, (site, is_async))
            elif kind == KLASS:
                if self.classes.is_enum(self.klass(item)):
                    self.graph.put(site.target, self.graph.object(OBJECT, self.graph.firsts[item]))
            elif not self._is_builtin_container(item):
                self.method(item, "__getitem__", site, BY_ITERATION)

    def _is_builtin_container(self, item: int) -> bool:
        """Whether the class derives from list, dict or the like, whose own `__iter__` asks for no item."""
        klass = self.klass(item)
        return any(
            name.startswith("builtins.")
            for at in self.classes.order(klass)
            for name in self.classes.all[at].outside
            if name not in ("builtins.object", "builtins.type")
        )

    def step(self, item: int, payload: tuple[Site, bool]) -> None:
        """`next(item)`."""
        site, is_async = payload
        kind = self.graph.kinds[item]
        if kind in _INSTANCES:
            self.method(item, "__anext__" if is_async else "__next__", site)
        elif kind == CONTAINER:
            self.elements(item, site.target)
        elif kind == RUNNING:
            self._yielded(item, site)

    def _yielded(self, item: int, site: Site) -> None:
        """The body of a generator runs where it is asked for a value."""
        if site.position:
            self.edges.add((site.code, site.position, self.graph.firsts[item]))
        yields = self.program.places[self.graph.firsts[item]].code.yields
        if NOTHING not in (yields, site.target):
            self.graph.flow(self.graph.seconds[item] + yields, site.target)

    def unpacked(self, item: int, payload: tuple[int | None, Site]) -> None:
        """One of the targets of `a, b = item`; the index is None behind a starred target."""
        index, site = payload
        if self.graph.kinds[item] == CONTAINER and self.graph.seconds[item] != "dict":
            self.candidates.plain(site, BY_ITERATION)
            if index is None:
                self.graph.flow(self.everything(item), site.target)
            else:
                self.read_slot(item, index, site.target)
        else:
            self.iterate(item, (site, False))

    def enter(self, item: int, payload: tuple[Site, bool]) -> None:
        """`with item as target`."""
        site, is_async = payload
        kind = self.graph.kinds[item]
        prefix = "__a" if is_async else "__"
        if kind == RUNNING:
            self._yielded(item, site)
        elif kind in _INSTANCES:
            if not self.method(item, f"{prefix}enter__", site):
                self.graph.put(site.target, item)
            self.method(item, f"{prefix}exit__", site._replace(target=self.graph.node()))
        elif kind == OUTSIDE_OBJECT:
            self.graph.put(site.target, item)

    def awaited(self, item: int, site: Site) -> None:
        """`await item`, and the value of `yield from item`."""
        if self.graph.kinds[item] == RUNNING:
            code = self.program.places[self.graph.firsts[item]].code
            if site.position:
                self.edges.add((site.code, site.position, self.graph.firsts[item]))
            self.graph.flow(self.graph.seconds[item] + code.result, site.target)
        elif self.graph.kinds[item] in _INSTANCES:
            self.method(item, "__await__", site)

    def matched(self, item: int, payload: tuple[int, Site]) -> None:
        """The attribute at a position of a class pattern: the fields of a dataclass in their order."""
        index, site = payload
        if self.graph.kinds[item] in _INSTANCES:
            names = self.klass(item).code.parameters.positional
            if index < len(names):
                self.load(item, (names[index][0], site))

    def deferred_attributes(self) -> None:
        """`__getattr__` of a class or module answers for attributes that nothing else has."""
        pending, self._unanswered = self._unanswered, []
        for item, name, site in pending:
            if not self.graph.held(self.attribute(item, name)) and not self.classes.finds(self.klass(item), name):
                self.applied += 1
                self.method(item, "__getattr__", site._replace(positional=(self.name_node(name),)))
        modules, self._unanswered_modules = self._unanswered_modules, []
        for module, name, site in modules:
            if not self.program.has_member(module, name):
                self.applied += 1
                asked = site._replace(positional=(self.name_node(name),))
                self.graph.when(self.program.member(module, "__getattr__"), self.invoke, asked)

    def name_node(self, name: str) -> int:
        """A node that holds a name as a text."""
        node = self._name_nodes.get(name)
        if node is None:
            node = self._name_nodes[name] = self.graph.node()
            self.graph.put(node, self.graph.object(CONSTANT, name, "str"))
        return node
