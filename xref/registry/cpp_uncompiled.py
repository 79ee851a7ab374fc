"""FFI registrations that did not compile, because a header that they need is missing, or stand in a branch of an #if
that this parse leaves out: read by tokens.

`GlobalDef().def("cutlass.gemm_e4m3_e4m3_fp16", tvm_cutlass_fp8_gemm<cutlass::float_e4m3_t, ..>)` leaves nothing in
clang's tree without CUTLASS, and takes the registrations of the same chain with it. What such a key runs is not known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xref.cpp.clang import CXCursor
from xref.cpp.tokens import IDENTIFIER, KEYWORD, LITERAL, Token, file_tokens, left_out_lines
from xref.model import KeyDef
from xref.registry.cpp_ffi import REGISTRY
from xref.registry.cpp_record import UNCOMPILED
from xref.registry.cpp_values import unquote

if TYPE_CHECKING:
    from xref.cpp.walk import Walk

OPENERS = frozenset({"TVM_REGISTER_GLOBAL", "TVM_FFI_REGISTER_GLOBAL"})
"""Macros whose whole argument is the key (to v0.20; v0.21)."""
LEFT_OUT = "read by tokens: left out by the preprocessor"
CHAIN = "GlobalDef"
METHODS = frozenset({"def", "def_packed", "def_method"})
"""Methods of a chain that `GlobalDef()` begins (from v0.21), whose first argument is the key."""
_QUALIFIED = 9
"""Tokens that may stand between `def =` and the class: `tvm::ffi::reflection::`."""
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
        left_out = left_out_lines(root, walk.paths.absolute(path))
        for name, line in found:
            if name not in known:
                note = LEFT_OUT if line in left_out else UNCOMPILED
                facts.key_defs.append(KeyDef(REGISTRY, name, "cpp", line, note=note))


def _registrations(tokens: list[Token]) -> list[tuple[str, int]]:
    """(key, line) of each registration whose key is written as literals only."""
    found = []
    chains, variables = _chains(tokens)
    in_chain = False
    for at, token in enumerate(tokens):
        following = tokens[at + 1].text if at + 1 < len(tokens) else ""
        if token.text == ";":
            in_chain = False
        elif token.text in chains or (token.text in variables and following == "."):
            in_chain = True
        elif token.kind == IDENTIFIER and (
            token.text in OPENERS or (in_chain and token.text in METHODS and tokens[at - 1].text == ".")
        ):
            name, line, after = _literals(tokens, at + 2)
            if name and following == "(" and after == (")" if token.text in OPENERS else ","):
                found.append((name, line))
    return found


def _chains(tokens: list[Token]) -> tuple[set[str], set[str]]:
    """The names of the class that begins a chain (`using Def = refl::GlobalDef;`), and of variables of it."""
    chains, variables = {CHAIN}, set()
    for at, token in enumerate(tokens):
        if token.kind not in (IDENTIFIER, KEYWORD) or at + 2 >= len(tokens):
            continue
        if token.text == "using" and tokens[at + 2].text == "=":
            end = next((i for i in range(at, len(tokens)) if tokens[i].text == ";"), at)
            if tokens[end - 1].text in chains:
                chains.add(tokens[at + 1].text)
        elif token.text in chains and tokens[at + 1].kind == IDENTIFIER:
            variables.add(tokens[at + 1].text)
        elif tokens[at + 1].text == "=" and any(t.text in chains for t in tokens[at + 2 : at + _QUALIFIED]):
            variables.add(token.text)
    return chains, variables


def _literals(tokens: list[Token], at: int) -> tuple[str, int, str]:
    """The literals from `at` on as one string, the line of the first, and what follows them."""
    name, line = "", tokens[at].line if at < len(tokens) else 0
    while at < len(tokens) and tokens[at].kind == LITERAL and tokens[at].text.startswith('"'):
        name += unquote(tokens[at].text)
        at += 1
    return name, line, tokens[at].text if at < len(tokens) else ""
