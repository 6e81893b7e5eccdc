"""How many heads are right before and after reranking: counts of sentences, their sums, and the difference that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dtg.errors import InputError
from dtg.evaluation.contract import Row
from dtg.evaluation.intervals import ratio_interval
from dtg.evaluation.rendering import Table, pluralize
from dtg.evaluation.tasks.gold import identity
from dtg.evaluation.tasks.parsing import attachments, is_punctuation
from dtg.evaluation.tasks.perplexity import finite
from dtg.scoring.reranking import RankedTree, Reranking
from dtg.trees import DependencyTree

WHOSE = ("proposal", "reranked", "oracle")
PARTS = {"all": "all words", "without_punctuation": "no punctuation"}
MEASURES = {"uas": "UAS", "exact": "exact"}
TITLES = ("", *WHOSE, "reranked − proposal (95 %)")


def count_right(gold: DependencyTree, own: DependencyTree, found: Reranking, weight: float = 0.0) -> Row:
    """Count right heads: in the proposal's own tree, in the best by the language model, and in the best possible."""
    best = found.best(weight)
    heads = [own.key, best.tree.key, *(ranked.tree.key for ranked in found.trees)]
    right = np.array(heads) == np.array(gold.heads)  # (the proposal's own, the reranked, and the whole list; words)
    counts = ~np.array(is_punctuation(gold))
    everything, scored = right.sum(1).tolist(), right[:, counts].sum(1).tolist()
    return {
        **identity(gold),
        "words": len(gold),
        "scored": int(counts.sum()),
        "proposal": everything[0],
        "reranked": everything[1],
        "oracle": max(everything[2:]),
        "proposal_scored": scored[0],
        "reranked_scored": scored[1],
        "oracle_scored": max(scored[2:]),
        "crosses": int(not gold.is_projective),
        **chosen(found, best),
    }


def chosen(found: Reranking, best: RankedTree) -> Row:
    """What is known of the tree that the language model has chosen, and of the list."""
    return {
        "trees": len(found.trees),
        "proposal_rank": best.proposal_rank,
        "log_joint": finite(best.log_probability),
        "log_bound": finite(found.lower_bound),
    }


def summarize(rows: Sequence[Row], seed: int = 0) -> dict[str, Any]:
    """UAS and exact match in percent; the difference that reranking makes, with its 95 % interval over sentences."""
    if not rows:
        raise InputError("there are no sentences to evaluate.")
    return {
        "sentences": len(rows),
        "crossing": sum(row["crosses"] for row in rows),
        "trees": sum(row["trees"] for row in rows),
        "all": part_scores(rows, "words", seed),
        "without_punctuation": part_scores([row for row in rows if row["scored"]], "scored", seed),
    }


def part_scores(rows: Sequence[Row], of: str, seed: int) -> dict[str, Any] | None:
    """The scores of each of WHOSE, and what reranking gains; None where no word counts."""
    if not rows:
        return None
    suffix = "_scored" if of == "scored" else ""
    result: dict[str, Any] = {who: attachments(rows, of, heads=who) for who in WHOSE}
    count, reranked, own = (
        np.array([row[name] for row in rows]) for name in (of, f"reranked{suffix}", f"proposal{suffix}")
    )
    exact = (reranked == count).astype(int) - (own == count)
    result["difference"] = {
        "uas": difference(reranked - own, count, seed),
        "exact": difference(exact, np.ones_like(count), seed),
    }
    return result


def difference(gained: np.ndarray[Any, Any], of: np.ndarray[Any, Any], seed: int) -> dict[str, Any]:
    """In percentage points: what reranking gains, and the interval of the paired bootstrap."""
    low, high = ratio_interval(gained, of, seed=seed)
    value = float(gained.sum() / of.sum())
    return {"value": round(100 * value, 2), "interval": [round(100 * low, 2), round(100 * high, 2)]}


def measures_table(
    content: Mapping[str, Any], measures: Mapping[str, str] = MEASURES, parts: Mapping[str, str] = PARTS
) -> Table:
    """A row for each measure of each group of words; the group is named where there are several."""

    def gain(one: Mapping[str, Any]) -> str:
        low, high = one["interval"]
        return f"{one['value']:+.2f} (from {low:+.2f} to {high:+.2f})"

    def shown(value: float | None) -> str:
        return "" if value is None else f"{value:.2f}"

    rows = [
        [
            f"{title}, {label}" if len(parts) > 1 else title,
            *(shown(content[part][who][measure]) for who in WHOSE),
            gain(content[part]["difference"][measure]),
        ]
        for part, label in parts.items()
        if content[part] is not None
        for measure, title in measures.items()
    ]
    return Table(TITLES, rows)


def crossing(found: Mapping[str, Any]) -> list[str]:
    """A line about gold trees that cannot be reached, if there are any."""
    trees = found["crossing"]
    return [f"crossing arcs, which no proposal has, are in {pluralize(trees, 'gold tree')}."] if trees else []
