"""`__new__` decides which object there is, and so whose `__init__` runs, if any."""


class Other:
    def __init__(self):
        pass

    def act(self):
        pass


class GivesOther:
    def __new__(cls):
        return Other()

    def __init__(self):
        pass

    def act(self):
        pass


class GivesNumber:
    def __new__(cls):
        return 1

    def __init__(self):
        pass


class GivesNothing:
    def __new__(cls):
        pass

    def __init__(self):
        pass


class Plain:
    def __new__(cls, *args):
        return super().__new__(cls)

    def __init__(self):
        pass

    def act(self):
        pass


class Below(Plain):
    def __init__(self):
        pass


class Picks:
    def __new__(cls):
        return object.__new__(Picked)

    def __init__(self):
        pass


class Picked(Picks):
    def __init__(self):
        pass

    def act(self):
        pass


class Cached:
    _all = {}

    def __new__(cls, key):
        if key not in cls._all:
            cls._all[key] = super().__new__(cls)
        return cls._all[key]

    def __init__(self, key):
        pass


def main():
    GivesOther().act()
    GivesNumber()
    GivesNothing()
    Plain().act()
    Below().act()
    Picks().act()
    Cached("a")
