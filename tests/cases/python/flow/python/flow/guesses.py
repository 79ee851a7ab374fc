"""What is told as sure, and what as a guess (`name`), where no parentheses show which method runs."""


class Node:
    pass


class Sum(Node):
    def __add__(self, other):
        if other is None:
            return NotImplemented
        return self

    def __radd__(self, other):
        return self

    def __int__(self):
        return self


class Product(Node):
    def __add__(self, other):
        return self


def base_only(node: Node):
    node + 1  # either of two classes: a guess


def one_class(node: Sum):
    node + 1  # sure
    1 + node  # sure: a number has no operator for a Sum
    node + node  # the second operand's own is only asked if the first declines: a guess
    return int(node)


def number(node: Sum):
    one_class(node) + 1  # what int() gives is a number, whatever __int__ returns


def limited(node: Sum, size: int):
    """`size` is a number, whoever calls."""
    size + 1
    node + 1


def callers(anything):
    limited(Product(), Product())
    [Sum()][0] + 1
    if anything:
        limited(anything, 1)


class Base:
    def __init__(self):
        self.table = self.make()

    def make(self):
        return {}


def replaced(self, key):
    return key


class Target(Node):
    def __getitem__(self, key):
        return self


class Inherits(Target):
    pass


for _name, _value in {"__getitem__": replaced}.items():
    setattr(Inherits, _name, _value)


def subscript(target: Inherits):
    return target[0]


def keep(cls=None):
    def with_name(found):
        return found

    if cls is None:
        return with_name
    return cls


@keep
class Kept:
    def __init__(self):
        pass


@keep
class AlsoKept:
    def __init__(self):
        pass


def construct():
    Kept()


class Adds(Base):
    """What only an addition makes, which is a guess itself."""

    def __add__(self, other):
        return Drawn()


class Drawn:
    def draw(self): ...


class AlsoAdds(Base):
    def __add__(self, other):
        return Drawn()


def follows_a_guess(left: Base):
    (left + 1).draw()  # which `__add__` runs is not known, so neither is whose `draw`


def follows_what_is_sure(left: Adds):
    (left + 1).draw()


class Same:
    """Has no `__ne__`: `object.__ne__` asks `__eq__`, and makes a bool of the answer."""

    def __eq__(self, other):
        return Answer()


class Answer:
    def __bool__(self):
        return True


def differ(one: Same):
    if one == 1:  # sure: the answer's truth is asked
        return 1
    if one != 1:  # the answer is not seen here
        return 2


class Asks:
    def __getattr__(self, name):
        return name


class Has:
    value = 1


def asked(anything):
    """One of the two has the attribute, and is more likely meant."""
    return anything.value


def ask(truth):
    asked(Asks())
    asked(Has())
    if truth:  # an Answer or a list: a guess
        return Asks().anything  # sure


def asked_for_truth():
    ask(Answer())
    ask([])


class Tag:
    def __init__(self, name):
        self.name = name

    def __call__(self, function):
        def tagged(*args):
            return function(*args)

        return tagged


TAGS = {"a": Tag("a")}


def tag(name):
    return TAGS[name]


@tag("a")
def named():
    return 1


def call_tagged():
    return named()  # runs `tagged`, which runs it: what the decorator's object makes is known only late


class Grid:
    def __getitem__(self, key):
        return Cell()


class Cell:
    def value(self):
        return 1


def grids(many):
    return [Grid()] if many else Grid()


def at(i, j):
    grid = grids(i)
    return grid[i, j].value()  # no list takes a tuple: a Cell's
