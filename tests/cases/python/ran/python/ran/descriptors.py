"""Descriptors that the program writes itself."""


class Checked:
    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner):
        return 1

    def __set__(self, instance, value):
        pass

    def __delete__(self, instance):
        pass


class Bound:
    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner):
        return self.function.__get__(instance, owner)


class Lazy:
    def __init__(self, function):
        self.function = function

    def __get__(self, instance, owner):
        return self.function(instance)


class Owner:
    field = Checked()

    @Lazy
    def lazy(self):
        return Part()


class Part:
    def act(self):
        pass


class Below(Owner):
    pass


def main():
    owner = Owner()
    owner.field
    owner.field = 1
    owner.field += 1
    del owner.field
    Owner.field
    owner.lazy.act()
    Below().field
