"""What functions outside the tree do with functions and objects that they are given: builtins, functools, and the
methods of lists and dicts. One table each; what is not listed does nothing that we know of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xref.python.flow.calls import Site
from xref.python.flow.container_models import REFERENT, argument, call_all, dict_from
from xref.python.flow.graph import (
    CONSTANT,
    CONTAINER,
    DECLARED,
    DISPATCHER,
    FUNCTION,
    KLASS,
    METHOD_OF_CONTAINER,
    OBJECT,
    OUTSIDE_OBJECT,
    PARTIAL,
)
from xref.python.flow.special import CLOSING, OPERATOR_FUNCTIONS, REFLECTED, STACKS
from xref.python.flow.summary import NOTHING

if TYPE_CHECKING:
    from xref.python.flow.invoke import Invoker

MAX_MODULES = 100
"""Modules that a dynamic import with a computed name may stand for."""

Model = Callable[["Invoker", str, Site], None]


def outside_call(solver: Invoker, dotted: str, site: Site) -> None:
    """A call of something outside the tree."""
    last = dotted.rpartition(".")[2]
    if last == "__new__":
        node = argument(site, 0)
        if node != NOTHING:
            solver.graph.when(node, solver.new_object, site)
        return
    model = OUTSIDE_CALLS.get(dotted) or (_set_plain_class if last in _PLAIN_CLASSES else None)
    if model is not None:
        model(solver, dotted, site)
    elif last[:1].isupper() and not dotted.startswith("builtins."):
        solver.graph.put(site.target, solver.graph.object(OUTSIDE_OBJECT, dotted))


_PLAIN_CLASSES = {"_set_class_dtype": "DLDataType", "_set_class_device": "DLDevice"}
"""Functions of the FFI's binding -> the C++ type whose values are of the class that they are given."""


def _set_plain_class(solver: Invoker, dotted: str, site: Site) -> None:
    node = argument(site, 0)
    if node != NOTHING:
        solver.graph.when(node, solver.declare, solver.foreign.plain(_PLAIN_CLASSES[dotted.rpartition(".")[2]]))


def _elements_of(solver: Invoker, node: int, site: Site) -> int:
    """A node with what iterating over `node` gives, as the site's doing."""
    result = solver.graph.node()
    if node != NOTHING:
        solver.graph.when(node, solver.iterate, (site._replace(target=result, positional=(), keywords=()), False))
    return result


def _map(solver: Invoker, dotted: str, site: Site) -> None:
    """map, filter: the function runs on the elements. Whichever argument is a function counts."""
    result = solver.made((site.target, "map"), "list")
    solver.graph.put(site.target, result)
    keep = dotted == "builtins.filter"
    elements = [_elements_of(solver, node, site) for node in site.positional[1:]]
    star = solver.slot(result, None)
    target = solver.graph.node() if keep else star
    call_all(solver, argument(site, 0), tuple(elements), site, target)
    if keep:
        for node in elements:
            solver.graph.flow(node, star)
    for node in site.positional[1:]:
        call_all(solver, node, (), site, target)


def _reduce(solver: Invoker, _dotted: str, site: Site) -> None:
    elements = _elements_of(solver, argument(site, 1), site)
    first = argument(site, 2)
    accumulated = solver.graph.node()
    solver.graph.flow(elements, accumulated)
    if first != NOTHING:
        solver.graph.flow(first, accumulated)
    call_all(solver, argument(site, 0), (accumulated, elements), site, accumulated)
    solver.graph.flow(accumulated, site.target)


def _sorted(solver: Invoker, dotted: str, site: Site) -> None:
    """sorted, min, max: the key function runs on the elements."""
    elements = solver.graph.node()
    several = dotted != "builtins.sorted" and len(site.positional) > 1
    for node in site.positional:
        if node != NOTHING:
            solver.graph.flow(node if several else _elements_of(solver, node, site), elements)
    call_all(solver, argument(site, 9, "key"), (elements,), site, solver.graph.node())
    solver.graph.when(elements, solver.operate, ("__lt__|__gt__", site._replace(positional=(elements,),
                                                                              target=solver.graph.node())))  # fmt: skip
    if dotted == "builtins.sorted":
        result = solver.made((site.target, "sorted"), "list")
        solver.graph.put(site.target, result)
        solver.graph.flow(elements, solver.slot(result, None))
    else:
        solver.graph.flow(elements, site.target)


