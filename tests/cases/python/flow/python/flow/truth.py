"""Tests of truth, keys of dicts, and calls that lack arguments: what runs, and what only may."""


class Answer:
    def __bool__(self):
        return True


class Number:
    def __eq__(self, other):
        return Answer()

    def __hash__(self):
        return 0


class Attributes: ...


class Words(Attributes):
    def __len__(self):
        return 1


class Table:
    def __getitem__(self, key):
        return key


def compared(one, two):
    if one == two:  # the object that the comparison makes is asked
        return {one: two}
    return None


def tested(some: Attributes, words: Words):
    if some:  # an object of another class below is true without being asked
        return 1
    if words:
        return 2
    return 0


def looked_up(table, key: Number):
    return table[key]  # a table of the tree asks no key


def needs_two(one, two): ...


def needs_one(one): ...


def call(function):
    function(1)  # `needs_two` is called elsewhere


compared(Number(), Number())
looked_up({}, Number())
looked_up(Table(), Number())
for given in (needs_one, needs_two):
    call(given)
