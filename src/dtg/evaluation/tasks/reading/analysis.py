"""Everything that is computed from a table of words with times, controls and a model's columns.

What a model is worth is what its columns gain over the controls; what other columns are worth, what they gain over its
surprisal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dtg.errors import InputError
from dtg.evaluation.tasks.reading.predictors import (
    COLUMNS,
    CONTROLS,
    SURPRISAL,
    Design,
    Floats,
    make_design,
    with_lags,
)
from dtg.evaluation.tasks.reading.regression import gain, held_out, least_squares
from dtg.search.measures.names import ATTENTION, MEASURES

SHIFTS = (-1, 0, 1)
FEW_WORDS = 50
ALL, PARTS = "all columns", "lexical and structural"
BY_SURPRISAL = "surprisal"


@dataclass(frozen=True)
class TimesAnalysis:
    """A table of words, as words.csv has it."""

    items: Sequence[Mapping[str, Any]]
    is_log: bool
    across_sentences: bool  # the word before may be in the sentence before
    without_ends: bool = False  # words at the end of a sentence are not fitted

    @property
    def names(self) -> list[str]:
        """The model's columns beside surprisal that vary."""
        first = self.items[0]
        extra = [name for name in first if name in MEASURES or name.startswith(ATTENTION)]
        return [name for name in (*COLUMNS, *extra) if name in first and self.varies(name)]

    def varies(self, name: str) -> bool:
        values = {one[name] for one in self.items if one[name] is not None}
        return len(values) > 1 and sum(one[name] is None for one in self.items) < len(self.items) / 2

    def values(self, names: Sequence[str]) -> dict[str, list[float | None]]:
        return {name: [one[name] for one in self.items] for name in names}

    def design(self, extra: Mapping[str, Sequence[float | None]] | None = None, shift: int = 0) -> Design:
        """Controls, surprisal and every other column; `extra` are columns of another model."""
        items = self.items
        texts = [f"{one['story']}\t{'' if self.across_sentences else one['sentence']}" for one in items]
        found = make_design(
            {**self.values((*CONTROLS, SURPRISAL, *self.with_lexical)), **(extra or {})},
            [one["log_time"] if self.is_log else one["time"] for one in items],
            texts,
            [f"{one['story']}\t{one['sentence']}" for one in items],
            [one["position"] for one in items],
            [one["fold"] for one in items],
            shift=shift,
            excluded=[bool(one["excluded"]) or (self.without_ends and one["sentence_end"] > 0) for one in items],
        )
        if len(found.times) < FEW_WORDS or len(np.unique(found.fold)) < 2:
            raise InputError(
                f"{len(found.times):,} words have a time, two words before them and every predictor, in "
                f"{len(np.unique(found.fold))} folds; at least {FEW_WORDS} words in 2 folds are needed."
            )
        return found

    @property
    def with_lexical(self) -> list[str]:
        names = self.names
        return (["lexical"] if "structural" in names else []) + names

    @cached_property
    def fitted(self) -> Design:
        return self.design()

    @cached_property
    def sets(self) -> dict[str, tuple[str, ...]]:
        """The sets of predictors beside the controls, by what they are called."""
        names = self.names
        found: dict[str, tuple[str, ...]] = {"baseline": (), BY_SURPRISAL: (SURPRISAL,)}
        if "structural" in names:
            found[PARTS] = ("lexical", "structural")
        others = [name for name in names if not name.endswith("_change")]
        for name in others:
            found[f"+ {name}"] = (SURPRISAL, name, *([f"{name}_change"] if f"{name}_change" in names else []))
        if len(others) > 1:
            found[ALL] = (SURPRISAL, *names)
        return found

    @cached_property
    def likelihoods(self) -> dict[str, Floats]:
        """(words,) held-out log-likelihoods of each set."""
        return {name: held_out(self.fitted, (*CONTROLS, *columns)) for name, columns in self.sets.items()}

    def gains(self) -> dict[str, Any]:
        """What each set gains over the baseline, and over surprisal."""
        design, found = self.fitted, {}
        for name, likelihood in self.likelihoods.items():
            one: dict[str, Any] = {"columns": list(self.sets[name]), "log_likelihood": float(likelihood.mean())}
            for over in ("baseline", BY_SURPRISAL):
                if name not in (over, "baseline"):
                    one[over] = gain(likelihood - self.likelihoods[over], design.item, design.fold).as_dict()
            found[name] = one
        return found

    @cached_property
    def shifted(self) -> tuple[dict[str, Floats], Design]:
        """(words,) what controls and surprisal gain over position alone, if times belonged to another word; and the words."""
        designs = {shift: self.design(shift=shift) for shift in SHIFTS}
        shared = set.intersection(*(set(one.place.tolist()) for one in designs.values()))
        found = dict[str, Floats]()
        for shift, design in designs.items():
            kept = np.isin(design.place, list(shared))
            some = Design(
                design.times[kept],
                design.place[kept],
                design.fold[kept],
                design.item[kept],
                {name: values[kept] for name, values in design.columns.items()},
            )
            found[f"{shift:+d}" if shift else "0"] = held_out(some, (*CONTROLS, SURPRISAL)) - held_out(some, ())
        return found, some

    def shifts(self) -> dict[str, float]:
        """The mean of each."""
        return {shift: float(gained.mean()) for shift, gained in self.shifted[0].items()}

    def misalignment(self) -> dict[str, Any]:
        """What is gained if times belonged to the word before or after, beyond what is gained if they stand right."""
        gained, design = self.shifted
        return {
            shift: gain(values - gained["0"], design.item, design.fold).as_dict()
            for shift, values in gained.items()
            if shift != "0"
        }

    def coefficients(self) -> dict[str, Any]:
        """Of the controls and surprisal (in ms or log ms), fitted on everything, with standard errors."""
        names = (*CONTROLS, SURPRISAL)
        matrix = self.fitted.matrix(names)
        values, errors, _ = least_squares(matrix, self.fitted.times)
        called = ["constant", "position", *(one for name in names for one in with_lags(name))]
        same = np.ptp(matrix, axis=0) == 0  # such as punctuation before words, where no word has any
        same[0] = False  # the constant
        return {
            name: {"value": 0.0 if is_same else float(value), "error": 0.0 if is_same else float(error)}
            for name, value, error, is_same in zip(called, values, errors, same, strict=True)
        }

    def effects(self) -> dict[str, list[dict[str, float] | None]]:
        """Of each predictor, in ms for a standard deviation more of it: at the word, and at the two words after it."""
        coefficients, scale = self.coefficients(), self.ms_per_unit()
        found: dict[str, list[dict[str, float] | None]] = {}
        for name in (*CONTROLS, SURPRISAL):
            spread = float(self.fitted.columns[name].std())
            of_lags = [coefficients[one] for one in with_lags(name)]
            if spread and any(one["error"] for one in of_lags):
                found[name] = [
                    {part: one[part] * scale * spread for part in ("value", "error")} if one["error"] else None
                    for one in of_lags
                ]
        return found

    def ms_per_unit(self) -> float:
        """ms for a unit of what is fitted: at the mean time, for log times."""
        return math.exp(float(self.fitted.times.mean())) if self.is_log else 1.0

    def by_bit(self) -> dict[str, float]:
        """ms a bit of surprisal, at the word and summed over it and the two after: at the mean time, for log times."""
        coefficients = self.coefficients()
        times = [one["time"] for one in self.items if one["time"] is not None]
        scale = self.ms_per_unit()
        at = [scale * coefficients[name]["value"] for name in with_lags(SURPRISAL)]
        return {"word": at[0], "after_1": at[1], "after_2": at[2], "total": sum(at), "mean_time": float(np.mean(times))}


