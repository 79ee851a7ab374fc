"""Construction, special methods, properties, super(), metaclasses and hooks of classes."""

from dataclasses import dataclass


class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class Made(metaclass=Meta):
    def __new__(cls):
        return object.__new__(cls)

    def __init__(self):
        self.act = self.hidden

    def hidden(self):
        pass


class Hooked:
    def __init_subclass__(cls, **words):
        pass


class Below(Hooked, flag=1):
    @property
    def value(self):
        return self

    @value.setter
    def value(self, new):
        pass

    def __add__(self, other):
        return self

    def __len__(self):
        return 1

    def __getitem__(self, key):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __call__(self):
        pass

    def __iter__(self):
        return iter([self])


@dataclass
class Fields:
    run: object
    other: object = None

    def __post_init__(self):
        pass


def use(unknown):
    Made().act()
    below = [Below()][unknown]
    (below + 1).value.value = 2
    len(below)
    below[0]()
    with below as entered:
        entered()
    for item in below:
        item()
    Fields(use).run()
    getattr(below, "value")


def narrowed(thing):
    if isinstance(thing, Below):
        return thing + 1
    return thing + 2
