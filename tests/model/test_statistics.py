"""Embeddings and output biases from counts of a corpus."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from dtg.model import DecoderModel, ModelConfig, statistics
from dtg.model.statistics import SMOOTHING, WINDOW, SubwordStatistics, start_from_statistics

SENTENCES = st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=9), min_size=1, max_size=8)


def counted(sentences: list[list[int]], vocabulary: int = 8) -> SubwordStatistics:
    pieces = np.array([piece for sentence in sentences for piece in sentence], dtype=np.uint16)
    starts = np.cumsum([0, *map(len, sentences)])
    return SubwordStatistics.count(pieces, starts, vocabulary)


@given(SENTENCES, st.integers(1, 5))
def test_counts_are_those_of_a_loop_over_pairs(sentences: list[list[int]], chunk: int) -> None:
    counts, together = [0] * 8, torch.zeros(8, 8)
    for sentence in sentences:
        for place, piece in enumerate(sentence):
            counts[piece] += 1
            for distance in range(1, WINDOW + 1):
                if place - distance >= 0:
                    together[sentence[place - distance], piece] += 1 / distance
                    together[piece, sentence[place - distance]] += 1 / distance
    usual, statistics.CHUNK = statistics.CHUNK, chunk
    try:
        found = counted(sentences)
    finally:
        statistics.CHUNK = usual
    assert found.counts.tolist() == counts
    torch.testing.assert_close(found.together.to_dense(), together)


def test_embeddings_have_the_angles_of_the_whole_decomposition() -> None:
    random = Random(0)
    sentences = [[random.choice([n % 8, random.randrange(8)]) for n in range(9)] for _ in range(60)]
    sentences = [[piece for piece in sentence if piece != 5] for sentence in sentences]  # 5 never occurs
    found = counted(sentences)
    table = found.together.to_dense().double()
    sums = table.sum(1)
    contexts = sums**SMOOTHING / (sums**SMOOTHING).sum()
    information = (table / sums[:, None] / contexts[None, :]).log()
    positive = torch.where(table > 0, information.clamp(min=0), 0.0)
    factors, values, _ = torch.linalg.svd(positive)
    whole = factors * values.sqrt()
    occurs = sums > 0
    whole = torch.nn.functional.normalize(whole[occurs] - whole[occurs].mean(0))
    vectors = found.embeddings(8, seed=0)
    assert not vectors[5].any()
    torch.testing.assert_close(vectors[occurs] @ vectors[occurs].T, (whole @ whole.T).float(), atol=1e-4, rtol=0)


def test_frequencies_are_logarithms() -> None:
    biases = counted([[0, 0, 0, 1], [0, 1]]).log_frequencies()
    assert torch.allclose((biases[0] - biases[1]).exp(), torch.tensor(2.0))
    assert torch.allclose((biases[1] - biases[7]).exp(), torch.tensor(4.0))
    assert abs(float(biases.mean())) < 1e-6


class OfSentences:
    """As much of a corpus's split as is needed."""

    def __init__(self, sentences: list[list[int]]) -> None:
        self.sentences = sentences

    def pieces(self) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate(self.sentences).astype(np.uint16), np.cumsum([0, *map(len, self.sentences)])


def test_a_model_starts_from_them() -> None:
    config = ModelConfig(vocabulary=16, layers=1, width=8, attention_heads=2, head_width=4, feedforward=8)
    random = Random(1)
    split = OfSentences([[random.randrange(12) for _ in range(6)] for _ in range(30)])
    plain, first, second = (DecoderModel.create(config, seed=3) for _ in range(3))
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    for model in (first, second):
        start_from_statistics(model, split, seed=3)  # type: ignore[arg-type]
    assert torch.equal(torch.rand(3), expected)  # nobody else's random numbers are used up
    changed = [name for name, value in first.state_dict().items() if not torch.equal(value, plain.state_dict()[name])]
    assert sorted(changed) == ["decoder.embedding.weight", "head.bias"]
    for one, other in pairwise([first, second]):
        assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    weight, before = first.decoder.embedding.weight, plain.decoder.embedding.weight
    assert torch.equal(weight[12:], before[12:])  # what does not occur, and the embeddings of actions
    assert torch.allclose(weight[:12].norm(dim=1), torch.ones(12))