def _collect(solver: Invoker, dotted: str, site: Site) -> None:
    """list, tuple, set, ...: a new container of the elements."""
    kind = "set" if dotted.endswith("set") else "list"
    result = solver.made((site.target, "collect"), kind)
    solver.graph.put(site.target, result)
    for node in site.positional:
        if node == NOTHING:
            continue
        solver.graph.when(node, _collect_from, (solver, result, site))
        hint = site._replace(positional=(), keywords=(), target=solver.graph.node())
        solver.graph.when(node, solver.operate, ("__len__|__length_hint__", hint))  # to size the result


def _collect_from(item: int, payload: tuple[Invoker, int, Site]) -> None:
    solver, result, site = payload
    if solver.graph.kinds[item] == CONTAINER and solver.graph.seconds[item] == "list":
        solver.share(item, result)
    else:
        star = solver.slot(result, None)
        solver.iterate(item, (site._replace(target=star, positional=(), keywords=()), False))


def _dict(solver: Invoker, _dotted: str, site: Site) -> None:
    result = solver.made((site.target, "dict"), "dict")
    solver.graph.put(site.target, result)
    for name, node in site.keywords:
        solver.graph.flow(node, solver.slot(result, name))
    for node in (*site.positional[:1], *site.doubled):
        if node != NOTHING:
            solver.graph.when(node, dict_from, (solver, result, site))


def _default_dict(solver: Invoker, dotted: str, site: Site) -> None:
    _dict(solver, dotted, site._replace(positional=site.positional[1:]))
    factory = argument(site, 0, "default_factory")
    if factory != NOTHING:
        solver.factories[solver.made((site.target, "dict"), "dict")] = factory


def _enumerate(solver: Invoker, _dotted: str, site: Site) -> None:
    pair = solver.made((site.target, "pair"), "list")
    result = solver.made((site.target, "pairs"), "list")
    solver.graph.put(site.target, result)
    solver.graph.put(solver.slot(result, None), pair)
    solver.graph.flow(_elements_of(solver, argument(site, 0, "iterable"), site), solver.slot(pair, 1))


def _zip(solver: Invoker, _dotted: str, site: Site) -> None:
    pair = solver.made((site.target, "pair"), "list")
    result = solver.made((site.target, "pairs"), "list")
    solver.graph.put(site.target, result)
    solver.graph.put(solver.slot(result, None), pair)
    for number, node in enumerate(site.positional):
        if node != NOTHING:
            solver.graph.flow(_elements_of(solver, node, site), solver.slot(pair, number))
    for node in site.starred:
        inner = _elements_of(solver, node, site)
        solver.graph.flow(_elements_of(solver, inner, site), solver.slot(pair, None))


def _reversed(solver: Invoker, _dotted: str, site: Site) -> None:
    """reversed(x): its `__reversed__`, else what `__len__` and `__getitem__` give."""
    result = solver.made((site.target, "collect"), "list")
    solver.graph.put(site.target, result)
    for node in site.positional[:1]:
        if node != NOTHING:
            solver.graph.when(node, _reverse, (solver, result, site))


def _reverse(item: int, payload: tuple[Invoker, int, Site]) -> None:
    solver, result, site = payload
    graph = solver.graph
    if graph.kinds[item] not in (OBJECT, DECLARED):
        _collect_from(item, payload)
        return
    made, asked = graph.node(), site.bare(graph.node())
    if solver.method(item, "__reversed__", site.bare(made)):
        graph.when(made, solver.step, (site.bare(solver.slot(result, None)), False))
        return
    solver.method(item, "__len__", asked)
    solver.method(item, "__getitem__", site.bare(solver.slot(result, None)))


def _next(solver: Invoker, dotted: str, site: Site) -> None:
    node = argument(site, 0)
    if dotted == "builtins.next":
        if node != NOTHING:
            solver.graph.when(node, solver.step, (site._replace(positional=()), False))
        default = argument(site, 1)
        if default != NOTHING:
            solver.graph.flow(default, site.target)
    elif node != NOTHING:
        result = solver.made((site.target, "iter"), "list")
        solver.graph.put(site.target, result)
        solver.graph.flow(_elements_of(solver, node, site), solver.slot(result, None))


def _iterates(solver: Invoker, dotted: str, site: Site) -> None:
    """sum, any, all, join: the elements are looked at, added up, or asked for their truth."""
    for node in site.positional[:1]:
        elements = _elements_of(solver, node, site)
        if dotted == "builtins.sum":
            inner = site._replace(positional=(elements,), keywords=())
            solver.graph.when(elements, solver.operate, ("__radd__", inner))
            solver.graph.when(site.target, solver.operate, ("__add__", inner))
        else:
            asked = site._replace(positional=(), keywords=(), target=solver.graph.node())
            solver.graph.when(elements, solver.operate, ("__bool__|__len__", asked))


