"""What the compiler declares in a class where nobody does: constructors, assignments, a destructor ([special]).

Each is a symbol of its own, as it is a function of its own to the compiler: its key follows from that of the class, so
that every unit, and the linker, which sees no syntax tree, name it alike. It has no place.
"""

from __future__ import annotations

from enum import StrEnum

from xref.model import Symbol


class Special(StrEnum):
    """A member that the compiler declares; the value ends its key."""

    DEFAULT = "#"
    COPY = "#&1"
    MOVE = "#&&"
    INHERITED = "#using"
    """All constructors that `using Base::Base` gives to the class."""
    COPY_ASSIGNMENT = "=#&1"
    MOVE_ASSIGNMENT = "=#&&"
    DESTRUCTOR = "~#"

    @property
    def kind(self) -> str:
        """The kind of symbol."""
        if self is Special.DESTRUCTOR:
            return "destructor"
        return "method" if self in ASSIGNMENTS else "constructor"

    def name_in(self, class_name: str) -> str:
        """The member's name in a class of that name."""
        name = class_name.partition("<")[0]
        if self is Special.DESTRUCTOR:
            return f"~{name}"
        return "operator=" if self in ASSIGNMENTS else name

    def signature_in(self, class_name: str) -> str:
        """How a declaration of the member would read; "" for what stands for several."""
        name = class_name.partition("<")[0]
        if self is Special.INHERITED:
            return ""
        taken = f"{name} &&" if self in MOVES else f"const {name} &" if self in MOVES.values() else ""
        return f"{f'{name} & ' if self in ASSIGNMENTS else ''}{self.name_in(class_name)}({taken})"


ASSIGNMENTS = (Special.COPY_ASSIGNMENT, Special.MOVE_ASSIGNMENT)
MOVES = {Special.MOVE: Special.COPY, Special.MOVE_ASSIGNMENT: Special.COPY_ASSIGNMENT}
"""What moves, and what does it in a class that cannot be moved."""
MARK = "@implicit"


def key_of(class_key: str, special: Special) -> str:
    """The key of the member of the class with this key."""
    return f"{class_key}{MARK}{special}"


def special_of(key: str) -> Special | None:
    """Which member of its class a symbol with this key is; None for what somebody declares."""
    _, found, ending = key.rpartition(MARK)
    return Special(ending) if found else None


def symbol_of(class_: Symbol, class_id: int, special: Special) -> Symbol:
    """The member as a symbol; of the class only key, names and linkage count."""
    name = special.name_in(class_.name)
    return Symbol(
        key_of(class_.key, special), special.kind, name, f"{class_.qualname}::{name}", 0, 0, 0,
        special.signature_in(class_.name), parent=class_id, is_definition=False, linkage=class_.linkage,
    )  # fmt: skip
