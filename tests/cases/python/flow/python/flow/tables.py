"""Functions in dicts, lists and tuples, by known and by computed keys; a defaultdict's factory."""

from collections import defaultdict


def first():
    pass


def second():
    pass


def third():
    pass


TABLE = {"first": first, "second": second}
PAIR = (first, second)


def by_key():
    TABLE["first"]()
    PAIR[1]()


def by_any(key):
    TABLE[key]()


def by_get(key):
    TABLE.get(key, third)()


def each():
    for function in TABLE.values():
        function()
    for _, function in TABLE.items():
        function()


def rewritten():
    table = {"f": first}
    table["f"] = third
    table["f"]()


def missing():
    made = defaultdict(Thing)
    return made["x"]


class Thing:
    def __init__(self):
        pass


def registered(kind):
    def keep(function):
        HANDLERS[kind] = function
        return function

    return keep


HANDLERS = {}


@registered("a")
def handle_a():
    pass


@registered("b")
def handle_b():
    pass


def dispatch():
    HANDLERS["b"]()
