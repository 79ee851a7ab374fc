"""FFI functions that Python registers under a name that it puts together, and look-ups of names that it puts together:
each that is missed hides what C++ runs, or a caller.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from python_case import index

from xref.model import FileFacts

PACKAGE = {
    "python/tvm_ffi/__init__.py": (
        "def get_global_func(name, allow_missing=False): ...\n"
        "def register_global_func(func_name, f=None, override=False): ...\n"
        "def register_object(type_key): ...\n"
        "def init_ffi_api(namespace, target_module_name=None): ...\n"
    ),
    "python/tvm/__init__.py": "",
    "python/tvm/_ffi_api.py": "import tvm_ffi\ntvm_ffi.init_ffi_api('demo', __name__)\n",
}


@pytest.fixture(name="facts_of")
def facts_of_fixture(tmp_path: Path):  # type: ignore[no-untyped-def]
    """A function from the code of tvm/code.py to its facts."""

    def facts_of(code: str) -> FileFacts:
        for name, text in (PACKAGE | {"python/tvm/code.py": code}).items():
            (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "tree" / name).write_text(text, "utf-8")
        (tmp_path / "scratch").mkdir()
        return index(tmp_path / "tree", tmp_path / "scratch")["python/tvm/code.py"]

    return facts_of


def test_names_that_are_put_together_are_registered(facts_of) -> None:  # type: ignore[no-untyped-def]
    """tvm/relax/training/utils.py:208 `register_global_func(func_prefix + te_grad_name, handler)`."""
    facts = facts_of(
        "from tvm_ffi import register_global_func as register, register_object\n"
        "PREFIX = 'demo'\n"
        "@register('demo' + '.sum')\n"
        "def a(x): ...\n"
        "@register(f'{PREFIX}.text', override=True)\n"
        "def b(x): ...\n"
        "for name in ('x', 'y'):\n"
        "    register('demo.loop.' + name, a)\n"
        "def factory(name):\n"
        "    @register(name)\n"
        "    def made(x): ...\n"
        "    return made\n"
        "factory('demo.made')\n"
        "def later(name):\n"
        "    register(PREFIX + '.later.' + name, a)\n"
        "def unknown(name):\n"
        "    register(name, a)\n"
        "KEY = 'demo.Node'\n"
        "@register_object(KEY)\n"
        "class Node: ...\n"
    )
    found = {(d.registry, d.name, d.line) for d in facts.key_defs}
    assert found == {
        ("ffi", "demo.sum", 3),
        ("ffi", "demo.text", 5),
        ("ffi", "demo.loop.x", 7),
        ("ffi", "demo.loop.y", 7),
        ("ffi", "demo.made", 13),
        ("ffi", "demo.later.*", 15),
        ("type", "demo.Node", 19),
    }
    assert [(u.line, u.reason) for u in facts.unresolved if "registered" in u.reason] == [
        (17, "name of a registered ffi key is known only at run time")
    ]


def test_what_the_code_copes_without_is_optional(facts_of) -> None:  # type: ignore[no-untyped-def]
    facts = facts_of(
        "import tvm_ffi\n"
        "from . import _ffi_api\n"
        "def tried():\n"
        "    try:\n"
        "        f = tvm_ffi.get_global_func('demo.tried')\n"
        "    except ValueError:\n"
        "        f = None\n"
        "    try:\n"
        "        return _ffi_api.caught(1)\n"
        "    except (AttributeError, TypeError):\n"
        "        return f\n"
        "def tested():\n"
        "    return hasattr(_ffi_api, 'tested') and _ffi_api.tested()\n"
        "def handled():\n"
        "    try:\n"
        "        return _ffi_api.required(1)\n"
        "    except KeyError:\n"
        "        return None\n"
    )
    optional = {use.name: use.optional for use in facts.key_uses}
    assert optional == {"demo.tried": True, "demo.caught": True, "demo.tested": True, "demo.required": False}


def test_a_call_of_a_variable_runs_each_function_that_it_is_given(facts_of) -> None:  # type: ignore[no-untyped-def]
    """tvm/arith/int_solver.py:177 `f = _ffi_api.A if c else _ffi_api.B`."""
    facts = facts_of(
        "import tvm_ffi\n"
        "from . import _ffi_api\n"
        "def either(which):\n"
        "    f = _ffi_api.a if which else _ffi_api.b\n"
        "    return f(1)\n"
        "def branches(which):\n"
        "    if which:\n"
        "        f = _ffi_api.c\n"
        "    else:\n"
        "        f = _ffi_api.d\n"
        "    return f(1)\n"
        "def walrus():\n"
        "    if (g := tvm_ffi.get_global_func('demo.e', allow_missing=True)) is not None:\n"
        "        return g(1)\n"
        "def grown(kind):\n"
        "    name = 'demo.'\n"
        "    name += kind\n"
        "    return tvm_ffi.get_global_func(name)\n"
    )
    called = {(use.name, use.line) for use in facts.key_uses if use.calls}
    assert called == {("demo.a", 5), ("demo.b", 5), ("demo.c", 11), ("demo.d", 11), ("demo.e", 14)}
    assert [use.name for use in facts.key_uses if use.line == 18] == ["demo.*"]


def test_a_call_that_a_key_resolves_is_not_listed_as_unresolved(facts_of) -> None:  # type: ignore[no-untyped-def]
    facts = facts_of(
        "import tvm_ffi\n"
        "from . import _ffi_api\n"
        "NAME = 'demo.c'\n"
        "def a(which):\n"
        "    f = _ffi_api.a if which else _ffi_api.b\n"
        "    return f(1)\n"
        "def b():\n"
        "    return tvm_ffi.get_global_func(NAME)(1)\n"
        "def c():\n"
        "    return getattr(_ffi_api, 'd')(1)\n"
        "def d(kind):\n"
        "    return tvm_ffi.get_global_func('demo.' + kind)(1)\n"
    )
    assert [row.line for row in facts.unresolved] == [12]
