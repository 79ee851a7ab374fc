"""Attributes under names that are computed, and functions whose callers only a type tells."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable


class Builder:
    """What a legalization is given."""

    def emit(self, value):
        return value


class Var:
    pass


class Methods:
    def offset_of(self):
        return 1


def field(name):
    def getter(value):
        return name

    return property(getter)


for _name in ("shape", "strides"):
    setattr(Var, _name, field(_name))

for _name, _value in Methods.__dict__.items():
    setattr(Var, _name, _value)


def reads(var: Var):
    return var.shape, var.offset_of()


def scoped(name):
    def wrapper(value):
        return value

    return wrapper


for _name in ["add", "sub"]:
    globals()[_name] = scoped(_name)


def through_module():
    return sys.modules[__name__].add(1)


Legalize = Callable[[Builder, int], int]


def register(function: Legalize):
    return function


register(lambda bb, call: bb.emit(call))


def legalizer() -> Legalize:
    return lambda bb, call: bb.emit(call)


def annotated(function: Callable[[Builder], int] | None = None):
    return function


def passed(bb):
    return bb.emit(1)


annotated(passed)


class Outer:
    def visit(self):
        return 1


def weak():
    reference = weakref.ref(Outer())
    return reference().visit()


class Base:
    metadata = {"cls": Outer}


class Derived(Base):
    pass


def base_of():
    return Derived.__base__.metadata["cls"]().visit()


class Attributes:
    def keys(self):
        return []

    def __getitem__(self, key):
        return key

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0


def takes(*args, **kwargs):
    return args


def spreads():
    takes(*Attributes())
    takes(**Attributes())
    return dict(Attributes())
