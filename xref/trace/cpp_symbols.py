"""Finds the C++ symbols that demangled names stand for: by qualified name, then by parameter types; lambdas by the
function that they are written in.

Both sides are reduced before they are compared: template arguments, namespaces in front of types, `const`, references
and spaces differ between a demangler (which writes what a type is) and source (which writes an alias).
"""

from __future__ import annotations

import re
import sqlite3
from typing import NamedTuple

from xref.model import Id

_LAMBDA = re.compile(r"\{lambda\((.*)\)#(\d+)\}")
_TAG = re.compile(r"\[abi:[^\]]*\]")
_CLONE = re.compile(r"(?: \[clone [^\]]*\]|\.(?:part|constprop|isra|cold|lto_priv)(?:\.\d+)*)+$")
_BRACKET = re.compile(r"[<(]")
_WORD = re.compile(r"[A-Za-z_~]\w*")
_NOISE = frozenset({"const", "volatile", "struct", "class", "typename", "unsigned", "signed", "enum"})
_ANONYMOUS = "(anonymous namespace)"
_CALLABLE = "('function', 'method', 'constructor', 'destructor', 'conversion', 'lambda')"

STANDARD = "of the C++ standard library or another library, compiled into TVM's"
GENERATED = "made by the compiler: no source names it"
NOT_INDEXED = "no C++ function of this name in the index"
AMBIGUOUS = "several overloads, none with these parameter types"


_SAME_TYPES = {
    "basic_string": "string", "basic_string_view": "string_view", "basic_ostream": "ostream", "int32_t": "int",
    "uint32_t": "int", "int64_t": "long", "uint64_t": "long", "size_t": "long", "ssize_t": "long", "ptrdiff_t": "long",
    "uintptr_t": "long", "intptr_t": "long", "int16_t": "short", "uint16_t": "short", "int8_t": "char",
    "uint8_t": "char", "nullptr_t": "nullptr_t", "decltype": "nullptr_t",
}  # fmt: skip
"""How a demangler spells what source calls otherwise (x86-64 and AArch64 Linux, libstdc++)."""


class _Candidate(NamedTuple):
    """`types` are its parameters', reduced; "" stands for any type (a template's parameter, auto), "..." for any number
    of them.
    """

    id: Id
    types: tuple[str, ...] | None


