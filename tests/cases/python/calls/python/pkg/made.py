"""Classes that no class statement makes, and methods that nobody wrote."""

import enum
from collections import namedtuple
from dataclasses import dataclass


class Pair(namedtuple("Pair", "left right")):
    pass


@dataclass
class Point:
    x: int = 0


class Color(enum.Enum):
    RED = 1


def make():
    Local = namedtuple("Local", "a b")
    Local(1, 2)
    Pair(1, 2)
    return Point(1), Color(1)
