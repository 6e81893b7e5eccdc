"""Models side by side on the same pairs: each one's scored pairs in, accuracies and paired tests out.

Only pairs that every model has scored are compared; how many are left out, and of whom, is in `notes`. The p values of
phenomena are not corrected for there being twelve of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.blimp.intervals import Interval, Resampling, mean_intervals
from dtg.evaluation.blimp.scored import Convention, ScoredPair
from dtg.evaluation.blimp.scores import Scores, groups, percent, score
from dtg.evaluation.mcnemar import mcnemar


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Two models on the same pairs: on how many which of them is right, and what McNemar's test says of it."""

    a: str
    b: str
    both: int
    only_a: int
    only_b: int
    neither: int
    interval: Interval  # of the difference of their shares, a's minus b's
    p: float

    @property
    def difference(self) -> float:
        return (self.only_a - self.only_b) / (self.both + self.only_a + self.only_b + self.neither)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; the difference and its interval in percent."""
        return {
            "a": self.a,
            "b": self.b,
            "both": self.both,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "neither": self.neither,
            "difference": 100 * self.difference,
            "interval": percent(self.interval),
            "p": self.p,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two or more models, in the order given."""

    convention: Convention
    models: dict[str, Scores]
    tests: tuple[PairedTest, ...]  # of every two of them, on all pairs
    phenomena: dict[str, tuple[PairedTest, ...]]  # the same on those of each phenomenon
    notes: tuple[str, ...]

    @property
    def groups(self) -> dict[str, tuple[PairedTest, ...]]:
        """All tests, by what they are of."""
        return {"all pairs": self.tests, **self.phenomena}

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "convention": self.convention,
            "models": {name: scores.as_dict() for name, scores in self.models.items()},
            "tests": [test.as_dict() for test in self.tests],
            "phenomena": {name: [test.as_dict() for test in tests] for name, tests in self.phenomena.items()},
            "notes": list(self.notes),
        }


def compare(
    models: Mapping[str, Sequence[ScoredPair]], convention: Convention, how: Resampling | None = None
) -> Comparison:
    """Accuracies of each model, and a test of every two."""
    if len(models) < 2:
        raise InputError(f"comparing takes at least two models; {len(models)} was given ({', '.join(models)}).")
    how = how or Resampling()
    by_name = {name: by_identity(scored, name) for name, scored in models.items()}
    first = next(iter(by_name.values()))
    shared = [identity for identity in first if all(identity in other for other in by_name.values())]
    if not shared:
        raise InputError(f"there is no pair that all of {', '.join(models)} have scored. Score them on the same pairs.")
    kept = {name: [scored[identity] for identity in shared] for name, scored in by_name.items()}
    check_same_sentences(kept)
    notes = [
        f"{len(scored) - len(shared):,} of the {len(scored):,} pairs of {name} are left out: not every model has scored them."
        for name, scored in by_name.items()
        if len(scored) > len(shared)
    ]
    of_phenomenon = {name: groups(scored, lambda pair: pair.phenomenon) for name, scored in kept.items()}
    return Comparison(
        convention=convention,
        models={name: score(scored, convention, how) for name, scored in kept.items()},
        tests=every_two(kept, convention, how),
        phenomena={
            name: every_two({model: of_phenomenon[model][name] for model in kept}, convention, how)
            for name in sorted(next(iter(of_phenomenon.values())))
        },
        notes=tuple(notes),
    )


def every_two(
    models: Mapping[str, Sequence[ScoredPair]], convention: Convention, how: Resampling
) -> tuple[PairedTest, ...]:
    """Models that have scored the same pairs in the same order."""
    return tuple(paired_test(a, models[a], b, models[b], convention, how) for a, b in combinations(models, 2))


def paired_test(
    a: str,
    scored_a: Sequence[ScoredPair],
    b: str,
    scored_b: Sequence[ScoredPair],
    convention: Convention,
    how: Resampling,
) -> PairedTest:
    """Two models that have scored the same pairs in the same order."""
    outcomes: dict[str, list[int]] = {}  # of each paradigm: only a, only b, both, neither
    for one, other in zip(scored_a, scored_b, strict=True):
        right = one.is_right(convention), other.is_right(convention)
        place = [(True, False), (False, True), (True, True), (False, False)].index(right)
        outcomes.setdefault(one.pair.uid, [0, 0, 0, 0])[place] += 1
    only_a, only_b, both, neither = (sum(column) for column in zip(*outcomes.values(), strict=True))
    interval, _ = mean_intervals(list(outcomes.values()), (1, -1, 0, 0), how)
    return PairedTest(a, b, both, only_a, only_b, neither, interval, mcnemar(only_a, only_b))


def by_identity(scored: Sequence[ScoredPair], name: str) -> dict[tuple[str, str], ScoredPair]:
    """Scored pairs by their paradigm and number."""
    found = {(one.pair.uid, one.pair.pair_id): one for one in scored}
    if len(found) < len(scored):
        raise InputError(f"{name} has scored {len(scored) - len(found):,} pairs more than once; give each once.")
    return found


def check_same_sentences(models: Mapping[str, Sequence[ScoredPair]]) -> None:
    """Raise unless pairs of the same number have the same sentences."""
    first, *others = models
    for other in others:
        for one, its in zip(models[first], models[other], strict=True):
            if (one.pair.good, one.pair.bad) != (its.pair.good, its.pair.bad):
                raise InputError(
                    f"pair {one.pair.pair_id} of {one.pair.uid} has other sentences for {other} than for {first}: "
                    f"{its.pair.good!r} and {its.pair.bad!r}, not {one.pair.good!r} and {one.pair.bad!r}. Score both "
                    "on the same files."
                )
