"""`Parser`: what any trained parser does for its users, whichever trees it gives and however it scores them.

Sentences are computed in batches of similar length; results come in the order of the input.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import torch
from torch import nn

from dtg.errors import ConfigError, InputError, NotFiniteError
from dtg.io.devices import checked_device
from dtg.io.settings import check_value
from dtg.io.weights import check_fits_memory, load_network
from dtg.losses import BatchLoss
from dtg.parser.config import Kind, ParserConfig
from dtg.parser.encoder import create_encoder
from dtg.parser.encoder.vocabulary import Vocabulary
from dtg.parser.saving import read_parser, save_parser
from dtg.scoring.proposal import Draws
from dtg.search.sampling import generator_of
from dtg.text.sentence import GivenSentence, as_sentence

WINDOW = 1024  # sentences sorted by length at a time
BATCH_WORDS = 2048  # computed together; fewer or more are slower
BATCH_TREES = 4096  # searched for together
MAX_WORDS = 1_000  # of a sentence: its chart takes about a gigabyte, and four times as much for twice as many words


@dataclass(frozen=True, slots=True)
class ParsedTree:
    """A tree, and log p(tree | words) in nats. Labels of arcs are the best for each and not part of p; those of phrases are."""

    tree: Any  # of the parser's kind: a DependencyTree or a ConstituencyTree
    log_probability: float
    # p(arc | words) of each word's arc, summed over all trees; None, if it was not asked for.
    arc_probabilities: tuple[float, ...] | None = field(default=None, compare=False)
    # p(phrase | words) of each node of a ConstituencyTree, over all trees; the nodes of a unary chain have that of the chain.
    node_probabilities: tuple[float, ...] | None = field(default=None, compare=False)
    # Part of speech of each word, as the treebank has them; None, if it was not asked for, or the parser has not learned any.
    tags: tuple[str, ...] | None = field(default=None, compare=False)

    @property
    def probability(self) -> float:
        return math.exp(self.log_probability)


class TreeDistribution(Protocol):
    """The distributions over the trees of a batch of sentences. Every method gives a list of trees for each sentence."""

    def k_best(self, k: int) -> list[list[ParsedTree]]: ...

    def sample(self, k: int, generator: torch.Generator) -> list[list[ParsedTree]]: ...

    def sample_without_replacement(self, k: int, generator: torch.Generator) -> list[list[ParsedTree]]: ...

    def annotate(self, trees: list[list[ParsedTree]]) -> list[list[ParsedTree]]:
        """The same trees of the same sentences, with the probabilities of their parts and with `tags`."""


class Parser(nn.Module, ABC):
    """An encoder, and trees from what it says about words. A subclass scores trees: it has a loss and a distribution.

    Made by `create` or `load`. A parser is a `dtg.scoring.proposal.Proposal`.
    """

    kind: ClassVar[Kind]  # of its trees

    def __init__(self, config: ParserConfig, vocabulary: Vocabulary) -> None:
        if config.kind != self.kind:
            raise ConfigError(f"these are the settings of a {config.kind} parser; this one gives {self.kind} trees.")
        super().__init__()
        self.config, self.vocabulary, self.max_words = config, vocabulary, MAX_WORDS
        self.encoder = create_encoder(config, vocabulary)

    @abstractmethod
    def loss(self, batch: Any) -> BatchLoss:
        """The summed loss of a batch of sentences with their trees, for the training loop."""

    @abstractmethod
    def distribution(self, sentences: Sequence[tuple[str, ...]]) -> TreeDistribution:
        """The distributions over the trees of some sentences, computed together."""

    @property
    @abstractmethod
    def is_labelled(self) -> bool:
        """Whether its trees have labels."""

    @classmethod
    def create(cls, config: ParserConfig, vocabulary: Vocabulary, seed: int = 0) -> Self:
        """A new parser with random weights, except for those of a pretrained encoder.

        Args:
            config: sizes and choices.
            vocabulary: the words, characters and labels of the training trees.
            seed: of the random weights; the same seed gives the same weights.

        Returns:
            The parser, in training mode.
        """
        check_fits_memory(lambda: cls(config, vocabulary))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            parser = cls(config, vocabulary)
        parser.encoder.load_pretrained(config.encoder)
        return parser

    def save(self, folder: str | Path) -> None:
        """Write the parser into a folder: config.json, model.safetensors, vocabulary.json.

        Args:
            folder: is created if it does not exist.
        """
        save_parser(self, self.config, self.vocabulary, Path(folder))

    @classmethod
    def load(cls, folder: str | Path, device: torch.device | str = "cpu", *, verify: bool = True) -> Self:
        """Load a parser from a folder that `save` wrote. Weights saved in half precision become single precision.

        Args:
            folder: such as RUN/best of a training run.
            device: what the parser computes on.
            verify: check the files against the hashes that they were saved with, and that all weights are finite.

        Returns:
            The parser, in evaluation mode.
        """
        config, vocabulary = read_parser(Path(folder), verify=verify)
        parser = load_network(lambda: cls(config, vocabulary), Path(folder), verify=verify)
        return parser.to(checked_device(device)).eval()

    @property
    def device(self) -> torch.device:
        """What the parser computes on."""
        return next(self.parameters()).device

    def parameter_groups(self, learning_rate: float) -> list[dict[str, Any]]:
        """The encoder's parameters at its own rate, then all others."""
        encoder = list(self.encoder.parameters())
        known = set(map(id, encoder))
        others = [parameter for parameter in self.parameters() if id(parameter) not in known]
        groups = ((encoder, self.encoder.rate), (others, 1.0))
        return [{"params": group, "lr": learning_rate * scale, "scale": scale} for group, scale in groups]

    def parse(self, sentence: GivenSentence, *, annotate: bool = False) -> ParsedTree:
        """Find the most probable tree of a sentence.

        Args:
            sentence: a text, which is split into words, or a sequence of words.
            annotate: with the probability of each arc or phrase, and parts of speech.

        Returns:
            The tree and its log-probability.
        """
        return next(self.parse_all([sentence], annotate=annotate))

    def parse_all(self, sentences: Iterable[GivenSentence], *, annotate: bool = False) -> Iterator[ParsedTree]:
        """Find the most probable tree of each sentence.

        Args:
            sentences: texts or sequences of words; read as they are needed, about a thousand ahead.
            annotate: with the probability of each arc or phrase, and parts of speech.

        Returns:
            The trees in the order of the sentences.
        """
        return (trees[0] for trees in self.k_best_all(sentences, 1, annotate=annotate))

    def k_best(self, sentence: GivenSentence, k: int, *, annotate: bool = False) -> list[ParsedTree]:
        """Find the k most probable trees of a sentence (n-best list).

        Args:
            sentence: a text, which is split into words, or a sequence of words.
            k: how many trees.
            annotate: with the probability of each arc or phrase, and parts of speech.

        Returns:
            Different trees, best first; all trees, where there are fewer than k.
        """
        return next(self.k_best_all([sentence], k, annotate=annotate))

    def k_best_all(
        self, sentences: Iterable[GivenSentence], k: int, *, annotate: bool = False
    ) -> Iterator[list[ParsedTree]]:
        """Find the k most probable trees of each sentence; see `k_best` and `parse_all`."""
        return self._in_batches(sentences, k, lambda distribution: distribution.k_best(k), annotate)

    def sample(
        self,
        sentence: GivenSentence,
        k: int,
        generator: torch.Generator | None = None,
        *,
        seed: int = 0,
        annotate: bool = False,
    ) -> list[ParsedTree]:
        """Draw trees of a sentence independently.

        Args:
            sentence: a text, which is split into words, or a sequence of words.
            k: how many trees.
            generator: of the random numbers to draw with; the same state draws the same trees.
            seed: of a new generator, if there is none.
            annotate: with the probability of each arc or phrase, and parts of speech.

        Returns:
            k trees, some of which may be equal.
        """
        return next(self.sample_all([sentence], k, generator, seed=seed, annotate=annotate))

    def sample_all(
        self,
        sentences: Iterable[GivenSentence],
        k: int,
        generator: torch.Generator | None = None,
        *,
        seed: int = 0,
        annotate: bool = False,
    ) -> Iterator[list[ParsedTree]]:
        """Draw k trees of each sentence independently; see `sample` and `parse_all`."""
        numbers = generator or generator_of(str(seed))
        return self._in_batches(sentences, k, lambda distribution: distribution.sample(k, numbers), annotate)

    def sample_without_replacement(
        self,
        sentence: GivenSentence,
        k: int,
        generator: torch.Generator | None = None,
        *,
        seed: int = 0,
        annotate: bool = False,
    ) -> list[ParsedTree]:
        """Draw different trees of a sentence, each from those not drawn yet.

        Args:
            sentence: a text, which is split into words, or a sequence of words.
            k: how many trees.
            generator: of the random numbers to draw with; the same state draws the same trees.
            seed: of a new generator, if there is none.
            annotate: with the probability of each arc or phrase, and parts of speech.

        Returns:
            Different trees in the order drawn; all trees, where there are fewer than k.
        """
        return next(self.sample_without_replacement_all([sentence], k, generator, seed=seed, annotate=annotate))

    def sample_without_replacement_all(
        self,
        sentences: Iterable[GivenSentence],
        k: int,
        generator: torch.Generator | None = None,
        *,
        seed: int = 0,
        annotate: bool = False,
    ) -> Iterator[list[ParsedTree]]:
        """Draw k different trees of each sentence; see `sample_without_replacement` and `parse_all`."""
        numbers = generator or generator_of(str(seed))
        return self._in_batches(
            sentences, k, lambda distribution: distribution.sample_without_replacement(k, numbers), annotate
        )

    def propose(self, words: Sequence[str], count: int, generator: torch.Generator) -> Draws:
        """Draw trees without replacement for a language model to sum over, as a `dtg.scoring.proposal.Proposal`.

        Args:
            words: the words of the sentence.
            count: how many trees.
            generator: the same state draws the same trees.

        Returns:
            The trees with their log-probabilities under the parser.
        """
        drawn = self.sample_without_replacement(words, count, generator)
        return Draws(
            tuple(parsed.tree for parsed in drawn),
            tuple(parsed.log_probability for parsed in drawn),
            "without replacement",
        )

    def _words(self, sentence: GivenSentence, number: int) -> tuple[str, ...]:
        """The words of a sentence that is not too long."""
        words = as_sentence(sentence, self.config.language).words
        if len(words) > self.max_words:
            raise InputError(
                f"sentence {number} has {len(words):,} words ({' '.join(words[:5])} ...); the limit is {self.max_words:,}. "
                "Parsing takes time that grows with the cube of the length, and memory that grows with its square. "
                "Split the sentence, or set parser.max_words."
            )
        return words

    def _in_batches(
        self,
        sentences: Iterable[GivenSentence],
        k: int,
        find: Callable[[TreeDistribution], list[list[ParsedTree]]],
        annotate: bool,
    ) -> Iterator[list[ParsedTree]]:
        """Find trees batch by batch, a window of sentences at a time; give them in the order of the sentences."""
        check_value("k", k, int)
        check_value("annotate", annotate, bool)
        if self.training:
            raise InputError("the parser is in training mode, where dropout is random. Call parser.eval() first.")
        if k < 1:
            raise InputError(f"at least one tree must be asked for; k is {k!r}.")
        if isinstance(sentences, str):
            raise InputError(f"several sentences are expected, not one text; put it into a list: [{sentences!r}].")
        split = (self._words(sentence, number) for number, sentence in enumerate(sentences, start=1))
        while window := list(islice(split, max(1, min(WINDOW, WINDOW * 16 // k)))):
            found: dict[int, list[ParsedTree]] = {}
            for indices in length_batches(window, k):
                distribution = self.distribution([window[index] for index in indices])
                trees = find(distribution)
                if any(several and math.isnan(several[0].log_probability) for several in trees):
                    raise NotFiniteError("the log-probability of a tree")
                found.update(zip(indices, distribution.annotate(trees) if annotate else trees, strict=True))
            for index in range(len(window)):
                yield found.pop(index)


def length_batches(window: Sequence[Sequence[str]], k: int) -> Iterator[list[int]]:
    """The indices of sentences, by length, as many together as the limits for words and k trees each allow; one at least."""
    batch: list[int] = []
    for index in sorted(range(len(window)), key=lambda index: len(window[index])):
        longest = len(window[index])
        if batch and ((len(batch) + 1) * longest > BATCH_WORDS or (len(batch) + 1) * k > BATCH_TREES):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
