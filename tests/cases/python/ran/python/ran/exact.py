"""Objects of which the class is known exactly: no override of a class below runs."""


class A:
    def __add__(self, other):
        return A()

    def run(self):
        pass


    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    @property
    def part(self):
        return 1


class B(A):
    def __add__(self, other):
        return B()

    def run(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    @property
    def part(self):
        return 1


def main():
    a = A()
    a + 1
    a.run()
    a.part
    with a:
        pass
    A().run()
    A() + 1
    b = B()
    b + 1