def compare(ours: TimesAnalysis, theirs: TimesAnalysis, names: tuple[str, str]) -> dict[str, Any]:
    """Two models on the same words: whose columns fit better, and what each gains where the other's surprisal is known."""
    first, second = names
    ours_names, theirs_names = [SURPRISAL, *ours.names], [SURPRISAL, *theirs.names]
    extra = {f"other_{name}": [one[name] for one in theirs.items] for name in theirs_names}
    design = ours.design(extra)
    columns: dict[str, tuple[str, ...]] = {
        "baseline": (),
        "ours": (SURPRISAL,),
        "theirs": ("other_surprisal",),
        "both": (SURPRISAL, "other_surprisal"),
    }
    if len(ours_names) > 1:
        columns["ours, all"] = tuple(ours_names)
        columns["theirs, and our columns"] = ("other_surprisal", *ours.names)
    if len(theirs_names) > 1:
        columns["theirs, all"] = tuple(f"other_{name}" for name in theirs_names)
        columns["ours, and their columns"] = (SURPRISAL, *(f"other_{name}" for name in theirs.names))
    found = {name: held_out(design, (*CONTROLS, *some)) for name, some in columns.items()}
    pairs = {
        f"surprisal of {first} − surprisal of {second}": ("ours", "theirs"),
        f"surprisal of {first} beyond that of {second}": ("both", "theirs"),
        f"surprisal of {second} beyond that of {first}": ("both", "ours"),
        f"all columns of {first} − surprisal of {second}": ("ours, all", "theirs"),
        f"all columns of {first} − all columns of {second}": ("ours, all", "theirs, all"),
        f"columns of {first} other than surprisal, beyond the surprisal of {second}": (
            "theirs, and our columns",
            "theirs",
        ),
        f"columns of {second} other than surprisal, beyond the surprisal of {first}": (
            "ours, and their columns",
            "ours",
        ),
    }
    return {
        "models": list(names),
        "words": len(design.times),
        "gains": {
            title: gain(found[one] - found[other], design.item, design.fold).as_dict()
            for title, (one, other) in pairs.items()
            if one in found and other in found
        },
    }