def _asks(names: str, *, gives: bool = False) -> Model:
    """A builtin that asks an object's own method, such as len; `gives`: its result is the method's, not a number or
    text in any case.
    """

    def ask(solver: Invoker, _dotted: str, site: Site) -> None:
        node = argument(site, 0)
        if node != NOTHING:
            inner = site._replace(positional=site.positional[1:], keywords=())
            if not gives:
                inner = inner._replace(target=solver.graph.node())
            solver.graph.when(node, solver.operate, (names, inner))

    return ask


def _asks_each(names: str) -> Model:
    """A builtin that asks each of its arguments, such as range."""

    def ask(solver: Invoker, _dotted: str, site: Site) -> None:
        for node in site.positional:
            if node != NOTHING:
                solver.graph.when(node, solver.operate, (names, site.bare(solver.graph.node())))

    return ask


def _operator(name: str) -> Model:
    """A function of the module `operator`: `operator.add(a, b)` is `a + b`."""

    def run(solver: Invoker, _dotted: str, site: Site) -> None:
        left, right = argument(site, 0), argument(site, 1)
        plain = site._replace(keywords=(), starred=(), doubled=(), callee=NOTHING)
        solver.ask_operands((name, REFLECTED.get(name, "")), left, right, plain)

    return run


def _copy(solver: Invoker, dotted: str, site: Site) -> None:
    """copy.copy, copy.deepcopy: another of the same, or what the object's own method gives."""
    _same(solver, dotted, site)
    _asks("__copy__" if dotted == "copy.copy" else "__deepcopy__", gives=True)(solver, dotted, site)


def _class_check(name: str) -> Model:
    """isinstance, issubclass: a metaclass of the tree may have a say."""

    def ask(solver: Invoker, _dotted: str, site: Site) -> None:
        node = argument(site, 1)
        if node != NOTHING and name in solver.program.special_names:
            inner = site._replace(positional=site.positional[:1], keywords=(), target=solver.graph.node())
            solver.graph.when(node, _check, (solver, name, inner))

    return ask


def _check(item: int, payload: tuple[Invoker, str, Site]) -> None:
    solver, name, site = payload
    if solver.graph.kinds[item] == CONTAINER:
        solver.graph.when(solver.everything(item), _check, payload)
    elif solver.graph.kinds[item] == KLASS:
        solver.method(item, name, site)


def _print(solver: Invoker, _dotted: str, site: Site) -> None:
    for node in site.positional:
        if node != NOTHING:
            inner = site._replace(positional=(), keywords=(), target=solver.graph.node())
            solver.graph.when(node, solver.operate, ("__str__|__repr__", inner))


def _partial(solver: Invoker, _dotted: str, site: Site) -> None:
    solver.graph.put(site.target, solver.graph.object(PARTIAL, site))


def _same(solver: Invoker, _dotted: str, site: Site) -> None:
    """The result is what was given: copy, cast, a decorator that only marks."""
    for node in site.positional[:1]:
        if node != NOTHING:
            solver.graph.flow(node, site.target)


def _second(solver: Invoker, _dotted: str, site: Site) -> None:
    node = argument(site, 1)
    if node != NOTHING:
        solver.graph.flow(node, site.target)


def _make(solver: Invoker, _dotted: str, site: Site) -> None:
    """`type.__call__(C, ...)`."""
    node = argument(site, 0)
    if node != NOTHING:
        solver.graph.when(node, _made, (solver, site._replace(positional=site.positional[1:])))


def _made(item: int, payload: tuple[Invoker, Site]) -> None:
    solver, site = payload
    if solver.graph.kinds[item] == KLASS:
        solver.make(item, site)


def _stack_entered(solver: Invoker, _dotted: str, site: Site) -> None:
    """`stack.enter_context(manager)`, and `stack.push(manager)`, which only leaves it."""
    node = argument(site, 0)
    if node != NOTHING:
        if _dotted.endswith("enter_context"):
            solver.graph.when(node, solver.enter_only, site.bare(site.target))
        solver.stacked.append((site.code, node, True, site))


def _stack_callback(solver: Invoker, _dotted: str, site: Site) -> None:
    """`stack.callback(function, ...)`."""
    node = argument(site, 0)
    if node != NOTHING:
        solver.stacked.append((site.code, node, False, site._replace(positional=site.positional[1:], callee=NOTHING)))


