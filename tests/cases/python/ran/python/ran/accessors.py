"""Reading, setting, deleting and changing in place what a property stands for."""


class Box:
    def __init__(self):
        self._value = 0

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, new):
        self._value = new

    @value.deleter
    def value(self):
        self._value = 0


class Old:
    def __init__(self):
        self._part = 0

    def get_part(self):
        return self._part

    def set_part(self, new):
        self._part = new

    def del_part(self):
        self._part = 0

    part = property(get_part, set_part, del_part)


class Dynamic:
    def __getattr__(self, name):
        return 1

    def __setattr__(self, name, value):
        pass

    def __delattr__(self, name):
        pass


def main():
    box = Box()
    box.value
    box.value = 1
    box.value += 1
    del box.value
    old = Old()
    old.part
    old.part = 1
    old.part += 1
    del old.part
    dynamic = Dynamic()
    dynamic.x
    dynamic.y = 1
    del dynamic.z
