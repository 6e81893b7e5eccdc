"""Which models are seeds of the same system: those called NAME, NAME-seed1, NAME-seed2 and so on.

What else they differ in would pass for variance between seeds. So a model with the same weights or the same seed as another, of
another family, or trained on another corpus or with another configuration is left out, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dtg.evaluation.report.gathering import ReportedModel
from dtg.evaluation.report.page import Notes, quoted

NAMED = re.compile(r"(.+)-seed(\d+)")


@dataclass(frozen=True, slots=True)
class Seed:
    """A model, and which seed of its system it is."""

    number: int
    model: ReportedModel


@dataclass(frozen=True, slots=True)
class System:
    """Models that differ in the seed; `notes` say which were left out, and why."""

    name: str
    seeds: tuple[Seed, ...]
    notes: Notes = ()


def systems_of(models: Sequence[ReportedModel]) -> list[System]:
    """Models by the systems that they are seeds of, in the order of the first model of each."""
    named: dict[str, list[tuple[int | None, ReportedModel]]] = {}
    for model in models:
        match = NAMED.fullmatch(model.name)
        name, said = (match[1], int(match[2])) if match else (model.name, None)
        named.setdefault(name, []).append((said, model))
    return [system_of(name, some) for name, some in named.items()]


def system_of(name: str, models: Sequence[tuple[int | None, ReportedModel]]) -> System:
    """The model without a number is the seed that its run says or, where there is no run, the first that is free."""
    taken = {said for said, _ in models}
    free = next(place for place in range(len(models) + 1) if place not in taken)
    every, notes = list[Seed](), list[str]()
    for said, model in models:
        trained = trained_seed(model)
        every.append(Seed(said if said is not None else free if trained is None else trained, model))
        if len(models) > 1 and said is not None and trained not in (None, said):
            notes.append(f"{quoted(model.name)} was trained with seed {trained}, as its run says.")
    first, *others = sorted(every, key=lambda seed: seed.number)  # of the same number, in the order of the models
    kept = [first]
    for seed in others:
        if reason := next((reason for one in kept if (reason := no_other_seed(one, seed))), ""):
            notes.append(f"{quoted(seed.model.name)} is left out: {reason}.")
        else:
            kept.append(seed)
    return System(name, tuple(kept), tuple(notes))


def trained_seed(model: ReportedModel) -> int | None:
    seed = None if model.run is None else model.run.about["training"].get("seed")
    return seed if type(seed) is int else None


def no_other_seed(one: Seed, other: Seed) -> str:
    """Why a model is no other seed of the same system; nothing if it is."""
    ours, theirs = one.model, other.model
    if weights(ours) & weights(theirs):
        return f"it has the weights of {quoted(ours.name)}"
    if one.number == other.number:
        return f"it is seed {one.number}, as {quoted(ours.name)} is"
    if ours.family != theirs.family:
        return f"family: {quoted(theirs.family)}, not {quoted(ours.family)}"
    if ours.run is not None and theirs.run is not None:
        if ours.run.about["corpus"] != theirs.run.about["corpus"]:
            return f"it was trained on another corpus than {quoted(ours.name)}"
        if ours.run.model != theirs.run.model:
            return f"it is configured otherwise than {quoted(ours.name)}"
    return ""


def weights(model: ReportedModel) -> set[str]:
    return {sha256 for found in model.results.values() if (sha256 := found.settings.get("model_sha256")) is not None}
