"""`ProjectiveCRF` where numbers are awkward: mixed lengths, long sentences, large scores, forbidden arcs, ties; and errors."""

from __future__ import annotations

import pytest
import torch

from dtg.errors import InputError, NonProjectiveError, TreeError
from dtg.parser import ProjectiveCRF, TreeList
from tests.parser.cells import enumerate_trees, full, random_scores


def test_a_batch_of_mixed_lengths_equals_one_sentence_at_a_time() -> None:
    lengths = torch.tensor([1, 7, 3, 12, 2, 5])
    scores = random_scores(6, 12, seed=1).requires_grad_()
    together = ProjectiveCRF(scores, lengths)
    best, entropy, list_of_20, marginals = (
        together.best(),
        together.entropy(),
        together.k_best(20),
        together.marginals(),
    )
    (gradient,) = torch.autograd.grad(together.log_partition().sum(), scores)
    assert torch.allclose(gradient, marginals, atol=1e-12)
    for b, n in enumerate(lengths.tolist()):
        alone = ProjectiveCRF(scores[b : b + 1, :n, : n + 1], lengths[b : b + 1])
        assert torch.allclose(together.log_partition()[b], alone.log_partition()[0])
        assert torch.allclose(marginals[b, :n, : n + 1], alone.marginals()[0], atol=1e-12)
        assert marginals[b].sum().item() == pytest.approx(n)
        assert torch.equal(best.heads[b, :n], alone.best().heads[0])
        assert (best.heads[b, n:] == -1).all()
        assert torch.allclose(entropy[b], alone.entropy()[0], atol=1e-12)
        few = alone.k_best(20)
        assert list_of_20.counts[b] == few.counts[0]
        assert torch.equal(list_of_20.heads[b, :, :n], few.heads[0])
        assert torch.allclose(list_of_20.scores[b], few.scores[0])
    log_p = together.log_probability(best.heads)  # -1 past the end is not read
    assert torch.allclose(log_p, best.log_probabilities)


def test_what_lies_past_the_end_is_not_read() -> None:
    scores = random_scores(1, 6, seed=2)
    spoilt = scores.clone()
    spoilt[:, 4:] = torch.nan
    spoilt[:, :, 5:] = torch.inf
    spoilt[:, torch.arange(4), torch.arange(1, 5)] = torch.nan  # words as their own heads
    clean, same = (ProjectiveCRF(s, torch.tensor([4])) for s in (scores, spoilt))
    assert torch.equal(clean.log_partition(), same.log_partition())
    assert torch.equal(clean.k_best(30).heads, same.k_best(30).heads)


def test_samples_of_mixed_lengths_are_trees_of_their_sentences() -> None:
    lengths = torch.tensor([1, 4, 2, 9])
    crf = ProjectiveCRF(random_scores(4, 9, seed=3), lengths)
    generator = torch.Generator().manual_seed(3)
    crf.log_probability(crf.sample(50, generator).heads)  # raises at what is no tree
    drawn = crf.sample_without_replacement(50, generator)
    assert drawn.counts.tolist() == [1, 30, 2, 50]
    for b, n in enumerate(lengths.tolist()):
        count = int(drawn.counts[b])
        trees = drawn.heads[b, :count]
        alone = ProjectiveCRF(crf.scores[b : b + 1, :n, : n + 1], lengths[b : b + 1])
        assert torch.allclose(alone.log_probability(trees[None, :, :n])[0], drawn.log_probabilities[b, :count])
        assert len({tuple(tree) for tree in trees.tolist()}) == count
        assert (drawn.heads[b, count:] == -1).all()
        assert (drawn.log_times[b, :count].diff() > 0).all()
        assert (drawn.log_times[b, count:] == torch.inf).all()


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0, 30.0])
def test_single_precision_holds_to_150_words(scale: float) -> None:
    scores = random_scores(2, 150, seed=4, scale=scale, dtype=torch.float32)
    lengths = torch.tensor([150, 143])
    single, double = ProjectiveCRF(scores, lengths), ProjectiveCRF(scores.double(), lengths)
    assert torch.allclose(single.log_partition().double(), double.log_partition(), rtol=1e-6)
    assert torch.allclose(single.marginals().double(), double.marginals(), atol=1e-3)
    assert torch.equal(single.best().heads, double.best().heads)
    assert torch.allclose(single.entropy().double(), double.entropy(), rtol=1e-5)


