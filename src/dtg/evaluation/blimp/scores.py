"""BLiMP's accuracies: scored pairs in, shares of pairs judged right out: of a paradigm, a phenomenon, a field and of all."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.blimp.intervals import Interval, Resampling, mean_intervals
from dtg.evaluation.blimp.lines import Pair
from dtg.evaluation.blimp.scored import Convention, ScoredPair


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How a group of pairs came out. Shares are between 0 and 1 here, and in percent in `as_dict`."""

    paradigms: int
    pairs: int
    right: int
    ties: int
    interval: Interval  # of the share of pairs
    paradigm_mean: float  # of the paradigms' own shares: the same if they are of equal size
    paradigm_interval: Interval

    @property
    def share(self) -> float:
        return self.right / self.pairs

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "paradigms": self.paradigms,
            "pairs": self.pairs,
            "right": self.right,
            "ties": self.ties,
            "accuracy": 100 * self.share,
            "interval": percent(self.interval),
            "paradigm_mean": 100 * self.paradigm_mean,
            "paradigm_mean_interval": percent(self.paradigm_interval),
        }


@dataclass(frozen=True, slots=True)
class Scores:
    """Accuracies by one convention; groups in alphabetical order."""

    resampling: Resampling
    overall: Accuracy
    fields: dict[str, Accuracy]
    phenomena: dict[str, Accuracy]
    paradigms: dict[str, Accuracy]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        groups = {"fields": self.fields, "phenomena": self.phenomena, "paradigms": self.paradigms}
        return {
            "resampling": asdict(self.resampling),
            "overall": self.overall.as_dict(),
            **{name: {key: value.as_dict() for key, value in group.items()} for name, group in groups.items()},
        }


def score(scored: Sequence[ScoredPair], convention: Convention, how: Resampling | None = None) -> Scores:
    """Accuracies of every group and of all pairs together."""
    if not scored:
        raise InputError("there are no scored pairs to count.")
    how = how or Resampling()

    def grouped(name_of: Callable[[Pair], str]) -> dict[str, Accuracy]:
        return {name: accuracy(some, convention, how) for name, some in sorted(groups(scored, name_of).items())}

    return Scores(
        resampling=how,
        overall=accuracy(scored, convention, how),
        fields=grouped(lambda pair: pair.field),
        phenomena=grouped(lambda pair: pair.phenomenon),
        paradigms=grouped(lambda pair: pair.uid),
    )


def accuracy(scored: Iterable[ScoredPair], convention: Convention, how: Resampling) -> Accuracy:
    """Of pairs that are taken together."""
    counts = []  # (right, not right) of each paradigm
    ties = 0
    for some in groups(scored, lambda pair: pair.uid).values():
        differences = [one.difference(convention) for one in some]
        right = sum(difference > 0 for difference in differences)
        counts.append((right, len(some) - right))
        ties += differences.count(0.0)
    over_pairs, over_paradigms = mean_intervals(counts, (1, 0), how)
    return Accuracy(
        paradigms=len(counts),
        pairs=sum(map(sum, counts)),
        right=sum(right for right, _ in counts),
        ties=ties,
        interval=over_pairs,
        paradigm_mean=math.fsum(right / (right + other) for right, other in counts) / len(counts),
        paradigm_interval=over_paradigms,
    )


def groups(scored: Iterable[ScoredPair], name_of: Callable[[Pair], str]) -> dict[str, list[ScoredPair]]:
    """Pairs by what they are called."""
    found = defaultdict[str, list[ScoredPair]](list)
    for one in scored:
        found[name_of(one.pair)].append(one)
    return found


def percent(interval: Interval) -> list[float]:
    return [100 * interval.low, 100 * interval.high]
