"""Classes and functions that use.py calls."""


class Base:
    """A base class."""

    limit = 3

    def __init__(self, size: int):
        self.size = size

    def run(self):
        return self.step()

    def step(self):
        return 0

    @property
    def double(self):
        return 2 * self.size

    @double.setter
    def double(self, value):
        self.size = value // 2

    def __add__(self, other: "Base") -> "Base":
        return self

    def __iter__(self):
        yield self.size


class Derived(Base):
    def step(self):
        return super().step() + 1


class Plain:
    pass


def helper(x):
    return x


if Base.limit:

    def variant():
        return 1

else:

    def variant():
        return 2
