"""Special methods that no parentheses, or those of a builtin, run."""

import operator


class Thing:
    def __reversed__(self):
        return iter(())

    def __index__(self):
        return 0

    def __contains__(self, item):
        return True

    def __format__(self, form):
        return "thing"

    def __bytes__(self):
        return b""

    def __complex__(self):
        return 0j

    def __trunc__(self):
        return 0

    def __floor__(self):
        return 0

    def __ceil__(self):
        return 0

    def __dir__(self):
        return []

    def __sizeof__(self):
        return 0

    def __matmul__(self, other):
        return self

    def __imatmul__(self, other):
        return self

    def __pow__(self, other, modulo=None):
        return self

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __fspath__(self):
        return "/"


class Keyed(dict):
    def __missing__(self, key):
        return key


def indexes(thing):
    [1, 2][thing]
    range(thing)
    hex(thing)


def main():
    import copy
    import math
    import os

    thing = Thing()
    reversed(thing)
    values = [1, 2]
    values[thing]
    values[thing:]
    range(thing)
    hex(thing)
    operator.index(thing)
    1 in thing
    1 not in thing
    f"{thing}"
    f"{thing:>3}"
    format(thing)
    "{}".format(thing)
    bytes(thing)
    complex(thing)
    math.floor(thing)
    math.ceil(thing)
    dir(thing)
    pow(thing, 1)
    thing @= 1
    copy.copy(thing)
    copy.deepcopy(thing)
    os.fspath(thing)
    Keyed()["a"]
    indexes(thing)
