"""Models without trees need no search: sentences in pieces in, what each word cost out, whole sentences at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import torch

from dtg.model.precision import finest
from dtg.scoring.tree_scores import chunks
from dtg.search.prefix_trie import Pieces, SearchedSentence
from dtg.trees import DependencyTree

if TYPE_CHECKING:
    from dtg.model import DecoderModel

PIECES_AT_ONCE = 4_000  # in one pass: bounds memory
LONGEST = 1_000  # pieces of a sentence; memory grows with its square, and a search's does not


def fits(words: Sequence[Pieces]) -> bool:
    """Whether the sentence is short enough."""
    return sum(map(len, words)) <= LONGEST


@torch.inference_mode()
def read_all(
    model: DecoderModel, sentences: Sequence[Sequence[Pieces]], constrained: bool | None, ends: bool = True
) -> Iterator[SearchedSentence]:
    """Every sentence's figures, in order, as `search_all` gives them."""
    for some in passes(sentences):
        batch = model.encode([any_tree(len(words)) for words in some], some)
        found = model(batch, constrained).log_probability
        scores = iter(found.to(finest(found.device)).tolist())
        for words in some:
            of_words = [sum(next(scores) for _ in pieces) for pieces in words]
            masses = list(accumulate(of_words))
            end = next(scores)
            figures = tuple(
                (mass, -score, -score, 0.0, 0.0, 0.0, 1.0) for mass, score in zip(masses, of_words, strict=True)
            )
            yield SearchedSentence(figures, masses[-1] + end if ends else float("nan"))


def passes(sentences: Sequence[Sequence[Pieces]]) -> Iterator[list[Sequence[Pieces]]]:
    """Sentences that follow each other, together as long as they are few enough."""
    lengths = [sum(map(len, words)) for words in sentences]
    for places in chunks(lengths, range(len(lengths)), [0] * len(lengths), PIECES_AT_ONCE):
        yield [sentences[place] for place in places]


def any_tree(words: int) -> DependencyTree:
    """What a batch wants, and these models do not look at."""
    return DependencyTree(("_",) * words, (0, *(1,) * (words - 1)))
