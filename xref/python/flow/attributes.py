"""Attributes, items and protocols in the solver: what reading, setting, indexing, iterating, entering objects does."""

from __future__ import annotations

from typing import Any

from xref.python.flow.accessors import INSTANCES, Accessors
from xref.python.flow.calls import Site
from xref.python.flow.candidates import Candidates
from xref.python.flow.classes import Classes, Klass
from xref.python.flow.container_models import CONTAINER_METHODS
from xref.python.flow.foreign import Foreign
from xref.python.flow.graph import (
    BOUND,
    CONSTANT,
    CONSTRUCTOR,
    CONTAINER,
    DECLARED,
    DISPATCHER,
    FUNCTION,
    KLASS,
    MAKER,
    METHOD_OF_CONTAINER,
    MODULE,
    OBJECT,
    OUTSIDE,
    OUTSIDE_OBJECT,
    PARTIAL,
    SUPER_OF,
    Graph,
)
from xref.python.flow.program import Program
from xref.python.flow.summary import NODE_MASK, NOTHING
from xref.registry.python_ffi import CONSTRUCTOR_METHOD

MAX_BY_PREFIX = 200
"""Attributes that a name which begins with known text may stand for."""
MAX_OWNERS = 24
"""Classes below a declared one that may have an attribute that it lacks."""
MAX_BELOW = 150
"""Classes that the type of an object may be, of which only a base class is known."""
ANY_BELOW = "<class>"
"""What marks a class as one of those below a declared one: `type(x)`, of which only a base class of x is known."""
_MAX_DOTS = 6


