"""How good a parser is: attachment scores of its trees against gold trees.

UAS is the share of words with the right head, LAS of those with the right label too (subtypes such as `nsubj:pass`
count). Punctuation is what the treebank tags PUNCT. Gold trees are taken as they are, crossing arcs included, which a
projective parser cannot all get right.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from dtg.parser.encoder.vocabulary import tags_of
from dtg.parser.parser import ParsedTree, Parser
from dtg.trees import DependencyTree

LABELLED = ("las", "exact_labelled")
BINS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, None))


@dataclass(slots=True)
class Attachments:
    """Counts that grow, and the shares they make."""

    sentences: int = 0
    words: int = 0
    heads: int = 0  # right ones
    labels: int = 0  # right ones on right heads
    exact: int = 0  # sentences with all heads right
    exact_labels: int = 0

    def add(self, gold: DependencyTree, found: DependencyTree, counts: list[bool]) -> None:
        """Count the words for which `counts` is true."""
        heads = [
            gold_head == head
            for gold_head, head, counted in zip(gold.heads, found.heads, counts, strict=True)
            if counted
        ]
        both = [
            gold_head == head and gold_label == label
            for gold_head, head, gold_label, label, counted in zip(
                gold.heads, found.heads, labels_of(gold), labels_of(found), counts, strict=True
            )
            if counted
        ]
        self.sentences += 1
        self.words += len(heads)
        self.heads += sum(heads)
        self.labels += sum(both)
        self.exact += all(heads)
        self.exact_labels += all(both)

    def as_dict(self, *, labelled: bool) -> dict[str, Any]:
        """Shares in percent; None where there is nothing to share out."""
        values = {
            "sentences": self.sentences,
            "words": self.words,
            "uas": percent(self.heads, self.words),
            "las": percent(self.labels, self.words),
            "exact": percent(self.exact, self.sentences),
            "exact_labelled": percent(self.exact_labels, self.sentences),
        }
        return values if labelled else {key: value for key, value in values.items() if key not in LABELLED}


@dataclass(slots=True)
class ParserScores:
    """Everything that `dtg evaluate parser` reports."""

    labelled: bool
    nbest: int
    all: Attachments = field(default_factory=Attachments)
    without_punctuation: Attachments = field(default_factory=Attachments)
    oracle: Attachments = field(default_factory=Attachments)  # of each list, the tree with the most right heads
    bins: dict[str, Attachments] = field(default_factory=lambda: {name: Attachments() for name in bin_names()})
    nonprojective: int = 0  # gold trees with crossing arcs

    def as_dict(self) -> dict[str, Any]:
        labelled = self.labelled
        content = {
            "all": self.all.as_dict(labelled=labelled),
            "without_punctuation": self.without_punctuation.as_dict(labelled=labelled),
            "by_length": {name: some.as_dict(labelled=labelled) for name, some in self.bins.items()},
            "nonprojective": self.nonprojective,
        }
        if self.nbest > 1:
            content["oracle"] = {"nbest": self.nbest, **self.oracle.as_dict(labelled=False)}
        return content


def evaluate(parser: Parser, gold: Iterable[DependencyTree], nbest: int = 1) -> ParserScores:
    """Parse the words of gold trees and compare.

    Args:
        parser: in evaluation mode.
        gold: the right trees, as the treebank has them.
        nbest: with more than 1, also score the best tree of each n-best list (the oracle).

    Returns:
        Counts, for all words, without punctuation, and by sentence length.
    """
    scores = ParserScores(parser.is_labelled, nbest)
    for tree, found in parsed(parser, gold, nbest):
        everything = [True] * len(tree)
        best = found[0].tree
        scores.nonprojective += not tree.is_projective
        scores.all.add(tree, best, everything)
        scores.bins[bin_name(len(tree))].add(tree, best, everything)
        counts = [not punctuation for punctuation in is_punctuation(tree)]
        if any(counts):
            scores.without_punctuation.add(tree, best, counts)
        right = [sum(a == b for a, b in zip(tree.heads, one.tree.heads, strict=True)) for one in found]
        scores.oracle.add(tree, found[right.index(max(right))].tree, everything)
    return scores


def parsed(
    parser: Parser, gold: Iterable[DependencyTree], nbest: int
) -> Iterator[tuple[DependencyTree, list[ParsedTree]]]:
    """Each gold tree with the parser's trees; those read ahead are kept no longer than needed."""
    waiting = deque[DependencyTree]()

    def words() -> Iterator[tuple[str, ...]]:
        for tree in gold:
            waiting.append(tree)
            yield tree.words

    for found in parser.k_best_all(words(), nbest):
        yield waiting.popleft(), found


def labels_of(tree: DependencyTree) -> tuple[str | None, ...]:
    return tree.labels or (None,) * len(tree)


def is_punctuation(tree: DependencyTree) -> list[bool]:
    """Which words the treebank tags PUNCT; none where there are no tags."""
    return [tag == "PUNCT" for tag in tags_of(tree)]


def bin_name(words: int) -> str:
    return next(name(*ends) for ends in BINS if ends[1] is None or words <= ends[1])


def bin_names() -> list[str]:
    return [name(*ends) for ends in BINS]


def name(first: int, last: int | None) -> str:
    return f"{first}+" if last is None else f"{first}-{last}"


def percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 2) if whole else None
