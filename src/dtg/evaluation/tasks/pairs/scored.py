"""Minimal pairs that a model has scored: which are right, and the accuracies of all of them and of their groups."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.intervals import Bounds, Resampling, share_intervals

# Nats. Sentences that are the same can differ by so much, for what a model computes together shifts its last digits.
TIE = 1e-5
HOW = Resampling()


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair and what a model says of it, in nats; the numbers of words are those that the model read."""

    pair: Any  # a MinimalPair, or BLiMP's
    good: float
    bad: float
    good_words: int
    bad_words: int

    def __post_init__(self) -> None:
        for value, words in ((self.good, self.good_words), (self.bad, self.bad_words)):
            if math.isnan(value) or value == math.inf or words < 1:
                raise InputError(
                    f"pair {self.pair.pair_id} of {self.pair.stratum}: a log-probability and a number of words are expected "
                    f"for each sentence, but {value} and {words} were given. Score the pair anew."
                )

    def difference(self, convention: str) -> float:
        """How much better the acceptable sentence is: above 0 if the model is right, 0 for a tie."""
        good, bad = self.good, self.bad
        if convention.endswith("per_word"):
            good, bad = good / self.good_words, bad / self.bad_words
        return 0.0 if good == bad or abs(good - bad) <= TIE else good - bad  # == for two that are minus infinity

    def is_right(self, convention: str) -> bool:
        return self.difference(convention) > 0


Levels = Mapping[str, Callable[[Any], str]]  # kinds of groups: which one a pair is in


def score(
    scored: Sequence[ScoredPair], convention: str, levels: Levels, count: str, how: Resampling = HOW
) -> dict[str, Any]:
    """Accuracies of all pairs and of every group of every level.

    `count` is what the groups that pairs are drawn within are called.
    """
    if not scored:
        raise InputError("there are no scored pairs to count.")

    def accuracy(some: Iterable[ScoredPair]) -> dict[str, Any]:
        counts, ties = [], 0  # (right, not right) of each stratum
        for stratum in grouped(some, lambda pair: pair.stratum).values():
            differences = [one.difference(convention) for one in stratum]
            right = sum(difference > 0 for difference in differences)
            counts.append((right, len(stratum) - right))
            ties += differences.count(0.0)
        over_pairs, over_strata = share_intervals(counts, how)
        pairs, right = sum(map(sum, counts)), sum(right for right, _ in counts)
        mean = math.fsum(right / (right + other) for right, other in counts) / len(counts)
        return {
            count: len(counts),
            "pairs": pairs,
            "right": right,
            "ties": ties,
            "accuracy": 100 * (right / pairs),
            "interval": in_percent(over_pairs),
            f"{count[:-1]}_mean": 100 * mean,
            f"{count[:-1]}_mean_interval": in_percent(over_strata),
        }

    return {
        "resampling": asdict(how),
        "overall": accuracy(scored),
        **{
            level: {name: accuracy(some) for name, some in sorted(grouped(scored, group_of).items())}
            for level, group_of in levels.items()
        },
    }


def grouped(scored: Iterable[ScoredPair], name_of: Callable[[Any], str]) -> dict[str, list[ScoredPair]]:
    """Pairs by what they are called."""
    found = defaultdict[str, list[ScoredPair]](list)
    for one in scored:
        found[name_of(one.pair)].append(one)
    return found


def in_percent(bounds: Bounds) -> list[float]:
    return [100 * bounds[0], 100 * bounds[1]]


def numbers_of(scored: ScoredPair) -> tuple[Any, ...]:
    """The last columns of a table of pairs."""
    difference = scored.difference("sentence")
    words = (scored.good_words, scored.bad_words)
    return (*words, scored.good, scored.bad, int(difference > 0), int(difference == 0))


def scored_of(pair: Any, item: Mapping[str, Any]) -> ScoredPair:
    """A pair with the numbers of its row."""
    try:
        return ScoredPair(
            pair,
            float(item["good_log_probability"]),
            float(item["bad_log_probability"]),
            int(item["good_words"]),
            int(item["bad_words"]),
        )
    except (TypeError, ValueError) as error:
        raise InputError(
            f"pair {pair.pair_id} of {pair.stratum}: numbers are expected for log-probabilities and words, but one is not "
            f"({error}). Fix the table, or make it anew."
        ) from None


def identity(scored: ScoredPair) -> tuple[str, str]:
    return scored.pair.stratum, scored.pair.pair_id


def shared_pairs(models: Mapping[str, Sequence[ScoredPair]]) -> tuple[list[ScoredPair], list[ScoredPair]]:
    """The pairs that two models have both scored, in the order of the first."""
    first, second = models
    by_identity = []
    for name, scored in models.items():
        found = {identity(one): one for one in scored}
        if len(found) < len(scored):
            raise InputError(f"{name} has scored {len(scored) - len(found):,} pairs more than once; give each once.")
        by_identity.append(found)
    shared = [key for key in by_identity[0] if key in by_identity[1]]
    if not shared:
        raise InputError(f"there is no pair that all of {first}, {second} have scored. Score them on the same pairs.")
    kept = [[found[key] for key in shared] for found in by_identity]
    for one, its in zip(*kept, strict=True):
        if (one.pair.good, one.pair.bad) != (its.pair.good, its.pair.bad):
            raise InputError(
                f"pair {one.pair.pair_id} of {one.pair.stratum} has other sentences for {second} than for {first}: "
                f"{its.pair.good!r} and {its.pair.bad!r}, not {one.pair.good!r} and {one.pair.bad!r}. Score both "
                "on the same files."
            )
    return kept[0], kept[1]
