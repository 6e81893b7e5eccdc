"""Language models on BLiMP: pairs in, groups to compute together and the log-probabilities of both sentences out.

A group is searched at once: equal beginnings, of the two sentences of a pair and of different pairs, are computed once. Which
word comes next plays no part in a search until it is known, so this changes no number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dtg.evaluation.blimp.lines import Pair
from dtg.evaluation.blimp.pairs import PairSet
from dtg.evaluation.blimp.scored import ScoredPair
from dtg.scoring.marginals import log_sum
from dtg.scoring.proposal import Draws, Proposal, draw
from dtg.scoring.reranking import sentence_generator
from dtg.scoring.tree_scores import score_reachable
from dtg.text.sentence import Sentence

if TYPE_CHECKING:
    from dtg.language_model import LanguageModel

PAIRS_TOGETHER = 50  # at least, and computed again after an interruption
LogProbabilities = Callable[[Sequence[Sentence]], list[float]]  # of sentences, pair by pair, in nats


def groups_of(pairs: PairSet, size: int = PAIRS_TOGETHER) -> list[list[Pair]]:
    """Pairs of one paradigm that are computed together; those that begin alike come together."""
    in_order = (sorted(paradigm.pairs, key=lambda pair: pair.good) for paradigm in pairs.paradigms)
    return [some[first : first + size] for some in in_order for first in range(0, len(some), size)]


def pair_results(pairs: Sequence[Pair], log_probabilities: LogProbabilities) -> list[dict[str, Any]]:
    """What is stored of each pair."""
    sentences = [Sentence.of_text(text) for pair in pairs for text in (pair.good, pair.bad)]
    found = log_probabilities(sentences)
    return [
        {
            "paradigm": pair.uid,
            "pair_id": pair.pair_id,
            "good": found[place],
            "bad": found[place + 1],
            "good_words": len(sentences[place]),
            "bad_words": len(sentences[place + 1]),
        }
        for place, pair in zip(range(0, len(found), 2), pairs, strict=True)
    ]


def scored_pairs(pairs: PairSet, results: Iterable[Mapping[str, Any]]) -> list[ScoredPair]:
    """The pairs in their order, with what is stored of them."""
    by_name = {(result["paradigm"], result["pair_id"]): result for result in results}
    return [
        ScoredPair(pair, found["good"], found["bad"], found["good_words"], found["bad_words"])
        for pair in pairs.pairs
        for found in [by_name[pair.uid, pair.pair_id]]
    ]


def by_beam(model: LanguageModel, beam: int, word_beam: int | None) -> LogProbabilities:
    """log p(x) as a search finds it: a lower bound, and exact for models without trees."""

    def log_probabilities(sentences: Sequence[Sentence]) -> list[float]:
        return [found.log_probability for found in model.surprisal(sentences, beam=beam, word_beam=word_beam)]

    return log_probabilities


def by_trees(model: LanguageModel, proposal: Proposal, trees: int, seed: int) -> LogProbabilities:
    """The sum over trees that a proposal draws, which follow from the seed and the words alone: the paper's lower bound."""

    def drawn(sentence: Sentence) -> Draws:
        return draw(proposal, sentence.words, trees, sentence_generator(sentence.words, seed))

    def log_probabilities(sentences: Sequence[Sentence]) -> list[float]:
        found = list[float]()
        for first in range(0, len(sentences), 2):
            found += sums_over_trees(model, [drawn(sentence) for sentence in sentences[first : first + 2]])
        return found

    return log_probabilities


def sums_over_trees(model: LanguageModel, draws: Sequence[Draws]) -> list[float]:
    """log Σ p(x, y) over each sentence's distinct trees. All are scored at once, so that they share equal beginnings."""
    distinct = [list({tree.key: tree for tree in some.trees}.values()) for some in draws]
    scores = iter(score_reachable(model.decoder_model, [tree for trees in distinct for tree in trees]))
    return [log_sum([next(scores) for _ in trees]) for trees in distinct]
