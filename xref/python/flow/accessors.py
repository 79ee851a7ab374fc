"""What a class makes of an attribute in the solver: methods are bound, properties and descriptors run."""

from __future__ import annotations

from xref.python.flow.calls import Site
from xref.python.flow.classes import Classes, Klass
from xref.python.flow.containers import Containers
from xref.python.flow.graph import BOUND, CONSTANT, CONTAINER, DECLARED, DISPATCHER, FUNCTION, KLASS, OBJECT, Graph
from xref.python.flow.program import Program
from xref.python.flow.summary import NOTHING

INSTANCES = (OBJECT, DECLARED)
WRITING = ("setter", "deleter")
"""Forms of the functions of a property that reading it does not run."""


class Accessors(Containers):
    """Binding of what is found on classes."""

    containers_of_objects: dict[str, int]

    def __init__(self, graph: Graph, program: Program, classes: Classes) -> None:
        super().__init__(graph)
        self.program = program
        self.classes = classes
        self._name_nodes: dict[str, int] = {}
        self._item_nodes: dict[int, int] = {}

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

    def method(self, item: int, name: str, site: Site, how: str = "") -> bool:
        """A special method is called."""
        raise NotImplementedError

    def is_registered(self, klass: Klass) -> bool:
        """Whether objects of the class are held by the FFI."""
        raise NotImplementedError

    # what objects and classes stand for

    def klass(self, item: int) -> Klass:
        """The class of an object, or the class that the object is."""
        number: int = self.graph.firsts[item]
        return self.classes.all[number]

    def name_node(self, name: str) -> int:
        """A node that holds a name as a text."""
        node = self._name_nodes.get(name)
        if node is None:
            node = self._name_nodes[name] = self.graph.node()
            self.graph.put(node, self.graph.object(CONSTANT, name, "str"))
        return node

    def item_node(self, item: int) -> int:
        """A node that holds an object."""
        node = self._item_nodes.get(item)
        if node is None:
            node = self._item_nodes[item] = self.graph.node()
            self.graph.put(node, item)
        return node

    # binding

    def bind_to_object(self, item: int, payload: tuple[int, int]) -> None:
        """What a class holds is looked up on an object of it."""
        receiver, node = payload
        graph = self.graph
        if graph.kinds[item] != FUNCTION:
            if self.is_accessor(item, "__get__"):
                self._get(item, receiver, Site(-1, 0, 0, node))
                return
            is_method = graph.kinds[item] == DISPATCHER and graph.seconds[item]
            graph.put(node, graph.object(BOUND, item, receiver) if is_method else item)
            if graph.kinds[item] == CONTAINER and self.containers_of_objects:
                self._put_foreign_container(item, receiver, node)
            return
        form = graph.seconds[item][1]
        if form == "property":
            self.call_function(item, Site(-1, 0, 0, node), receiver)
        elif form not in WRITING:
            first = self.bound_to(form, receiver)
            graph.put(node, item if first is None else graph.object(BOUND, item, first))

    def _put_foreign_container(self, item: int, receiver: int, node: int) -> None:
        klass = self.containers_of_objects.get(self.graph.seconds[item])
        if klass is not None and self.is_registered(self.klass(receiver)):
            self.graph.put(node, self.graph.object(DECLARED, klass))

    def bind_to_class(self, item: int, payload: tuple[int, int]) -> None:
        """What a class holds is looked up on the class itself."""
        receiver, node = payload
        graph = self.graph
        if graph.kinds[item] == FUNCTION and graph.seconds[item][1] == "class":
            item = graph.object(BOUND, item, receiver)
        elif self.is_accessor(item, "__get__"):
            self._get(item, receiver, Site(-1, 0, 0, node))
            return
        graph.put(node, item)

    # properties, and descriptors that the tree writes itself

    def is_accessor(self, item: int, name: str) -> bool:
        """Whether the object has that method of a descriptor."""
        if name not in self.program.special_names or self.graph.kinds[item] not in INSTANCES:
            return False
        return self.classes.finds(self.klass(item), name)

    def _get(self, item: int, receiver: int, site: Site) -> None:
        """Run `__get__` of a descriptor that was found for an object, or for a class."""
        is_class = self.graph.kinds[receiver] == KLASS
        owner = receiver if is_class else self.graph.object(KLASS, self.graph.firsts[receiver])
        given = (NOTHING if is_class else self.item_node(receiver), self.item_node(owner))
        self.method(item, "__get__", site._replace(positional=given))

    def read_accessor(self, item: int, payload: tuple[int, Site]) -> None:
        """Report what runs when what the class holds is read at a site; its value is known otherwise."""
        receiver, site = payload
        if self.graph.kinds[item] == FUNCTION:
            if self.graph.seconds[item][1] == "property" and self.graph.kinds[receiver] != KLASS:
                self.call_function(item, site._replace(target=NOTHING, how="<property>"), receiver)
        elif self.is_accessor(item, "__get__"):
            self._get(item, receiver, site._replace(target=NOTHING))

    def write_accessor(self, item: int, payload: tuple[int, Site]) -> None:
        """What the class holds is assigned to."""
        receiver, site = payload
        if self.graph.kinds[item] == FUNCTION:
            if self.graph.seconds[item][1] == "setter":
                self.call_function(item, site, receiver)
        elif self.is_accessor(item, "__set__"):
            self.method(item, "__set__", site._replace(positional=(self.item_node(receiver), *site.positional)))

    def delete_accessor(self, item: int, payload: tuple[int, Site]) -> None:
        """What the class holds is deleted."""
        receiver, site = payload
        if self.graph.kinds[item] == FUNCTION:
            if self.graph.seconds[item][1] == "deleter":
                self.call_function(item, site, receiver)
        elif self.is_accessor(item, "__delete__"):
            self.method(item, "__delete__", site._replace(positional=(self.item_node(receiver),)))

    def name_attribute(self, item: int, payload: tuple[int, str, Site]) -> None:
        """A class holds an object under a name: its `__set_name__` runs when the class statement does."""
        owner, name, site = payload
        if self.graph.kinds[item] == OBJECT and self.is_accessor(item, "__set_name__"):
            given = (self.item_node(owner), self.name_node(name))
            node = self.classes.lookup(self.klass(item), "__set_name__")
            self.graph.when(node, self.call_bound, (item, site._replace(positional=given, keywords=())))
