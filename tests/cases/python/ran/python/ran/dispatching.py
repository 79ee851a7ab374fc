"""functools.singledispatch: the class of the first argument decides."""

from functools import singledispatch, singledispatchmethod


class Node:
    pass


class Leaf(Node):
    pass


class Other:
    pass


@singledispatch
def visit(node):
    pass


@visit.register(Node)
def _(node):
    pass


@visit.register
def visit_other(node: Other):
    pass


def visit_number(node):
    pass


visit.register(int, visit_number)


class Visitor:
    @singledispatchmethod
    def visit(self, node):
        pass

    @visit.register
    def _(self, node: Node):
        pass


def main():
    visit(Node())
    visit(Leaf())
    visit(Other())
    visit(1)
    visit("text")
    Visitor().visit(Leaf())
