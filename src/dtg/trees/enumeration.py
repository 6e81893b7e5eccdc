"""Enumerates the single-root projective trees of a sentence of a given length.

There are 1, 2, 7, 30, 143, 728, 3,876 and 21,318 of them for 1 to 8 words, five to six times as many with each further
word: so there is a limit. They are the yardstick for everything that sums over trees.
"""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from dtg.errors import InputError

LONGEST = 8
OUTSIDE = -1  # the head of a word whose head is not in the span

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
