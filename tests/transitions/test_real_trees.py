"""Every projective tree of the shared treebanks, and the others once lifted: oracle, then `tree`, gives the tree back."""

from __future__ import annotations

from itertools import islice

import pytest
import torch

from dtg import families, read_treebank, transitions
from dtg.families import pack
from dtg.transitions.arcs.arc_swift import ArcSwift
from dtg.transitions.batch import SentenceBatch, expand_actions
from dtg.trees import TreebankReport
from tests.real_data import TREEBANKS, data_file

LARGE = "amalgum/amalgum-train.conllu.gz"


@pytest.mark.slow
@pytest.mark.parametrize("name", TREEBANKS)
def test_oracle_and_back(name: str) -> None:
    """Every sentence; of AMALGUM's 200,000 every twentieth."""
    systems = [transitions.get(name) for name in ("arc-standard", "arc-hybrid", "arc-eager", "arc-swift")]
    count = 0
    for tree in islice(read_treebank([data_file(name)], roots="first"), None, None, 20 if name == LARGE else 1):
        count += 1
        for system in systems:
            assert system.tree(system.oracle(tree)).key == tree.key
    assert count > 1000


@pytest.mark.slow
@pytest.mark.parametrize("name", TREEBANKS)
def test_batched_oracle_on_real_trees(name: str) -> None:
    """Up to 12,000 trees of each file: the batched oracle equals the pure one, and packs keep every action."""
    trees = list(islice(read_treebank([data_file(name)], roots="first"), 12_000))
    for start in range(0, len(trees), 2000):
        some = trees[start : start + 2000]
        batch = SentenceBatch.of(some, [[[1] for _ in tree.words] for tree in some])
        for system in map(transitions.get, ("arc-standard", "arc-eager", "arc-swift")):
            derived = system.derive(batch)
            expected = expand_actions(system.table, batch, [system.oracle(tree) for tree in some])
            assert torch.equal(derived.id, expected.id)
        for family in map(families.get, ("dtg", "dtg-eager", "dtg-swift")):
            actions = family.system.derive(batch)
            packed = pack(family, actions, root=0)
            predicted = packed.target[packed.target >= 0]
            assert torch.equal(predicted, torch.arange(len(actions.id)))


@pytest.mark.slow
def test_amalgum_counts() -> None:
    """What the data's README says: 201,724 sentences, 3.67M words, 137 with several roots, 94 % projective."""
    report = TreebankReport()
    for _ in read_treebank([data_file(LARGE)], roots="first", report=report):
        pass
    assert (report.sentences, report.words, report.several_roots) == (201_724, 3_673_747, 137)
    assert report.lifted_sentences == report.nonprojective == 11_305
    assert report.lifted_arcs == 15_906
    assert report.skipped == []


def test_ptb_distances_stay_within_arc_swifts_limit() -> None:
    """The design: k reaches 17 in real newswire."""
    trees = list(read_treebank([data_file("ptb/ptb-sample-sd.conll")]))
    batch = SentenceBatch.of(trees, [[[1] for _ in tree.words] for tree in trees])
    system = ArcSwift(distance_limit=100)
    distance = system.table.on(batch.device).argument[system.derive(batch).id]
    assert int(distance.max()) == 17
