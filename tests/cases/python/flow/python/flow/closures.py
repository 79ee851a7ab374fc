"""What a factory or a decorator returns is what its caller calls; each call has its own."""


def adder(step):
    def add(value):
        return step(value)

    return add


def one(value):
    return value


def two(value):
    return value


def use():
    adder(one)(1)
    add = adder(two)
    return add(2)


def traced(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def named(name):
    def decorate(function):
        return function

    return decorate


@traced
def wrapped():
    pass


@named("x")
def plain():
    pass


wrapped()
plain()
