"""contextlib: what a stack of context managers enters and leaves."""

from contextlib import ExitStack, closing


class Managed:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def act(self):
        pass

    def close(self):
        pass


def clean(value):
    pass


def main():
    with ExitStack() as stack:
        stack.enter_context(Managed()).act()
        stack.callback(clean, 1)
    with closing(Managed()) as managed:
        managed.act()
