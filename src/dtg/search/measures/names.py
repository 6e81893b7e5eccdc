"""The names of columns that can be asked for, what they mean, and which of them a model has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dtg.errors import UnknownNameError
from dtg.model.attention import HeadGroups

Joining = Literal["sum", "last"]


class Measure(NamedTuple):
    """What a column means, and how those of the words of a whitespace word are joined."""

    meaning: str
    joining: Joining


ATTENTION = "attention_entropy"
MEASURES: dict[str, Measure] = {
    "reductions": Measure("expected on the way to the word: arcs made, phrases closed, constituents merged", "sum"),
    "dependency_length": Measure("expected on the way to the word: summed lengths of the arcs made, in words", "sum"),
    "integration_cost": Measure("the same in content words: those after the earlier word, up to the later one", "sum"),
    "best_parse": Measure("the probability of the best partial tree in the beam, after the word", "last"),
    "runner_up": Measure("the probability of the second best partial tree, after the word", "last"),
    ATTENTION: Measure("normalised entropy of the last layer's attention at the word, expected", "last"),
}
OF_ARCS = ("dependency_length", "integration_cost")
CHANGE = "_change"
CHANGED = Measure("its change from the word before", "sum")
ALL = "all"


def check_columns(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each once and in their own order; "all" stands for all of them. Raises if one is not known."""
    for name in names:
        if name != ALL and name not in MEASURES:
            raise UnknownNameError("column", name, [*MEASURES, ALL])
    return tuple(name for name in MEASURES if name in names or ALL in names)


def column_names(asked: Sequence[str], views: Sequence[str], groups: HeadGroups) -> tuple[str, ...]:
    """The columns that a model with these views has; attention entropy is one for each view that has heads."""
    seen = [views[group.view] for group in groups]
    by_view = [ATTENTION] if len(seen) == 1 else [f"{ATTENTION}_{view}" for view in seen]
    return tuple(one for name in asked for one in (by_view if name == ATTENTION else [name]))


def with_changes(columns: Mapping[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """With the change of each attention entropy from the word before; before the first word, `<ROOT>` sees one row: 0."""
    found = {}
    for name, values in columns.items():
        found[name] = values
        if name.startswith(ATTENTION):
            found[f"{name}{CHANGE}"] = np.diff(values, prepend=0.0)
    return found


def changed_names(names: Sequence[str]) -> tuple[str, ...]:
    """The same for names alone."""
    return tuple(with_changes({name: np.zeros(1) for name in names}))


def measure_of(name: str) -> Measure:
    """Of a column, whichever view it is of."""
    if name.endswith(CHANGE):
        return CHANGED
    return MEASURES[ATTENTION] if name.startswith(ATTENTION) else MEASURES[name]