def test_what_all_heads_of_a_word_gain_costs_no_precision() -> None:
    scores = random_scores(2, 60, seed=11, dtype=torch.float32)
    scores += 1000 * torch.rand(2, 60, 1, generator=torch.Generator().manual_seed(11))
    single, double = ProjectiveCRF(scores, full(scores)), ProjectiveCRF(scores.double(), full(scores))
    assert torch.allclose(single.marginals().double(), double.marginals(), atol=1e-5)
    heads = double.best().heads
    assert torch.allclose(single.log_probability(heads).double(), double.log_probability(heads), atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_results_have_the_type_of_the_scores(dtype: torch.dtype) -> None:
    scores = random_scores(2, 8, seed=5).to(dtype).requires_grad_()
    crf = ProjectiveCRF(scores, full(scores))
    exact = ProjectiveCRF(scores.detach().double(), full(scores))
    assert torch.allclose(crf.log_partition().double(), exact.log_partition(), rtol=torch.finfo(dtype).eps)
    assert torch.equal(crf.k_best(5).heads, exact.k_best(5).heads)
    drawn = crf.sample_without_replacement(3, torch.Generator().manual_seed(0))
    for tensor in (crf.log_partition(), crf.marginals(), crf.entropy(), drawn.log_probabilities, drawn.log_times):
        assert tensor.dtype == dtype
    (gradient,) = torch.autograd.grad(crf.log_partition().sum(), scores)
    assert torch.allclose(gradient.double(), exact.marginals(), atol=4 * torch.finfo(dtype).eps)


def everything(crf: ProjectiveCRF) -> list[torch.Tensor]:
    """Every number there is, gradients included."""
    generator = torch.Generator().manual_seed(0)
    lists: list[TreeList] = [crf.k_best(40), crf.sample(20, generator), crf.sample_without_replacement(40, generator)]
    log_partition, log_p = crf.log_partition(), crf.log_probability(crf.best().heads)
    gradients = [torch.autograd.grad(value.sum(), crf.scores)[0] for value in (log_partition, log_p)]
    probabilities = [found.log_probabilities.exp() for found in lists]
    return [log_partition, log_p, crf.marginals(), crf.entropy(), *gradients, *probabilities]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [1e4, -1e4])
def test_huge_scores_give_numbers(size: float, dtype: torch.dtype) -> None:
    scores = random_scores(2, 9, seed=6, dtype=dtype).sign() * size
    crf = ProjectiveCRF(scores.requires_grad_(), torch.tensor([9, 4]))
    assert all(value.isfinite().all() for value in everything(crf))
    tolerance = 4 * size * torch.finfo(dtype).eps  # sums of this size are no finer
    assert torch.allclose(crf.marginals().sum(2)[1, :4], torch.ones(4, dtype=dtype), atol=abs(tolerance))


def test_ties_are_all_listed() -> None:
    scores = torch.zeros(1, 5, 6, requires_grad=True)
    crf = ProjectiveCRF(scores, full(scores))
    assert all(value.isfinite().all() for value in everything(crf))
    found = crf.k_best(200)
    assert found.counts.item() == 143
    assert len({tuple(tree) for tree in found.heads[0].tolist()}) == 144  # the last are no trees, all -1


def test_forbidden_arcs_leave_the_other_trees() -> None:
    scores = random_scores(1, 5, seed=7)
    scores[0, 2, 0] = scores[0, :2, 4] = scores[0, 4, 1:4] = -torch.inf
    crf = ProjectiveCRF(scores.requires_grad_(), full(scores))
    assert all(value.isfinite().all() for value in everything(crf))
    trees, values = enumerate_trees(scores[0].detach())
    values, order = values.sort(descending=True)
    allowed = int((values > -torch.inf).sum())
    assert 10 < allowed < 143
    assert torch.allclose(crf.log_partition()[0], values.logsumexp(0))
    assert (crf.marginals()[scores == -torch.inf] == 0).all()
    found = crf.k_best(143)
    assert found.counts.item() == allowed
    assert torch.equal(found.heads[0, :allowed], trees[order[:allowed]])
    drawn = crf.sample_without_replacement(143, torch.Generator().manual_seed(1))
    assert drawn.counts.item() == allowed
    assert {tuple(t) for t in drawn.heads[0, :allowed].tolist()} == {tuple(t) for t in trees[order[:allowed]].tolist()}


