"""Perplexities from the log-probabilities of sentences, by every convention, with intervals; and the difference of two models.

A perplexity is exp(-Σ log p / Σ units) over sentences. log p is of the words with `<END>`, or of the words as the beginning
of a sentence; units are words or pieces, and `<END>` may be one more. docs/perplexity.md says who uses which.

A sentence that is hard for one model is hard for the other. So the difference of two models, sentence by sentence, is far
less uncertain than the perplexity of either (the paired bootstrap).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log
from typing import Any

import numpy as np

from dtg.errors import InputError
from dtg.evaluation.comparison import paired_difference
from dtg.evaluation.contract import Interval
from dtg.evaluation.intervals import LEVEL, SAMPLES, Floats, ratio_interval
from dtg.evaluation.probability import KINDS, By
from dtg.evaluation.rendering import Table, perplexity_text, pluralize
from dtg.scoring.marginal import Kind
from dtg.training.tally import perplexity

SentenceRow = Mapping[str, Any]
SIGNS: Mapping[Kind, str] = {"exact": "=", "lower bound": "≤", "estimate": "≈"}  # p at least is perplexity at most
TITLES = {
    "per_word": "per word",
    "per_word_and_end": "+ <END>",
    "per_word_without_end": "no <END>",
    "per_piece": "per piece",
    "per_piece_and_end": "+ <END>",
    "per_piece_without_end": "no <END>",
}
MEANINGS: Mapping[By, str] = {
    "exact": "exact: of the words; a model without trees has no sum to make.",
    "joint": "joint: of the words together with the trees of the file.",
    "proposal": "proposal: of the words, at most: the sum is over the trees that the proposal gives.",
    "estimate": "estimate: of the words, from the same trees weighted by how probable it was to draw them; not a bound.",
    "beam": "beam: of the words, at most: the sum is over the trees that the search ends with.",
}
CONVENTIONS_EXPLAINED = (
    "per word, per piece: <END> is predicted, but not counted as a word or piece.",
    "+ <END>: <END> is predicted, and counted as one more word or piece of each sentence.",
    "no <END>: <END> is neither predicted nor counted.",
)
INTERVAL = (
    f"{LEVEL:.0%}: of perplexity per word, by bootstrap over sentences. It leaves out the variance between seeds."
)
BITS_EXPLAINED = (
    "Bits a word: below 0, the first model predicts the words better; one bit is a factor of two in perplexity. Better by "
    "first: sentences that are more probable by the first model."
)


@dataclass(frozen=True, slots=True)
class Convention:
    """What is divided by what."""

    unit: str  # words or pieces
    predicts_end: bool  # whether log p includes <END>
    counts_end: bool  # whether <END> is one more unit


CONVENTIONS = {
    f"per_{unit}{name}": Convention(f"{unit}s", predicts_end, counts_end)
    for unit in ("word", "piece")
    for name, predicts_end, counts_end in (
        ("", True, False),
        ("_and_end", True, True),
        ("_without_end", False, False),
    )
}


def summarize(rows: Sequence[SentenceRow], by: By, *, samples: int = SAMPLES, seed: int = 0) -> dict[str, Any]:
    """The perplexities by one kind of probability, as results.json has them; what does not apply is left out.

    `samples` and `seed` are the bootstrap's.
    """
    some = [row for row in rows if row[f"log_{by}"] is not None]
    if not some:
        raise InputError(f"no sentence of {len(rows):,} has a probability by {by!r}, so there is no perplexity.")

    def over_sentences(logs: Floats, convention: Convention, of: Callable[[float], float]) -> dict[str, float]:
        units = column(some, convention.unit) + convention.counts_end
        low, high = ratio_interval(-logs, units, samples=samples, seed=seed)
        return asdict(Interval(of(float(-logs.sum() / units.sum())), of(low), of(high)))

    with_end = column(some, f"log_{by}")
    found: dict[str, dict[str, float]] = {}
    for name, convention in CONVENTIONS.items():
        if convention.predicts_end or f"log_{by}_beginning" in some[0]:
            logs = with_end if convention.predicts_end else column(some, f"log_{by}_beginning")
            found[name] = over_sentences(logs, convention, lambda nats: perplexity(nats, 1))
    from_trees = by in ("proposal", "estimate")
    return {
        "kind": KINDS[by],
        "sentences": len(some),
        "words": sum(row["words"] for row in some),
        "pieces": sum(row["pieces"] for row in some),
        "sentences_without": len(rows) - len(some),  # those that have no such number, and are not counted
        "log_probability": float(with_end.sum()),  # in nats, <END> included
        **found,
        "bits_per_word": over_sentences(with_end, CONVENTIONS["per_word"], lambda nats: nats / log(2)),
        **({"trees": float(column(some, "proposal_trees").mean())} if from_trees else {}),  # distinct ones, on average
        **(summarize_draws(some) if by == "estimate" else {}),
    }


def summarize_draws(rows: Sequence[SentenceRow]) -> dict[str, Any]:
    """How far an estimate from draws can be trusted: their uncertainty, not that of the sentences."""
    errors = [row["estimate_error"] for row in rows]
    sizes = [row["effective_sample_size"] for row in rows if row["effective_sample_size"] is not None]
    drawn = [row for row in rows if row["effective_sample_size"] is not None]
    return {
        "exact_sentences": len(rows) - len(sizes),  # those of which every tree was drawn
        # Of the sum of log p, in nats; None where a sentence has but one draw.
        "standard_error": None if None in errors else float(np.linalg.norm(errors)),
        "effective_sample_size": float(np.mean(sizes)) if sizes else None,  # the mean over the other sentences
        # Sentences whose estimate is below a lower bound that was computed too: it is too low for certain.
        "below_bound": sum(is_below_bound(row) for row in drawn),
    }


def is_below_bound(row: SentenceRow) -> bool:
    bounds = [row.get(name) for name in ("log_proposal", "log_beam")]
    return any(bound is not None and row["log_estimate"] < bound for bound in bounds)


def column(rows: Sequence[SentenceRow], name: str) -> Floats:
    """(sentences,) one value of each."""
    return np.array([row[name] for row in rows], dtype=np.float64)


def perplexity_table(found: Mapping[str, Mapping[str, Any]], *, counts: bool) -> Table:
    """A row for each kind of probability; what applies to none has no column. `counts` adds how many words."""
    named = [name for name in TITLES if any(name in one for one in found.values())]
    has_draws = any("effective_sample_size" in one for one in found.values())
    titles = ["", "", *(TITLES[name] for name in named), "bits/word", f"{LEVEL:.0%}"]
    titles += ["ESS"] * has_draws + ["sentences", "words", "pieces"] * counts

    def shown(one: Mapping[str, float] | None) -> str:
        return "" if one is None else perplexity_text(one["value"])

    def effective(one: Mapping[str, Any]) -> str:
        size = one.get("effective_sample_size")
        return "" if size is None else f"{size:,.1f}"

    return Table(
        titles,
        [
            [
                by,
                SIGNS[one["kind"]],
                *(shown(one.get(name)) for name in named),
                f"{one['bits_per_word']['value']:.3f}",
                " to ".join(perplexity_text(one["per_word"][end]) for end in ("low", "high")),
                *[effective(one)] * has_draws,
                *[f"{one[name]:,}" for name in ("sentences", "words", "pieces")] * counts,
            ]
            for by, one in found.items()
        ],
    )


def remarks(by: str, one: Mapping[str, Any]) -> Iterable[str]:
    """What is to be known of one row of the table."""
    if one["sentences_without"]:
        why = (
            "draws allow no estimate" if by == "estimate" else "trees have probability 0, which would make it infinite"
        )
        yield f"{by}: without {pluralize(one['sentences_without'], 'sentence')} whose {why}."
    if by == "proposal":
        yield f"proposal: {one['trees']:,.1f} different trees per sentence."
    if one.get("exact_sentences"):
        yield f"estimate: exact for {pluralize(one['exact_sentences'], 'sentence')}, all of whose trees were drawn."
    if one.get("standard_error") is not None:
        share = one["standard_error"] / one["words"]
        yield (
            f"estimate: the draws make perplexity per word uncertain by {share:.2%} (one standard error), more where few "
            "of them carry it (ESS)."
        )
    if one.get("below_bound"):
        yield f"estimate: below one of the bounds, so too low for certain, for {pluralize(one['below_bound'], 'sentence')}."


@dataclass(frozen=True, slots=True)
class Difference:
    """Of the first model and the second, each by a kind of probability, over the sentences that have both."""

    first_by: By
    second_by: By
    sentences: int
    words: int
    bits_per_word: Interval  # first minus second: below 0, the first model predicts better
    better: int  # sentences that the first model finds more probable

    @property
    def by(self) -> str:
        """For people."""
        return self.first_by if self.first_by == self.second_by else f"{self.first_by} and {self.second_by}"

    @property
    def shown(self) -> str:
        """Bits a word with their interval, for people."""
        bits = self.bits_per_word
        return f"{bits.value:+.3f} [{bits.low:+.3f}, {bits.high:+.3f}]"


def compare(first: Sequence[SentenceRow], second: Sequence[SentenceRow], *, seed: int = 0) -> list[Difference]:
    """By every kind of probability that can be compared."""
    same_sentences(first, second)
    return [difference(first, second, *pair, seed) for pair in kinds_to_compare(kinds_of(first), kinds_of(second))]


def kinds_to_compare(first: Sequence[By], second: Sequence[By]) -> list[tuple[By, By]]:
    """Those that both have, and what is exact with what is summed over trees. Raise if there are none."""

    def is_exact_and_sum(one: By, other: By) -> bool:
        return "exact" in (one, other) and "joint" not in (one, other)

    pairs = [(one, other) for one in first for other in second if one == other or is_exact_and_sum(one, other)]
    if not pairs:
        ours, theirs = (", ".join(kinds) or "nothing" for kinds in (first, second))
        raise InputError(
            f"one has log p by {ours} and the other by {theirs}, which do not compare: joint is of words with a tree, and "
            "proposal, estimate and beam are of words, by different trees. Evaluate both by the same kind; what is exact, of a "
            "model without trees, compares with all but joint."
        )
    return pairs


def kinds_of(rows: Sequence[SentenceRow]) -> list[By]:
    """Those that some sentence has."""
    return [by for by in KINDS if any(row.get(f"log_{by}") is not None for row in rows)]


def difference(
    first: Sequence[SentenceRow], second: Sequence[SentenceRow], first_by: By, second_by: By, seed: int
) -> Difference:
    ours, theirs = f"log_{first_by}", f"log_{second_by}"
    both = [
        {"words": one["words"], "bits": (other[theirs] - one[ours]) / log(2)}
        for one, other in zip(first, second, strict=True)
        if one[ours] is not None and other[theirs] is not None
    ]
    if not both:
        raise InputError(f"no sentence has a probability by {first_by!r} in both, so there is nothing to compare.")
    bits, words = column(both, "bits"), column(both, "words")
    found = Interval(*paired_difference(bits, words, seed))
    return Difference(first_by, second_by, len(both), int(words.sum()), found, int((bits < 0).sum()))


def same_sentences(first: Sequence[SentenceRow], second: Sequence[SentenceRow]) -> None:
    """Raise unless both are of the same sentences, in the same order."""
    if len(first) != len(second):
        raise InputError(
            f"the results are of {len(first):,} and of {len(second):,} sentences. Models are compared on the same sentences."
        )
    for one, other in zip(first, second, strict=True):
        if (one["sentence_id"], one["text"]) != (other["sentence_id"], other["text"]):
            raise InputError(
                f"the results are of different sentences: {one['sentence_id']} ({one['text'][:40]!r}) and "
                f"{other['sentence_id']} ({other['text'][:40]!r}). Models are compared on the same sentences."
            )
