"""What happens when an object is called: binding of arguments, results, construction, and the reports of all that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xref.python.flow.accessors import WRITING
from xref.python.flow.calls import Site
from xref.python.flow.candidates import Held
from xref.python.flow.container_models import container_method
from xref.python.flow.dispatchers import Dispatchers
from xref.python.flow.graph import (
    BOUND,
    CONSTANT,
    CONSTRUCTOR,
    CONTAINER,
    DECLARED,
    DISPATCHER,
    FOREIGN,
    FUNCTION,
    KLASS,
    MAKER,
    METHOD_OF_CONTAINER,
    OBJECT,
    OUTSIDE,
    PARTIAL,
    RUNNING,
)
from xref.python.flow.models import outside_call
from xref.python.flow.summary import NOTHING, Code, Parameters


class Handed(NamedTuple):
    """An argument of an FFI function: its number, and its node. `made`: the node of what the call gives. `reaches`:
    whether the call may run what an object among its arguments keeps.
    """

    key: str
    number: int
    site: Site
    made: int | None
    reaches: bool
    node: int


KEPT = "<kept by C++>"
"""The field for functions that an object of the FFI was given."""


class Invoker(Dispatchers):
    """Calls. `answered`: sites (by number) at which something was found to run."""

    def emit(self, site: Site, code_number: int) -> None:
        """Report that the site runs a function of the tree."""
        if site.position:
            self.edges.add((site.code, site.position, code_number))

    def emit_outside(self, site: Site, dotted: str) -> None:
        """Report that the site calls something outside the tree."""
        if site.position and not dotted.endswith("()"):
            self.outside_edges.add((site.code, site.position, dotted))

    def invoke(self, item: int, site: Site) -> None:
        """The object is called at the site."""
        kind, first = self.graph.kinds[item], self.graph.firsts[item]
        if kind == FUNCTION:
            if self.graph.seconds[item][1] != "property":
                self.call_function(item, site, None)
        elif kind == BOUND:
            self._invoke_bound(item, site)
        elif kind == KLASS:
            self.construct(item, site)
        elif kind in (OBJECT, DECLARED):
            if self.method(item, "__call__", site):
                self.called_objects.add((site.code, site.position))
        elif kind == PARTIAL:
            self._invoke_partial(first, site)
        elif kind == FOREIGN:
            self.call_foreign(first, site)
        elif kind == OUTSIDE:
            self.answered.add(site.number)
            self.emit_outside(site, first)
            outside_call(self, first, site._replace(callee=NOTHING))  # what it calls gets other arguments
        else:
            self._invoke_special(item, site)

    def _invoke_special(self, item: int, site: Site) -> None:
        kind, first = self.graph.kinds[item], self.graph.firsts[item]
        if kind == METHOD_OF_CONTAINER:
            container_method(self, first, self.graph.seconds[item], site._replace(callee=NOTHING))
        elif kind == CONSTRUCTOR:
            self._make_handle(first, site)
        elif kind == MAKER:
            self.make(first, site)
        elif kind == DISPATCHER:
            self.dispatch(item, site, None)

    def _invoke_bound(self, item: int, site: Site) -> None:
        first, receiver = self.graph.firsts[item], self.graph.seconds[item]
        if self.graph.kinds[first] == FUNCTION:
            self.bound_calls.setdefault((site.code, site.position), set()).add((self.graph.firsts[first], receiver))
            self.call_function(first, site, receiver)
        elif self.graph.kinds[first] == DISPATCHER:
            self.dispatch(first, site, receiver)
        else:
            self.invoke(first, site)

    def _invoke_partial(self, partial: Site, site: Site) -> None:
        merged = site._replace(
            positional=(*partial.positional[1:], *site.positional), keywords=(*partial.keywords, *site.keywords),
            starred=(*partial.starred, *site.starred), doubled=(*partial.doubled, *site.doubled),
        )  # fmt: skip
        if partial.positional and partial.positional[0] != NOTHING:
            self.graph.when(partial.positional[0], self.invoke, merged)

    def call_bound(self, item: int, payload: tuple[int, Site]) -> None:
        """A method, as found on the class, is called on a receiver."""
        receiver, site = payload
        if self.graph.kinds[item] != FUNCTION:
            self.invoke(item, site)
            return
        form = self.graph.seconds[item][1]
        if form == "property":
            value = self.graph.node()
            self.call_function(item, site.silent()._replace(target=value), receiver)
            self.graph.when(value, self.invoke, site)
        elif form not in WRITING:
            self.call_function(item, site, self.bound_to(form, receiver))

    def bound_to(self, form: str, receiver: int) -> int | None:
        """What a method of that form gets as its first argument."""
        if form == "static":
            return None
        if form == "class" and self.graph.kinds[receiver] in (OBJECT, DECLARED):
            return self.graph.object(KLASS, self.graph.firsts[receiver])
        return receiver

    def call_function(self, item: int, site: Site, receiver: int | None, is_only: bool = False) -> None:
        """Run a function at a site, its first argument being `receiver` unless that is None. `is_only`: nothing else
        was found that the call could run.
        """
        code = self.program.places[self.graph.firsts[item]].code
        if not _takes(code.parameters, site, receiver is not None):
            return
        if not is_only and _lacks(code, site, receiver is not None):
            self._lacking.append((item, site, receiver))
            return
        owner = self._below(item, receiver)
        found, receiver = receiver, receiver if owner is None else self.graph.object(DECLARED, owner)
        key = (item, receiver, site.number, site.target, site.position)
        if key in self._called:
            return
        self._called.add(key)
        self.answered.add(site.number)
        if code.declines:
            self.declined.add(site.number)
        if self._report(Held(item, site, found, receiver), owner is not None):
            self.run_function(item, site, found, receiver)

    def run_function(self, item: int, site: Site, found: int | None, receiver: int | None) -> None:
        """Lead arguments to a function and results back. `found`: the receiver as it was found, `receiver`: as the
        function sees it.
        """
        code_number = self.graph.firsts[item]
        frames = self.graph.seconds[item][0]
        code = self.program.places[code_number].code
        base = self.frame(code_number, frames, site.number if site.positional or site.keywords else 0)
        given = self._bind(code, code_number, base, site, receiver)
        if site.target == NOTHING:
            return
        if code.yields != NOTHING or code.is_async:
            self.graph.put(site.target, self.graph.object(RUNNING, code_number, base))
            return
        self.graph.flow(base + code.result, site.target)
        for number, node in code.without:
            if not any(self._is_constant(source) for source in given.get(number, ())):
                self.graph.flow(base + node, site.target)
        for number in code.passes:
            for source in given.get(number, ()):
                self.graph.flow(source, site.target)
            if number == 0 and found is not None:
                self.graph.put(site.target, found)
        for number, name in code.passed_attributes:
            payload = (name, site.silent())
            for source in given.get(number, ()):
                self.graph.when(source, self.load, payload)
            if number == 0 and receiver is not None:
                self.load(receiver, payload)

    def _is_constant(self, node: int) -> bool:
        """Whether the node holds nothing but constants: a text or a number is not None."""
        held = self.graph.held(node)
        return bool(held) and all(self.graph.kinds[item] == CONSTANT for item in held)

    def _below(self, item: int, receiver: int | None) -> int | None:
        """The class of a method that only classes below the receiver's known one have; None for any other function."""
        if receiver is None or self.graph.kinds[receiver] != DECLARED:
            return None
        owner = self.classes.by_frame.get(self.graph.seconds[item][0][0])
        known = self.graph.firsts[receiver]
        return owner if owner is not None and owner not in self.classes.order(self.classes.all[known]) else None

    def _report(self, call: Held, below: bool) -> bool:
        """Report a function that runs, or may run, at the site; `below`: see `_below`. Returns whether it runs now."""
        site, receiver, code_number = call.site, call.found, self.graph.firsts[call.item]
        if not site.position:
            return True
        if receiver is not None and not below and self.graph.kinds[receiver] == DECLARED:
            self.dispatches.add((site.code, site.position, self.graph.firsts[receiver], code_number, site.how))
        if receiver is not None and (below or site.how or site.is_guess or site.is_rest):
            return not self.candidates.add(code_number, below, call)
        self.emit(site, code_number)
        return True

    def _bind(
        self, code: Code, code_number: int, base: int, site: Site, receiver: int | None
    ) -> dict[int, Sequence[int]]:
        """Lead arguments to parameters; the nodes given for each positional parameter."""
        graph = self.graph
        parameters = code.parameters
        positional = parameters.positional
        count = len(positional)
        given: dict[int, Sequence[int]] = {}
        at = 0
        rest = graph.object(CONTAINER, (base + parameters.rest, "list"), "list") if parameters.rest != NOTHING else None
        if receiver is not None:
            if count:
                graph.put(base + positional[0][1], receiver)
            elif rest is not None:
                graph.put(self.slot(rest, 0), receiver)
            at = 1
        for node in site.positional:
            if node != NOTHING:
                if at < count:
                    graph.flow(node, base + positional[at][1])
                    given[at] = (node,)
                elif rest is not None:
                    graph.flow(node, self.slot(rest, at - count))
            at += 1
        for node in site.starred:
            graph.when(node, self._spread, (code, base, at, rest, site))
            for number in range(at, count):
                if number in code.passes or any(number == n for n, _ in code.passed_attributes):
                    given[number] = (*given.get(number, ()), base + positional[number][1])
        self._bind_words(code, base, site, given)
        self._bind_defaults(code, self.defaults.get(code_number, {}), base, at, given)
        return given

    def _bind_defaults(
        self, code: Code, defaults: dict[int, int], base: int, at: int, given: dict[int, Sequence[int]]
    ) -> None:
        if not defaults:
            return
        for number, (_, node) in enumerate(code.parameters.positional):
            if number >= at and number not in given and node in defaults:
                self.graph.flow(defaults[node], base + node)
                given[number] = (defaults[node],)
        for _, node in code.parameters.keyword_only:
            if node in defaults:
                self.graph.flow(defaults[node], base + node)

    def _bind_words(self, code: Code, base: int, site: Site, given: dict[int, Sequence[int]]) -> None:
        parameters = code.parameters
        if not site.keywords and not site.doubled:
            return
        by_name = dict(parameters.keyword_only)
        numbers = {}
        for number, (name, node) in enumerate(parameters.positional):
            if number >= parameters.positional_only:
                by_name[name] = node
                numbers[name] = number
        words = None
        if parameters.words != NOTHING:
            words = self.graph.object(CONTAINER, (base + parameters.words, "dict"), "dict")
        for name, source in site.keywords:
            if name in by_name:
                self.graph.flow(source, base + by_name[name])
                if name in numbers:
                    given[numbers[name]] = (source,)
            elif words is not None:
                self.graph.flow(source, self.slot(words, name))
        for source in site.doubled:
            self.graph.when(source, self._spread_words, (by_name, base, words, site))
            for name, number in numbers.items():
                if number not in given and number in code.passes:
                    given[number] = (base + by_name[name],)

    def _spread(self, item: int, payload: tuple[Code, int, int, int | None, Site]) -> None:
        """`f(*item)`, from the parameter number `at` on."""
        code, base, at, rest, site = payload
        if self.graph.kinds[item] in (OBJECT, DECLARED):
            elements = self.graph.node()
            asked = site.bare(elements)
            self.iterate(item, (asked, False))
            self.operate(item, ("__len__|__length_hint__", asked._replace(target=self.graph.node())))
            for _, node in code.parameters.positional[at:]:
                self.graph.flow(elements, base + node)
            if rest is not None:
                self.graph.flow(elements, self.slot(rest, None))
            return
        if self.graph.kinds[item] == RUNNING:
            at_yields = self.program.places[self.graph.firsts[item]].code.yields
            for _, node in code.parameters.positional[at:]:
                if at_yields != NOTHING:
                    self.graph.flow(self.graph.seconds[item] + at_yields, base + node)
            return
        if self.graph.kinds[item] != CONTAINER:
            return
        positional = code.parameters.positional
        for number in range(at, len(positional)):
            self.graph.flow(self.slot(item, number - at), base + positional[number][1])
            self.graph.flow(self.slot(item, None), base + positional[number][1])
        if rest is not None and rest != item:
            shift = len(positional) - at
            if shift == 0:
                self.share(item, rest)
            else:
                self.graph.flow(self.everything(item), self.slot(rest, None))

    def _spread_words(self, item: int, payload: tuple[dict[str, int], int, int | None, Site]) -> None:
        """`f(**item)`."""
        by_name, base, words, site = payload
        if self.graph.kinds[item] in (OBJECT, DECLARED):
            values = self.mapped(item, site)
            for node in by_name.values():
                self.graph.flow(values, base + node)
            if words is not None:
                self.graph.flow(values, self.slot(words, None))
            return
        if self.graph.kinds[item] != CONTAINER:
            return
        for name, node in by_name.items():
            self.graph.flow(self.slot(item, name), base + node)
            self.graph.flow(self.slot(item, None), base + node)
        if words is not None and words != item:
            self.share(item, words)

    def mapped(self, item: int, site: Site) -> int:
        """The node of the values of an object that is read as a mapping: by `keys` and `__getitem__`."""
        asked = site.bare(self.graph.node())
        values = self.graph.node()
        self.method(item, "keys", asked)
        self.method(item, "__getitem__", asked._replace(target=values))
        return values

    def expect(self, item: int, node: int) -> None:
        """A node is annotated with what `item` stands for: functions there are called as a callable type says."""
        if self.graph.kinds[item] == CONTAINER and self.graph.seconds[item] == "callable":
            given = tuple(self.slot(item, number) for number in range(len(self._slots.get(item, ()))))
            self.graph.when(node, self.invoke, Site(-2 - item, 0, 0, self.graph.node(), given))

    # functions of the FFI

    def call_foreign(self, key: str, site: Site) -> None:
        """An FFI function is called: it converts its arguments, may run functions among them, and returns an object."""
        self.answered.add(site.number)
        made = self.foreign.result(key)
        if made is not None and site.target != NOTHING:
            self.graph.flow(made, site.target)
        for number, node in enumerate((*site.positional, *site.starred)):
            if node != NOTHING:
                self.graph.when(node, self._hand_over, Handed(key, number, site, made, True, node))

    def _make_handle(self, item: int, site: Site) -> None:
        """`self.__init_handle_by_constructor__(function, ...)`: the FFI function makes what `self` stands for."""
        if site.positional and site.positional[0] != NOTHING:
            self.graph.when(site.positional[0], self._call_constructor, (item, site))

    def _call_constructor(self, function: int, payload: tuple[int, Site]) -> None:
        item, site = payload
        if self.graph.kinds[function] != FOREIGN:
            return
        made = self.graph.node()
        self.graph.put(made, item)
        for number, node in enumerate((*site.positional[1:], *site.starred)):
            if node != NOTHING:
                handed = Handed(self.graph.firsts[function], number, site, made, False, node)
                self.graph.when(node, self._hand_over, handed)

    def _hand_over(self, item: int, payload: Handed) -> None:
        """An argument of an FFI function. An `ObjectConvertible` is asked for its object (tvm-ffi, function.pxi); a
        function may be run by the call, or be kept in the object that is made, for later calls with that object.
        """
        key, number, site, made, reaches, node = payload
        kind = self.graph.kinds[item]
        if kind in (FUNCTION, BOUND):
            takes = self.foreign.takes_function(key, number)
            if takes is False:
                return
            row = (site.code, site.position, item, key)
            self.handed_over.add(row)
            if takes is None:
                self.untold.setdefault(row, node)
            if made is not None:
                self.graph.when(made, self._keep, item)
            self._call_back(item, key, number, site)
        elif kind == CONTAINER:
            if (item, site.number, key) not in self._called:
                self._called.add((item, site.number, key))
                inner = self.everything(item)
                self.graph.when(inner, self._hand_over, payload._replace(node=inner))
        elif kind in (OBJECT, DECLARED):
            asked = site._replace(positional=(), keywords=(), target=self.graph.node(), is_guess=True)
            self.method(item, "asobject", asked)
            if reaches:
                self.reached.add((site.code, site.position, self.graph.firsts[item], key))

    def _call_back(self, function: int, key: str, number: int, site: Site) -> None:
        """C++ calls a function with values of the types that its own parameter's type lists."""
        given = self.foreign.callback(key, number)
        if given is not None:
            nodes = tuple(NOTHING if node is None else node for node in given)
            self.invoke(function, Site(site.number, site.code, 0, NOTHING, nodes))

    def kept(self, number: int) -> set[int]:
        """The functions that objects of a class, or of one below it, were given."""
        return self.graph.held(self.field(self.graph.object(DECLARED, number), KEPT))

    def _keep(self, item: int, function: int) -> None:
        if self.graph.kinds[item] not in (OBJECT, DECLARED):
            return
        order = self.classes.order(self.classes.all[self.graph.firsts[item]])
        if self.foreign.keeps_functions([self.classes.all[number].code_number for number in order]):
            self.graph.put(self.field_to_set(item, KEPT), function)

    # calls of which nothing better is known

    def deferred_lacking(self) -> None:
        """Functions that a call does not give all they need: it would fail, so they are meant only where nothing else
        is.
        """
        pending, self._lacking = self._lacking, []
        for item, site, receiver in [one for one in pending if one[1].number not in self.answered]:
            self.applied += 1
            self.call_function(item, site, receiver, is_only=True)

    def deferred_calls(self, sites: list[Site]) -> None:
        """Where we know no callee, take those of the type checker, for the sake of arguments and results."""
        for site in sites:
            if site.number in self.answered or not site.position:
                continue
            place = self.program.places[site.code]
            for code_number in self.typed.get((place.file, site.position), ()):
                self._call_typed(code_number, site.silent())

    def _call_typed(self, code_number: int, site: Site) -> None:
        number = self.first_classes.get(code_number)
        if number is not None:
            self.construct(self.graph.object(KLASS, number), site)
            return
        item = self.first_functions.get(code_number)
        if item is None:
            return
        frames, form = self.graph.seconds[item]
        owner = self.classes.by_frame.get(frames[0])
        if form in ("property", *WRITING):
            return
        receiver = None
        if owner is not None and form != "static":
            receiver = self.graph.object(KLASS if form == "class" else OBJECT, owner)
        self.call_function(item, site, receiver)


def _takes(parameters: Parameters, site: Site, is_bound: bool) -> bool:
    """Whether a function accepts so many arguments, and those of such names: else the call fails before it runs."""
    if parameters.rest == NOTHING and len(site.positional) + is_bound > len(parameters.positional):
        return False
    if parameters.words != NOTHING or not site.keywords or site.callee == NOTHING:
        return True
    names = {name for name, _ in (*parameters.positional[parameters.positional_only :], *parameters.keyword_only)}
    return all(name in names for name, _ in site.keywords)


def _lacks(code: Code, site: Site, is_bound: bool) -> bool:
    """Whether a call does not give all that a function needs, as it is written; a decorator may add arguments."""
    if site.callee == NOTHING or site.starred or site.doubled or code.is_decorated:
        return False
    given = {name for name, _ in site.keywords}
    parameters = code.parameters
    needed = parameters.positional[len(site.positional) + is_bound : parameters.required]
    return any(name not in given for name, _ in needed)
