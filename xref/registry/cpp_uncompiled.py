"""FFI registrations that did not compile, because a header that they need is missing: read by tokens.

`GlobalDef().def("cutlass.gemm_e4m3_e4m3_fp16", tvm_cutlass_fp8_gemm<cutlass::float_e4m3_t, ..>)` leaves nothing in
clang's tree without CUTLASS, and takes the registrations of the same chain with it. What such a key runs is not known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xref.cpp.clang import CXCursor
from xref.cpp.tokens import IDENTIFIER, LITERAL, Token, file_tokens
from xref.model import KeyDef
from xref.registry.cpp_ffi import REGISTRY
from xref.registry.cpp_record import UNCOMPILED
from xref.registry.cpp_values import unquote

if TYPE_CHECKING:
    from xref.cpp.walk import Walk

OPENERS = frozenset({"TVM_REGISTER_GLOBAL", "TVM_FFI_REGISTER_GLOBAL"})
"""Macros whose whole argument is the key (to v0.20; v0.21)."""
CHAIN = "GlobalDef"
METHODS = frozenset({"def", "def_packed", "def_method"})
"""Methods of a chain that `GlobalDef()` begins (from v0.21), whose first argument is the key."""
_WRITTEN = re.compile(rb'(?:TVM_(?:FFI_)?REGISTER_GLOBAL|\bdef(?:_packed|_method)?)\s*\(\s*"([^"\\\n]*)"')


def finish(walk: Walk, root: CXCursor) -> None:
    """Add the keys that stand in the text of an owned file and were not met in its tree."""
    for path, facts in walk.facts.items():
        source = walk.source_of(path)
        known = {d.name for d in facts.key_defs}
        written = {m.group(1).decode("utf-8", "replace") for m in _WRITTEN.finditer(source)}
        if written <= known:
            continue
        found = _registrations(file_tokens(root, walk.paths.absolute(path)))
        facts.key_defs += [
            KeyDef(REGISTRY, name, "cpp", line, note=UNCOMPILED) for name, line in found if name not in known
        ]


def _registrations(tokens: list[Token]) -> list[tuple[str, int]]:
    """(key, line) of each registration whose key is written as literals only."""
    found = []
    in_chain = False
    for at, token in enumerate(tokens):
        if token.text == ";":
            in_chain = False
        elif token.text == CHAIN:
            in_chain = True
        elif token.kind == IDENTIFIER and (
            token.text in OPENERS or (in_chain and token.text in METHODS and tokens[at - 1].text == ".")
        ):
            name, line, following = _literals(tokens, at + 2)
            if name and tokens[at + 1].text == "(" and following == (")" if token.text in OPENERS else ","):
                found.append((name, line))
    return found


def _literals(tokens: list[Token], at: int) -> tuple[str, int, str]:
    """The literals from `at` on as one string, the line of the first, and what follows them."""
    name, line = "", tokens[at].line if at < len(tokens) else 0
    while at < len(tokens) and tokens[at].kind == LITERAL and tokens[at].text.startswith('"'):
        name += unquote(tokens[at].text)
        at += 1
    return name, line, tokens[at].text if at < len(tokens) else ""
