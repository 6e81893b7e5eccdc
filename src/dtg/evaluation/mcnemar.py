"""McNemar's test: on how many items only one of two models is right in, the probability of so uneven a split out.

Items on which both are right, or neither, say nothing about which is better. If the two were equally good, each of the
others would fall to either side like a coin; the test is the exact two-sided one, by the binomial distribution.
"""

from __future__ import annotations

from dtg.errors import InputError


def mcnemar(only_a: int, only_b: int) -> float:
    """The probability that n = only_a + only_b fair coins fall at least as unevenly; 1 if n is 0."""
    if only_a < 0 or only_b < 0:
        raise InputError(f"McNemar's test takes two counts of items; {only_a} and {only_b} were given.")
    coins = only_a + only_b
    ways, tail = 1, 0  # ways to choose k of the coins, exact however many there are
    for k in range(min(only_a, only_b) + 1):
        tail += ways
        ways = ways * (coins - k) // (k + 1)
    return min(1.0, 2 * tail / (1 << coins))  # both tails; they overlap where the split is even