class Attributes(Accessors):
    """Loads and stores."""

    def __init__(self, graph: Graph, program: Program, classes: Classes) -> None:  # noqa: PLR0915  one line each
        super().__init__(graph, program, classes)
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
        self.called_objects: set[tuple[int, int]] = set()
        """(calling code, position) where an object with `__call__` is called, or a class that is not known exactly."""
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
        self._made_by_new: list[tuple[int, int, Site]] = []
        """(class, node of what its `__new__` gave, site)."""
        self._premature: list[tuple[int, Site]] = []
        self._settled: set[int] = set()
        """Classes of which there is nothing more to know."""
        self.implementations: dict[int, list[tuple[int, int]]] = {}
        """Dispatcher -> (node of classes, -1 for what the annotation says; node of functions)."""
        self.dispatched: dict[tuple[int, Site, int | None], None] = {}
        """(dispatcher, site, receiver) of calls."""
        self.reflected: list[tuple[int, str, Site]] = []
        """(right operand, methods, site): what it may be asked for."""
        self.stacks: dict[int, dict[int, Site]] = {}
        """Code -> `with` statements in it that enter an `ExitStack`, by their numbers."""
        self.stacked: list[tuple[int, int, bool, Site]] = []
        """(code, node, whether it holds context managers or functions, call of the stack's method)."""
        self._sets_pending: list[tuple[int, int, int]] = []
        self._keys_pending: list[tuple[int, int, Site]] = []

    def apply_flow(self, source: int, target: int) -> None:
        """A flow that a deferred rule adds."""
        self.applied += 1
        self.graph.flow(source, target)

    # loading

    def load(self, item: int, payload: tuple[str, Site]) -> None:
        """`item.name`, with the value at the site's target."""
        name, site = payload
        graph = self.graph
        kind, first = graph.kinds[item], graph.firsts[item]
        if site.position:
            self._note_load(site, first if kind in INSTANCES else None)
        if kind in INSTANCES:
            self._load_from_object(item, name, site)
        elif kind == KLASS:
            self._load_from_class(item, name, site)
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
        elif kind in (FUNCTION, BOUND, PARTIAL, DISPATCHER):
            self._load_from_callable(item, name, site)

    def _load_from_callable(self, item: int, name: str, site: Site) -> None:
        graph = self.graph
        if name == "__call__":
            graph.put(site.target, item)
        elif name == "__func__" and graph.kinds[item] == BOUND:
            graph.put(site.target, graph.firsts[item])
        elif name == "register" and graph.kinds[item] == DISPATCHER:
            graph.put(site.target, graph.object(METHOD_OF_CONTAINER, item, name))
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
            self.graph.when(self.classes.lookup(klass, name), self.read_accessor, (item, site))
        if self.classes.finds(klass, "__getattr__"):
            self._unanswered.append((item, name, site))

    def _load_from_class(self, item: int, name: str, site: Site) -> None:
        self._load_class_fact(item, name, site.target)
        if name in self.program.property_names and site.position:
            self.graph.when(self.classes.lookup(self.klass(item), name), self.read_accessor, (item, site))
        self.graph.flow(self.attribute(item, name), site.target)

    def put_class(self, item: int, node: int) -> None:
        """`type(item)`: any class below, when the object is only declared."""
        graph = self.graph
        is_exact = graph.kinds[item] == OBJECT or not self.klass(item).below
        graph.put(node, graph.object(KLASS, graph.firsts[item], None if is_exact else ANY_BELOW))
        if not is_exact:
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
            graph.when(found, self.bind_to_class, (item, node))
            if klass.meta >= 0:
                meta = self.classes.all[klass.meta]
                if self.classes.finds(meta, name):
                    graph.when(self.classes.lookup(meta, name), self.bind_to_object, (item, node))
            if name in klass.code.names and self.classes.is_enum(klass):
                graph.put(node, graph.object(OBJECT, klass.number))
        else:
            graph.flow(self.field(item, name), node)
            graph.when(found, self.bind_to_object, (item, node))
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
                self.graph.when(own, self.bind_to_object, (item, node))

    def _load_super(self, item: int, name: str, site: Site) -> None:
        after = self.classes.all[self.graph.firsts[item]]
        receiver = self.graph.seconds[item]
        klass = self.klass(receiver)
        if self.graph.kinds[receiver] == KLASS and klass.meta >= 0 and after.number not in self.classes.order(klass):
            klass = self.classes.all[klass.meta]  # in a method of the metaclass
        found = self.classes.lookup_after(klass, after, name)
        if found is None:
            if name == "__new__":
                self.graph.put(site.target, self.graph.object(OUTSIDE, "builtins.object.__new__"))
            elif name == "__call__" and self.graph.kinds[receiver] == KLASS:
                self.graph.put(site.target, self.graph.object(MAKER, receiver))
            return
        if name in self.program.property_names and site.position:
            self.graph.when(found, self.read_accessor, (receiver, site))
        bind = self.bind_to_object
        if name in ("__new__", "__init_subclass__"):
            bind = self.bind_to_class
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
        if kind in INSTANCES:
            klass = self.classes.all[first]
            if source != NOTHING and name is not None:
                self.graph.flow(source, self.field_to_set(item, name))
            if name in self.program.property_names and site.position:
                self.graph.when(self.classes.lookup(klass, name), self.write_accessor, (item, site))
            if self.classes.finds(klass, "__setattr__"):
                arguments = site._replace(positional=(NOTHING, source))
                self.graph.when(self.classes.lookup(klass, "__setattr__"), self.call_bound, (item, arguments))
        elif source == NOTHING or name is None:
            return
        elif kind == KLASS:
            klass = self.classes.all[first]
            if not (name.startswith("__") and name in klass.code.names):  # what installs special methods spares these
                self.graph.flow(source, self.classes.install(klass, name, (site.code, site.position)))
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

    def remove(self, item: int, payload: tuple[str, Site]) -> None:
        """`del item.name`; without a name, the object itself goes."""
        name, site = payload
        if self.graph.kinds[item] in INSTANCES:
            klass = self.klass(item)
            if not name:
                self.method(item, "__del__", site)
            if name in self.program.property_names:
                self.graph.when(self.classes.lookup(klass, name), self.delete_accessor, (item, site))
            if name and "__delattr__" in self.program.special_names and self.classes.finds(klass, "__delattr__"):
                self.graph.when(self.classes.lookup(klass, "__delattr__"), self.call_bound, (item, site))

    def read_known(self, item: int, payload: tuple[str, Site]) -> None:
        """`item.name`, of which the value is known from an assignment: a property runs all the same."""
        name, site = payload
        if self.graph.kinds[item] in INSTANCES:
            self.graph.when(self.classes.lookup(self.klass(item), name), self.read_accessor, (item, site))

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
