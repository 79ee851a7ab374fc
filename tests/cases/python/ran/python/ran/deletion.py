"""`del x` of the only name of an object."""


class Closed:
    def __del__(self):
        pass


class Shared:
    def __del__(self):
        pass


kept = []


def main():
    closed = Closed()
    del closed
    shared = Shared()
    kept.append(shared)
    del shared
