"""First weights from counts of a corpus: embeddings from which subwords occur together, output biases from how often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dtg.model.model import DecoderModel
from dtg.text.corpus import Split

WINDOW = 4  # subwords before another one that it occurs together with; a pair counts by one over its distance
SMOOTHING = 0.75  # power of the counts of contexts, so that rare ones do not look informative
CHUNK = 4_000_000  # subwords counted at a time
ITERATIONS = 2  # of the randomised singular value decomposition


@dataclass(frozen=True, slots=True)
class SubwordStatistics:
    """What a corpus says of its subwords.

    Attributes:
        counts: (vocabulary,) how often each occurs.
        together: (vocabulary, vocabulary) symmetric, sparse: how often two occur within a few subwords of each other.
    """

    counts: Tensor
    together: Tensor

    @classmethod
    def count(cls, pieces: NDArray[np.integer], starts: NDArray[np.integer], vocabulary: int) -> SubwordStatistics:
        """From all subwords of a corpus in order, and where its sentences begin (and the last one ends)."""
        sentences = np.zeros(len(pieces), dtype=np.int64)
        sentences[np.asarray(starts[1:-1])] = 1  # sentences are not empty
        sentences = sentences.cumsum()
        together = sparse(torch.zeros((2, 0), dtype=torch.long), torch.zeros(0), vocabulary)
        for begin in range(0, len(pieces), CHUNK):
            end = min(begin + CHUNK, len(pieces))
            for distance in range(1, WINDOW + 1):
                right = np.arange(max(begin, distance), end)
                right = right[sentences[right] == sentences[right - distance]]
                pairs = np.stack([pieces[right - distance], pieces[right]]).astype(np.int64)
                weights = torch.full((pairs.shape[1],), 1.0 / distance)
                together = (together + sparse(torch.from_numpy(pairs), weights, vocabulary)).coalesce()
        counts = torch.from_numpy(np.bincount(pieces, minlength=vocabulary))
        return cls(counts, (together + together.T).coalesce())

    def embeddings(self, width: int, seed: int) -> Tensor:
        """(vocabulary, width) factors of the positive pointwise mutual information, of length 1; 0 for what never occurs."""
        table = self.together
        row, column = table.indices()
        sums = torch.zeros(len(self.counts), dtype=torch.float64).index_add(0, row, table.values().double())
        contexts = sums**SMOOTHING
        information = table.values().double().log() - sums[row].log() - (contexts / contexts.sum())[column].log()
        positive = sparse(table.indices(), information.clamp(min=0).float(), len(self.counts))
        width = min(width, len(self.counts))
        with torch.random.fork_rng(devices=[]):  # the decomposition begins with random vectors
            torch.manual_seed(seed)
            factors, values, _ = torch.svd_lowrank(positive, q=width, niter=ITERATIONS)
        found = factors * values.sqrt()
        found = torch.where(sums[:, None] > 0, found - found[sums > 0].mean(0), 0.0)
        return torch.nn.functional.normalize(found)

    def log_frequencies(self) -> Tensor:
        """(vocabulary,) logarithms of the counts, of mean 0; what never occurs counts as half an occurrence."""
        found = self.counts.double().clamp(min=0.5).log()
        return (found - found.mean()).float()


def sparse(indices: Tensor, values: Tensor, size: int) -> Tensor:
    """A square matrix of which these entries are not 0; equal indices add up."""
    return torch.sparse_coo_tensor(indices, values, (size, size), check_invariants=False)


@torch.no_grad()
def start_from_statistics(model: DecoderModel, split: Split, seed: int = 0) -> None:
    """Give a new model embeddings and output biases from a corpus; subwords that do not occur keep their random ones.

    Args:
        model: with random weights, which are as long as these on average.
        split: the sentences to be trained on.
        seed: of the decomposition.
    """
    pieces, starts = split.pieces()
    found = SubwordStatistics.count(pieces, starts, model.config.vocabulary)
    vectors = found.embeddings(model.config.width, seed)
    weight = model.decoder.embedding.weight
    occurs = (vectors != 0).any(1).nonzero()[:, 0]
    weight[occurs] = torch.nn.functional.pad(vectors[occurs], (0, weight.shape[1] - vectors.shape[1])).to(weight)
    if model.head.bias is not None:
        model.head.bias[: model.config.vocabulary] = found.log_frequencies().to(weight)