def _closing(solver: Invoker, _dotted: str, site: Site) -> None:
    node = argument(site, 0, "thing")
    if node != NOTHING:
        holder = solver.made((site.target, CLOSING), CLOSING)
        solver.graph.flow(node, solver.slot(holder, None))
        solver.graph.put(site.target, holder)


def _dispatcher(solver: Invoker, dotted: str, site: Site) -> None:
    """functools.singledispatch and singledispatchmethod."""
    node = argument(site, 0, "func")
    if node != NOTHING:
        solver.graph.when(node, _make_dispatcher, (solver, dotted.endswith("method"), site.target))


def _make_dispatcher(item: int, payload: tuple[Invoker, bool, int]) -> None:
    solver, is_method, target = payload
    if solver.graph.kinds[item] == FUNCTION:
        solver.graph.put(target, solver.graph.object(DISPATCHER, item, is_method))


def _form(form: str) -> Model:
    """staticmethod(f), classmethod(f)."""

    def give(solver: Invoker, _dotted: str, site: Site) -> None:
        node = argument(site, 0)
        if node != NOTHING:
            solver.graph.when(node, _with_form, (solver, form, site.target))

    return give


def _property(solver: Invoker, _dotted: str, site: Site) -> None:
    """property(fget, fset, fdel)."""
    for number, (name, form) in enumerate((("fget", "property"), ("fset", "setter"), ("fdel", "deleter"))):
        node = argument(site, number, name)
        if node != NOTHING:
            solver.graph.when(node, _with_form, (solver, form, site.target))


def _with_form(item: int, payload: tuple[Invoker, str, int]) -> None:
    solver, form, target = payload
    graph = solver.graph
    if graph.kinds[item] == FUNCTION:
        item = graph.object(FUNCTION, graph.firsts[item], (graph.seconds[item][0], form))
    graph.put(target, item)


def _type(solver: Invoker, _dotted: str, site: Site) -> None:
    if len(site.positional) == 1:
        solver.graph.put(site.target, solver.graph.object(OUTSIDE_OBJECT, "builtins.type"))
    if len(site.positional) == 1 and site.positional[0] != NOTHING:
        solver.graph.when(site.positional[0], _type_of, (solver, site.target))


def _type_of(item: int, payload: tuple[Invoker, int]) -> None:
    solver, target = payload
    if solver.graph.kinds[item] in (OBJECT, DECLARED):
        solver.put_class(item, target)


def _import_module(solver: Invoker, _dotted: str, site: Site) -> None:
    """importlib.import_module, of a name that is known, or begins with known text."""
    node = argument(site, 0, "name")
    if node != NOTHING:
        solver.graph.when(node, _import_named, (solver, site))


def _import_named(item: int, payload: tuple[Invoker, Site]) -> None:
    solver, site = payload
    name = solver.graph.firsts[item]
    if solver.graph.kinds[item] != CONSTANT:
        return
    names = [name] if isinstance(name, str) else []
    if isinstance(name, tuple):
        text = name[0]
        names = [one for one in solver.program.modules if one.startswith(text) and "." not in one[len(text) :]]
        if len(names) > MAX_MODULES:
            solver.cuts.add((site.code, site.position, f"an import of one of {len(names)} modules"))
            return
    for one in names:
        found = solver.program.module(one)
        if found is not None:
            solver.graph.put(site.target, found)


def _globals(solver: Invoker, _dotted: str, site: Site) -> None:
    """The dict of the module that the call stands in."""
    module = solver.program.module(solver.program.summaries[solver.program.places[site.code].file].module)
    if module is not None:
        solver.graph.put(site.target, solver.namespace(module))


def _vars(solver: Invoker, _dotted: str, site: Site) -> None:
    """vars(x): `x.__dict__`."""
    for node in site.positional[:1]:
        if node != NOTHING:
            solver.graph.when(node, solver.load, ("__dict__", site))


def _weak_reference(solver: Invoker, _dotted: str, site: Site) -> None:
    """weakref.ref(x): a function that gives back x."""
    node = argument(site, 0)
    if node != NOTHING:
        holder = solver.made((site.target, "weakref"), "list")
        solver.graph.flow(node, solver.slot(holder, 0))
        solver.graph.put(site.target, solver.graph.object(METHOD_OF_CONTAINER, holder, REFERENT))


def _dir(solver: Invoker, dotted: str, site: Site) -> None:
    """Names of attributes, any of which may follow in a getattr."""
    _asks("__dir__")(solver, dotted, site)
    result = solver.made((site.target, "dir"), "list")
    solver.graph.put(site.target, result)
    solver.graph.put(solver.slot(result, None), solver.graph.object(CONSTANT, ("",), "tuple"))


