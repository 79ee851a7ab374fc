"""Attributes of modules: submodules, `__getattr__`, dynamic imports, a callee that only its name gives away."""

import importlib

from flow import lazy, passing
from flow.lazy import made_up


class Only:
    def the_only_method_of_this_name(self):
        pass


def use(anything, name):
    passing.default()
    lazy.nothing_of_this_name()
    made_up()
    importlib.import_module("flow.passing").callee()
    anything.the_only_method_of_this_name()
    getattr(passing, "call" + name)()
