"""Special methods in the solver: what operators, indexing, iterating, testing and entering objects runs."""

from __future__ import annotations

from typing import Any

from xref.python.flow.accessors import INSTANCES
from xref.python.flow.attributes import MAX_BELOW, Attributes
from xref.python.flow.calls import Site
from xref.python.flow.candidates import BY_ITERATION
from xref.python.flow.graph import (
    CONSTANT,
    CONTAINER,
    DECLARED,
    FUNCTION,
    KLASS,
    OBJECT,
    OUTSIDE,
    OUTSIDE_OBJECT,
    RUNNING,
)
from xref.python.flow.special import ASKED_OF_PLAIN, CLOSING, MIRRORED, OPERATORS, STACKS
from xref.python.flow.summary import NOTHING


class Protocols(Attributes):
    """Special methods."""

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
            how = names.partition("|")[0]  # whichever of them a class has answers the same question
            for name in names.split("|"):
                if name == "__eq__" and names.startswith("__ne__"):
                    site = site._replace(target=self.graph.node())  # `object.__ne__` turns the answer into a bool
                if self.method(item, name, site, how):
                    self.operated.add(site.number)
                    return
        elif kind in (CONTAINER, CONSTANT) and names.startswith(ASKED_OF_PLAIN):
            self.candidates.plain(site, names.partition("|")[0])
        elif kind == CONTAINER and names.startswith(("__add__", "__iadd__", "__or__", "__ior__", "__mul__")):
            self.graph.put(site.target, item)
        elif kind == CONTAINER and names.startswith("__contains__"):
            self.seek(item, site)

    def ask_operands(self, names: tuple[str, ...], left: int, right: int, site: Site) -> None:
        """`left op right`: methods of the left operand, and of the right one where these do not answer."""
        site = site._replace(positional=(right,) if right != NOTHING else ())
        if left != NOTHING:
            self.graph.when(left, self.operate, (names[0], site))
        if len(names) > 1 and names[1] and right != NOTHING:
            guess = left != NOTHING or names[1] in MIRRORED
            self.reflected.append((right, names[1], site._replace(positional=(left,), is_guess=guess)))

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
        if self.graph.kinds[item] in INSTANCES:
            site = site._replace(keywords=(), is_key=True)
            self.method(item, "__hash__", site._replace(target=NOTHING, positional=()))
            self.equated(item, site._replace(positional=(NOTHING,)))

    def equated(self, item: int, site: Site) -> None:
        """The object is compared by a container, which then asks for the truth of the result."""
        if self.graph.kinds[item] in INSTANCES:
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
                if "__index__" in self.program.special_names and self.graph.seconds[item] == "list":
                    self.graph.when(node, self.operate, ("__index__", site.bare(self.graph.node())))
                if self.hashes(item):
                    self.graph.when(node, self.as_key, site)
        elif kind in INSTANCES:
            if not self.method(item, "__getitem__", site) and "__missing__" in self.program.special_names:
                self.method(item, "__missing__", site._replace(is_guess=True))
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

    def bounded(self, item: int, payload: tuple[tuple[int, ...], Site]) -> None:
        """A list is sliced: the bounds are asked for their numbers."""
        if self._is_list(item):
            for node in payload[0]:
                self.graph.when(node, self.operate, ("__index__", payload[1]))

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
        elif kind in INSTANCES:
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
        if kind in INSTANCES:
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
        elif kind in INSTANCES:
            if not self.method(item, f"{prefix}enter__", site):
                self.graph.put(site.target, item)
            self.method(item, f"{prefix}exit__", site._replace(target=self.graph.node()))
        elif kind == OUTSIDE_OBJECT:
            self.graph.put(site.target, item)
            if self.graph.firsts[item] in STACKS:
                self.stacks.setdefault(site.code, {})[site.number] = site
        elif kind == CONTAINER and self.graph.seconds[item] == CLOSING:
            held = self.everything(item)
            self.graph.flow(held, site.target)
            closes = self.graph.node()
            self.graph.when(held, self.load, ("close", site._replace(target=closes, position=0)))
            self.graph.when(closes, self.invoke, site.bare(self.graph.node()))

    def enter_only(self, item: int, site: Site) -> None:
        """`__enter__` of a context manager that something else will leave."""
        if self.graph.kinds[item] == RUNNING:
            self._yielded(item, site)
        elif self.graph.kinds[item] in INSTANCES and not self.method(item, "__enter__", site):
            self.graph.put(site.target, item)

    def deferred_exits(self) -> None:
        """What a stack of context managers was given runs where the `with` statement of the stack ends, in the same
        code: which stack is which, is not followed.
        """
        pending, self.stacked = self.stacked, []
        for code, node, is_manager, given in pending:
            for site in self.stacks.get(code, {}).values():
                self.applied += 1
                if is_manager:
                    self.graph.when(node, self._leave, site)
                else:
                    self.graph.when(node, self.invoke, given._replace(position=site.position, target=self.graph.node()))
            if code not in self.stacks:
                self.stacked.append((code, node, is_manager, given))

    def _leave(self, item: int, site: Site) -> None:
        if self.graph.kinds[item] in INSTANCES:
            self.method(item, "__exit__", site.bare(self.graph.node()))

    def awaited(self, item: int, site: Site) -> None:
        """`await item`, and the value of `yield from item`."""
        if self.graph.kinds[item] == RUNNING:
            code = self.program.places[self.graph.firsts[item]].code
            if site.position:
                self.edges.add((site.code, site.position, self.graph.firsts[item]))
            self.graph.flow(self.graph.seconds[item] + code.result, site.target)
        elif self.graph.kinds[item] in INSTANCES:
            self.method(item, "__await__", site)

    def matched(self, item: int, payload: tuple[int, Site]) -> None:
        """The attribute at a position of a class pattern: the fields of a dataclass in their order."""
        index, site = payload
        if self.graph.kinds[item] in INSTANCES:
            names = self.klass(item).code.parameters.positional
            if index < len(names):
                self.load(item, (names[index][0], site))
