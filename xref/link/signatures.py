"""What the signatures of C++ symbols say: text that the extractor has from clang, `Result name(Type, Type) const`."""

from __future__ import annotations

import re

_SCOPE = re.compile(r"(?:\w+(?:<[^<>]*>)?|\(anonymous(?: namespace)?\))::|\b(?:class|struct|enum|typename)\b")
_ARGUMENTS = re.compile(r"<.*")


def parameters(name: str, signature: str) -> tuple[str, ...]:
    """The types of the parameters, without the scopes that they are written with."""
    depth, found = 1, [""]
    for character in signature[signature.find(f"{name}(") + len(name) + 1 :]:
        depth += (character in "(<[{") - (character in ")>]}")
        if not depth:
            break
        if character == "," and depth == 1:
            found.append("")
        else:
            found[-1] += character
    types = tuple(" ".join(_SCOPE.sub("", one).split()) for one in found)
    return types if types != ("",) else ()


def class_of(written: str) -> str:
    """The last name of the type, but for its template arguments: its class."""
    words = _ARGUMENTS.sub("", written).rstrip(") *&").replace("::", " ").split()
    return words[-1] if words else ""


def first_class(signature: str) -> str:
    """The class of the first parameter."""
    return class_of(signature.partition("(")[2].split(",", 1)[0])
