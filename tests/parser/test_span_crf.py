"""`SpanCRF` against the enumeration of all trees, up to five words with two labels, and against slow twins beyond."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from dtg.errors import InputError, TreeError
from dtg.parser import SpanCRF
from tests.parser.span_trees import (
    every_nodes,
    every_tree,
    full,
    log_partition_by_cells,
    nodes_tensor,
    random_spans,
    row_numbers,
    tree_scores,
    trees_of,
)

# Trees of 1 to 5 words with labels of one kind and of two kinds, counted by hand for one and two words: with L labels
# (1 + L) ** 2 * L for two words, where each word may have a label or not.
COUNTS = {(1, 1): 1, (1, 2): 2, (2, 1): 4, (2, 2): 18}

words_and_labels = pytest.mark.parametrize(("words", "labels"), [(n, labels) for n in range(1, 6) for labels in (1, 2)])


@words_and_labels
def test_zero_scores_count_the_trees(words: int, labels: int) -> None:
    scores = torch.zeros(1, words, words, labels, dtype=torch.float64)
    count = len(every_tree(words, labels))
    assert COUNTS.get((words, labels), count) == count
    assert SpanCRF(scores, full(scores)).log_partition().exp().item() == pytest.approx(count, rel=1e-12)


@pytest.mark.parametrize("words", range(1, 6))
def test_sums_over_trees_equal_enumeration(words: int) -> None:
    scores = random_spans(2, words, seed=words, scale=2.0).requires_grad_()
    crf = SpanCRF(scores, full(scores))
    log_partition, marginals, entropy = crf.log_partition(), crf.marginals(), crf.entropy()
    (gradient,) = torch.autograd.grad(log_partition.sum(), scores)
    assert torch.allclose(gradient, marginals, atol=1e-12)
    nodes = every_nodes(words, 2)
    for b in range(2):
        values = tree_scores(scores[b].detach())
        log_p = values.log_softmax(0)
        expected = torch.zeros_like(marginals[b])
        for column in range(nodes.shape[1]):
            there = nodes[:, column, 0] > 0
            first, last, label = nodes[there, column].unbind(1)
            expected.index_put_((first - 1, last - 1, label), log_p[there].exp(), accumulate=True)
        assert torch.allclose(log_partition[b], values.logsumexp(0))
        assert torch.allclose(marginals[b], expected, atol=1e-12)
        assert torch.allclose(entropy[b], -(log_p.exp() * log_p).sum(), atol=1e-10)
        alone = SpanCRF(scores[b : b + 1], full(scores[:1]))
        assert torch.allclose(alone.log_probability(nodes[None])[0], log_p, atol=1e-10)


@pytest.mark.parametrize("words", range(1, 6))
def test_the_whole_list_of_best_trees_equals_enumeration(words: int) -> None:
    scores = random_spans(2, words, seed=10 + words)
    crf = SpanCRF(scores, full(scores))
    trees = every_tree(words, 2)
    k = len(trees) + 3
    found, best = crf.k_best(k), crf.best()
    assert found.counts.tolist() == [len(trees)] * 2
    for b in range(2):
        values, order = tree_scores(scores[b]).sort(descending=True)
        listed, expected = row_numbers(found.nodes[b, : len(trees)]), row_numbers(every_nodes(words, 2))
        assert len(expected.unique()) == len(trees)
        assert torch.equal(listed.sort().values, expected.sort().values)
        assert (listed == expected[order]).float().mean() > 0.99  # among thousands of trees some are as good as equal
        assert torch.allclose(found.scores[b, : len(trees)], values)
        assert torch.allclose(found.log_probabilities[b, : len(trees)], values.log_softmax(0))
        assert trees_of(best.nodes[b : b + 1]) == [trees[int(order[0])]]
        assert torch.allclose(best.scores[b], values[0])
        assert torch.allclose(best.log_probabilities[b], values.log_softmax(0)[0])
    assert (found.nodes[:, len(trees) :] == -1).all()
    assert (found.log_probabilities[:, len(trees) :] == -torch.inf).all()


@pytest.mark.parametrize("labels", [1, 2, 3, 4, 5])
def test_lists_with_more_labels_than_are_chosen_at_once(labels: int) -> None:
    scores = random_spans(2, 3, labels, seed=labels)
    trees = every_tree(3, labels)
    found = SpanCRF(scores, full(scores)).k_best(min(len(trees), 500))
    for b in range(2):
        expected = tree_scores(scores[b]).sort(descending=True).values[: found.nodes.shape[1]]
        assert torch.allclose(found.scores[b], expected)
        assert len(set(trees_of(found.nodes[b]))) == found.nodes.shape[1]


@pytest.mark.parametrize("k", [1, 2, 5, 17, 100])
def test_short_lists_are_the_beginnings_of_long_ones(k: int) -> None:
    scores = random_spans(3, 6, 5, seed=20)
    crf = SpanCRF(scores, full(scores))
    assert torch.equal(crf.k_best(k).nodes, crf.k_best(1000).nodes[:, :k])


def test_a_batch_gives_what_single_sentences_give() -> None:
    lengths = torch.tensor([3, 7, 1, 5])
    scores = random_spans(4, 7, 4, seed=21)
    crf = SpanCRF(scores, lengths)
    lists, generator = crf.k_best(20), torch.Generator()
    drawn, distinct = (draw(20, generator.manual_seed(1)) for draw in (crf.sample, crf.sample_without_replacement))
    for b, length in enumerate(lengths.tolist()):
        alone = SpanCRF(scores[b : b + 1, :length, :length], torch.tensor([length]))
        assert torch.allclose(crf.log_partition()[b], alone.log_partition()[0])
        assert torch.allclose(crf.entropy()[b], alone.entropy()[0])
        assert torch.allclose(crf.marginals()[b, :length, :length], alone.marginals()[0])
        assert crf.marginals()[b].sum() == pytest.approx(alone.marginals().sum().item())
        assert trees_of(lists.nodes[b]) == trees_of(alone.k_best(20).nodes[0])
        for some in (drawn, distinct):
            nodes = some.nodes[b, : int(some.counts[b])]
            assert int(nodes.max(0).values[:, 1].max()) <= length
            padded = torch.full((1, 20, 2 * length - 1, 3), -1)
            padded[0, : len(nodes)] = nodes[:, : 2 * length - 1]
            log_p = alone.log_probability(padded[:, : len(nodes)])[0]
            assert torch.allclose(log_p, some.log_probabilities[b, : len(nodes)])


def test_partition_and_gradient_of_a_longer_sentence_equal_the_twin() -> None:
    scores = random_spans(1, 12, 3, seed=23).requires_grad_()
    ours, twin = SpanCRF(scores, full(scores)).log_partition()[0], log_partition_by_cells(scores[0])
    assert torch.allclose(ours, twin)
    (gradient,), (expected,) = torch.autograd.grad(ours, scores), torch.autograd.grad(twin, scores)
    assert torch.allclose(gradient, expected, atol=1e-12)


def test_log_probability_has_the_gradient_of_a_tree_less_the_marginals() -> None:
    scores = random_spans(2, 4, seed=24).requires_grad_()
    best = SpanCRF(scores, full(scores)).best()

    def log_p(scores: Tensor) -> Tensor:
        return SpanCRF(scores, full(scores)).log_probability(best.nodes)

    assert torch.allclose(log_p(scores), best.log_probabilities)
    assert torch.autograd.gradcheck(log_p, scores)


def test_whichever_label_is_the_sum_over_labels() -> None:
    scores = random_spans(1, 3, seed=25)
    crf = SpanCRF(scores, full(scores))
    trees = [((1, 3, label), (1, 2, 1), (2, 2, 0)) for label in (0, 1)]
    each = crf.log_probability(nodes_tensor(trees, 3)[None])[0]
    whichever = crf.log_probability(nodes_tensor([((1, 3, -1), (1, 2, 1), (2, 2, 0))], 3))
    assert torch.allclose(whichever[0], each.logsumexp(0))


def test_long_sentences_with_large_scores_are_right_in_single_precision() -> None:
    exact = random_spans(1, 150, 3, seed=26, scale=5.0)
    scores = exact.float().requires_grad_()
    single, double = SpanCRF(scores, full(scores)), SpanCRF(exact.float().double(), full(exact))
    assert torch.allclose(single.marginals().double(), double.marginals(), atol=1e-4)
    assert single.log_partition().item() == pytest.approx(double.log_partition().item(), rel=1e-6)
    (gradient,) = torch.autograd.grad(single.log_partition().sum(), scores)
    assert torch.allclose(gradient.double(), double.marginals(), atol=1e-4)
    found = single.k_best(5)
    assert torch.allclose(single.log_probability(found.nodes), found.log_probabilities, atol=1e-2)
    assert len(set(trees_of(found.nodes[0]))) == 5
    # Far beyond: nothing overflows.
    assert SpanCRF(exact * 200, full(exact)).marginals().isfinite().all()


def test_forbidden_labels_have_no_trees() -> None:
    scores = random_spans(1, 4, seed=27)
    scores[0, 0, 1] = -torch.inf  # words 1 to 2 are no constituent
    scores[0, 0, 3, 0] = -torch.inf
    allowed = [
        (tree, value)
        for tree, value in zip(every_tree(4, 2), tree_scores(scores[0]).tolist(), strict=True)
        if value > float("-inf")
    ]
    crf = SpanCRF(scores, full(scores))
    found = crf.k_best(len(allowed) + 5)
    assert int(found.counts) == len(allowed)
    assert set(trees_of(found.nodes[0, : len(allowed)])) == {tree for tree, _ in allowed}
    assert int(crf.sample_without_replacement(5000, torch.Generator().manual_seed(1)).counts) == len(allowed)
    log_p = torch.tensor([value for _, value in allowed]).double().log_softmax(0)
    assert torch.allclose(crf.entropy()[0], -(log_p.exp() * log_p).sum())
    assert crf.marginals().isfinite().all() and (crf.marginals()[0, 0, 1] == 0).all()
    scores[0, 0, 3] = -torch.inf
    none = SpanCRF(scores, full(scores))
    assert none.log_partition().item() == -torch.inf and (none.marginals() == 0).all()
    with pytest.raises(InputError, match="sentence 0 has no tree: every label of the whole sentence is forbidden"):
        none.k_best(1)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([(1, 2, 0)], "does not have exactly one constituent over all words"),
        ([(1, 4, 0)], "not within the sentence"),
        ([(1, 3, 2)], "a label that is not among the 2"),
        ([(1, 3, 0), (1, 2, 0), (2, 3, 0)], "has constituents that cross"),
        ([(1, 3, 0), (1, 2, 0), (1, 2, 1)], "has two constituents over the same words"),
    ],
)
def test_what_is_no_tree_is_named(nodes: list[tuple[int, int, int]], message: str) -> None:
    scores = random_spans(1, 3, seed=28)
    with pytest.raises(TreeError, match=message):
        SpanCRF(scores, full(scores)).log_probability(torch.tensor([nodes]))


def test_scores_that_are_none_are_named() -> None:
    with pytest.raises(InputError, match=r"shape \(batch, words, words, labels\) are expected"):
        SpanCRF(torch.zeros(1, 3, 4, 2), torch.tensor([3]))
    with pytest.raises(InputError, match="lengths from 1 to 3 are expected"):
        SpanCRF(torch.zeros(1, 3, 3, 2), torch.tensor([4]))
    wrong = torch.zeros(1, 3, 3, 2)
    wrong[0, 2, 0] = torch.nan  # ends before it begins: not read
    SpanCRF(wrong, torch.tensor([3]))
    wrong[0, 0, 2, 1] = torch.nan
    with pytest.raises(InputError, match="sentence 0 has nan as the score of label 1 for words 1 to 3"):
        SpanCRF(wrong, torch.tensor([3]))
    with pytest.raises(InputError, match="at least one tree"):
        SpanCRF(torch.zeros(1, 3, 3, 2), torch.tensor([3])).k_best(0)
