"""`functools.singledispatch` in the solver: the class of the first argument decides which function a call runs."""

from __future__ import annotations

from xref.python.flow.calls import Site
from xref.python.flow.construct import Constructions
from xref.python.flow.graph import (
    CONSTANT,
    CONTAINER,
    DECLARED,
    DISPATCHER,
    FUNCTION,
    KLASS,
    METHOD_OF_CONTAINER,
    OBJECT,
    OUTSIDE,
    PARTIAL,
)
from xref.python.flow.summary import FILTER, NOTHING, at_frames


class Dispatchers(Constructions):
    """Registration of functions for classes, and calls that choose among them when nothing else flows."""

    def register(self, item: int, site: Site) -> None:
        """`item.register(cls, function)`, or `.register` as a decorator, with a class or without."""
        if self.graph.kinds[item] != DISPATCHER or not site.positional or site.positional[0] == NOTHING:
            return
        if len(site.positional) > 1:
            self.implementations.setdefault(item, []).append((site.positional[0], site.positional[1]))
            self.graph.flow(site.positional[1], site.target)
        else:
            self.graph.when(site.positional[0], self._register, (item, site))

    def _register(self, given: int, payload: tuple[int, Site]) -> None:
        item, site = payload
        if self.graph.kinds[given] == FUNCTION:
            self.implementations.setdefault(item, []).append((NOTHING, self.item_node(given)))
            self.graph.put(site.target, given)
        elif self.graph.kinds[given] in (KLASS, OUTSIDE):
            method = self.graph.object(METHOD_OF_CONTAINER, item, "register")
            partial = Site(site.number, site.code, 0, NOTHING, (self.item_node(method), self.item_node(given)))
            self.graph.put(site.target, self.graph.object(PARTIAL, partial))

    def dispatch(self, item: int, site: Site, receiver: int | None) -> None:
        """The dispatcher is called, as a method of `receiver` unless that is None."""
        self.answered.add(site.number)
        self.called_objects.add((site.code, site.position))
        self.dispatched[item, site, receiver] = None

    def deferred_dispatch(self) -> None:
        """Choose the functions by the objects that are known of."""
        for item, site, receiver in list(self.dispatched):
            node = site.positional[0] if site.positional else NOTHING
            held = self.graph.held(node) if node != NOTHING else ()
            table = self._table(item, receiver is not None)
            for given in sorted(held):
                for function in self._chosen(item, given, table):
                    if self.graph.kinds[function] == FUNCTION and (item, site, function) not in self._called:
                        self._called.add((item, site, function))
                        self.applied += 1
                        self.call_function(function, site, receiver)

    def report_undispatched(self) -> None:
        """Of what is dispatched by an object of which nothing is known, a row says so."""
        for _, site, _ in self.dispatched:
            node = site.positional[0] if site.positional else NOTHING
            if site.position and not (node != NOTHING and self.graph.held(node)):
                self.cuts.add((site.code, site.position, "what runs depends on the class of an unknown argument"))

    def _table(self, item: int, is_method: bool) -> dict[int | str, list[int]]:
        """Class, or name of one outside the tree -> functions."""
        kinds, firsts = self.graph.kinds, self.graph.firsts
        table: dict[int | str, list[int]] = {}
        for node, functions in self.implementations.get(item, ()):
            for function in self.graph.held(functions):
                named = self.graph.held(node) if node != NOTHING else self._annotated(function, is_method)
                for one in named:
                    if kinds[one] in (KLASS, OUTSIDE, DECLARED):
                        table.setdefault(firsts[one], []).append(function)
        return table

    def _annotated(self, function: int, is_method: bool) -> list[int]:
        """What the annotation of a function's first argument says."""
        if self.graph.kinds[function] != FUNCTION:
            return []
        code_number = self.graph.firsts[function]
        positional = self.program.places[code_number].code.parameters.positional
        if len(positional) <= is_method:
            return []
        frames = (self.frame(code_number, self.graph.seconds[function][0], 0), *self.graph.seconds[function][0])
        parameter = positional[int(is_method)][1]
        code = self.program.places[code_number].code
        tests = [row for row in code.constraints if row[0] == FILTER and row[2] == parameter]  # made of annotations
        nodes = [node for row in tests for node in row[3] if node != NOTHING]
        return [one for node in nodes for one in self.graph.held(at_frames(node, frames))]

    def _chosen(self, item: int, given: int, table: dict[int | str, list[int]]) -> list[int]:
        kind = self.graph.kinds[given]
        default = [self.graph.firsts[item]]
        if kind in (OBJECT, DECLARED):
            order = self.classes.order(self.klass(given))
            found = next((table[at] for at in order if at in table), None)
            outside = (name for at in order for name in self.classes.all[at].outside)
            chosen = found or next((table[name] for name in outside if name in table), default)
            if kind == DECLARED:
                below = {klass.number for klass in self.classes.below(self.klass(given))}
                chosen = [*chosen, *(one for at, some in table.items() if at in below for one in some)]
            return chosen
        if kind == CONSTANT:
            value = self.graph.firsts[given]
            return table.get(f"builtins.{'str' if isinstance(value, tuple) else type(value).__name__}", default)
        if kind == CONTAINER:
            return table.get(f"builtins.{self.graph.seconds[given]}", default)
        return default
