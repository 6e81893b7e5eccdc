"""What a worker of a Ray cluster is: a model or a parser that is loaded once, and handed batches of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from dtg.cluster.lines import ID
from dtg.errors import InputError
from dtg.language_model import LanguageModel
from dtg.parser import load_parser
from dtg.scoring.columns import RUN_COLUMNS, SURPRISAL_COLUMNS, Per, measure_columns, surprisal_rows
from dtg.search.measures.names import changed_names, column_names
from dtg.search.options import BeamOptions
from dtg.tables.columns import UNITS, Base, Column
from dtg.tables.items import sentence_of
from dtg.tables.unparsed import from_sentence, parsed_conllu, probability_comments
from dtg.trees import DependencyTree
from dtg.trees.kinds import format_tree

if TYPE_CHECKING:
    from pyarrow import Table

TREE_COLUMNS = (
    Column("tree", str, "CoNLL-U or brackets; missing where a sentence is too long"),
    Column("tree_id", int, "1 for the best tree, 2 for the next"),
    Column("tree_log_probability", float, "log p(tree | words) by the parser, in nats"),
)


class SurprisalWorker:
    """Computes surprisals for batches of rows, with a model that is loaded once."""

    def __init__(
        self,
        folder: str,
        column: str,
        options: BeamOptions,
        base: Base,
        per: Per,
        end: bool,
        tokenized: bool,
        threads: int,
        device: str,
    ) -> None:
        torch.set_num_threads(threads)
        self.model = LanguageModel.load(folder, device)
        self.column, self.options, self.tokenized = column, options, tokenized
        asked = column_names(options.columns, self.model.family.views, self.model.decoder_model.groups[-1])
        self.measures = changed_names(asked) if options.columns else ()
        self.writing: dict[str, Any] = {"base": base, "per": per, "end": end, "measures": self.measures}
        self.run = (self.model.name, UNITS[base], options.beam)

    def __call__(self, batch: Table) -> Table:
        """The rows of a batch's words."""
        language = self.model.language
        sentences = {
            place: sentence_of(text, tokenized=self.tokenized, language=language)
            for place, text in texts_of(batch, self.column)
        }
        order = sorted(sentences, key=lambda place: len(sentences[place]))  # alike in length, they end together
        stream = self.model.search_stream((sentences[place] for place in order), self.options)
        found = dict(zip(order, stream, strict=True))
        rows, places = list[tuple[Any, ...]](), list[int]()
        for place in sentences:
            some = surprisal_rows(found[place], 0, **self.writing)
            rows += [(*row[1:], *self.run) for row in some]  # without our number of the sentence
            places += [place] * len(some)
        columns = (*SURPRISAL_COLUMNS[1:], *measure_columns(self.measures), *RUN_COLUMNS)
        return beside(batch, places, columns, rows)


class ParseWorker:
    """Parses batches of rows, with a parser that is loaded once."""

    def __init__(
        self, folder: str, column: str, nbest: int, tokenized: bool, max_words: int, threads: int, device: str
    ) -> None:
        torch.set_num_threads(threads)
        self.parser = load_parser(folder, device)
        self.column, self.nbest, self.tokenized, self.max_words = column, nbest, tokenized, max_words

    def __call__(self, batch: Table) -> Table:
        """The rows of a batch's trees."""
        language = self.parser.config.language
        sentences = {
            place: sentence_of(text, tokenized=self.tokenized, language=language)
            for place, text in texts_of(batch, self.column)
        }
        short = [place for place, sentence in sentences.items() if len(sentence) <= self.max_words]
        parsed = self.parser.k_best_all([sentences[place].words for place in short], self.nbest, annotate=True)
        found = dict(zip(short, parsed, strict=True))
        names = batch[ID].to_pylist() if ID in batch.column_names else None
        rows, places = list[tuple[Any, ...]](), list[int]()
        for place, sentence in sentences.items():
            comments = () if names is None else (f"# sent_id = {names[place]}",)
            unparsed = from_sentence(sentence, "", 0, comments)
            several = found.get(place)
            rows += [(None, None, None)] if several is None else []
            for rank, one in enumerate(several or (), start=1):
                text = format_tree(one.tree)
                if isinstance(one.tree, DependencyTree):
                    known = probability_comments(one.log_probability, rank if self.nbest > 1 else None)
                    more: dict[str, Any] = {"arc_probabilities": one.arc_probabilities, "tags": one.tags}
                    text = parsed_conllu(unparsed, one.tree, known, **more)
                rows.append((text, rank, one.log_probability))
            places += [place] * (1 if several is None else len(several))
        return beside(batch, places, TREE_COLUMNS, rows)


def texts_of(batch: Table, column: str) -> Iterator[tuple[int, str]]:
    """The sentences of a batch that are not empty, each with its place."""
    for place, text in enumerate(batch[column].to_pylist()):
        if text is not None and not isinstance(text, str):
            raise InputError(f"the column {column} has {text!r}; a sentence is expected.")
        if text is not None and text.strip():
            yield place, text


def beside(batch: Table, places: list[int], columns: Sequence[Column], rows: list[tuple[Any, ...]]) -> Table:
    """New columns beside the rows of a batch that they belong to; a given column with the name of a new one is input_NAME."""
    import pyarrow

    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    names = {column.name for column in columns}
    given = batch.take(pyarrow.array(places, pyarrow.int64()))
    given = given.rename_columns([f"input_{name}" if name in names else name for name in given.column_names])
    values = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    for column, some in zip(columns, values, strict=True):
        given = given.append_column(column.name, pyarrow.array(some, kinds[column.kind]))
    return given
