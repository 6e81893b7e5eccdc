"""The columns of the tables that dtg writes, and the rows of one sentence in their order.

Names are snake_case and stay: people's scripts depend on them. docs/surprisal.md describes them at length; the short
meanings here go into the file beside a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from dtg.errors import InputError
from dtg.io.settings import check_choice
from dtg.search.measures.names import measure_of
from dtg.tables.columns import NATS, UNITS, Base, Column, Row, Value
from dtg.text.documents import SENTENCE_ID as NAMED
from dtg.text.sentence import Sentence
from dtg.trees.kinds import Tree

if TYPE_CHECKING:
    from dtg.scoring.surprisal import SentenceSurprisal

Per = Literal["word", "whitespace"]
END_WORD = "<END>"

SENTENCE_ID = Column("sentence_id", int, "the line of the input, from 1")
SURPRISAL_COLUMNS = (
    SENTENCE_ID,
    Column("word_id", int, "the row within the sentence, from 1"),
    Column("word", str, "the word; <END> for the end of the sentence"),
    Column("surprisal", float, "-log p(word | words before it)"),
    Column("lexical", float, "the part of the surprisal that is the word's, given the tree so far"),
    Column("structural", float, "the part of the surprisal that is the tree's; lexical + structural = surprisal"),
    Column("entropy", float, "over the partial trees in the beam, after the word"),
    Column("entropy_reduction", float, "the entropy before the word minus that after it"),
    Column(
        "stack_depth",
        float,
        "expected after the word: words on the stack; open phrases (tg, plm), constituents (pushdown)",
    ),
    Column("kept", float, "share of the probability that the search kept at the word, 0 to 1"),
    Column("pieces", int, "pieces of the word"),
    Column("char_start", int, "the word's first character in the line, from 0"),
    Column("char_end", int, "the character after the word's last"),
    Column("whitespace_id", int, "the whitespace-separated word it belongs to, from 1"),
    Column("whitespace_word", str, "that whitespace-separated word"),
)
# What tells tables of several models apart; the values of the input's own columns follow.
RUN_COLUMNS = (
    Column("model", str, "the model's name"),
    Column("unit", str, "of surprisal, its parts, entropy and entropy reduction: bits or nats"),
    Column("beam", int, "the beam size of the search"),
)
TREE_COLUMNS = (
    Column("sentence_id", int, "the sentence's number in the file, from 1"),
    Column("sent_id", str, "what the file calls it (# sent_id)"),
    Column("words", int, "number of words"),
    Column("log_probability", float, "log p(words, tree), <END> included"),
)
TEXT_COLUMNS = (
    SENTENCE_ID,
    Column("text", str, "the sentence"),
    Column("words", int, "number of words"),
    Column("log_probability", float, "log p(words), <END> included"),
    Column("kind", str, "what is known: exact, or a lower bound from the beam"),
)


def measure_columns(names: Sequence[str]) -> tuple[Column, ...]:
    """Columns that were asked for, which follow SURPRISAL_COLUMNS."""
    return tuple(Column(name, float, measure_of(name).meaning) for name in names)


def surprisal_rows(
    result: SentenceSurprisal,
    sentence_id: int,
    *,
    base: Base = "2",
    per: Per = "word",
    end: bool = False,
    measures: Sequence[str] = (),
) -> list[Row]:
    """A row for each word or, with per="whitespace", each whitespace word; with `end`, one more for <END>.

    Over the words of a whitespace word surprisal and its parts, entropy reduction and pieces add up, kept multiplies, and
    entropy and stack depth are those after its last word. `measures` are columns that were asked for; where a model has no
    such thing, they are empty.
    """
    check_choice("base", base, UNITS)
    check_choice("per", per, ("word", "whitespace"))
    sentence, nats = result.sentence, NATS[base]
    group = np.arange(len(sentence)) if per == "word" else np.asarray(sentence.whitespace)
    first = np.flatnonzero(np.diff(group, prepend=-1))  # (rows,) the first word of each row
    last = np.append(first[1:], len(sentence)) - 1
    whitespace_words = sentence.whitespace_words
    of_row = [sentence.whitespace[word] for word in first.tolist()]  # each row's whitespace word
    words = sentence.words if per == "word" else whitespace_words
    rows: list[Row] = list(
        zip(
            [sentence_id] * len(first),
            range(1, len(first) + 1),
            words,
            *(
                (np.add.reduceat(values, first) / nats).tolist()
                for values in (result.surprisals, result.lexical, result.structural)
            ),
            (result.entropies[last] / nats).tolist(),
            (np.add.reduceat(result.entropy_reductions, first) / nats + 0.0).tolist(),  # + 0.0: no -0.0 in a table
            result.stack_depths[last].tolist(),
            np.multiply.reduceat(result.kept, first).tolist(),
            np.add.reduceat(result.pieces, first).tolist(),
            [sentence.starts[word] for word in first.tolist()],
            [sentence.ends[word] for word in last.tolist()],
            [number + 1 for number in of_row],
            [whitespace_words[number] for number in of_row],
            *(joined_measure(result, name, first, last) for name in measures),
            strict=True,
        )
    )
    if end:
        values: dict[str, Value] = {"sentence_id": sentence_id, "word_id": len(rows) + 1, "word": END_WORD}
        values["surprisal"] = result.end_surprisal / nats
        columns = (*SURPRISAL_COLUMNS, *measure_columns(measures))
        rows.append(tuple(values.get(column.name) for column in columns))
    return rows


def joined_measure(
    result: SentenceSurprisal, name: str, first: NDArray[np.int64], last: NDArray[np.int64]
) -> list[float | None]:
    """A column that was asked for, of the words from `first` to `last`; None where there is no such thing."""
    if name not in result.measures:
        return [None] * len(first)
    values = result.measures[name]
    found = np.add.reduceat(values, first) if measure_of(name).joining == "sum" else values[last]
    return [None if np.isnan(value) else float(value) for value in found]


def carried_columns(given: Sequence[Column], measures: Sequence[str] = ()) -> tuple[Column, ...]:
    """The columns of an input table as they are repeated in ours: where we have one of that name, theirs is input_NAME."""
    ours = {*(column.name for column in (*SURPRISAL_COLUMNS, *RUN_COLUMNS)), *measures}
    renamed = [replace(column, name=f"input_{column.name}") if column.name in ours else column for column in given]
    names = [column.name for column in renamed]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"the input has a column {twice[0]}, which is what another column of it is renamed to.")
    return tuple(renamed)


def tree_row(tree: Tree, sentence_id: int, log_probability: float, base: Base) -> Row:
    """A tree's row of TREE_COLUMNS."""
    source = getattr(tree, "source", None)
    comments = source.comments if source else ()
    sent_id = next((found[1] for comment in comments if (found := NAMED.fullmatch(comment))), None)
    return (sentence_id, sent_id, len(tree), log_probability / NATS[base])


def text_row(sentence: Sentence, sentence_id: int, log_probability: float, kind: str, base: Base) -> Row:
    """A sentence's row of TEXT_COLUMNS."""
    return (sentence_id, sentence.text, len(sentence), log_probability / NATS[base], kind)
