"""Functions as arguments: parameters, defaults, partial, map, sorted, star arguments, lambdas, generators, match."""

import functools


def callee():
    pass


def key(item):
    return item


def call(function, *rest, **words):
    function()
    rest[0]()
    words["last"]()


def default(function=callee):
    function()


def use(items):
    call(callee, lambda: 1, last=key)
    arguments = (callee, key)
    call(*arguments, last=callee)
    default()
    functools.partial(call, callee)(callee, last=callee)
    list(map(key, items))
    sorted(items, key=lambda item: item)
    (chosen := callee)()


def generate():
    yield callee


def consume():
    for function in generate():
        function()


def matched(pair):
    match (callee, key):
        case (f, g):
            f()
            g(pair)


async def produce():
    return callee


async def await_it():
    (await produce())()
