"""What a metaclass runs when its class is defined, and when that is called."""


class Meta(type):
    def __new__(mcs, name, bases, namespace):
        return super().__new__(mcs, name, bases, namespace)

    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)

    def __call__(cls, *args):
        return super().__call__(*args)

    def __len__(cls):
        return 1

    def __iter__(cls):
        return iter(())

    def __getitem__(cls, key):
        return key

    def helper(cls):
        pass


class Made(metaclass=Meta):
    def __new__(cls, *args):
        return super().__new__(cls)

    def __init__(self, *args):
        pass

    def act(self):
        pass


class Below(Made):
    def __init__(self):
        pass


class Single(type):
    _made = {}

    def __call__(cls):
        if cls not in cls._made:
            cls._made[cls] = type.__call__(cls)
        return cls._made[cls]


class Only(metaclass=Single):
    def __init__(self):
        pass

    def act(self):
        pass


def build():
    class Local(Made):
        pass

    return Local


def main():
    Made().act()
    Below().act()
    Only().act()
    len(Made)
    for _ in Below:
        pass
    Made["a"]
    Made.helper()
    build()()
