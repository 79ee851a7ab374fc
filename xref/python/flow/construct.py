"""Classes in the solver: what defining one and calling one runs, and which object that gives."""

from __future__ import annotations

from xref.python.flow.attributes import ANY_BELOW
from xref.python.flow.calls import Site
from xref.python.flow.classes import Klass
from xref.python.flow.graph import CONTAINER, DECLARED, FUNCTION, KLASS, OBJECT, OUTSIDE, OUTSIDE_OBJECT
from xref.python.flow.protocols import Protocols
from xref.python.flow.summary import NODE_MASK, NOTHING


class Constructions(Protocols):
    """Definitions and calls of classes."""

    def construct(self, item: int, site: Site) -> None:
        """A class is called: its metaclass has a say, or an object is made."""
        klass = self.klass(item)
        if klass.base_nodes and not (klass.bases or klass.outside or klass.number in self._settled):
            self._premature.append((item, site))  # its bases decide what runs, and are not known yet
            return
        meta = self.classes.all[klass.meta] if klass.meta >= 0 else None
        if meta is not None and self.classes.finds(meta, "__call__"):
            self.answered.add(site.number)
            self.called_objects.add((site.code, site.position))
            self.graph.when(self.classes.lookup(meta, "__call__"), self.call_bound, (item, site))
        else:
            self.make(item, site)

    def make(self, item: int, site: Site) -> None:
        """`type.__call__`: `__new__` and, for an object of the class, `__init__` run; a dataclass stores its fields."""
        key = (item, None, site.number, site.target, site.position)
        if key in self._called:
            return
        self._called.add(key)
        self.answered.add(site.number)
        klass = self.klass(item)
        if self.graph.seconds[item]:
            item, site = self.graph.object(KLASS, klass.number), site._replace(how=ANY_BELOW)
        if site.how != ANY_BELOW:
            self.constructions.add((site.code, site.position, klass.number))
        else:
            self.called_objects.add((site.code, site.position))
        made = self.graph.object(OBJECT, klass.number)
        if self.classes.is_enum(klass) and site.number != _site_of(klass):
            self._look_up_member(item, made, site)
            return
        if not self.classes.finds(klass, "__new__"):
            self._initialize(made, site)
            return
        given = self.graph.node()
        if site.target != NOTHING:
            self.graph.flow(given, site.target)
        self.graph.when(self.classes.lookup(klass, "__new__"), self._call_new, (item, site._replace(target=given)))
        self._made_by_new.append((klass.number, given, site))

    def _look_up_member(self, item: int, made: int, site: Site) -> None:
        """An enumeration is called: the member of that value, or what `_missing_` makes of it."""
        if site.target != NOTHING:
            self.graph.put(site.target, made)
        klass = self.klass(made)
        if self.classes.finds(klass, "_missing_"):
            missing = site._replace(is_guess=True, how="_missing_")
            self.graph.when(self.classes.lookup(klass, "_missing_"), self.call_bound, (item, missing))

    def _initialize(self, made: int, site: Site) -> None:
        """The object is what the call gives, once its `__init__` has run."""
        if site.target != NOTHING:
            self.graph.put(site.target, made)
        klass, classes = self.klass(made), self.classes
        inner = site._replace(target=self.graph.node())
        self.graph.when(classes.lookup(klass, "__init__"), self.call_bound, (made, inner))
        self.graph.when(classes.lookup(klass, "__post_init__"), self.call_bound, (made, inner._replace(
            positional=(), keywords=(), starred=(), doubled=(), callee=NOTHING)))  # fmt: skip
        self._fields(klass, made, site)

    def _call_new(self, item: int, payload: tuple[int, Site]) -> None:
        if self.graph.kinds[item] == FUNCTION:
            owner, site = payload
            number, given = self.graph.firsts[owner], self.graph.node()
            if self.program.places[self.graph.firsts[item]].code.makes_own:
                self._initialize(self.graph.object(OBJECT, number), site)
            self.graph.when(given, self._given_by_new, (item, number, site))
            self.call_function(item, site._replace(target=given), owner)

    def _given_by_new(self, item: int, payload: tuple[int, int, Site]) -> None:
        """`__new__` gave an object: it is initialized if it is of the class. Those of other classes that find the same
        `__new__` it gives when these are called, unless they are below the class.
        """
        function, number, site = payload
        if self.graph.kinds[item] == OBJECT:
            own = self.graph.firsts[item]
            if own == number:
                self._initialize(item, site)
                return
            if function in self._news(own) and (
                number not in self.classes.order(self.classes.all[own])
                or self.program.places[self.graph.firsts[function]].code.makes_own
            ):
                return
        self.graph.put(site.target, item)

    def deferred_constructions(self) -> None:
        """Calls of classes of whose bases nothing was known: it is now, or never."""
        pending, self._premature = self._premature, []
        for item, site in pending:
            self.applied += 1
            self._settled.add(self.graph.firsts[item])
            self.construct(item, site)

    def deferred_news(self) -> None:
        """What `__new__` gave, when nothing else flows: objects of classes below, or something of which nothing is
        known, which is then taken to be an object of the class.
        """
        pending, self._made_by_new = self._made_by_new, []
        for number, given, site in pending:
            held = self.graph.held(given)
            kinds, firsts = self.graph.kinds, self.graph.firsts
            own = self.graph.object(OBJECT, number)
            if own in held or self._makes_own(number):
                continue
            below = [
                one for one in held
                if kinds[one] == OBJECT and number in self.classes.order(self.classes.all[firsts[one]])
            ]  # fmt: skip
            is_vague = any(
                kinds[one] == DECLARED and self.classes.may_be(self.classes.all[firsts[one]], number) for one in held
            )
            if below or is_vague or (not held and not self._gives_nothing(number)):
                self.applied += 1
                for one in below or [own]:
                    self._initialize(one, site._replace(target=given))
            else:
                self._made_by_new.append((number, given, site))

    def _news(self, number: int) -> list[int]:
        """The functions that a class finds as its `__new__`."""
        node = self.classes.first(self.classes.all[number], "__new__")
        held = self.graph.held(node) if node is not None else ()
        return [one for one in held if self.graph.kinds[one] == FUNCTION]

    def _makes_own(self, number: int) -> bool:
        return any(self.program.places[self.graph.firsts[one]].code.makes_own for one in self._news(number))

    def _gives_nothing(self, number: int) -> bool:
        """Whether all that the class's `__new__` gives is a constant: None, a number, a text."""
        codes = [self.program.places[self.graph.firsts[one]].code for one in self._news(number)]
        return bool(codes) and all(code.gives_constants for code in codes)

    def _fields(self, klass: Klass, made: int, site: Site) -> None:
        """A class without `__init__` that lists its fields (a dataclass, a NamedTuple) stores what it is given."""
        if self.classes.finds(klass, "__init__"):
            return
        names: dict[str, None] = {}
        for at in reversed(self.classes.order(klass)):
            names.update((name, None) for name, _ in self.classes.all[at].code.parameters.positional)
        for name, node in zip(names, site.positional, strict=False):
            if node != NOTHING:
                self.graph.flow(node, self.field_to_set(made, name))
        for name, node in site.keywords:
            if name in names:
                self.graph.flow(node, self.field_to_set(made, name))

    def new_object(self, item: int, site: Site) -> None:
        """`object.__new__(item)`."""
        if self.graph.kinds[item] == KLASS and site.target != NOTHING:
            klass = self.klass(item)
            if not any(name == "builtins.type" for at in self.classes.order(klass)
                       for name in self.classes.all[at].outside):  # fmt: skip
                self.graph.put(site.target, self.graph.object(OBJECT, klass.number))

    # class statements

    def define_class(self, klass: Klass, site: Site) -> None:
        """What runs when a class statement does: `__init_subclass__` of a base, `__set_name__` of what it holds, the
        metaclass.
        """
        klass.defined = site
        if self.classes.is_enum(klass) and any(not name.startswith("_") for name in klass.code.names):
            self.make(self.graph.object(KLASS, klass.number), site._replace(keywords=()))  # its members
        for number, node in enumerate(klass.base_nodes):
            if node >= 0:
                self.graph.when(node, self._inherit, (klass, site, number))
        for name, node in site.keywords:
            if name == "metaclass":
                self.graph.when(node, self._set_meta, klass)
        if "__set_name__" in self.program.special_names:
            own = self.graph.object(KLASS, klass.number)
            for name, node in klass.code.names.items():
                if node <= NODE_MASK:
                    self.graph.when(klass.frame + node, self.name_attribute, (own, name, site))

    def _inherit(self, item: int, payload: tuple[Klass, Site, int]) -> None:
        klass, site, number = payload
        if self.graph.kinds[item] == OBJECT and self.is_accessor(item, "__mro_entries__"):
            entries = self.graph.node()
            self.method(item, "__mro_entries__", site._replace(target=entries, keywords=()))
            self.graph.when(entries, self._inherit_entries, payload)
        if self.graph.kinds[item] != KLASS:
            return
        base = self.klass(item)
        own = self.graph.object(KLASS, klass.number)
        if number == 0 or self.classes.finds(base, "__init_subclass__"):
            self.graph.when(self.classes.lookup(base, "__init_subclass__"), self.call_bound, (own, site))
        if base.meta >= 0:
            self._set_meta(self.graph.object(KLASS, base.meta), klass)

    def _inherit_entries(self, item: int, payload: tuple[Klass, Site, int]) -> None:
        """What `__mro_entries__` gave takes the place of the base."""
        if self.graph.kinds[item] == CONTAINER:
            node = self.everything(item)
            self.graph.when(node, self.classes.add_base, (payload[0], payload[2]))
            self.graph.when(node, self._inherit, payload)

    def _set_meta(self, item: int, klass: Klass) -> None:
        """A metaclass is called to make a class: where the statement of the class stands."""
        if self.graph.kinds[item] != KLASS or klass.defined is None:
            return
        if klass.meta < 0:
            klass.meta = self.graph.firsts[item]
        meta = self.classes.all[klass.meta]
        own = self.graph.object(KLASS, klass.number)
        plain = klass.defined._replace(keywords=())
        as_class = self.graph.object(KLASS, klass.meta)
        self.graph.when(self.classes.lookup(meta, "__new__"), self._call_meta_new, (as_class, plain))
        self.graph.when(self.classes.lookup(meta, "__init__"), self.call_bound, (own, plain))
        for below in klass.below:
            self._set_meta(item, self.classes.all[below])

    def _call_meta_new(self, item: int, payload: tuple[int, Site]) -> None:
        if self.graph.kinds[item] == FUNCTION:
            self.call_function(item, payload[1]._replace(target=NOTHING), payload[0])

    def raised(self, item: int, site: Site) -> None:
        """`raise item`."""
        if self.graph.kinds[item] == KLASS:
            self.construct(item, site)

    def declare(self, item: int, node: int) -> None:
        """An annotation or an except clause names `item`: the node holds objects of it."""
        kind = self.graph.kinds[item]
        if kind == KLASS:
            self.graph.put(node, self.graph.object(DECLARED, self.graph.firsts[item]))
        elif kind == OUTSIDE and is_class_name(self.graph.firsts[item]):
            self.graph.put(node, self.graph.object(OUTSIDE_OBJECT, self.graph.firsts[item]))
        elif kind == CONTAINER and (item, node) not in self._called:
            self._called.add((item, node))
            self.graph.when(self.everything(item), self.declare, node)


def _site_of(klass: Klass) -> int:
    """The number of the statement that defines a class."""
    return klass.defined.number if klass.defined is not None else NOTHING


def is_class_name(dotted: str) -> bool:
    """Whether a name outside the tree looks like a class (PEP 8)."""
    last = dotted.rpartition(".")[2]
    return last[:1].isupper()
