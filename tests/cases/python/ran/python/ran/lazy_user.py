"""What is imported from a module with `__getattr__`, and what is asked of it."""

from ran import lazy
from ran.lazy import Made, here


def main():
    here()
    lazy.here()
    Made()
    lazy.Made()
    lazy.later()
