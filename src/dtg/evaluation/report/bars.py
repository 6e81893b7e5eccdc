"""Pictures with a bar for each model in each group: values in, figures of a page out, with a description in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from dtg.evaluation.figures import Bar, bars_by_group
from dtg.evaluation.report.page import Figure, letters, marks
from dtg.io.pictures import STYLES

Bars = Sequence[Bar | None]


def bar_figures(
    name: str,
    title: str,
    groups: Sequence[str],
    models: Mapping[str, Bars],
    notes: Mapping[str, tuple[str, ...]],
    chance: float | None,
) -> list[Figure]:
    """A picture of all models, with letters for the notes on them."""
    found = []
    for file, suffix, some in parts_of(name, list(models)):
        of = letters(note for model in some for note in notes[model])
        labelled = {f"{model}{marks(notes[model], of)}": models[model] for model in some}
        description = f"{title} Bars with intervals, in percent. {described(groups, labelled)}"
        draw = partial(bars_by_group, groups=groups, models=labelled, chance=chance)
        found.append(Figure(file, f"{title}{suffix}", description, draw, tuple(of)))
    return found


def parts_of(name: str, models: Sequence[str]) -> Iterator[tuple[str, str, Sequence[str]]]:
    """As many pictures as it takes to tell all models apart: what each is called, what its title ends in, and who is in it."""
    starts = range(0, len(models), len(STYLES))
    for number, start in enumerate(starts, start=1):
        suffix = f" Part {number} of {len(starts)}." if len(starts) > 1 else ""
        yield name if number == 1 else f"{name}-{number}", suffix, models[start : start + len(STYLES)]


def described(groups: Sequence[str], models: Mapping[str, Bars]) -> str:
    """The same in words."""
    lines = []
    for place, group in enumerate(groups):
        values = ((name, bars[place]) for name, bars in models.items())
        shown = ", ".join(f"{name} {bar.value:.1f}" for name, bar in values if bar is not None)
        lines.append(f"{group}: {shown or 'nothing'}.")
    return " ".join(lines)


def bar_of(one: Mapping[str, Any] | None) -> Bar | None:
    """From what evaluations write."""
    return None if one is None else Bar(one["accuracy"], *one["interval"])
