"""Reading times and surprisal: how many milliseconds a bit costs.

    dtg surprisal items.txt --model run/best --out items.csv --per whitespace
    python reading_times.py items.csv times.csv

items.csv is the table that `dtg surprisal` writes, one row per whitespace word. times.csv has the columns participant,
sentence_id, word_id, word and time (in ms): which line of items.txt, which of its words, from 1. Without times.csv, times
are made up, with effects that are known, so that one sees the regression find them.

It is linear regression with an intercept for each participant. The predictors are surprisal and length of the word and of
the one before it (spill-over); so the first word of a sentence, which has none before it, is left out. reading_times.R
does the same, and has a mixed model. Needs pandas: pip install '.[tables]'.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
import pandas

KEYS = ["sentence_id", "word_id"]
CONTROLS = ["length", "previous_length"]
SURPRISALS = ["surprisal", "previous_surprisal"]
# What times are made up with, in ms: for each bit, and for each letter.
EFFECTS = {"surprisal": 4.0, "previous_surprisal": 2.5, "length": 6.0, "previous_length": 1.5}


@dataclass(frozen=True)
class Fit:
    """A regression: `table` has a row for each predictor, with its estimate and standard error."""

    table: pandas.DataFrame
    observations: int
    log_likelihood: float


def read_words(path: str) -> pandas.DataFrame:
    """The table of surprisals, with what regression needs beside them: lengths, and the same of the word before."""
    # The word "NA" occurs in texts: only an empty field is missing.
    words = pandas.read_csv(path, keep_default_na=False, na_values=[""])
    if not (words["word"] == words["whitespace_word"]).all():
        sys.exit(f"{path} is not by whitespace words; make it with: dtg surprisal ... --per whitespace")
    words["length"] = words["word"].str.len()
    # Within the sentence; before its first word there is nothing.
    before = words.groupby("sentence_id")[["surprisal", "length"]].shift(1)
    return words.join(before.add_prefix("previous_"))


def make_up_times(words: pandas.DataFrame, participants: int = 20, seed: int = 0) -> pandas.DataFrame:
    """Times of readers who differ in speed, with the EFFECTS and much noise."""
    generator = np.random.default_rng(seed)
    mean = 200 + sum(effect * words[name].fillna(0) for name, effect in EFFECTS.items())
    return pandas.concat(
        words[[*KEYS, "word"]].assign(
            participant=f"p{number:02}",
            time=mean + generator.normal(0, 30) + generator.normal(0, 60, len(words)),
        )
        for number in range(1, participants + 1)
    )


def join(times: pandas.DataFrame, words: pandas.DataFrame) -> pandas.DataFrame:
    """Each time with its word's predictors; both tables must mean the same words."""
    joined = times.merge(words, on=KEYS, how="left", suffixes=("", "_in_items"), validate="many_to_one")
    different = joined[joined["word"] != joined["word_in_items"]]
    if len(different):
        first = different.iloc[0]
        sys.exit(
            f"{len(different):,} times are of other words than the items': the first is of {first['word']!r}, which is "
            f"{first['word_in_items']!r} in items.csv (sentence {first['sentence_id']}, word {first['word_id']})."
        )
    return joined


def regress(observed: pandas.DataFrame, predictors: list[str]) -> Fit:
    """Least squares with an intercept for each participant: as deviations from the participant's means."""
    columns = observed[["time", *predictors]].astype(float)
    deviations = (columns - columns.groupby(observed["participant"]).transform("mean")).to_numpy()
    outcome, design = deviations[:, 0], deviations[:, 1:]
    estimates, *_ = np.linalg.lstsq(design, outcome, rcond=None)
    residual = float(((outcome - design @ estimates) ** 2).sum())
    count = len(outcome)
    freedom = count - len(predictors) - observed["participant"].nunique()
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * residual / freedom)
    table = pandas.DataFrame({"estimate": estimates, "error": errors, "t": estimates / errors}, index=predictors)
    return Fit(table, count, -count / 2 * (math.log(2 * math.pi * residual / count) + 1))


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python reading_times.py items.csv [times.csv]")
    words = read_words(sys.argv[1])
    is_made_up = len(sys.argv) == 2
    times = make_up_times(words) if is_made_up else pandas.read_csv(sys.argv[2], keep_default_na=False, na_values=[""])
    joined = join(times, words)
    observed = joined.dropna(subset=["time", *SURPRISALS, *CONTROLS])
    print(f"{len(observed):,} times; {len(joined) - len(observed):,} left out (first words of sentences, or no time)")
    print(f"at the worst word the search kept {words['kept'].min():.1%} of the probability")
    with_surprisal, without = regress(observed, [*SURPRISALS, *CONTROLS]), regress(observed, CONTROLS)
    table = with_surprisal.table
    if is_made_up:
        table = table.assign(made_up_with=pandas.Series(EFFECTS))
    print(table.round(3).to_string())
    print(f"log-likelihood gained by surprisal: {with_surprisal.log_likelihood - without.log_likelihood:.1f} nats")


if __name__ == "__main__":
    main()
