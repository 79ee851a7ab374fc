"""A body whose source text is read is not run: a parser makes of it what it likes, as TVMScript does."""

import inspect


class Sum:
    def __add__(self, other):
        return Sum()

    def __bool__(self):
        raise ValueError("no truth")


def lines_of(program):
    if isinstance(program, str):
        return program
    return inspect.getsourcelines(program)


class Source:
    def __init__(self, program):
        self.lines = lines_of(program)


def script(function=None, check=True):
    def decorator(function):
        return Source(function)

    return decorator(function) if function else decorator


def inline(*args):
    def decorator(function):
        return Source(function)

    return decorator(args[0])


def made(kind):
    return kind()


@script
def read():
    left = made(Sum) + 1  # the parser evaluates it, or not: the body never runs
    if Sum():  # a branch of the program that is made: nothing is asked for its truth
        left + 1  # what `left` is by then, the parser knows: a guess


@script(check=False)
def also_read():
    while Sum():
        (made(Sum) + 1) + 1


@inline
def too(given=made(Sum)):
    assert Sum()
    given + 1  # what the parser bound to the parameter: a guess


def run():
    left = made(Sum) + 1
    if Sum():
        left + 1