class CppSymbols:
    """The C++ functions of an index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._known: dict[str, tuple[Id | None, str]] = {}

    def find(self, name: str) -> tuple[Id | None, str]:
        """The symbol of the demangled `name`; or None, and why."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._find(name)
        return found

    def is_lambda(self, symbol: Id) -> bool:
        """Whether the symbol is a lambda."""
        kinds = self._db.execute("SELECT kind FROM symbol WHERE id = ?", (symbol,))
        return any(kind == "lambda" for (kind,) in kinds)

    def _find(self, name: str) -> tuple[Id | None, str]:
        parts = split_name(_CLONE.sub("", _TAG.sub("", name)))
        if parts is None or not parts[0]:
            return None, GENERATED
        path, types = parts
        if any("{lambda" in part for part in path):
            return self._lambda(name)
        if path[0] in ("std", "__gnu_cxx", "operator new", "__cxxabiv1", "dmlc", "picojson", "llvm", "mlir"):
            return None, STANDARD
        if path[0] in ("vtable for", "guard variable for") or path[-1] in ("_FUN", "_init", "_start"):
            return None, GENERATED
        candidates = self._candidates("::".join(path))
        if not candidates:
            return self._missing(path)
        return _choose(candidates, types)

    def _missing(self, path: tuple[str, ...]) -> tuple[Id | None, str]:
        """Why there is no such function: its class may be there, with a member that the compiler wrote."""
        owner = "::".join(path[:-1])
        last = path[-1]
        class_name = path[-2] if len(path) > 1 else ""
        if last in (class_name, f"~{class_name}", "operator="):
            known = self._db.execute(
                "SELECT 1 FROM symbol WHERE qualname = ? AND lang = 'cpp' AND kind IN ('class', 'struct')", (owner,)
            ).fetchone()
            if known is not None:
                return None, GENERATED
        return None, NOT_INDEXED if path[0] == "tvm" or len(path) == 1 else STANDARD

    def _lambda(self, name: str) -> tuple[Id | None, str]:
        start = name.find("::{lambda(")
        end = name.find("}", start)
        outer, matched = split_name(name[:start]), _LAMBDA.fullmatch(name[start + 2 : end + 1])
        if outer is None or matched is None or not outer[0]:
            return None, GENERATED
        if outer[0][0] == "std":
            return None, STANDARD
        functions = self._candidates("::".join(outer[0]))
        if not functions:
            return None, NOT_INDEXED
        chosen, reason = _choose(functions, outer[1])
        if chosen is None:
            return None, reason
        lambdas = self._lambdas_in(chosen)
        if len(lambdas) == 1:
            return lambdas[0].id, ""
        types = _types(matched.group(1))
        # All of one function's macros write the same closure, whose parameters may be spelt as aliases of it.
        distances = [_distance(one.types, types) for one in lambdas]
        nearest = min(distances, default=_FAR)
        fitting = [one for one, distance in zip(lambdas, distances, strict=True) if distance == nearest < _FAR]
        order = int(matched.group(2))
        # The number counts the closures with the same parameters, in the order of the source (Itanium ABI, 5.1.8).
        if order <= len(fitting):
            return fitting[order - 1].id, ""
        return None, "several lambdas in that function, none with these parameter types"

    def _lambdas_in(self, function: Id) -> list[_Candidate]:
        """The lambdas written in a function itself, in the order of the source; `types` by their parameters."""
        rows = self._db.execute(
            "SELECT id FROM symbol WHERE parent_id = ? AND kind = 'lambda' ORDER BY line, col", (function,)
        ).fetchall()
        found = []
        for (id_,) in rows:
            parameters = self._db.execute(
                "SELECT signature, name FROM symbol WHERE parent_id = ? AND kind = 'parameter' ORDER BY line, col",
                (id_,),
            )
            types = tuple(
                _open(_type(signature.removesuffix(name)), frozenset({"auto"})) for signature, name in parameters
            )
            found.append(_Candidate(id_, types))
        return found

    def _candidates(self, qualname: str) -> list[_Candidate]:
        rows = self._db.execute(
            f"SELECT id, parent_id, signature FROM symbol WHERE qualname = ? AND lang = 'cpp' AND kind IN {_CALLABLE}"
            " ORDER BY is_definition DESC, id",
            (qualname,),
        ).fetchall()
        found = []
        for id_, parent, signature in rows:
            names = self._db.execute(
                "SELECT name FROM symbol WHERE kind = 'template_parameter' AND parent_id IN (?, ?)", (id_, parent)
            )
            anything = frozenset({"auto", *(name for (name,) in names)})
            types = signature_types(signature)
            found.append(_Candidate(id_, types and tuple(_open(one, anything) for one in types)))
        return found


def _open(reduced: str, anything: frozenset[str]) -> str:
    """A reduced type, "" when it is one of the names that stand for anything."""
    if reduced.endswith("..."):
        return "..."
    return "" if reduced.rstrip("*&") in anything else reduced


def _choose(candidates: list[_Candidate], types: tuple[str, ...] | None) -> tuple[Id | None, str]:
    if len(candidates) == 1:
        return candidates[0].id, ""
    if types is None:
        return None, AMBIGUOUS
    distances = [_distance(one.types, types) for one in candidates]
    best = min(distances)
    nearest = [one for one, distance in zip(candidates, distances, strict=True) if distance == best]
    # A type that differs may be an alias of the same one; when that leaves two, nothing tells them apart.
    if best == _FAR or (best >= _ALIAS and len(nearest) > 1):
        return None, AMBIGUOUS
    return nearest[0].id, ""


_ALIAS, _FAR = 100, 1 << 20


def _distance(known: tuple[str, ...] | None, types: tuple[str, ...]) -> int:
    """How far the parameters are from each other: 1 for each that may be any type, `_ALIAS` for each that differs;
    another number of parameters is `_FAR`.
    """
    if known is None:
        return _FAR
    if "..." in known:
        # Parameters that a macro wrote are all at one place of the source: their order is not known.
        certain = [one for one in known if one != "..."]
        return sum(_ALIAS for one in certain if one and one not in types) + 1 if len(certain) <= len(types) else _FAR
    if len(known) != len(types):
        return _FAR
    return sum(0 if one == other else 1 if not one else _ALIAS for one, other in zip(known, types, strict=True))


