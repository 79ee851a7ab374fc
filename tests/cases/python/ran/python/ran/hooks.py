"""Hooks of class statements and of subscripted classes."""


class Generic:
    def __class_getitem__(cls, item):
        return cls

    def __init_subclass__(cls, **words):
        super().__init_subclass__()


class Stand:
    def __mro_entries__(self, bases):
        return (Generic,)


stand = Stand()


class First(Generic, flag=1):
    pass


class Second(stand):
    pass


class Third(Generic[int]):
    pass


class Instance(type):
    def __instancecheck__(cls, item):
        return True

    def __subclasscheck__(cls, other):
        return True


class Checked(metaclass=Instance):
    pass


def main():
    Generic[int]
    First[int]()
    isinstance(1, Checked)
    issubclass(int, Checked)
