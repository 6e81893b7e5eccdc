"""Trees of the shared treebanks, those that are not projective once lifted: oracle, then `tree`, gives the tree back."""

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
# Every so manieth tree of the larger files; all of the others.
STEPS = {LARGE: 50, "ud/en_ewt-ud-train.conllu": 4, "ud/en_gum-ud-train.conllu": 4, "ptb/ptb-sample-sd.conll": 2}


@pytest.mark.slow
@pytest.mark.parametrize("name", TREEBANKS)
def test_oracles_on_real_trees(name: str) -> None:
    """Derivations give the tree back, the batched oracle equals the pure one, and packs keep every action."""
    report = TreebankReport()
    every = read_treebank([data_file(name)], roots="first", report=report)
    trees = list(islice(every, None, None, STEPS.get(name, 1)))
    assert len(trees) > 1000
    batch = SentenceBatch.of(trees, [[[1] for _ in tree.words] for tree in trees])
    for system in map(transitions.get, ("arc-standard", "arc-hybrid", "arc-eager", "arc-swift")):
        oracles = [system.oracle(tree) for tree in trees]
        assert [system.tree(oracle).key for oracle in oracles] == [tree.key for tree in trees]
        expected = expand_actions(system.table, batch, oracles)
        assert torch.equal(system.derive(batch).id, expected.id)
    for family in map(families.get, ("dtg", "dtg-eager", "dtg-swift")):
        actions = family.system.derive(batch)
        packed = pack(family, actions, root=0)
        predicted = packed.target[packed.target >= 0]
        assert torch.equal(predicted, torch.arange(len(actions.id)))
    if name == LARGE:
        assert_as_described(report)


def assert_as_described(report: TreebankReport) -> None:
    """What the data's README says: 201,724 sentences, 3.67M words, 137 with several roots, 94 % projective."""
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
