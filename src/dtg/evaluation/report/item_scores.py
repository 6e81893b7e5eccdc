"""What each item counts in the main number of an evaluation, read from its table of items.

All of these numbers are ratios of sums over items, or means of such ratios over groups; so they can be resampled alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from dtg.errors import InputError
from dtg.evaluation.contract import Item
from dtg.evaluation.intervals import Floats
from dtg.evaluation.rendering import perplexity_text
from dtg.evaluation.report.gathering import Found
from dtg.evaluation.report.overview import PAPER
from dtg.evaluation.results import read_items
from dtg.evaluation.tasks.garden_paths.effects import widest
from dtg.evaluation.tasks.garden_paths.pages import PLACE_NAMES
from dtg.evaluation.tasks.pairs.blimp import Blimp
from dtg.evaluation.tasks.pairs.scored import ScoredPair
from dtg.evaluation.tasks.pairs.task import MinimalPairs
from dtg.evaluation.tasks.reading.pages import THOUSANDTHS, UNIT
from dtg.evaluation.tasks.registry import TASKS
from dtg.evaluation.tasks.syntaxgym.scores import sets_of
from dtg.evaluation.tasks.syntaxgym.tables import results_of

Key = tuple[Hashable, ...]
Scale = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class ItemScore:
    """What is divided by what; `group` is what items are drawn within."""

    above: float
    below: float
    group: str = ""


Scores = dict[Key, ItemScore]  # by what identifies the item: equal keys are equal items


def percent(ratios: Floats) -> Floats:
    return 100 * ratios


def perplexity(ratios: Floats) -> Floats:
    found: Floats = np.exp(np.minimum(ratios, 700.0))  # as dtg.training.tally
    return found


def bits(ratios: Floats) -> Floats:
    return ratios / log(2)


def thousandths(ratios: Floats) -> Floats:
    return THOUSANDTHS * ratios


def unchanged(ratios: Floats) -> Floats:
    return ratios


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of an evaluation: what it is called, and how it is shown by itself (`scale`) and subtracted (`compared`)."""

    title: str
    over_groups: bool = False
    scale: Scale = percent
    compared: Scale = percent
    unit: str = "percentage points"  # of differences
    decimals: int = 1  # of differences, and of the number unless it is a perplexity

    def text(self, value: float) -> str:
        return perplexity_text(value) if self.scale is perplexity else f"{value:,.{self.decimals}f}"

    def difference_text(self, value: float) -> str:
        return f"{value:+,.{self.decimals}f}"


PER_WORD = Measure("PPL per word", scale=perplexity, compared=bits, unit="bits per word", decimals=3)
BLIMP = Measure("BLiMP, by pairs")
PAIRS = Measure("Minimal pairs")
UAS = Measure("Reranking, UAS")
F1 = Measure("Reranking, F1")
READING = Measure(f"Reading times, gain of surprisal, {UNIT}", scale=thousandths, compared=thousandths, unit=UNIT)
TITLES = {  # of every evaluation that has such numbers, in the order in which they are shown
    "ppl": PER_WORD.title,
    "blimp": BLIMP.title,
    "sg": "SG",
    "pairs": PAIRS.title,
    "rerank": UAS.title,
    "rerank-phrases": F1.title,
    "reading": READING.title,
    "garden-paths": "Garden paths",
}


def measured(found: Found, by: str | None) -> dict[Measure, Scores]:
    """The items of an evaluation; `by` is the kind of probability that stands for a model's perplexity."""
    task = TASKS[found.kind]
    file = found.place / task.table
    items = read_items(file, task.columns)
    try:
        scores = counted(found.kind, items, by or next(iter(found.content.get("scores", ())), ""))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file} is damaged, or not of this dtg ({type(error).__name__}: {error})") from error
    if not scores or not all(scores.values()):
        raise InputError(f"{file} has no items that count")
    return scores


def counted(kind: str, items: Sequence[Item], rule: str) -> dict[Measure, Scores]:
    """By the measures of this kind of evaluation; `rule` is by which probability, or when a pair is right."""
    match kind:
        case "ppl":
            return {PER_WORD: sentence_scores(items, rule)}
        case "blimp":
            return {BLIMP: pair_scores(map(Blimp.scored_pair, items), "sentence")}
        case "pairs":
            return {PAIRS: pair_scores(map(MinimalPairs.scored_pair, items), rule)}
        case "sg":
            return suite_scores(items)
        case "rerank":
            return {UAS: {key_of(one): ItemScore(one["reranked"], one["words"]) for one in items}}
        case "rerank-phrases":
            return {F1: {key_of(one): bracket_score(one) for one in items}}
        case "reading":
            return {READING: word_scores(items)}
        case _:
            return effect_scores(items)


def key_of(one: Item) -> Key:
    """Of a gold tree; phrases have a number of brackets, too."""
    return one["sentence_id"], one["sent_id"], one["words"], one.get("gold")


def bracket_score(one: Item) -> ItemScore:
    return ItemScore(2 * one["reranked_matched"], one["gold"] + one["reranked_found"])


def sentence_scores(items: Sequence[Item], by: str) -> Scores:
    """Sentences that have a probability of this kind."""
    return {
        (one["sentence_id"], one["text"], one["words"]): ItemScore(-one[f"log_{by}"], one["words"])
        for one in items
        if one[f"log_{by}"] is not None
    }


def pair_scores(scored: Iterable[ScoredPair], rule: str) -> Scores:
    """Pairs within their paradigm or group."""
    return {
        (one.pair.stratum, one.pair.pair_id, one.pair.good, one.pair.bad): ItemScore(
            float(one.is_right(rule)), 1.0, one.pair.stratum
        )
        for one in scored
    }


def suite_scores(items: Sequence[Item]) -> dict[Measure, Scores]:
    """By the first prediction: the suites of the paper's average or, where they are not all there, those that are."""
    results = results_of(items)
    sets = sets_of({one.suite for one in results})
    chosen = next((some for some in sets if some.name == PAPER[0]), sets[0])
    scores: Scores = {
        (one.suite, one.item): ItemScore(float(one.holds("first")), 1.0, one.suite)
        for one in results
        if one.suite in chosen.suites
    }
    return {Measure(f"SG, {chosen.name}, mean", over_groups=True): scores}


def word_scores(items: Sequence[Item]) -> Scores:
    """Sentences, with what surprisal gains on those of their words that were fitted."""
    gained: dict[tuple[str, str], dict[int, float]] = {}
    for place, one in enumerate(items):
        with_surprisal, without = one["held_out_surprisal"], one["held_out_baseline"]
        if with_surprisal is not None and without is not None:
            gained.setdefault((one["story"], one["sentence"]), {})[place] = with_surprisal - without
    return {(*name, *some): ItemScore(sum(some.values()), len(some)) for name, some in gained.items()}


def effect_scores(items: Sequence[Item]) -> dict[Measure, Scores]:
    """The effects of each construction at each place, by the widest beam, in bits."""
    found: dict[Measure, Scores] = {}
    for (construction, item, place), one in widest(items).items():
        title = f"Garden paths, {construction}, {PLACE_NAMES[place]}, bits"
        measure = Measure(title, scale=unchanged, compared=unchanged, unit="bits", decimals=2)
        found.setdefault(measure, {})[construction, item, place] = ItemScore(one["effect"], 1.0)
    return found
