"""The results on reading times for people: tables, warnings and explanations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dtg.evaluation.contract import Content, Interval
from dtg.evaluation.figures import EffectPlot
from dtg.evaluation.rendering import Block, Heading, Table, TextBlock, p_value
from dtg.evaluation.tasks.reading.analysis import BY_SURPRISAL

THOUSANDTHS = 1000.0  # gains are shown in thousandths of a nat
UNIT = "10⁻³ nats per word"
EXPLAINED = (
    "Held-out: each fold is predicted by a linear regression on the others. Controls: length, log frequency, position, "
    "punctuation before and after, sentence start and end; all of them, and the model's columns, also of the two words before. "
    "Intervals: 95 %, bootstrap over sentences; p: permutation test that swaps the two fits sentence by sentence. "
    "folds: in how many of them it gains."
)


def comparison(content: Content) -> list[Block]:
    """Two models."""
    compared = content["against"]
    rows = [[title, *gain_cells(one)] for title, one in compared["gains"].items()]
    return [Table([f"{compared['words']:,} words, {UNIT}", "difference", "95 % interval", "p", "folds"], rows)]


def sets_table(content: Content) -> Table:
    """What each set of predictors gains over the controls, and over surprisal."""
    over = ["beyond surprisal", "95 % interval", "p"]
    rows = []
    for name, one in content["sets"].items():
        if name != "baseline":
            beyond = gain_cells(one[BY_SURPRISAL])[:3] if BY_SURPRISAL in one else ["", "", ""]
            rows.append([name, *gain_cells(one["baseline"]), *beyond])
    return Table(["controls and", f"gained, {UNIT}", "95 % interval", "p", "folds", *over], rows)


def shift_lines(content: Content) -> list[str]:
    """Whether times stand beside the right words."""
    gains = ", ".join(f"{shift}: {THOUSANDTHS * value:.1f}" for shift, value in content["shifts"].items())
    return [
        f"Alignment: {UNIT} that controls and surprisal explain if times belong to the word before (-1), the word (0), the "
        f"word after (+1): {gains}.",
        *content["warnings"],
    ]


def summary(name: str, content: Content) -> list[Block]:
    """The main numbers."""
    ms = content["ms_per_bit"]
    where = f"{ms['word']:.2f} at the word, {ms['after_1']:.2f} and {ms['after_2']:.2f} after it"
    per_bit = f"{ms['total']:.2f} ms a bit of surprisal ({where}); mean time {ms['mean_time']:.0f} ms."
    blocks: list[Block] = [TextBlock([f"{name}: {content['title']}", per_bit]), sets_table(content)]
    blocks.append(TextBlock(shift_lines(content)))
    return blocks + (comparison(content) if content["against"] else [])


def page(name: str, content: Content) -> list[Block]:
    """Everything."""
    rows = [
        [one, f"{of['value']:.5g}", f"{of['error']:.2g}"] if of["error"] else [one, "the same everywhere", ""]
        for one, of in content["coefficients"].items()
    ]
    blocks: list[Block] = [Heading(f"Reading times: {name}"), *summary(name, {**content, "against": None})]
    blocks += [TextBlock([EXPLAINED]), TextBlock(content["notes"], is_list=True), Heading("Coefficients", 2)]
    unit = "log ms" if content["is_log"] else "ms"
    header = f"with controls and surprisal, in {unit}; _1 and _2: the words before"
    blocks += [Table([header, "value", "standard error"], rows)]
    if content["against"]:
        blocks += [Heading("Comparison", 2), *comparison(content)]
    return blocks


def predictors_chart(content: Content) -> EffectPlot:
    """What a standard deviation more of each predictor does to the time, at the word and after it."""
    effects = content["effects"]
    points = {
        called: [interval_of(lags[lag]) for lags in effects.values()]
        for lag, called in enumerate(("at the word", "one word later", "two words later"))
    }
    return EffectPlot([name.replace("_", " ") for name in effects], points, "ms for a standard deviation more")


def interval_of(effect: Mapping[str, float] | None) -> Interval | None:
    """An effect with its 95 % interval, from its standard error."""
    if effect is None:
        return None
    return Interval(effect["value"], *(effect["value"] + sign * 1.96 * effect["error"] for sign in (-1, 1)))


def in_thousandths(one: Mapping[str, Any]) -> Interval:
    return Interval(THOUSANDTHS * one["gain"], *(THOUSANDTHS * bound for bound in one["interval"]))


def gain_cells(one: Mapping[str, Any]) -> list[str]:
    """A gain, its interval, p, and in how many folds it is above 0."""
    found = in_thousandths(one)
    return [
        f"{found.value:+.1f}",
        f"[{found.low:+.1f}, {found.high:+.1f}]",
        p_value(one["p"]),
        f"{one['folds_above_0']}/{one['folds']}",
    ]


def shift_warnings(misalignment: Mapping[str, Any]) -> list[str]:
    """What is wrong with a table whose times fit the word after better, beyond chance, or the word before."""
    if misalignment["+1"]["interval"][0] > 0:
        return [
            "WARNING: the times fit the word after better than the word they stand beside. A time cannot depend on a word that "
            "has not been shown (in self-paced reading): the table is probably out of step by one word. Check it before "
            "anything else."
        ]
    if misalignment["-1"]["gain"] > 0:  # spill-over hides it: the two words before are among the predictors
        return [
            "WARNING: the times fit the word before better than the word they stand beside. Either all effects spill over, or "
            "the table is out of step by one word."
        ]
    return []
