"""`ProjectiveCRF` against the enumeration of all trees, up to six words, and against slow twins beyond."""

from __future__ import annotations

import pytest
import torch

from dtg.parser import ProjectiveCRF
from tests.parser.cells import enumerate_trees, full, k_best_by_cells, log_partition_by_cells, random_scores

COUNTS = {1: 1, 2: 2, 3: 7, 4: 30, 5: 143, 6: 728}  # single-root projective trees

lengths = pytest.mark.parametrize("words", COUNTS)


@lengths
def test_zero_scores_count_the_trees(words: int) -> None:
    scores = torch.zeros(1, words, words + 1, dtype=torch.float64)
    assert ProjectiveCRF(scores, full(scores)).log_partition().exp().item() == pytest.approx(COUNTS[words], rel=1e-12)


@lengths
def test_sums_over_trees_equal_enumeration(words: int) -> None:
    scores = random_scores(3, words, seed=words, scale=2.0).requires_grad_()
    crf = ProjectiveCRF(scores, full(scores))
    log_partition, marginals, entropy = crf.log_partition(), crf.marginals(), crf.entropy()
    (gradient,) = torch.autograd.grad(log_partition.sum(), scores)
    assert torch.allclose(gradient, marginals, atol=1e-12)
    for b in range(3):
        trees, values = enumerate_trees(scores[b].detach())
        log_p = values.log_softmax(0)
        one_hot = torch.nn.functional.one_hot(trees, words + 1).double()
        assert torch.allclose(log_partition[b], values.logsumexp(0))
        assert torch.allclose(marginals[b], torch.einsum("t,tmh->mh", log_p.exp(), one_hot), atol=1e-12)
        assert torch.allclose(entropy[b], -(log_p.exp() * log_p).sum(), atol=1e-12)
        assert torch.allclose(ProjectiveCRF(scores[b : b + 1], full(scores[:1])).log_probability(trees[None])[0], log_p)


@lengths
def test_the_whole_list_of_best_trees_equals_enumeration(words: int) -> None:
    scores = random_scores(3, words, seed=10 + words)
    crf = ProjectiveCRF(scores, full(scores))
    found, best = crf.k_best(1000), crf.best()
    assert found.counts.tolist() == [COUNTS[words]] * 3
    for b in range(3):
        trees, values = enumerate_trees(scores[b])
        values, order = values.sort(descending=True)
        assert torch.equal(found.heads[b, : len(trees)], trees[order])
        assert torch.allclose(found.scores[b, : len(trees)], values)
        assert torch.allclose(found.log_probabilities[b, : len(trees)], values.log_softmax(0))
        assert torch.equal(best.heads[b], trees[order[0]])
        assert torch.allclose(best.scores[b], values[0])
        assert torch.allclose(best.log_probabilities[b], values.log_softmax(0)[0])
    assert (found.heads[:, COUNTS[words] :] == -1).all()
    assert (found.log_probabilities[:, COUNTS[words] :] == -torch.inf).all()


@pytest.mark.parametrize("k", [1, 2, 5, 17, 100])
def test_short_lists_are_the_beginnings_of_long_ones(k: int) -> None:
    scores = random_scores(4, 6, seed=20)
    crf = ProjectiveCRF(scores, full(scores))
    assert torch.equal(crf.k_best(k).heads, crf.k_best(728).heads[:, :k])


def test_best_trees_of_a_longer_sentence_equal_the_twin() -> None:
    scores = random_scores(1, 11, seed=21)
    found = ProjectiveCRF(scores, full(scores)).k_best(40)
    twin = k_best_by_cells(scores[0], 40)
    assert [tuple(heads) for heads in found.heads[0].tolist()] == [heads for _, heads in twin]
    assert found.scores[0].tolist() == pytest.approx([score for score, _ in twin])


def test_a_thousand_best_trees_are_distinct_and_in_order() -> None:
    scores = random_scores(1, 40, seed=22, scale=2.0, dtype=torch.float32)
    crf = ProjectiveCRF(scores, full(scores))
    found = crf.k_best(1000)
    assert len({tuple(heads) for heads in found.heads[0].tolist()}) == 1000
    assert (found.scores[0].diff() <= 0).all()
    assert torch.allclose(crf.log_probability(found.heads), found.log_probabilities, atol=1e-3)


def test_partition_and_gradient_of_a_longer_sentence_equal_the_twin() -> None:
    scores = random_scores(1, 12, seed=23).requires_grad_()
    ours, twin = ProjectiveCRF(scores, full(scores)).log_partition()[0], log_partition_by_cells(scores[0])
    assert torch.allclose(ours, twin)
    (gradient,), (expected,) = torch.autograd.grad(ours, scores), torch.autograd.grad(twin, scores)
    assert torch.allclose(gradient, expected, atol=1e-12)


def test_log_probability_has_the_gradient_of_a_tree_less_the_marginals() -> None:
    scores = random_scores(2, 5, seed=24).requires_grad_()
    crf = ProjectiveCRF(scores, full(scores))
    best = crf.best()
    log_p = crf.log_probability(best.heads)
    assert torch.allclose(log_p, best.log_probabilities)
    (gradient,) = torch.autograd.grad(log_p.sum(), scores)
    assert torch.allclose(gradient, torch.nn.functional.one_hot(best.heads, 6) - crf.marginals(), atol=1e-12)
    assert torch.autograd.gradcheck(lambda s: ProjectiveCRF(s, full(scores)).log_probability(best.heads), scores)
