"""Surprisals and trees of corpora that are too large for one machine, on Ray Data, which clusters run already.

Each worker of a Ray cluster loads the model once and is handed batches of rows. A worker that dies is started again, and its
batch is computed again, so that every row of the dataset is in the result once.

    import ray
    from dtg import cluster
    workers = cluster.Workers(concurrency=64)
    words = cluster.surprisal(ray.data.read_parquet("corpus/"), column="sentence", workers=workers)
    words.write_parquet("surprisals/")
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from dtg import pretrained
from dtg.cluster.lines import check_ray, read_lines
from dtg.cluster.pool import Workers
from dtg.cluster.workers import ParseWorker, SurprisalWorker
from dtg.errors import InputError
from dtg.io.settings import check_choice
from dtg.scoring.columns import Per
from dtg.search.options import BeamOptions
from dtg.search_keywords import SurprisalOptions, spelled_out
from dtg.tables.columns import UNITS, Base
from dtg.tables.long_sentences import MAX_WORDS

if TYPE_CHECKING:
    from ray.data import Dataset

__all__ = ["Workers", "parse", "read_lines", "surprisal"]


@spelled_out(SurprisalOptions)
def surprisal(
    dataset: Dataset,
    *,
    model: str | Path = pretrained.MODEL,
    column: str = "text",
    beam: int | None = None,
    base: Base = "2",
    per: Per = "word",
    end: bool = False,
    tokenized: bool = False,
    workers: Workers | None = None,
    **search: Unpack[SurprisalOptions],
) -> Dataset:
    """The surprisal of each word of a dataset's sentences.

    Args:
        dataset: of Ray, with a sentence in each row.
        model: a folder that every machine sees, or the name of a bundled model.
        column: the column that has the sentences. A row without one has no words, and is left out.
        beam: a beam of fixed size instead of one that adapts.
        base: "2" for bits, "e" for nats.
        per: a row for each "word" or for each "whitespace" word.
        end: a row for the end of each sentence, too.
        tokenized: words are between spaces; otherwise text is split by the model's rules.
        workers: how many there are, and what each has; one with a CPU by default.
        **search: `accuracy`, `boundary`, `columns` and the other options of `LanguageModel.surprisal`.

    Returns:
        A dataset with a row for each word: the columns of `dtg surprisal`, and those of the given dataset. Have one among them
        that tells the sentences apart, as `read_lines` makes it: batches come back as they are finished.
    """
    check_choice("base", base, UNITS)
    check_choice("per", per, ("word", "whitespace"))
    options = BeamOptions.of(beam=beam, **search)
    check_column(dataset, column)
    return (workers or Workers()).map(
        dataset,
        SurprisalWorker,
        folder=str(pretrained.find(model)),
        column=column,
        options=options,
        base=base,
        per=per,
        end=end,
        tokenized=tokenized,
    )


def parse(
    dataset: Dataset,
    *,
    parser: str | Path = pretrained.PARSER,
    column: str = "text",
    nbest: int = 1,
    tokenized: bool = False,
    max_words: int = MAX_WORDS,
    workers: Workers | None = None,
) -> Dataset:
    """The trees of a dataset's sentences.

    Args:
        dataset: of Ray, with a sentence in each row.
        parser: a folder that every machine sees, or the name of a bundled parser.
        column: the column that has the sentences. A row without one has no tree, and is left out.
        nbest: how many trees of each sentence, the best first.
        tokenized: words are between spaces; otherwise text is split by the parser's rules.
        max_words: longer sentences have one row, without a tree.
        workers: how many there are, and what each has; one with a CPU by default.

    Returns:
        A dataset with a row for each tree: the columns of the given dataset, the tree as `dtg parse` writes it (CoNLL-U or
        brackets), its number among those of the sentence, and its log-probability.
    """
    if nbest < 1:
        raise InputError(f"nbest must be at least 1; it is {nbest}.")
    check_column(dataset, column)
    folder = str(pretrained.find(parser))
    options = {"column": column, "nbest": nbest, "tokenized": tokenized, "max_words": max_words}
    return (workers or Workers()).map(dataset, ParseWorker, folder=folder, **options)


def check_column(dataset: Dataset, column: str) -> None:
    """Raise unless the dataset has it."""
    check_ray()
    known = dataset.columns() or []
    if column not in known:
        raise InputError(f"the dataset has no column {column!r}. It has: {', '.join(known)}.")
