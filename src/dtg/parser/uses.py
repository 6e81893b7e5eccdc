"""What a parser is used for: words in, trees with their probabilities out.

Sentences are computed in batches of similar length; what comes back is in the order of what was given.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.parser.crf.projective import ProjectiveCRF, TreeList
from dtg.scoring.proposal import Draws
from dtg.text.words import checked_words
from dtg.trees import DependencyTree

WINDOW = 1024  # sentences sorted by length at a time
BATCH_WORDS = 2048  # computed together; fewer or more are slower
BATCH_TREES = 4096  # looked for together


@dataclass(frozen=True, slots=True)
class ParsedTree:
    """A tree, and log p(tree | words) in nats. Labels, where there are any, are the best for each arc and not part of p."""

    tree: DependencyTree
    log_probability: float

    @property
    def probability(self) -> float:
        return math.exp(self.log_probability)


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a `TreeList`."""

    numbers: Tensor  # (batch, k, words)
    names: Sequence[str]


Find = Callable[[ProjectiveCRF], TreeList]


class Uses(ABC):
    """What can be done with anything that finds trees for a batch of sentences."""

    training: bool  # as nn.Module has it

    @abstractmethod
    def find_trees(self, sentences: Sequence[tuple[str, ...]], find: Find) -> list[list[ParsedTree]]:
        """The trees of one batch, which `find` takes from their distribution."""

    def parse(self, words: Sequence[str]) -> ParsedTree:
        """The most probable tree."""
        return next(self.parse_all([words]))

    def parse_all(self, sentences: Iterable[Sequence[str]]) -> Iterator[ParsedTree]:
        """The most probable tree of each sentence, in order, while they are being read."""
        return (trees[0] for trees in self.k_best_all(sentences, 1))

    def k_best(self, words: Sequence[str], k: int) -> list[ParsedTree]:
        """The k most probable trees, best first; all, where there are fewer."""
        return next(self.k_best_all([words], k))

    def k_best_all(self, sentences: Iterable[Sequence[str]], k: int) -> Iterator[list[ParsedTree]]:
        return search(self, sentences, k, lambda crf: crf.k_best(k))

    def sample(self, words: Sequence[str], k: int, generator: torch.Generator) -> list[ParsedTree]:
        """k trees drawn independently; some may be equal."""
        return next(self.sample_all([words], k, generator))

    def sample_all(
        self, sentences: Iterable[Sequence[str]], k: int, generator: torch.Generator
    ) -> Iterator[list[ParsedTree]]:
        return search(self, sentences, k, lambda crf: crf.sample(k, generator))

    def sample_without_replacement(self, words: Sequence[str], k: int, generator: torch.Generator) -> list[ParsedTree]:
        """k different trees in the order drawn, each from those not drawn yet; all, where there are fewer."""
        return next(self.sample_without_replacement_all([words], k, generator))

    def sample_without_replacement_all(
        self, sentences: Iterable[Sequence[str]], k: int, generator: torch.Generator
    ) -> Iterator[list[ParsedTree]]:
        return search(self, sentences, k, lambda crf: crf.sample_without_replacement(k, generator))

    def propose(self, words: Sequence[str], count: int, generator: torch.Generator) -> Draws:
        """What `dtg.scoring.proposal.Proposal` asks for: different trees, drawn without replacement."""
        found = self.sample_without_replacement(words, count, generator)
        return Draws(
            tuple(parsed.tree for parsed in found),
            tuple(parsed.log_probability for parsed in found),
            "without replacement",
        )


def search(parser: Uses, sentences: Iterable[Sequence[str]], k: int, find: Find) -> Iterator[list[ParsedTree]]:
    """Look for trees, a window of sentences at a time."""
    if parser.training:
        raise InputError("the parser is in training mode, where dropout is random. Call parser.eval() first.")
    source = iter(sentences)
    while window := [checked_words(words) for words in islice(source, max(1, min(WINDOW, WINDOW * 16 // k)))]:
        order = sorted(range(len(window)), key=lambda place: len(window[place]))
        found: dict[int, list[ParsedTree]] = {}
        for places in batches(order, window, k):
            some = [window[place] for place in places]
            found.update(zip(places, parser.find_trees(some, find), strict=True))
        for place in range(len(window)):
            yield found.pop(place)


def as_trees(sentences: Sequence[tuple[str, ...]], found: TreeList, labels: Labels | None) -> list[list[ParsedTree]]:
    """Tensors as trees."""
    trees = []
    for place, words in enumerate(sentences):
        count, length = int(found.counts[place]), len(words)
        heads = found.heads[place, :count, :length].tolist()
        names: list[tuple[str, ...] | None] = [None] * count
        if labels is not None:
            numbers = labels.numbers[place, :count, :length].tolist()
            names = [tuple(labels.names[number] for number in row) for row in numbers]
        log_p = found.log_probabilities[place, :count].tolist()
        trees.append(
            [
                ParsedTree(DependencyTree(words, tuple(row), label), value)
                for row, label, value in zip(heads, names, log_p, strict=True)
            ]
        )
    return trees


def batches(order: Sequence[int], window: Sequence[Sequence[str]], k: int) -> Iterator[list[int]]:
    """Sentences in the order given, as many together as the limits allow; one at least."""
    batch: list[int] = []
    for place in order:
        longest = len(window[place])  # the order is by length
        if batch and ((len(batch) + 1) * longest > BATCH_WORDS or (len(batch) + 1) * k > BATCH_TREES):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
