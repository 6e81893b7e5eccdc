"""Sentences to log-probabilities: a model and some sentences in, a row for each out, with every kind of log p asked for.

- `joint`: log p(words, tree) of the tree that came with the sentence.
- `proposal`, `estimate`: from the trees that a proposal draws, scored once for both.
- `beam`: the sum over what a search ends with, and over the beginnings that it had after the last word.
- `exact`: for families without trees; takes the place of all others.

Log-probabilities are in nats and include `<END>`, where not said otherwise. None stands for a probability of 0, and for
an estimate that the draws do not allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from dtg.errors import InputError
from dtg.scoring.marginals import How, from_draws, why_no_estimate
from dtg.scoring.proposal import Draws, Proposal, draw
from dtg.scoring.reranking import sentence_generator
from dtg.scoring.tree_scores import score_reachable
from dtg.search.options import BeamOptions
from dtg.tables.columns import Column
from dtg.trees import DependencyTree

if TYPE_CHECKING:
    from dtg.language_model import LanguageModel

By = Literal["exact", "joint", "proposal", "estimate", "beam"]
WITH_TREES: tuple[By, ...] = ("joint", "proposal", "estimate", "beam")  # what can be asked for, in the order of tables

SENTENCES = "sentences.csv"  # the file of the rows in a folder of results
COLUMNS = (
    Column("sentence_id", int, "the sentence's number in the file, from 1"),
    Column("sent_id", str, "what the treebank calls it"),
    Column("text", str, "its words, with spaces between them"),
    Column("words", int, "number of words"),
    Column("pieces", int, "number of pieces"),
    Column("lifted_arcs", int, "arcs of its tree that were lifted because they crossed others"),
    Column("log_joint", float, "log p(words, tree) of the treebank's tree; empty if the model cannot build it"),
    Column("log_proposal", float, "lower bound of log p(words): the sum over the proposal's trees"),
    Column("proposal_trees", int, "distinct trees of the proposal that the model can build"),
    Column(
        "log_estimate", float, "estimate of log p(words) from the same trees; empty if they were not drawn at random"
    ),
    Column(
        "estimate_error", float, "standard error of log_estimate; 0 where all trees were drawn, which makes it exact"
    ),
    Column("effective_sample_size", float, "how many of the draws carry the estimate; empty where it is exact"),
    Column("log_beam", float, "lower bound of log p(words): the sum over the trees that the search ends with"),
    Column("log_beam_beginning", float, "lower bound of log p(words ...): the same before <END>"),
    Column("log_exact", float, "log p(words)"),
    Column("log_exact_beginning", float, "log p(words ...): of the words without <END>"),
)


@dataclass(frozen=True, slots=True)
class GivenSentence:
    """A sentence to be measured; from a treebank, with its name and its tree, crossing arcs lifted."""

    sentence_id: int
    words: tuple[str, ...]
    sent_id: str | None = None
    tree: DependencyTree | None = None
    lifted_arcs: int = 0

    @property
    def text(self) -> str:
        """The words with spaces between them."""
        return " ".join(self.words)


@dataclass(frozen=True, slots=True)
class Measuring:
    """What is computed of each sentence, and how."""

    by: tuple[By, ...]
    beam: BeamOptions
    proposal: Proposal | None = None
    trees: int = 300
    seed: int = 0

    def draw(self, words: tuple[str, ...]) -> Draws:
        """The proposal's trees. They follow from the seed and the words, so it does not matter what comes before."""
        assert self.proposal is not None
        return draw(self.proposal, words, self.trees, sentence_generator(words, self.seed))


def measure(model: LanguageModel, sentences: Sequence[GivenSentence], how: Measuring) -> list[dict[str, Any]]:
    """A row for each sentence, by the names of COLUMNS; what does not apply is not in it."""
    if model.tokenizer is None:
        raise InputError(
            "this model has no tokenizer to turn words into pieces, so it cannot be asked about sentences."
        )
    rows: list[dict[str, Any]] = []
    for one in sentences:
        named = {} if one.tree is None else {"sent_id": one.sent_id, "lifted_arcs": one.lifted_arcs}
        pieces = sum(map(len, model.tokenizer.encode_all(one.words)))
        counts = {"words": len(one.words), "pieces": pieces}
        rows.append({"sentence_id": one.sentence_id, "text": one.text, **counts, **named})
    if "joint" in how.by:
        for row, score in zip(
            rows, score_reachable(model.decoder_model, [tree_of(one) for one in sentences]), strict=True
        ):
            row["log_joint"] = finite(score)
    if "proposal" in how.by or "estimate" in how.by:
        for row, one in zip(rows, sentences, strict=True):
            row.update(proposed(model, how.draw(one.words), how.by))
    for by in ("beam", "exact"):
        if by in how.by:
            beam = how.beam.beam if by == "beam" else 1  # without trees there is one hypothesis
            found = model.surprisal_stream([one.words for one in sentences], beam, word_beam=how.beam.word_beam)
            for row, searched in zip(rows, found, strict=True):
                row[f"log_{by}"] = finite(searched.log_probability)
                row[f"log_{by}_beginning"] = finite(searched.log_probability + searched.end_surprisal)
    return rows


def proposed(model: LanguageModel, draws: Draws, by: Sequence[By]) -> dict[str, Any]:
    """What some trees tell about log p(words). They are scored once, whatever is asked for."""
    can_estimate = why_no_estimate(draws) is None
    how: How = "estimate" if can_estimate else "proposal"
    found = from_draws(model.decoder_model, draws, how, BeamOptions())
    row: dict[str, Any] = {}
    if "proposal" in by:
        row["log_proposal"] = finite(found.lower_bound)
    row["proposal_trees"] = found.trees
    if "estimate" in by:
        row["log_estimate"] = finite(found.log_probability) if can_estimate else None
        row["estimate_error"] = 0.0 if found.kind == "exact" else found.standard_error
        row["effective_sample_size"] = found.effective_sample_size
    return row


def tree_of(sentence: GivenSentence) -> DependencyTree:
    assert sentence.tree is not None
    return sentence.tree


def finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if isfinite(value) else None