def signature_types(signature: str) -> tuple[str, ...] | None:
    """The reduced parameter types of a signature as the index keeps it (`int f(const A &) const`); None without."""
    start = _parameters_at(signature)
    if start < 0:
        return None
    return _types(signature[start + 1 : _closing(signature, start)])


def split_name(name: str) -> tuple[tuple[str, ...], tuple[str, ...] | None] | None:
    """A demangled name as the parts of its qualified name, without template arguments, and its reduced parameter
    types (None when it has no parameter list). Inner functions keep their parameters: `f(int)`, `{lambda(int)#1}`.
    None when the brackets do not match.
    """
    name = name.replace(_ANONYMOUS, "")
    parts: list[str] = []
    depth, begin, place = 0, 0, 0
    parameters = -1
    while place < len(name):
        operator = _operator_end(name, place)
        if operator:
            place = operator
            continue
        letter = name[place]
        if letter in "(<{[":
            if letter == "(" and depth == 0:
                parameters = place
            depth += 1
        elif letter in ")>}]" and not (letter == ">" and name[place - 1] == "-"):
            depth -= 1
        elif depth == 0 and name.startswith("::", place):
            parts.append(name[begin:place])
            begin, parameters = place + 2, -1
            place += 1
        elif letter == " " and depth == 0 and parameters < 0:
            # What stands before was the result's type, which templates carry.
            parts.clear()
            begin = place + 1
        place += 1
    if depth:
        return None
    types = None
    last = name[begin:]
    if parameters >= begin:
        types = _types(name[parameters + 1 : _closing(name, parameters)])
        last = name[begin:parameters]
    parts.append(last)
    cleaned = [part if "{lambda" in part else _bare(part) for part in parts]
    return tuple(part for part in cleaned if part), types


def _operator_end(name: str, place: int) -> int:
    """Where an operator's name ends that begins at `place`, with brackets that are none; 0 when none begins there."""
    if not name.startswith("operator", place) or (place and (name[place - 1].isalnum() or name[place - 1] == "_")):
        return 0
    for spelling in ("()", "<<=", ">>=", "<=>", "<<", ">>", "->*", "->", "<=", ">=", "<", ">", "[]"):
        if name.startswith(spelling, place + 8):
            return place + 8 + len(spelling)
    return place + 9 if name[place + 8 : place + 9] == " " else 0


def _bare(part: str) -> str:
    """A part of a name without template arguments and parameters."""
    start = _operator_end(part, 0) or 0
    match = _BRACKET.search(part, start)
    return part[: match.start()] if match else part


def _parameters_at(signature: str) -> int:
    depth, place = 0, 0
    while place < len(signature):
        operator = _operator_end(signature, place)
        if operator:
            place = operator
            continue
        letter = signature[place]
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth -= 1
        elif letter == "(" and depth == 0:
            return place
        place += 1
    return -1


def _closing(text: str, start: int) -> int:
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place
    return len(text)


def _types(text: str) -> tuple[str, ...]:
    if text.strip() in ("", "void"):
        return ()
    found, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        if letter in "(<{[":
            depth += 1
        elif letter in ")}]" or (letter == ">" and text[place - 1] != "-"):
            depth -= 1
        elif letter == "," and depth == 0:
            found.append(_type(text[begin:place]))
            begin = place + 1
    return (*found, _type(text[begin:]))


def _type(text: str) -> str:
    """The last word of a type's name without its arguments, and its stars: enough to tell overloads apart."""
    outer, depth = [], 0
    for place, letter in enumerate(text):
        if letter in "<(":
            depth += 1
        if depth == 0:
            outer.append(letter)
        if letter == ")" or (letter == ">" and text[place - 1] != "-"):
            depth -= 1
    plain = "".join(outer)
    words = [word for word in _WORD.findall(plain) if word not in _NOISE]
    last = _SAME_TYPES.get(words[-1], words[-1]) if words else "int"
    return last + "*" * plain.count("*") + ("&&" if "&&" in plain else "") + ("..." if "..." in plain else "")
