"""Registrations whose names are computed: loops over tables, helpers that put names together. Evaluated, never guessed.

`kDeviceIntrinsics` and its loop (src/backend/cuda/op/target_builtin.cc, v0.25 on) name 174 operators that no literal
spells. The code that runs when the library is loaded is evaluated over its syntax tree, with strings, numbers, tables
and structures as values (xref.registry.cpp_evaluate). What the evaluation cannot know is `UNKNOWN`: a registration
under an unknown name is a row in `unresolved`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from xref.cpp import kinds
from xref.cpp.clang import CXCursor, children, load, text
from xref.registry.cpp_evaluate import Evaluator
from xref.registry.cpp_operations import UNKNOWN, Closure, Value
from xref.registry.cpp_record import callee_of, constant, define
from xref.registry.cpp_values import argument, function_of

if TYPE_CHECKING:
    from xref.cpp.names import Declaration
    from xref.cpp.walk import Walk

_PER_TYPE = re.compile(rb"\btemplate\s*<[^;{]*\{[^}]*\bdef(?:_packed|_method)?\s*\(")
"""A template whose body registers: `template <typename T> void Register() { GlobalDef().def(Name<T>::value, ..); }`."""
STATIC_INIT_PREFIX = "__TVMFFIStaticInitFunc"
_LONGEST = 120
"""Of a note."""
_CONTAINERS = (kinds.NAMESPACE, *kinds.TRANSPARENT)


class Registration(NamedTuple):
    """A registry that a chain of calls fills: `opener` (a qualified name) takes the key as argument `name`, each of
    `setters` gives it an attribute, filed in `attributes` as "<key>:<attribute>". `runs`: the opener's argument that is
    the function to run, -1 where there is none. `bodies`: methods of the chain whose first argument is the function
    instead."""

    registry: str
    opener: str
    name: int
    attributes: str = ""
    setters: tuple[str, ...] = ()
    runs: int = -1
    bodies: tuple[str, ...] = ()


class Entry(NamedTuple):
    """What an opener returns, while evaluating."""

    form: Registration
    name: Value
    place: CXCursor
    is_literal: bool
    """Whether the name stands in the registering call, so that it was recorded when the walk met it."""


def is_needed(walk: Walk) -> bool:
    """Whether the unit registers what its literals do not tell: a computed name, or a template that registers."""
    return bool(walk.computed) or any(_PER_TYPE.search(walk.source_of(path)) for path in walk.facts)


def finish(walk: Walk, root: CXCursor, forms: tuple[Registration, ...]) -> None:
    """Evaluate the code of the unit that runs at load time."""
    evaluator = TableEvaluator(walk, forms)
    pending = [root]
    while pending:
        for child in children(pending.pop()):
            if child.kind in _CONTAINERS:
                pending.append(child)
            elif walk.position(child)[0] not in walk.facts:
                continue
            elif child.kind == kinds.FUNCTION:
                name = text(load().clang_getCursorSpelling(child))
                if name.startswith(STATIC_INIT_PREFIX):
                    evaluator.run(child)
            elif child.kind == kinds.VARIABLE:
                evaluator.global_value(child)
    for file, row in walk.computed.values():
        walk.facts[file].unresolved.append(row)


class TableEvaluator(Evaluator):
    """Evaluates registering code and records the registrations that it comes by."""

    def __init__(self, walk: Walk, forms: tuple[Registration, ...]) -> None:
        super().__init__()
        self._walk = walk
        self._openers = {form.opener: form for form in forms}
        self._setters = {setter for form in forms for setter in form.setters}
        self._bodies = {body for form in forms for body in form.bodies}
        self._unread: set[tuple[str, int]] = set()
        self._homes = tuple(form.opener.rpartition("::")[0] + "::" for form in forms)

    def special(self, call: CXCursor, environment: dict[int, Value]) -> Value | None:
        """The value of a registering call; None for any other."""
        callee = callee_of(self._walk, call)
        if callee is None or not callee.qualname.startswith(self._homes):
            return None
        if callee.qualname in self._openers:
            return self._open(self._openers[callee.qualname], call, environment)
        receiver = self.receiver(call, environment)
        if isinstance(receiver, Entry) and callee.qualname in self._setters:
            self._set(receiver, call, environment)
        if isinstance(receiver, Entry) and callee.qualname in self._bodies and not receiver.is_literal:
            self._define(receiver.form, receiver.name, receiver.place, call, argument(call, 0), environment)
        return receiver

    def is_own(self, _definition: CXCursor) -> bool:
        """Whether the constructor stands in a file whose facts the unit gives."""
        return self._walk.position(_definition)[0] in self._walk.facts

    def lacks_body(self, function: CXCursor) -> None:
        """Note an instance of a template of the tree that has a body: the unit must be parsed with its instances."""
        template = load().clang_getSpecializedCursorTemplate(function)
        if template.decl and load().clang_getCursorDefinition(template).decl and self._walk.position(template)[0]:
            self._walk.needs_instances = True

    def cut(self, place: CXCursor) -> None:
        """Say that what the code registers was not followed to its end."""
        file, line, col = self._walk.position(place)
        if file in self._walk.facts:
            self._walk.note_unreadable(
                file, line, col, place, "registers more than can be followed: some keys may lack"
            )

    def _open(self, form: Registration, call: CXCursor, environment: dict[int, Value]) -> Entry:
        self.receiver(call, environment)  # what the chain did before
        cursor = argument(call, form.name)
        name = self.value(cursor, environment) if cursor is not None else UNKNOWN
        is_literal = constant(cursor) is not None and self._is_met(form.registry, name, call)
        place = self.row if self.row is not None else cursor if cursor is not None else call
        if not is_literal and not form.bodies:
            runs = argument(call, form.runs) if form.runs >= 0 else None
            self._define(form, name, place, call, runs, environment)
        return Entry(form, name, place, is_literal)

    def _define(
        self,
        form: Registration,
        name: Value,
        place: CXCursor,
        call: CXCursor,
        function: CXCursor | None,
        environment: dict[int, Value],
    ) -> None:
        self._walk.computed.pop(self._walk.token(call), None)
        if isinstance(name, str):
            runs = self._function(function, name, environment)
            define(self._walk, form.registry, name, place, runs, note=f"computed: {self._text(call)}"[:_LONGEST])
        else:
            self._unknown(form.registry, call)

    def _is_met(self, registry: str, name: Value, call: CXCursor) -> bool:
        """Whether the walk recorded the registration: it does not enter the instances of a template."""
        facts = self._walk.facts.get(self._walk.position(call)[0])
        return facts is None or any(d.name == name and d.registry == registry for d in facts.key_defs)

    def _function(self, cursor: CXCursor | None, name: str, environment: dict[int, Value]) -> Declaration | None:
        """What the key runs: a value of the table or of the helper's caller, or what the call itself names."""
        if cursor is None:
            return None
        value = self.value(cursor, environment)
        if isinstance(value, Closure):
            return self._walk.declare_lambda(value.cursor, name)
        if isinstance(value, CXCursor):
            return self._walk.declarations.of(value)
        return function_of(self._walk, cursor, name).target

    def _set(self, entry: Entry, call: CXCursor, environment: dict[int, Value]) -> None:
        cursor, value = argument(call, 0), argument(call, 1)
        name = self.value(cursor, environment) if cursor is not None else UNKNOWN
        if entry.is_literal and constant(cursor) is not None:
            return
        if not isinstance(name, str) or not isinstance(entry.name, str):
            self._unknown(entry.form.attributes, call)
            return
        key = f"{entry.name}:{name}"
        target: Declaration | None = function_of(self._walk, value, key).target
        if target is not None and target.is_function:
            define(self._walk, entry.form.attributes, key, entry.place, target)
            return
        known = self.value(value, environment) if value is not None else UNKNOWN
        note = known if isinstance(known, str) else self._text(value) if value is not None else ""
        define(self._walk, entry.form.attributes, key, entry.place, note=note[:60])

    def _text(self, cursor: CXCursor) -> str:
        return self._walk.source_text(cursor)

    def _unknown(self, registry: str, call: CXCursor) -> None:
        file, line, col = self._walk.position(call)
        mark = (registry, self._walk.token(call))
        if file in self._walk.facts and mark not in self._unread:
            self._unread.add(mark)
            self._walk.note_unreadable(file, line, col, call, f"name of a registered {registry} could not be computed")
