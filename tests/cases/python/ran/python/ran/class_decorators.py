"""A class that is put on functions and classes: the name stands for its object."""


class Deco:
    def __init__(self, function):
        self.function = function

    def __call__(self, value):
        return self.function(value)


class WithWords:
    def __init__(self, word):
        self.word = word

    def __call__(self, function):
        self.function = function
        return self.run

    def run(self, value):
        return self.function(value)


class Registered:
    def __init__(self, kind):
        self.kind = kind

    def make(self):
        return self.kind()


@Deco
def bare(value):
    return value


@WithWords("word")
def worded(value):
    return value


@Registered
class Kind:
    def __init__(self):
        pass


class Owner:
    @Deco
    def method(self):
        pass


def main():
    bare(1)
    worded(1)
    Kind.make()
    Owner().method(1)
