"""Perplexity as a task: log-probabilities of sentences of a treebank or a text, by every kind of probability asked for.

Log-probabilities are in nats and include `<END>`, where not said otherwise. None stands for a probability of 0, and for an
estimate that the draws do not allow. `probability.py` says what the kinds are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar, Self

from dtg.errors import InputError
from dtg.evaluation.contract import Content, Interval, Item, Metric, Row, Task
from dtg.evaluation.probability import By, Probability
from dtg.evaluation.rendering import Block, Heading, TextBlock, pluralize
from dtg.evaluation.tasks.perplexity_scores import (
    CONVENTIONS,
    CONVENTIONS_EXPLAINED,
    INTERVAL,
    MEANINGS,
    compare,
    kinds_of,
    kinds_to_compare,
    perplexity_table,
    remarks,
    same_sentences,
    summarize,
)
from dtg.evaluation.tasks.perplexity_sentences import (
    MeasuredSentence,
    from_brackets,
    from_lines,
    from_treebank,
    split_for,
    ticket,
)
from dtg.evaluation.tasks.selection import choose, content_hash, details, reading_remarks
from dtg.language_model import LanguageModel
from dtg.scoring.marginals import How, from_draws, why_no_estimate
from dtg.scoring.proposal import Draws
from dtg.scoring.tree_scores import score_reachable
from dtg.search.options import BeamOptions
from dtg.tables.columns import Column
from dtg.tables.items import Lines as TextLines
from dtg.trees import BracketReading, TreebankReport, read_conllu
from dtg.trees.conllu import Roots
from dtg.trees.phrases.projection import PhraseLabels
from dtg.trees.reading import TreeFormat, as_kind, is_bracket_file, is_conllu_file

GROUP = 8  # sentences computed together, and computed again after an interruption, where trees are drawn for them
GROUP_IN_ONE_PASS = 128  # by a model without trees


@dataclass(frozen=True)
class Perplexity(Task):
    """Sentences whose perplexity is measured. `Perplexity.of` reads them."""

    name: ClassVar[str] = "ppl"
    table: ClassVar[str] = "sentences.csv"
    columns: ClassVar[Sequence[Column]] = (
        Column("sentence_id", int, "the sentence's number in the file, from 1"),
        Column("sent_id", str, "what the treebank calls it"),
        Column("text", str, "its words, with spaces between them"),
        Column("words", int, "number of words"),
        Column("pieces", int, "number of pieces"),
        Column("lifted_arcs", int, "arcs of its tree that were lifted because they crossed others"),
        Column("log_joint", float, "log p(words, tree) of the treebank's tree; empty if the model cannot build it"),
        Column("log_proposal", float, "lower bound of log p(words): the sum over the proposal's trees"),
        Column("proposal_trees", int, "distinct trees of the proposal that the model can build"),
        Column("log_estimate", float, "estimate of log p(words) from the same trees; empty if not drawn at random"),
        Column("estimate_error", float, "standard error of log_estimate; 0 where all trees were drawn: it is exact"),
        Column("effective_sample_size", float, "how many of the draws carry the estimate; empty where it is exact"),
        Column("log_beam", float, "lower bound of log p(words): the sum over the trees that the search ends with"),
        Column("log_beam_beginning", float, "lower bound of log p(words ...): the same before <END>"),
        Column("log_exact", float, "log p(words)"),
        Column("log_exact_beginning", float, "log p(words ...): of the words without <END>"),
    )

    origin: str
    sentences: tuple[MeasuredSentence, ...]
    how: Probability
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    constrained: bool = True
    report: TreebankReport | None = field(default=None, compare=False)
    lines: TextLines | None = field(default=None, compare=False)
    # All lines of a text that a sample is drawn from: what is drawn follows from their words, as the model splits them.
    pool: tuple[MeasuredSentence, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(
        cls,
        source: Path | TextLines,
        *,
        by: str | Sequence[str] | None = None,
        limit: int | None = None,
        sample: int | None = None,
        seed: int = 0,
        tokenized: bool = False,
        roots: Roots = "error",
        skip_invalid: bool = False,
        project: PhraseLabels | None = None,
        trees_in: TreeFormat = "auto",
        **how: Any,
    ) -> Self:
        """Sentences of a file.

        Args:
            source: a treebank (.conllu, .conll, .ptb, .mrg, .brackets, .gz), or any other file with one sentence per line.
            by: kinds of probability: "joint", "proposal", "estimate", "beam"; all that can be had by default.
            limit, sample, seed: the first sentences, or some at random.
            tokenized: whether the words of a text are what is between spaces.
            roots, skip_invalid: what happens to trees of several roots, and to what cannot be read (see `read_conllu`).
            project: labels of the phrases that dependencies become, for models of phrases; None leaves them as they are.
            trees_in: the format of a treebank; "auto" is by its name.
            **how: how log p is found: `accuracy`, `beam`, `word_beam`, `proposal`, `trees`, `device` (see `Probability.of`).
        """
        report = lines = None
        pool: tuple[MeasuredSentence, ...] = ()
        if isinstance(source, Path) and (trees_in == "brackets" or is_bracket_file(source)):
            report = TreebankReport()
            every: Iterable[MeasuredSentence] = from_brackets(
                BracketReading(skip_invalid=skip_invalid).read([source], report)
            )
        elif isinstance(source, Path) and (trees_in == "conllu" or is_conllu_file(source)):
            report = TreebankReport()
            every = from_treebank(read_conllu(source, roots=roots, skip_invalid=skip_invalid, report=report), project)
        else:
            lines = source if isinstance(source, TextLines) else TextLines.of_file(source)
            every = from_lines(lines, tokenized=tokenized)
            if sample is not None and not tokenized:
                every = pool = tuple(every)
        sentences = tuple(choose(every, lambda one: ticket(one, seed), limit=limit, sample=sample))
        data = str(source) if lines is None else lines.name
        if not sentences:
            raise InputError(f"{data} has no sentences.")
        found = Probability.of(by, seed=seed, has_gold=lines is None, project=project, **how)
        return cls(data, sentences, found, limit, sample, seed, report=report, lines=lines, pool=pool)

    @property
    def data(self) -> str:
        return self.origin

    @cached_property
    def data_sha256(self) -> str:
        return content_hash([[one.sentence_id, one.words, one.structure] for one in self.sentences])

    def for_model(self, model: LanguageModel) -> Self:
        sentences = tuple(split_for(model.language, one) for one in self.pool or self.sentences)
        if self.pool:
            sentences = tuple(choose(sentences, lambda one: ticket(one, self.seed), sample=self.sample))
        how = self.how.for_model(model, sentences[0].words)
        return replace(self, how=how, sentences=sentences, constrained=model.config.constrained)

    @property
    def group(self) -> int:
        how = self.how
        return GROUP if how.proposal else GROUP_IN_ONE_PASS if how.is_exact else how.beam.sentences_together

    def items(self) -> list[Sequence[MeasuredSentence]]:
        size = self.group
        return [self.sentences[first : first + size] for first in range(0, len(self.sentences), size)]

    def settings(self) -> dict[str, Any]:
        how = self.how
        settings: dict[str, Any] = (
            {"limit": self.limit} if self.limit else {"sample": self.sample} if self.sample else {}
        )
        settings |= {"seed": self.seed} if self.sample or how.proposal else {}
        settings["by"] = list(how.by)
        settings |= {"project": how.project} if how.project else {}
        settings |= {"trees": how.trees, "proposal": how.proposal.sha256} if how.proposal else {}
        settings |= how.beam.settings() if "beam" in how.by else {}
        return {**settings, "constrained": self.constrained, "group": self.group}

    def given(self) -> dict[str, Any]:
        return {} if self.how.proposal is None else {"proposal": self.how.proposal.name}

    def remarks(self) -> list[str]:
        told = reading_remarks(self.report) if self.report else []
        if self.lines is not None and self.lines.empty:
            told.append(
                f"{pluralize(self.lines.empty, 'empty line')} in {self.lines.name}; they have numbers, but no rows."
            )
        return told + (self.how.proposal.changes() if self.how.proposal else [])

    def search_remarks(self) -> list[str]:
        return self.how.kept.remarks()

    def measure(self, model: LanguageModel, items: Sequence[MeasuredSentence]) -> list[Row]:
        return measure(model, items, self.how)

    def summarize(self, rows: Sequence[Row], name: str) -> Content:
        found = {by: summarize(rows, by) for by in self.how.by}
        total = {key: sum(row.get(key, 0) for row in rows) for key in ("words", "pieces", "lifted_arcs")}
        units = ", ".join(pluralize(total[unit], unit.removesuffix("s")) for unit in ("words", "pieces"))
        counts = f"{pluralize(len(rows), 'sentence')}, {units}"
        has_beginnings = any("per_word_without_end" in one for one in found.values())
        lifted = [row["lifted_arcs"] for row in rows if "joint" in found and row.get("lifted_arcs")]
        notes = [
            *(MEANINGS[by] for by in self.how.by),
            *(CONVENTIONS_EXPLAINED if has_beginnings else CONVENTIONS_EXPLAINED[:2]),
            INTERVAL,
            *(line for by, one in found.items() for line in remarks(by, one)),
        ]
        if lifted:
            notes.append(f"lifted {pluralize(sum(lifted), 'crossing arc')} in {pluralize(len(lifted), 'sentence')}.")
        notes += details(self.settings(), self.given().get("proposal")) + self.how.left_out_lines()
        title = f"Perplexity of {name} on {Path(self.data).name}: {counts}"
        return {"title": title, "sentences": len(rows), **total, "notes": notes, "perplexities": found}

    @classmethod
    def metrics(cls, content: Content) -> list[Metric]:
        return [
            Metric("all sentences", name, Interval(**one[name]), one["sentences"], rule=by)
            for by, one in content["perplexities"].items()
            for name in (*CONVENTIONS, "bits_per_word")
            if name in one
        ]

    def check_comparable(self, theirs: Sequence[Item], where: str) -> None:
        same_sentences([{"sentence_id": one.sentence_id, "text": one.text} for one in self.sentences], theirs)
        kinds_to_compare(self.how.by, kinds_of(theirs))

    @classmethod
    def compared(
        cls, content: Content, ours: Sequence[Item], theirs: Sequence[Item], names: tuple[str, str]
    ) -> Content:
        found = compare(ours, theirs)
        notes = [
            f"{names[0]} − {names[1]}, by {one.by}: {one.shown} bits per word; better on {one.better:,} of "
            f"{pluralize(one.sentences, 'sentence')}."
            for one in found
        ]
        compared = {"with": names[1], "differences": [asdict(one) for one in found]}
        return {**content, "notes": [*content["notes"], *notes], "compared": compared}

    @classmethod
    def page(cls, name: str, content: Content) -> list[Block]:
        table = perplexity_table(content["perplexities"], counts=True)
        return [Heading(content["title"]), table, TextBlock(content["notes"], is_list=True)]

    @classmethod
    def summary(cls, name: str, content: Content) -> list[Block]:
        return [
            TextBlock([content["title"]]),
            perplexity_table(content["perplexities"], counts=False),
            TextBlock(content["notes"]),
        ]

    @classmethod
    def comparison(cls, names: tuple[str, str], content: Content) -> list[Block]:
        return [TextBlock(content["notes"][-len(content["compared"]["differences"]) :])]


def measure(model: LanguageModel, sentences: Sequence[MeasuredSentence], how: Probability) -> list[Row]:
    """A row for each sentence, by the names of the columns; what does not apply is not in it."""
    if model.tokenizer is None:
        raise InputError("this model has no tokenizer to turn words into pieces; it cannot be asked about sentences.")
    rows: list[Row] = []
    for one in sentences:
        named = {} if one.tree is None else {"sent_id": one.sent_id, "lifted_arcs": one.lifted_arcs}
        pieces = sum(map(len, model.tokenizer.encode_all(one.words)))
        counts = {"words": len(one.words), "pieces": pieces}
        rows.append({"sentence_id": one.sentence_id, "text": one.text, **counts, **named})
    if "joint" in how.by:
        kind = model.family.system.kind
        trees = [as_kind(one.tree, kind) for one in sentences if one.tree is not None]
        for row, score in zip(rows, score_reachable(model.decoder_model, trees), strict=True):
            row["log_joint"] = finite(score)
    if "proposal" in how.by or "estimate" in how.by:
        for row, one in zip(rows, sentences, strict=True):
            row.update(proposed(model, how.draw(one.words), how.by))
    for by in ("beam", "exact"):
        if by in how.by:
            for row, searched in zip(rows, how.stream(model, [one.words for one in sentences]), strict=True):
                row[f"log_{by}"] = finite(searched.log_probability)
                row[f"log_{by}_beginning"] = finite(searched.log_probability + searched.end_surprisal)
    return rows


def proposed(model: LanguageModel, draws: Draws, by: Sequence[By]) -> Row:
    """What some trees tell about log p(words). They are scored once, whatever is asked for."""
    can_estimate = why_no_estimate(draws) is None
    how: How = "estimate" if can_estimate else "proposal"
    found = from_draws(model.decoder_model, draws, how, BeamOptions())
    row: Row = {}
    if "proposal" in by:
        row["log_proposal"] = finite(found.lower_bound)
    row["proposal_trees"] = found.trees
    if "estimate" in by:
        row["log_estimate"] = finite(found.log_probability) if can_estimate else None
        row["estimate_error"] = 0.0 if found.kind == "exact" else found.standard_error
        row["effective_sample_size"] = found.effective_sample_size
    return row


def finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if isfinite(value) else None
