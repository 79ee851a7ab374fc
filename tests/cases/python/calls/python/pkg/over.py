"""Overloads are signatures of one function: its callers are found by its name (tvm_ffi/registry.py, get_global_func)."""

from typing import overload


@overload
def find(name: int) -> int: ...


@overload
def find(name: str) -> str: ...


def find(name):
    return name


def use():
    return find("a")
