"""Labelled bracket scores, as EVALB counts them with its usual parameters (Sekine and Collins 1997; COLLINS.prm).

A bracket is a phrase's label, first and last word. Brackets of two trees are matched as multisets: a chain of two equal phrases
over the same words needs two. What is not counted:

- words that the gold tree tags , : `` '' or . : they are taken out before spans are compared, and phrases of nothing else
  with them; of gold trees without tags, all words count;
- ROOT, TOP and the like, which the reader has removed already; and X over all words as the outermost phrase, which it puts
  there where ROOT had several children;
- traces and function tags, which the reader removes unless it is told otherwise.

ADVP and PRT count as the same label. Part-of-speech tags are no brackets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from dtg.trees import ConstituencyTree
from dtg.trees.phrases.binarization import BinaryTree

PUNCTUATION = frozenset({",", ":", "``", "''", "."})  # tags of words that are taken out
SAME = {"PRT": "ADVP"}
TOP = "X"  # what the reader puts over words that have no phrase in common

Bracket = tuple[str, int, int]  # label, first word, last word
PhraseTree = ConstituencyTree | BinaryTree


@dataclass(frozen=True, slots=True)
class BracketMatch:
    """How many brackets of two trees there are, and how many are the same."""

    gold: int
    found: int
    matched: int  # labels and words
    matched_spans: int  # words only

    @property
    def f1(self) -> float:
        """Of one sentence; 1 if there is nothing to be found and nothing was."""
        total = self.gold + self.found
        return 2 * self.matched / total if total else 1.0

    @property
    def is_exact(self) -> bool:
        return self.matched == self.gold == self.found


def match_brackets(gold: PhraseTree, found: PhraseTree, counts: Sequence[bool]) -> BracketMatch:
    """Compare two trees of the same words; `counts` says which words count."""
    ours, theirs = brackets_of(gold, counts), brackets_of(found, counts)
    spans = [Counter(bracket[1:] for bracket in brackets.elements()) for brackets in (ours, theirs)]
    return BracketMatch(ours.total(), theirs.total(), (ours & theirs).total(), (spans[0] & spans[1]).total())


def brackets_of(tree: PhraseTree, counts: Sequence[bool]) -> Counter[Bracket]:
    """The brackets of a tree over the words that count, which are numbered from 1."""
    before = [0, *accumulate(counts)]  # how many count among the first n words
    nodes = tree.nodes[1:] if tree.nodes[0].label == TOP else tree.nodes
    return Counter(
        (SAME.get(node.label, node.label), before[node.first - 1] + 1, before[node.last])
        for node in nodes
        if before[node.last] > before[node.first - 1]
    )


def words_that_count(gold: ConstituencyTree) -> list[bool]:
    """All but punctuation."""
    return [tag not in PUNCTUATION for tag in gold.tags or ("",) * len(gold)]
