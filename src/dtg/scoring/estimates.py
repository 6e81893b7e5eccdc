"""Estimates log p(x) from log p(x, y) and log q(y) of trees drawn at random.

Both estimators of p(x) are unbiased, as long as q gives every tree a chance that p does. Their logarithm is not: on
average it is too low (Jensen), by about half the square of the standard error.

The mean of p/q over *distinct* trees is neither of them. Leaving out repeats, or drawing without replacement and
weighting as if with it, favours improbable trees, and the mean is biased. Draws without replacement need weights of their
own, which are those of Des Raj (1956, "Some estimators in sampling with varying probabilities without replacement").

Everything is computed from logarithms in float64: p(x, y) of a sentence is easily e^-300, and may be e^-3000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dtg.errors import InputError, NotFiniteError

Logs = NDArray[np.float64]
ROUNDING = 1e-3  # how far the q of distinct trees may sum above 1: they may come from a parser in float32


@dataclass(frozen=True, slots=True)
class Estimate:
    """`standard_error` is that of the logarithm, to first order: of the estimate of p(x), relative to it.

    `effective_sample_size` is (Σw)² / Σw² over the draws, w being what a draw adds to the estimate: how many draws carry it.
    """

    log_probability: float
    effective_sample_size: float
    standard_error: float | None  # None where there is one draw, or all draws have probability 0 by the model


def from_independent_draws(log_p: Sequence[float], log_q: Sequence[float]) -> Estimate:
    """The mean of p/q over independent draws, repeats included."""
    p, q = checked(log_p, log_q)
    return summarize(terms=p - q, shares=p - q)


def from_ordered_draws(log_p: Sequence[float], log_q: Sequence[float]) -> Estimate:
    """Des Raj's estimator: the mean of one unbiased estimate for each draw, in the order they were drawn without replacement.

    The k-th takes p of the draws before it as known and estimates the rest from draw k, which came from what was left of
    q:  t_k = Σ_{j<k} p_j + p_k (1 − Σ_{j<k} q_j) / q_k.  The t_k are uncorrelated, which gives the standard error.
    `log_q` is that of each tree in the whole distribution, not in what was left of it.
    """
    p, q = checked(log_p, log_q)
    drawn = np.cumsum(np.exp(q))
    if drawn[-1] > 1 + ROUNDING:
        raise InputError(
            f"the probabilities q of {len(q)} draws without replacement sum to {drawn[-1]:.6g}; trees that are all different"
            " cannot have more than 1 together. Pass log q of each tree, in nats, and each tree once."
        )
    # What is left before a draw is that draw, those still to come, and what is never drawn. The last is 1 - Σq, unless that is
    # no more than rounding, for log q may come in float32: divided by the q of an improbable tree, it would outweigh all else.
    undrawn = 1 - drawn[-1:]
    rounding = np.finfo(np.float32).eps * (np.exp(q) * (1 + np.abs(q))).sum()
    never = log(np.where(undrawn > rounding, undrawn, 0.0))
    left = np.logaddexp.accumulate(np.concatenate([never, q[::-1]]))[:0:-1]
    known = np.concatenate([np.full(1, -np.inf), np.logaddexp.accumulate(p)[:-1]])
    later = np.arange(len(p) - 1, -1, -1.0)  # in how many t the draw is one of those known
    return summarize(terms=np.logaddexp(known, p + left - q), shares=p + np.logaddexp(log(later), left - q))


def summarize(terms: Logs, shares: Logs) -> Estimate:
    """From the logarithms of uncorrelated estimates of p(x), and of what each draw adds to their sum."""
    top = float(terms.max())
    if top == -np.inf:
        return Estimate(-np.inf, 0.0, None)
    estimates, weights = np.exp(terms - top), np.exp(shares - shares.max())
    mean, count = float(estimates.mean()), len(estimates)
    error = None if count == 1 else float(estimates.std(ddof=1)) / count**0.5 / mean
    return Estimate(top + float(np.log(mean)), float(weights.sum() ** 2 / (weights**2).sum()), error)


def checked(log_p: Sequence[float], log_q: Sequence[float]) -> tuple[Logs, Logs]:
    p, q = np.asarray(log_p, np.float64), np.asarray(log_q, np.float64)
    if p.ndim != 1 or p.shape != q.shape or not len(p):
        raise InputError(
            f"log p and log q are expected of each of one or more draws, not {p.shape} and {q.shape} values."
        )
    if np.isnan(p).any() or (p == np.inf).any():
        raise NotFiniteError(f"log p of draw {int(np.argmax(~(p < np.inf))) + 1}")
    if not (np.isfinite(q) & (q < ROUNDING)).all():
        wrong = int(np.argmin(np.isfinite(q) & (q < ROUNDING)))
        raise InputError(
            f"log q of draw {wrong + 1} is {q[wrong]}; the logarithm of a probability above 0 is expected, in nats."
        )
    return p, q


def log(values: Logs) -> Logs:
    """The logarithm, minus infinity for 0 and what rounding put below it."""
    return np.log(values, where=values > 0, out=np.full_like(values, -np.inf))
