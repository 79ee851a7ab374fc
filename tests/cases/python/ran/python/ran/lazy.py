"""A module whose `__getattr__` runs for names that it lacks, and for no other."""


def here():
    pass


def made():
    pass


class Made:
    def __init__(self):
        pass


def __getattr__(name):
    if name == "later":
        return made
    raise AttributeError(name)
