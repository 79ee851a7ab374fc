"""Types that only docstrings tell; operators of a mixin, of an operand that declines, and within containers."""


class Operators:
    def __add__(self, other):
        return self

    def __eq__(self, other):
        return Truth()

    def __hash__(self):
        return 0


class Truth:
    def __bool__(self):
        return True


class Expr:
    pass


class Add(Operators, Expr):
    """Its operators come from beside `Expr`, not from below it."""


class Scalar:
    def __sub__(self, other):
        if not isinstance(other, Scalar):
            return NotImplemented
        return self


class Tensor:
    def __rsub__(self, other):
        return self

    def shape(self):
        return None


def compute(data, weights, scale):
    """Multiply.

    Parameters
    ----------
    data : Tensor, optional
        What is multiplied.
    weights : list of Expr
        The factors.
    scale : Scalar or int

    Returns
    -------
    result : Tensor
    """
    data.shape()
    for weight in weights:
        weight + 1
    scale - data
    return unknown(data)  # noqa: F821


def callers():
    compute(None, None, None).shape()


def containers(expr, seen):
    """Look for it.

    Parameters
    ----------
    expr : Expr
    """
    table = {}
    table[expr] = 1
    if expr in [Add()] and table[expr]:
        return sum([Add(), Add()])
    return Add() == expr or None
