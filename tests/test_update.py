"""Replacing the facts of files in a finished index gives the index that these facts would have given from the start."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from same_index import differences

from xref.link import link
from xref.link.step import Touched
from xref.model import Call, Evidence, FileFacts, KeyDef, KeyUse, Lang, Ref, Relation, Role, Symbol, symbol_id
from xref.store import IndexBuilder
from xref.update import IndexUpdater, copy_file

NAMES = ("alpha", "alphabet", "beta", "gamma")
FILES = ("a.cc", "b.cc", "c.h", "d.cc")
KEYS = ("lib.one", "lib.two")
KINDS = {"alpha": "class", "beta": "function", "gamma": "function", "alphabet": "class"}
"""By name: a C++ key is clang's USR, which spells the kind, so that a use and a declaration agree on it."""
PARENTS = {"beta": "alpha", "gamma": "alphabet", "alphabet": "alpha"}
"""By name, for the same reason; nothing encloses itself."""


def _key(name: str) -> str:
    return f"cpp:{name}"


_names = st.sampled_from(NAMES)
_ids = _names.map(lambda name: symbol_id(_key(name)))
_lines = st.integers(1, 3)


@st.composite
def _symbols(draw: st.DrawFn) -> Symbol:
    name, line = draw(_names), draw(_lines)
    return Symbol(_key(name), KINDS[name], name, f"ns::{name}", line, 1, line,
                  doc=draw(st.sampled_from(("", "What it does.", "Else."))), parent=_parent(name),
                  is_definition=draw(st.booleans()))  # fmt: skip


def _parent(name: str) -> int | None:
    return symbol_id(_key(PARENTS[name])) if name in PARENTS else None


def _external(name: str) -> Symbol:
    return Symbol(_key(name), KINDS[name], name, f"ns::{name}", 0, 0, 0, parent=_parent(name), is_definition=False)


@st.composite
def _facts(draw: st.DrawFn) -> FileFacts:
    facts = FileFacts("", Lang.CPP, lines=3)
    facts.symbols = draw(st.lists(_symbols(), max_size=4))
    facts.refs = draw(st.lists(st.builds(Ref, _ids, _lines, _lines, st.just(Role.READ), st.none()), max_size=3))
    facts.calls = draw(
        st.lists(st.builds(Call, _ids, _ids, st.just(Evidence.DIRECT), _lines, _lines, st.just("")), max_size=3)
    )
    facts.relations = draw(
        st.lists(st.builds(Relation, _ids, st.sampled_from(("base", "overrides")), _ids), max_size=2)
    )
    facts.key_defs = draw(
        st.lists(st.builds(KeyDef, st.just("ffi"), st.sampled_from(KEYS), st.just("cpp"), _lines, _ids), max_size=2)
    )
    uses = st.builds(KeyUse, st.just("ffi"), st.sampled_from((*KEYS, "lib.*")), st.just("cpp"), _lines, _lines, _ids,
                     st.just(True))  # fmt: skip
    facts.key_uses = draw(st.lists(uses, max_size=2))
    # whatever a file names it declares or lists: the extractors keep to this
    named = {ref.symbol for ref in facts.refs} | {call.callee for call in facts.calls}
    named |= {call.caller for call in facts.calls} | {use.within for use in facts.key_uses if use.within}
    named |= {end for relation in facts.relations for end in (relation.source, relation.target)}
    named |= {symbol.parent for symbol in facts.symbols if symbol.parent} | {
        d.symbol for d in facts.key_defs if d.symbol
    }
    for name in reversed(NAMES):  # what encloses a name comes before it there
        if symbol_id(_key(name)) in named and (parent := _parent(name)) is not None:
            named.add(parent)
    declared = {symbol_id(symbol.key) for symbol in facts.symbols}
    facts.externals = [_external(name) for name in NAMES if symbol_id(_key(name)) in named - declared]
    return facts


_trees = st.dictionaries(st.sampled_from(FILES), _facts(), min_size=1)


def _fill(builder: IndexBuilder, tree: dict[str, FileFacts]) -> None:
    for path in sorted(tree):
        builder.add_file(path, Lang.CPP, "", 0, 0)
    for path, facts in tree.items():
        facts.path = path
        builder.add_facts(facts)
        builder.set_status(path, facts.status, facts.detail, facts.lines)
    builder.flush_symbols()


def _fresh(path: Path, tree: dict[str, FileFacts]) -> Path:
    with IndexBuilder(path) as builder:
        _fill(builder, tree)
        with builder.writing() as db:
            link(db)
        builder.publish()
    return path


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_trees, st.lists(_trees, min_size=1, max_size=2), st.sets(st.sampled_from(FILES)))
def test_an_updated_index_is_a_new_one(
    tree: dict[str, FileFacts], edits: list[dict[str, FileFacts]], gone: set[str]
) -> None:
    with TemporaryDirectory() as folder:
        path = _fresh(Path(folder) / "x.db", tree)
        for edit in edits:
            now = {name: facts for name, facts in {**tree, **edit}.items() if name not in gone} or edit
            with IndexUpdater(path) as updater:
                for name in sorted(tree.keys() - now.keys()):
                    updater.remove_file(name)
                _fill(updater, {name: facts for name, facts in now.items() if name in edit or name not in tree})
                with updater.writing() as db:
                    link(db, Touched(frozenset(updater.touched)))
                updater.publish()
            tree = now
        assert differences(path, _fresh(Path(folder) / "fresh.db", tree)) == {}
        assert sorted(os.listdir(folder)) == ["fresh.db", "x.db"]


def test_a_failed_update_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    path = _fresh(tmp_path / "x.db", {"a.cc": FileFacts("a.cc", Lang.CPP)})
    before = path.read_bytes()
    updater = IndexUpdater(path)
    updater.__enter__()
    updater.remove_file("a.cc")
    updater.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.db"]


@pytest.mark.parametrize("size", [0, 1, 3 << 20])
def test_a_copy_is_the_same(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the kernel, and by reading where the kernel cannot (another file system, an older one)."""
    (tmp_path / "a").write_bytes(os.urandom(size))
    copy_file(tmp_path / "a", tmp_path / "b")
    monkeypatch.delattr(os, "copy_file_range")
    copy_file(tmp_path / "a", tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()