def _marker(solver: Invoker, dotted: str, site: Site) -> None:
    """`functools.wraps(f)`: a decorator that gives back the function that it is put on."""
    solver.graph.put(site.target, solver.graph.object(9, f"{dotted}()"))


def _callback(*numbers: int, names: tuple[str, ...] = ()) -> Model:
    """A function that runs those of its arguments."""

    def run(solver: Invoker, _dotted: str, site: Site) -> None:
        for number in numbers:
            call_all(solver, argument(site, number), (), site, site.target)
        for name in names:
            call_all(solver, argument(site, 99, name), (), site, solver.graph.node())

    return run


OUTSIDE_CALLS: dict[str, Model] = {
    "builtins.map": _map, "builtins.filter": _map, "functools.reduce": _reduce, "builtins.sorted": _sorted,
    "builtins.min": _sorted, "builtins.max": _sorted,
    **dict.fromkeys(("builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset",
                     "collections.deque", "itertools.chain"), _collect),
    **dict.fromkeys(("builtins.dict", "collections.OrderedDict"), _dict), "collections.defaultdict": _default_dict,
    "builtins.enumerate": _enumerate, "builtins.zip": _zip, "builtins.next": _next, "builtins.iter": _next,
    **dict.fromkeys(("builtins.sum", "builtins.any", "builtins.all"), _iterates),
    "builtins.len": _asks("__len__"), "builtins.str": _asks("__str__|__repr__"), "builtins.repr": _asks("__repr__"),
    "builtins.bool": _asks("__bool__|__len__"), "builtins.int": _asks("__int__|__index__"),
    "builtins.float": _asks("__float__"), "builtins.hash": _asks("__hash__"),
    "builtins.abs": _asks("__abs__", gives=True),
    "builtins.round": _asks("__round__", gives=True), "builtins.format": _asks("__format__|__str__|__repr__"),
    "builtins.divmod": _asks("__divmod__", gives=True), "builtins.dir": _dir, "builtins.print": _print,
    "builtins.reversed": _reversed, "builtins.bytes": _asks("__bytes__"), "builtins.complex": _asks("__complex__"),
    **dict.fromkeys(("builtins.range", "builtins.hex", "builtins.oct", "builtins.bin", "builtins.chr"),
                    _asks_each("__index__")),
    "builtins.pow": _operator("__pow__"),
    **{f"operator.{name}": _operator(f"__{name.strip('_')}__") for name in OPERATOR_FUNCTIONS},
    "operator.truth": _asks("__bool__|__len__"), "operator.not_": _asks("__bool__|__len__"),
    "operator.index": _asks("__index__"), "math.floor": _asks("__floor__|__float__"),
    "math.ceil": _asks("__ceil__|__float__"), "math.trunc": _asks("__trunc__"), "os.fspath": _asks("__fspath__"),
    "sys.getsizeof": _asks("__sizeof__"), "copy.copy": _copy, "copy.deepcopy": _copy,
    "builtins.isinstance": _class_check("__instancecheck__"), "builtins.issubclass": _class_check("__subclasscheck__"),
    "functools.partial": _partial, "builtins.globals": _globals,
    "builtins.vars": _vars, "weakref.ref": _weak_reference, "weakref.proxy": _same, "sys.modules.get": _import_module,
    **dict.fromkeys(("weakref.WeakKeyDictionary", "weakref.WeakValueDictionary"), _dict),
    **{f"{stack}.{name}": _stack_entered for stack in STACKS for name in ("enter_context", "push")},
    **{f"{stack}.callback": _stack_callback for stack in STACKS}, "contextlib.closing": _closing,
    "builtins.property": _property, "builtins.type.__call__": _make,
    "builtins.staticmethod": _form("static"),
    "builtins.classmethod": _form("class"),
    **dict.fromkeys(("typing.no_type_check", "functools.lru_cache()",
                     "functools.lru_cache", "functools.cache", "contextlib.contextmanager", "functools.total_ordering",
                     "functools.wraps()", "dataclasses.dataclass", "dataclasses.dataclass()",
                     "typing.runtime_checkable"), _same),
    **dict.fromkeys(("functools.singledispatch", "functools.singledispatchmethod"), _dispatcher),
    **dict.fromkeys(("functools.wraps",), _marker),
    "importlib.import_module": _import_module, "builtins.__import__": _import_module,
    "typing.cast": _second, "builtins.type": _type, "re.sub": _callback(1), "atexit.register": _callback(0),
    "threading.Thread": _callback(names=("target",)), "threading.Timer": _callback(1),
}  # fmt: skip
