"""Estimators against their expectation, summed over everything that could be drawn: no simulation, no tolerance for luck."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product

import numpy as np
import pytest

from dtg.errors import InputError, NotFiniteError
from dtg.scoring.estimates import Estimate, from_independent_draws, from_ordered_draws

P = (0.02, 0.003, 0.05, 0.0004, 0.01)  # p(x, y) of five trees: they need not sum to anything
Q = (0.3, 0.25, 0.05, 0.25, 0.15)  # the proposal, which differs from p where it hurts
Estimator = Callable[[Sequence[float], Sequence[float]], Estimate]


def independent(count: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every sequence of draws, and its probability."""
    for draws in product(range(len(Q)), repeat=count):
        yield draws, math.prod(Q[draw] for draw in draws)


def ordered(count: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every sequence of distinct draws, each from what is left of q."""
    for draws in permutations(range(len(Q)), count):
        left, probability = 1.0, 1.0
        for draw in draws:
            probability *= Q[draw] / left
            left -= Q[draw]
        yield draws, probability


def expected(
    estimator: Estimator, sequences: Iterator[tuple[tuple[int, ...], float]]
) -> tuple[float, float, float | None]:
    """The mean and the variance of the estimate of p(x), and the mean of the variance that it claims."""
    chances, estimates, claims = [], [], []
    for draws, chance in sequences:
        found = estimator([math.log(P[draw]) for draw in draws], [math.log(Q[draw]) for draw in draws])
        chances.append(chance)
        estimates.append(math.exp(found.log_probability))
        claims.append(None if found.standard_error is None else (found.standard_error * estimates[-1]) ** 2)
    assert sum(chances) == pytest.approx(1.0, rel=1e-12)
    mean = float(np.dot(chances, estimates))
    claimed = None if None in claims else float(np.dot(chances, np.array(claims, float)))
    return mean, float(np.dot(chances, (np.array(estimates) - mean) ** 2)), claimed


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_independent_draws_are_unbiased(count: int) -> None:
    mean, variance, claimed = expected(from_independent_draws, independent(count))
    assert mean == pytest.approx(sum(P), rel=1e-12)
    assert claimed == (None if count == 1 else pytest.approx(variance, rel=1e-9))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_ordered_draws_are_unbiased(count: int) -> None:
    mean, variance, claimed = expected(from_ordered_draws, ordered(count))
    assert mean == pytest.approx(sum(P), rel=1e-12)
    assert claimed == (None if count == 1 else pytest.approx(variance, rel=1e-9))


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_p_over_q_of_distinct_draws_is_biased(count: int) -> None:
    """The estimator that one might write first: weights for independent draws, on draws that are all different."""
    mean, _, _ = expected(from_independent_draws, ordered(count))
    assert abs(mean / sum(P) - 1) > 0.05


def test_p_over_q_of_what_is_distinct_among_independent_draws_is_biased() -> None:
    """And the other way to write it: repeats thrown away."""
    chance_and_mean = [
        (chance, np.mean([P[draw] / Q[draw] for draw in set(draws)])) for draws, chance in independent(4)
    ]
    mean = sum(chance * float(mean) for chance, mean in chance_and_mean)
    assert abs(mean / sum(P) - 1) > 0.05


def test_drawing_without_replacement_is_worth_it() -> None:
    for count in (2, 3, 4):
        assert expected(from_ordered_draws, ordered(count))[1] < expected(from_independent_draws, independent(count))[1]


@pytest.mark.parametrize("estimator", [from_independent_draws, from_ordered_draws])
@pytest.mark.parametrize("shift", [-300.0, -5000.0])
def test_very_small_probabilities(estimator: Estimator, shift: float) -> None:
    """Multiplying every p by e^-5000, far below what a float holds, moves the logarithm by that and changes nothing else."""
    log_p, log_q = np.log(P), np.log(Q)
    plain, small = estimator(list(log_p), list(log_q)), estimator(list(log_p + shift), list(log_q))
    assert small.log_probability == pytest.approx(plain.log_probability + shift, rel=1e-12)
    assert small.effective_sample_size == pytest.approx(plain.effective_sample_size, rel=1e-9)
    assert small.standard_error == pytest.approx(plain.standard_error, rel=1e-9)


def test_golden_values() -> None:
    """t_1 = .2/.5 = .4,  t_2 = .2 + .1 × .5/.25 = .4: two draws that agree. They add .2 + .4 and .2 to the sum of .8."""
    found = from_ordered_draws([math.log(0.2), math.log(0.1)], [math.log(0.5), math.log(0.25)])
    assert found.log_probability == pytest.approx(math.log(0.4))
    assert found.standard_error == pytest.approx(0.0, abs=1e-12)
    assert found.effective_sample_size == pytest.approx(0.8**2 / (0.6**2 + 0.2**2))
    found = from_independent_draws([math.log(0.2), math.log(0.1)], [math.log(0.5), math.log(0.125)])
    assert found.log_probability == pytest.approx(math.log(0.6))
    assert found.standard_error == pytest.approx(0.2 / 0.6)
    assert found.effective_sample_size == pytest.approx(1.2**2 / (0.4**2 + 0.8**2))


def test_a_perfect_proposal_leaves_nothing_to_chance() -> None:
    """q proportional to p: every weight is the same, whichever way the trees were drawn."""
    log_q = [math.log(q) for q in Q]
    for estimator in (from_independent_draws, from_ordered_draws):
        found = estimator([q - 7.0 for q in log_q[:3]], log_q[:3])
        assert found.log_probability == pytest.approx(-7.0)
        assert found.standard_error == pytest.approx(0.0, abs=1e-12)
    assert from_independent_draws([q - 7.0 for q in log_q], log_q).effective_sample_size == pytest.approx(5.0)


def test_draws_that_use_up_the_proposal() -> None:
    """What is left of q after the first draws is smaller than the rounding of a float: it must not become 0 or negative."""
    found = from_ordered_draws([-50.0, -3.0, -4.0], [math.log1p(-1e-20), -47.0, -800.0])
    estimates = [0.0, math.exp(-3), math.exp(-3) + math.exp(-4)]  # each draw stands for all that is left, itself
    assert found.log_probability == pytest.approx(math.log(sum(estimates) / 3), abs=1e-12)
    rounded = from_ordered_draws([-3.0, -4.0], [math.log(0.7) + 1e-6, math.log(0.3)])  # sums to a bit more than 1
    assert rounded.log_probability == pytest.approx(
        math.log((math.exp(-3) / 0.7 + math.exp(-3) + math.exp(-4)) / 2), 1e-5
    )


def test_rounding_is_not_taken_for_trees_that_were_not_drawn() -> None:
    """A parser is sure of one tree, and log q is in float32: 1 - Σq is 1e-8, but all that is left has about e^-53.

    Taken for what is left, 1e-8 would give the second draw a weight of e^35, and p(x) would be e^-55.
    """
    log_q = [-1e-8, -53.0, -53.5]
    found = from_ordered_draws([-71.0, -86.0, -87.0], log_q)
    first = math.exp(-71)
    third = math.exp(-71) + math.exp(-86) + math.exp(-87)
    second = math.exp(-71) + math.exp(-86) * (1 + math.exp(-0.5))
    assert found.log_probability == pytest.approx(math.log((first + second + third) / 3), abs=1e-7)
    assert found.standard_error is not None and found.standard_error < 1e-6
    undrawn = from_ordered_draws([-71.0, -86.0], [math.log(0.9), math.log(0.05)])  # 0.05 is no rounding
    assert math.exp(undrawn.log_probability + 71) == pytest.approx((1 / 0.9 + 1 + math.exp(-15) * 2) / 2)


@pytest.mark.parametrize("estimator", [from_independent_draws, from_ordered_draws])
def test_trees_that_the_model_cannot_build(estimator: Estimator) -> None:
    """They were drawn, so they count as draws; they add nothing."""
    nothing = estimator([-math.inf, -math.inf], [-1.0, -1.0])
    assert (nothing.log_probability, nothing.effective_sample_size, nothing.standard_error) == (-math.inf, 0.0, None)
    half = from_independent_draws([-math.inf, -3.0], [-1.0, -1.0])
    assert half.log_probability == pytest.approx(-2.0 + math.log(0.5))
    assert half.effective_sample_size == 1.0
    assert estimator([-math.inf, -3.0], [-1.0, -1.0]).log_probability > -math.inf


def test_what_cannot_be_an_estimate() -> None:
    with pytest.raises(InputError, match="of each of one or more draws"):
        from_independent_draws([], [])
    with pytest.raises(InputError, match=r"not \(2,\) and \(1,\) values"):
        from_ordered_draws([-1.0, -1.0], [-1.0])
    with pytest.raises(NotFiniteError, match="log p of draw 2 is NaN"):
        from_ordered_draws([-1.0, math.nan], [-1.0, -1.0])
    for wrong in (0.5, -math.inf, math.nan):
        with pytest.raises(InputError, match=f"log q of draw 2 is {wrong}; the logarithm of a probability above 0"):
            from_independent_draws([-1.0, -1.0], [-1.0, wrong])
    with pytest.raises(InputError, match=r"2 draws without replacement sum to 1\.4; trees that are all different"):
        from_ordered_draws([-1.0, -1.0], [math.log(0.7), math.log(0.7)])
