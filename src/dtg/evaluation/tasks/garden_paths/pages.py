"""The effects of garden paths for people: tables and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dtg.evaluation.contract import Content, Interval, Metric
from dtg.evaluation.figures import EffectPlot, LinePlot
from dtg.evaluation.rendering import Block, Heading, Table, TextBlock, p_value

PLACE_NAMES = {0: "critical word", 1: "word after", 2: "second word after"}
EXPLAINED = (
    "Effect: the surprisal of the critical word (or of the first or second word after it) in the ambiguous sentence minus "
    "that in the unambiguous one, the mean over items. Intervals: 95 %, bootstrap over items; p: permutation test that swaps "
    "the two sentences of an item; above 0: items whose effect is."
)


def reported(content: Content) -> dict[str, Any]:
    """The effects by the widest beam."""
    found: dict[str, Any] = list(content["effects"].values())[-1]
    return found


def comparison(content: Content) -> list[Block]:
    """Two models."""
    first, second = content["against"]["models"]
    rows = [
        [title, f"{one['mean']:+.2f}", interval_of(one), p_value(one["p"]), str(one["items"])]
        for title, one in content["against"]["tests"].items()
    ]
    return [Table([f"{first} − {second}, bits", "difference", "95 % interval", "p", "items"], rows)]


def effects_table(content: Content) -> Table:
    """Each construction at each place, in bits and, where known, in ms."""
    effects = reported(content)
    every = [one for places in effects.values() for one in places.values() if one is not None]
    units = [unit for unit in ("ms", "human_ms") if any(one[unit] for one in every)]
    header = ["", "place", "items", "bits", "95 % interval", "p", "above 0"]
    header += [cell for unit in units for cell in ("ms" if unit == "ms" else "people, ms", "95 % interval")]
    rows = []
    for construction, places in effects.items():
        for place, one in places.items():
            if one is None:
                continue
            bits = one["bits"]
            row = [construction, PLACE_NAMES[int(place)], str(one["items"]), f"{bits['mean']:+.2f}", interval_of(bits)]
            row += [p_value(bits["p"]), f"{bits['above']}/{one['items']}"]
            for unit in units:
                row += [f"{one[unit]['mean']:+.1f}", interval_of(one[unit], 1)] if one[unit] else ["", ""]
            rows.append(row)
    return Table(header, rows)


def beams_table(content: Content) -> Table:
    """The effect at the critical word by beam; empty if there is but one."""
    constructions = list(reported(content))
    rows = []
    for beam, effects in content["effects"].items():
        cells = [effects[one]["0"]["bits"] for one in constructions]
        rows.append([beam, *(f"{one['mean']:+.2f} {interval_of(one)}" for one in cells)])
    return Table(["beam", *constructions], rows if len(rows) > 1 else [])


def summary(name: str, content: Content) -> list[Block]:
    """The main numbers."""
    blocks: list[Block] = [TextBlock([f"{name}: {content['title']}", *content["notes"]]), effects_table(content)]
    blocks.append(beams_table(content))
    return blocks + (comparison(content) if content["against"] else [])


def page(name: str, content: Content) -> list[Block]:
    """Everything."""
    return [Heading(f"Garden paths: {name}"), *summary(name, content), TextBlock([EXPLAINED])]


def chart(models: Mapping[str, Sequence[Metric]]) -> EffectPlot:
    """The effect in bits at each place, by the widest beam of each model."""
    found = {}
    for name, metrics in models.items():
        last = metrics[-1].level
        found[name] = {title_of(one): one.value for one in metrics if one.rule == "bits" and one.level == last}
    groups = list(dict.fromkeys(group for some in found.values() for group in some))
    points = {name: [some.get(group) for group in groups] for name, some in found.items()}
    return EffectPlot(groups, points, "ambiguous − unambiguous, bits")


def pictures(name: str, content: Content, metrics: Sequence[Metric]) -> dict[str, EffectPlot | LinePlot]:
    """Effects; those of people beside them, in ms; and the effect by beam."""
    found: dict[str, EffectPlot | LinePlot] = {"effects": chart({name: metrics})}
    last = metrics[-1].level
    people = {title_of(one): one.value for one in metrics if one.rule == "human_ms" and one.level == last}
    model = {title_of(one): one.value for one in metrics if one.rule == "ms" and one.level == last}
    if people:
        points: dict[str, Sequence[Interval | None]] = {"people": list(people.values())}
        if model:
            points[name] = [model.get(group) for group in people]
        found["people"] = EffectPlot(list(people), points, "ambiguous − unambiguous, ms")
    if len(content["beams"]) > 1:
        lines = {
            construction: [
                point_of(content["effects"][str(beam)][construction]["0"]["bits"]) for beam in content["beams"]
            ]
            for construction in reported(content)
        }
        found["by_beam"] = LinePlot(content["beams"], lines, "beam", "effect at the critical word, bits")
    return found


def title_of(metric: Metric) -> str:
    return f"{metric.group}, {metric.name}"


def interval_of(one: Mapping[str, Any], places: int = 2) -> str:
    low, high = one["interval"]
    return f"[{low:+.{places}f}, {high:+.{places}f}]"


def point_of(one: Mapping[str, Any]) -> Interval:
    return Interval(one["mean"], *one["interval"])
