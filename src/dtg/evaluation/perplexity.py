"""Perplexity: rows with the log-probabilities of sentences in, perplexities by every convention with intervals out.

A perplexity is exp(-Σ log p / Σ units) over sentences. log p is of the words with `<END>`, or of the words as the beginning
of a sentence; units are words or pieces, and `<END>` may be one more. docs/perplexity.md says who uses which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log
from typing import Any

import numpy as np

from dtg.errors import InputError
from dtg.evaluation.bootstrap import Floats, ratio_interval
from dtg.evaluation.perplexity_rows import By
from dtg.scoring.marginal import Kind
from dtg.training.tally import perplexity

KINDS: dict[By, Kind] = {
    "exact": "exact",
    "joint": "exact",  # of p(words, tree)
    "proposal": "lower bound",
    "estimate": "estimate",
    "beam": "lower bound",
}
Row = Mapping[str, Any]
SAMPLES, LEVEL = 1000, 0.95  # of the bootstrap


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


@dataclass(frozen=True, slots=True)
class Measured:
    """A number, and where it lies in the middle 95 % of resamples of the sentences."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """How far an estimate from draws can be trusted: their uncertainty, not that of the sentences."""

    exact_sentences: int  # those of which every tree was drawn
    standard_error: float | None  # of the sum of log p, in nats; None where a sentence has but one draw
    effective_sample_size: float | None  # the mean over the other sentences
    below_bound: int  # sentences whose estimate is below a lower bound that was computed too: it is too low for certain


@dataclass(frozen=True, slots=True)
class Perplexity:
    """One kind of probability, over all sentences that have it."""

    by: By
    kind: Kind
    sentences: int
    words: int
    pieces: int
    without: int  # sentences that have no such number, and are not counted
    log_probability: float  # the sum, in nats, <END> included
    perplexities: Mapping[str, Measured]  # by CONVENTIONS; those without <END> only where it is known
    bits_per_word: Measured
    drawn: Drawn | None = None  # where it is an estimate
    trees: float | None = None  # of a proposal, the distinct ones that were summed: the mean over sentences

    def as_dict(self) -> dict[str, Any]:
        """For JSON; what does not apply is left out."""
        drawn = {} if self.drawn is None else asdict(self.drawn)
        return {
            "kind": self.kind,
            "sentences": self.sentences,
            "words": self.words,
            "pieces": self.pieces,
            "sentences_without": self.without,
            "log_probability": self.log_probability,
            **{name: asdict(measured) for name, measured in self.perplexities.items()},
            "bits_per_word": asdict(self.bits_per_word),
            **({} if self.trees is None else {"trees": self.trees}),
            **drawn,
        }


def summarize(rows: Sequence[Row], by: By, *, samples: int = SAMPLES, seed: int = 0) -> Perplexity:
    """The perplexities by one kind of probability; `samples` and `seed` are the bootstrap's."""
    some = [row for row in rows if row[f"log_{by}"] is not None]
    if not some:
        raise InputError(f"no sentence of {len(rows):,} has a probability by {by!r}, so there is no perplexity.")

    def over_sentences(logs: Floats, convention: Convention, of: Callable[[float], float]) -> Measured:
        units = column(some, convention.unit) + convention.counts_end
        low, high = ratio_interval(-logs, units, samples=samples, seed=seed, level=LEVEL)
        return Measured(of(float(-logs.sum() / units.sum())), of(low), of(high))

    with_end = column(some, f"log_{by}")
    found: dict[str, Measured] = {}
    for name, convention in CONVENTIONS.items():
        if convention.predicts_end or f"log_{by}_beginning" in some[0]:
            logs = with_end if convention.predicts_end else column(some, f"log_{by}_beginning")
            found[name] = over_sentences(logs, convention, lambda nats: perplexity(nats, 1))
    return Perplexity(
        by=by,
        kind=KINDS[by],
        sentences=len(some),
        words=sum(row["words"] for row in some),
        pieces=sum(row["pieces"] for row in some),
        without=len(rows) - len(some),
        log_probability=float(with_end.sum()),
        perplexities=found,
        bits_per_word=over_sentences(with_end, CONVENTIONS["per_word"], lambda nats: nats / log(2)),
        drawn=summarize_draws(some) if by == "estimate" else None,
        trees=float(column(some, "proposal_trees").mean()) if by in ("proposal", "estimate") else None,
    )


def summarize_draws(rows: Sequence[Row]) -> Drawn:
    """How far an estimate can be trusted, from rows that have one."""
    errors = [row["estimate_error"] for row in rows]
    sizes = [row["effective_sample_size"] for row in rows if row["effective_sample_size"] is not None]
    return Drawn(
        exact_sentences=len(rows) - len(sizes),
        standard_error=None if None in errors else float(np.linalg.norm(errors)),
        effective_sample_size=float(np.mean(sizes)) if sizes else None,
        below_bound=sum(is_below_bound(row) for row in rows if row["effective_sample_size"] is not None),
    )


def is_below_bound(row: Row) -> bool:
    bounds = [row.get(name) for name in ("log_proposal", "log_beam")]
    return any(bound is not None and row["log_estimate"] < bound for bound in bounds)


def column(rows: Sequence[Row], name: str) -> Floats:
    """(sentences,) one value of each."""
    return np.array([row[name] for row in rows], dtype=np.float64)
