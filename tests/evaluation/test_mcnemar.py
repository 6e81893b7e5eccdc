"""McNemar's test, by hand and by enumeration."""

from __future__ import annotations

from itertools import product

import pytest

from dtg.errors import InputError
from dtg.evaluation.comparison import mcnemar


@pytest.mark.parametrize(
    ("only_a", "only_b", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (0, 5, 2 / 32),
        (1, 9, 2 * (1 + 10) / 1024),
        (3, 7, 2 * (1 + 10 + 45 + 120) / 1024),
        (5, 5, 1.0),
    ],
)
def test_by_hand(only_a: int, only_b: int, p: float) -> None:
    assert mcnemar(only_a, only_b) == mcnemar(only_b, only_a) == p


@pytest.mark.parametrize("coins", [3, 6, 9])
def test_is_the_share_of_falls_at_least_as_uneven(coins: int) -> None:
    falls = [abs(2 * sum(coin) - coins) for coin in product((0, 1), repeat=coins)]
    for heads in range(coins + 1):
        expected = sum(fall >= abs(2 * heads - coins) for fall in falls) / 2**coins
        assert mcnemar(heads, coins - heads) == pytest.approx(expected)


def test_many_coins_are_exact() -> None:
    # The normal approximation with continuity correction: z = (3000 - 1) / sqrt(67000) = 11.59
    assert mcnemar(32_000, 35_000) == pytest.approx(4.7e-31, rel=0.05)
    assert mcnemar(0, 60_000) == 0.0


def test_negative_counts_are_refused() -> None:
    with pytest.raises(InputError, match="takes two counts of items; -1 and 3 were given"):
        mcnemar(-1, 3)
