"""What a table of methods or classes runs, and what it only holds because classes share the code that makes it."""

from typing import TYPE_CHECKING


class Functor:
    def __init__(self):
        self.table = {
            "a": self.visit_a, "b": self.visit_b, "c": self.visit_c, "d": self.visit_d, "e": self.visit_e,
        }  # fmt: skip

    def visit(self, key):
        return self.table[key](key)

    def visit_a(self, key): ...  # each class of which there are objects has its own: only a guess

    def visit_b(self, key): ...

    def visit_c(self, key): ...

    def visit_d(self, key): ...

    def visit_e(self, key): ...


class Visitor(Functor):
    def visit_a(self, key): ...


class Mutator(Functor):
    def visit_a(self, key): ...

    def visit_b(self, key, more): ...  # not called with one argument


def use(key):
    Visitor().visit(key)
    Mutator().visit(key)


class Words(list):
    def __getitem__(self, at):
        return at


def iterate():
    words = Words()
    for word in words:  # list's own iteration, which asks for no item
        print(word)
    return words[0]


class Pair(tuple):
    def __new__(cls, values):
        return super().__new__(cls, values)


class Single:
    def __init__(self, values):
        self.values = values


def rebuild(value):
    kind = type(value)
    if issubclass(kind, tuple):
        return kind([value])  # a Pair
    return kind(value)  # a Single


rebuild(Pair([1]))
rebuild(Single(1))

if TYPE_CHECKING:

    def only_for_checkers(value): ...


def takes_one(value): ...


def takes_two(value, other): ...


def call(functions):
    for function in functions:
        function(1, 2)


call([takes_one, takes_two])
HELD = [only_for_checkers]
HELD[0](1)
