import functools
from typing import Callable, overload

from . import base
from .base import Base, Derived
from .base import helper as h

__all__ = ["use", "decorated"]


def deco(f):
    @functools.wraps(f)
    def inner(*args):
        return f(*args)

    return inner


def factory(name: str) -> Callable:
    def register(f):
        return f

    return register


@deco
@factory("x")
def decorated(a):
    twice = lambda q: h(q)
    return [h(i) for i in range(a)] + [twice(a)]


def use(item: Base, unknown, callback: Callable[[int], int]):
    made = Derived(1)
    made.run()
    item.step()
    total = item + made
    for one in total:
        print(one)
    made.double = made.double + 1
    base.Plain()
    unknown.go(1)
    callback(2)
    base.variant()
    return functools.partial(h, 1)


@overload
def typed(a: int) -> int: ...
@overload
def typed(a: str) -> str: ...
def typed(a):
    return a


class Outer:
    class Inner:
        def deep(self, default=h(0)):
            def local():
                return typed(1)

            return local()


decorated(3)
é = h("größer"); h(é)
