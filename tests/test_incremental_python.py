"""After chains of edits of Python files, the index that was brought up to date equals one made anew, view by view.

The edits are drawn by seed, so that each kind meets what others left. What may be kept is kept, too: a comment costs no
new solution of the value flow.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from python_edits import EDITS, MOVING, Edit, make_tree
from same_index import differences

from xref.index import IndexOptions, run_index
from xref.link import flow


@pytest.mark.parametrize("seed", range(3))
def test_after_a_chain_of_edits_the_index_is_as_a_new_one(tmp_path: Path, seed: int) -> None:
    root, db = make_tree(tmp_path / "it"), tmp_path / "x.db"
    run_index(IndexOptions(root, db))
    rng = random.Random(seed)
    done: list[str] = []
    for edit in rng.sample(EDITS, len(EDITS)):
        done.append(f"{edit.__name__} {edit(root, rng)}")
        if rng.random() < 0.4:  # something moves, and something else changes
            done.append(f"{MOVING[0].__name__} {MOVING[0](root, rng)}")
        run_index(IndexOptions(root, db))
        run_index(IndexOptions(root, tmp_path / "fresh.db", force=True))
        assert differences(db, tmp_path / "fresh.db") == {}, done


@pytest.mark.parametrize("edit", MOVING)
def test_what_only_moves_is_neither_checked_nor_solved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edit: Edit
) -> None:
    root, db = make_tree(tmp_path / "it"), tmp_path / "x.db"
    run_index(IndexOptions(root, db))
    with monkeypatch.context() as patch:
        patch.setattr(flow, "_Answers", None)
        for seed in range(4):
            edit(root, random.Random(seed))
            summary = run_index(IndexOptions(root, db))
            assert summary.unchanged or summary.reread["python"] == 1
    run_index(IndexOptions(root, tmp_path / "fresh.db"))
    assert differences(db, tmp_path / "fresh.db") == {}
