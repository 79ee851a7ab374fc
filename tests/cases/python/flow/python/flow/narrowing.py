"""What `isinstance` leaves of an object, in each form of test."""


class Left:
    def run(self):
        return 1


class Right:
    def run(self):
        return 2


class Outer:
    pass


def branches(flag):
    either = Left() if flag else Right()
    if isinstance(either, Left):
        either.run()  # Left.run only
    else:
        either.run()  # Right.run only


def within_expressions(thing, others):
    if isinstance(thing, Left) and thing.run():
        return None
    first = thing.run() if isinstance(thing, Right) else 0
    return first, [other.run() for other in others if isinstance(other, (Left, Right))]


def given_back(value):
    if isinstance(value, Left):
        return value
    return None


def uses():
    given_back(Left()).run()


class Shape:
    def area(self):
        return 0

    def __add__(self, other):
        return self


class Square(Shape):
    def area(self):
        return 1

    def __add__(self, other):
        return self


class Round(Shape):
    def area(self):
        return 3

    def __add__(self, other):
        return self


def any_shape() -> Shape: ...


def declared(untyped):
    shape = [any_shape][0]()
    if isinstance(shape, Square):
        return getattr(shape, "area")(), shape + untyped  # a Square's
    return getattr(shape, "area")()  # any other's
