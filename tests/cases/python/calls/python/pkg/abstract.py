"""A method that only says what others are to do does not run where each class of objects has its own."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:

    def shown(name: str) -> int: ...


class Rule:
    def apply(self):
        raise NotImplementedError

    def default(self):
        raise NotImplementedError

    def nothing(self):
        pass


class One(Rule):
    def apply(self):
        return 1

    def nothing(self):
        return 1


class Middle(Rule):
    def apply(self):
        return 2

    def default(self):
        return 2

    def nothing(self):
        return 2


class Two(Middle):
    pass


def use(rule: Rule):
    rule.apply()  # One or Middle; Rule's own is a guess
    rule.default()  # a One has no other
    rule.nothing()  # a default may be meant to run
    shown("x")  # only a type checker sees it
