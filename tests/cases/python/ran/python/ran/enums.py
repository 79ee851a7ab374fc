"""Enumerations: what looking a member up runs."""

from enum import Enum


class Color(Enum):
    RED = 1

    @classmethod
    def _missing_(cls, value):
        return cls.RED

    def act(self):
        pass


class Plain(Enum):
    ONE = 1


def main():
    Color(5)
    Color(5).act()
    Plain(1)
