"""Enumerates and counts the trees of a sentence of a given length: projective dependencies, binary brackets, phrases.

There are 1, 2, 7, 30, 143, 728, 3,876 and 21,318 single-root projective trees for 1 to 8 words, five to six times as many
with each further word: so there is a limit. They are the yardstick for everything that sums over trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from math import comb

import numpy as np
from numpy.typing import NDArray

from dtg.errors import InputError
from dtg.trees.phrases.nodes import Node

LONGEST = 8
OUTSIDE = -1  # the head of a word whose head is not in the span

Spans = tuple[tuple[int, int], ...]  # first and last word, in preorder

Heads = NDArray[np.int64]  # (trees, words of the span): places in the span from 0, or OUTSIDE


def count_projective(words: int) -> int:
    """The number of single-root projective trees of n words: C(3n - 2, n - 1) / n.

    >>> [count_projective(words) for words in range(1, 9)]
    [1, 2, 7, 30, 143, 728, 3876, 21318]
    """
    check_positive(words)
    return comb(3 * words - 2, words - 1) // words


def enumerate_projective(words: int) -> list[tuple[int, ...]]:
    """The heads of every single-root projective tree, each once, in a fixed order.

    >>> enumerate_projective(2)
    [(0, 1), (2, 0)]
    """
    check_positive(words)
    if words > LONGEST:
        raise InputError(
            f"{words} words have {count_projective(words):,} projective trees; they are enumerated for up to {LONGEST} words."
        )
    return list(map(tuple, (subtrees(words) + 1).tolist()))  # OUTSIDE becomes <ROOT>, place 0 becomes word 1


@cache
def subtrees(length: int) -> Heads:
    """Spans of this length that are one subtree: a top word, and on both sides of it whole dependents."""
    found = []
    for top in range(length):
        left, right = pairs(forests(top), shifted(forests(length - 1 - top), top + 1))
        heads = np.concatenate([left, np.full((len(left), 1), OUTSIDE), right], axis=1)
        heads = np.where(heads == OUTSIDE, top, heads)
        heads[:, top] = OUTSIDE
        found.append(heads)
    return np.concatenate(found)


@cache
def forests(length: int) -> Heads:
    """Spans of this length that are any number of subtrees side by side, whose top words share a head outside."""
    if length == 0:
        return np.zeros((1, 0), np.int64)
    parts = (pairs(subtrees(first), shifted(forests(length - first), first)) for first in range(1, length + 1))
    return np.concatenate([np.concatenate(part, axis=1) for part in parts])


def pairs(left: Heads, right: Heads) -> tuple[Heads, Heads]:
    """Each of `left` with each of `right`."""
    return np.repeat(left, len(right), axis=0), np.tile(right, (len(left), 1))


def shifted(heads: Heads, places: int) -> Heads:
    return np.where(heads == OUTSIDE, OUTSIDE, heads + places)


def check_positive(words: int) -> None:
    if words < 1:
        raise InputError(f"a tree needs at least one word, not {words}.")


def count_binary(words: int) -> int:
    """The number of binary trees of n words: Catalan number n - 1.

    >>> [count_binary(words) for words in range(1, 9)]
    [1, 1, 2, 5, 14, 42, 132, 429]
    """
    check_positive(words)
    return comb(2 * words - 2, words - 1) // words


def enumerate_binary(words: int) -> Iterator[Spans]:
    """The spans of every binary tree, each once, in preorder: of all constituents of two words or more.

    >>> list(enumerate_binary(3))
    [((1, 3), (2, 3)), ((1, 3), (1, 2))]
    """
    check_positive(words)
    return binary_brackets(1, words)


def binary_brackets(first: int, last: int) -> Iterator[Spans]:
    if first == last:
        yield ()
    for split in range(first, last):
        for left in binary_brackets(first, split):
            for right in binary_brackets(split + 1, last):
                yield ((first, last), *left, *right)


def count_constituency(words: int, labels: int, chain: int) -> int:
    """The number of trees that `enumerate_constituency` gives, with this many labels.

    >>> [count_constituency(words, 1, 1) for words in range(1, 6)]
    [1, 4, 24, 176, 1440]
    """
    check_phrases(words, labels, chain)
    chains: int = sum(labels**length for length in range(1, chain + 1))
    whole, rows = [0, 1 + chains], [1, 1 + chains]  # by words: spans that are one child, and rows of children
    branching = [0, 1]  # by words: what the chain of nodes over a span has below it, a word or two children and more
    for length in range(2, words + 1):
        branching.append(sum(whole[first] * rows[length - first] for first in range(1, length)))
        whole.append(chains * branching[length])
        rows.append(branching[length] + whole[length])
    return chains * branching[words]


def enumerate_constituency(words: int, labels: Sequence[str], chain: int) -> Iterator[tuple[Node, ...]]:
    """The nodes of every phrase-structure tree, each once, in preorder.

    Args:
        words: of the sentence.
        labels: of phrases.
        chain: the most phrases over the same words; they may have equal labels. There is at least one over the sentence, and
            there may be some over a single word.
    """
    check_phrases(words, len(labels), chain)
    chains = [some for length in range(1, chain + 1) for some in product(labels, repeat=length)]
    return phrases_over(1, words, chains)


def phrases_over(first: int, last: int, chains: Sequence[tuple[str, ...]]) -> Iterator[tuple[Node, ...]]:
    """Chains of phrases over a span, with a word or at least two children below."""
    for below in [()] if first == last else children_over(first, last, chains, least=2):
        for labels in chains:
            yield (*(Node(label, first, last) for label in labels), *below)


def children_over(
    first: int, last: int, chains: Sequence[tuple[str, ...]], least: int = 0
) -> Iterator[tuple[Node, ...]]:
    """Words and phrases side by side over a span, at least a given number."""
    if first > last:
        if least <= 0:
            yield ()
        return
    for end in range(first, last + 1 if least <= 1 else last):
        for rest in children_over(end + 1, last, chains, least - 1):
            if end == first:
                yield rest
            for phrase in phrases_over(first, end, chains):
                yield phrase + rest


def check_phrases(words: int, labels: int, chain: int) -> None:
    check_positive(words)
    if labels < 1 or chain < 1:
        raise InputError(f"phrases need a label and a chain of at least 1, not {labels} labels and a chain of {chain}.")