def test_a_sentence_without_trees_is_named() -> None:
    scores = random_scores(2, 4, seed=8)
    scores[1, :, 0] = -torch.inf  # no root word
    crf = ProjectiveCRF(scores.requires_grad_(), full(scores))
    assert crf.log_partition()[1] == -torch.inf
    assert (crf.marginals()[1] == 0).all()
    (gradient,) = torch.autograd.grad(crf.log_partition()[0], scores)
    assert gradient.isfinite().all()
    generator = torch.Generator()
    for ask in (
        crf.best,
        crf.entropy,
        lambda: crf.sample(2, generator),
        lambda: crf.log_probability(torch.zeros(2, 4)),
    ):
        with pytest.raises(InputError):
            ask()
    with pytest.raises(InputError, match=r"sentence 1 has no tree.*Allow more arcs"):
        crf.k_best(3)


@pytest.mark.parametrize(
    ("heads", "error", "message"),
    [
        ([[2, 0, 2, 3], [0, 1, 4, 1]], None, ""),
        ([[2, 0, 2, 3], [0, 0, 1, 1]], TreeError, "tree 0 of sentence 1 does not have exactly one root word"),
        ([[2, 1, 0, 3], [0, 1, 1, 1]], TreeError, "tree 0 of sentence 0 has a cycle"),
        ([[5, 0, 1, 1], [0, 1, 1, 1]], TreeError, "has a head outside the sentence"),
        ([[2, 0, 2, -1], [0, 1, 1, 1]], TreeError, "has a head outside the sentence"),
        ([[3, 4, 0, 3], [0, 1, 1, 1]], NonProjectiveError, "has crossing arcs; dtg.trees.projectivize"),
        ([[3, 0, 2, 2], [0, 1, 1, 1]], NonProjectiveError, "crossing arcs"),  # over the root word
    ],
)
def test_only_projective_trees_have_a_probability(
    heads: list[list[int]], error: type[Exception] | None, message: str
) -> None:
    scores = random_scores(2, 4, seed=9)
    crf = ProjectiveCRF(scores, full(scores))
    if error is None:
        assert crf.log_probability(torch.tensor(heads)).shape == (2,)
    else:
        with pytest.raises(error, match=message):
            crf.log_probability(torch.tensor(heads))


def test_what_does_not_fit_is_refused() -> None:
    scores, lengths = random_scores(2, 4, seed=10), torch.tensor([4, 4])
    cases = [
        (torch.zeros(2, 5, 5), lengths, r"drop it: scores\[:, 1:\]"),
        (torch.zeros(2, 4, 5, dtype=torch.long), lengths, "floating-point"),
        (scores, torch.tensor([4]), r"lengths of shape \(2,\)"),
        (scores, torch.tensor([4, 5]), "lengths from 1 to 4 are expected.*4 to 5 arrived"),
        (scores, torch.tensor([0, 4]), "0 to 4 arrived"),
        (scores[:0], lengths[:0], "the batch is empty"),
        (
            scores.index_fill(2, torch.tensor([3]), torch.nan),
            lengths,
            "sentence 0 has nan as the score of head 3 for word 1",
        ),
        (scores.index_fill(2, torch.tensor([0]), torch.inf), lengths, "has inf as the score of head 0"),
    ]
    for wrong, its_lengths, message in cases:
        with pytest.raises(InputError, match=message):
            ProjectiveCRF(wrong, its_lengths)
    with pytest.raises(InputError, match="k is 0"):
        ProjectiveCRF(scores, lengths).k_best(0)
    with pytest.raises(InputError, match=r"\(2, 4\) or \(2, k, 4\)"):
        ProjectiveCRF(scores, lengths).log_probability(torch.zeros(2, 5, dtype=torch.long))
