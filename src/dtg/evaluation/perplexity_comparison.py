"""Two models on the same sentences: the rows of both in, by how many bits a word they differ out.

A sentence that is hard for one model is hard for the other. So the difference of two models, sentence by sentence, is far
less uncertain than the perplexity of either (the paired bootstrap).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import log
from pathlib import Path
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.bootstrap import ratio_interval
from dtg.evaluation.perplexity import KINDS, LEVEL, SAMPLES, Measured, Row, column
from dtg.evaluation.perplexity_rows import SENTENCES, By
from dtg.evaluation.results import read_results
from dtg.tables.formats import number_in, read_rows

BITS_EXPLAINED = (
    "Bits a word: below 0, the first model predicts the words better; one bit is a factor of two in perplexity. Better by "
    "first: sentences that are more probable by the first model."
)


@dataclass(frozen=True, slots=True)
class Difference:
    """Of the first model and the second, each by a kind of probability, over the sentences that have both."""

    first_by: By
    second_by: By
    sentences: int
    words: int
    bits_per_word: Measured  # first minus second: below 0, the first model predicts better
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

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def compare(first: Sequence[Row], second: Sequence[Row], *, seed: int = 0) -> list[Difference]:
    """By every kind of probability that can be compared."""
    same_sentences(first, second)
    return [difference(first, second, *pair, seed) for pair in kinds_to_compare(kinds_of(first), kinds_of(second))]


def kinds_to_compare(first: Sequence[By], second: Sequence[By]) -> list[tuple[By, By]]:
    """Those that both have, and what is exact with what is summed over trees. Raise if there are none."""
    pairs = [(one, other) for one in first for other in second if one == other or is_exact_and_sum(one, other)]
    if not pairs:
        raise InputError(
            f"one has log p by {listed(first)} and the other by {listed(second)}, which do not compare: joint is of words with "
            "a tree, and proposal, estimate and beam are of words, by different trees. Evaluate both by the same kind (--by); "
            "what is exact, of a model without trees, compares with all but joint."
        )
    return pairs


def listed(kinds: Sequence[By]) -> str:
    return ", ".join(kinds) or "nothing"


def is_exact_and_sum(one: By, other: By) -> bool:
    return "exact" in (one, other) and "joint" not in (one, other)


def kinds_of(rows: Sequence[Row]) -> list[By]:
    """Those that some sentence has."""
    return [by for by in KINDS if any(row.get(f"log_{by}") is not None for row in rows)]


def difference(first: Sequence[Row], second: Sequence[Row], first_by: By, second_by: By, seed: int) -> Difference:
    ours, theirs = f"log_{first_by}", f"log_{second_by}"
    both = [
        {"words": one["words"], "bits": (other[theirs] - one[ours]) / log(2)}
        for one, other in zip(first, second, strict=True)
        if one[ours] is not None and other[theirs] is not None
    ]
    if not both:
        raise InputError(f"no sentence has a probability by {first_by!r} in both, so there is nothing to compare.")
    bits, words = column(both, "bits"), column(both, "words")
    interval = ratio_interval(bits, words, samples=SAMPLES, seed=seed, level=LEVEL)
    mean = float(bits.sum() / words.sum())
    return Difference(
        first_by, second_by, len(both), int(words.sum()), Measured(mean, *interval), int((bits < 0).sum())
    )


def same_sentences(first: Sequence[Row], second: Sequence[Row]) -> None:
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


def read_sentences(folder: Path) -> tuple[str, list[Row]]:
    """The name of a model and the rows that `dtg evaluate ppl --out FOLDER` has written."""
    content, path = read_results(folder, "ppl"), folder / SENTENCES
    rows: list[Row] = []
    for where, row in read_rows(path):
        place = f"{path}, {where}"
        logs = {name: number_in(row, name, float, place) for name in row if name.startswith("log_")}
        counts = {name: number_in(row, name, int, place) for name in ("sentence_id", "words")}
        rows.append({"text": row["text"], **counts, **logs})
    return str(content["given"]["name"]), rows
