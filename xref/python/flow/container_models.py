"""What the methods of lists, dicts, tuples and sets do in the solver. One table; what is not listed does nothing that
we know of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xref.python.flow.calls import Site
from xref.python.flow.graph import CONTAINER, DECLARED, OBJECT
from xref.python.flow.summary import NOTHING

if TYPE_CHECKING:
    from xref.python.flow.invoke import Invoker

REFERENT = "<referent>"
"""The method that a weak reference is."""


def argument(site: Site, number: int, name: str = "") -> int:
    """The node of an argument of a call, by its position or its name."""
    if number < len(site.positional):
        return site.positional[number]
    return next((node for word, node in site.keywords if word == name), NOTHING)


def call_all(solver: Invoker, function: int, arguments: tuple[int, ...], site: Site, target: int) -> None:
    """Call what a node holds with these arguments."""
    if function != NOTHING:
        inner = site._replace(positional=arguments, keywords=(), starred=(), doubled=(), target=target)
        solver.graph.when(function, solver.invoke, inner)


def dict_from(item: int, payload: tuple[Invoker, int, Site]) -> None:
    """The items of a dict, or of a sequence of pairs."""
    solver, result, site = payload
    if solver.graph.kinds[item] in (OBJECT, DECLARED):
        solver.graph.flow(solver.mapped(item, site), solver.slot(result, None))
        return
    if solver.graph.kinds[item] != CONTAINER:
        return
    if solver.graph.seconds[item] == "dict":
        solver.share(item, result)
    else:
        solver.graph.when(solver.everything(item), _pair_into, (solver, result))


def _pair_into(item: int, payload: tuple[Invoker, int]) -> None:
    solver, result = payload
    if solver.graph.kinds[item] == CONTAINER:
        solver.read_slot(item, 1, solver.slot(result, None))


def _referent(solver: Invoker, item: int, site: Site) -> None:
    solver.graph.flow(solver.slot(item, 0), site.target)


def container_method(solver: Invoker, item: int, name: str, site: Site) -> None:
    """A method of a list, dict, tuple or set is called."""
    CONTAINER_METHODS[name](solver, item, site)


def _store(number: int) -> Callable[[Invoker, int, Site], None]:
    def store(solver: Invoker, item: int, site: Site) -> None:
        node = argument(site, number)
        if node != NOTHING:
            solver.graph.flow(node, solver.slot(item, None))

    return store


def _extend(solver: Invoker, item: int, site: Site) -> None:
    for name, node in site.keywords:
        solver.graph.flow(node, solver.slot(item, name))
    for node in (*site.positional, *site.doubled):
        if node != NOTHING:
            solver.graph.when(node, _extend_from, (solver, item, site))


def _extend_from(item: int, payload: tuple[Invoker, int, Site]) -> None:
    solver, target, site = payload
    if solver.graph.seconds[target] == "dict":
        dict_from(item, (solver, target, site))
    else:
        star = solver.slot(target, None)
        solver.iterate(item, (site._replace(target=star, positional=(), keywords=()), False))


def _take(solver: Invoker, item: int, site: Site) -> None:
    """get, pop, setdefault: what is held under the key, and the default."""
    is_dict = solver.graph.seconds[item] == "dict"
    key = argument(site, 0)
    if is_dict and key != NOTHING:
        solver.get_item(item, (None, key, site))
    else:
        solver.graph.flow(solver.everything(item), site.target)
    default = argument(site, 1)
    if is_dict and default != NOTHING:
        solver.graph.flow(default, site.target)


def _set_default(solver: Invoker, item: int, site: Site) -> None:
    _take(solver, item, site)
    default = argument(site, 1)
    if default != NOTHING:
        solver.graph.flow(default, solver.slot(item, None))
        key = argument(site, 0)
        if key != NOTHING:
            solver.set_item(item, (None, key, default, site))


def _values(solver: Invoker, item: int, site: Site) -> None:
    result = solver.made((item, "values"), "list")
    solver.graph.flow(solver.everything(item), solver.slot(result, None))
    solver.graph.put(site.target, result)


def _keys(solver: Invoker, item: int, site: Site) -> None:
    result = solver.made((item, "keys"), "list")
    solver.graph.flow(solver.keys(item), solver.slot(result, None))
    solver.graph.put(site.target, result)


def _items(solver: Invoker, item: int, site: Site) -> None:
    solver.itemized[item] = None
    pair = solver.made((item, "item"), "list")
    result = solver.made((item, "items"), "list")
    solver.graph.flow(solver.keys(item), solver.slot(pair, 0))
    solver.graph.flow(solver.everything(item), solver.slot(pair, 1))
    solver.graph.put(solver.slot(result, None), pair)
    solver.graph.put(site.target, result)


def _itself(solver: Invoker, item: int, site: Site) -> None:
    solver.graph.put(site.target, item)


def _sort(solver: Invoker, item: int, site: Site) -> None:
    call_all(solver, argument(site, 9, "key"), (solver.everything(item),), site, solver.graph.node())


def _seek(solver: Invoker, item: int, site: Site) -> None:
    solver.seek(item, site)


def _add(solver: Invoker, item: int, site: Site) -> None:
    _store(0)(solver, item, site)
    solver.seek(item, site)


def _register(solver: Invoker, item: int, site: Site) -> None:
    solver.register(item, site)


CONTAINER_METHODS: dict[str, Callable[[Invoker, int, Site], None]] = {
    "append": _store(0), "appendleft": _store(0), "insert": _store(1), "extend": _extend, "update": _extend,
    "get": _take, "pop": _take, "popleft": _take, "setdefault": _set_default, "values": _values, "keys": _keys,
    "items": _items, "copy": _itself, "union": _itself, "sort": _sort, "add": _add,
    REFERENT: _referent, "register": _register, **dict.fromkeys(("discard", "index", "remove", "count"), _seek),
}  # fmt: skip
