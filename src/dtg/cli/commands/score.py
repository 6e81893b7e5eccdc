"""`dtg score`: the log-probability of trees, or of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg.cli.options import (
    AccuracyOption,
    BaseOption,
    BeamOption,
    DeviceOption,
    FormatOption,
    FunctionsOption,
    LimitOption,
    ModelOption,
    NonProjectiveOption,
    OutOption,
    OverwriteOption,
    ProjectOption,
    ResumeOption,
    RootsOption,
    SkipInvalidOption,
    TagsOption,
    TokenizedOption,
    TracesOption,
    UnaryOption,
    WordBeamOption,
)
from dtg.cli.output.destination import Destination
from dtg.cli.output.tables import Content, Result, Work, write_table
from dtg.cli.reading import ReadingOptions
from dtg.cli.searching import Search, warn_of_kept
from dtg.errors import InputError
from dtg.io.messages import pluralize
from dtg.tables.columns import UNITS, Base
from dtg.trees import DependencyTree, TreebankReport

if TYPE_CHECKING:
    from dtg.cli.loading import NamedModel
    from dtg.scoring.surprisal import SentenceSurprisal
    from dtg.tables.columns import Row
    from dtg.tables.items import Item, Lines, ReadTree
    from dtg.tables.sidecar import Sidecar
    from dtg.text.sentence import Sentence
    from dtg.trees.kinds import Tree

TREES = 256  # scored at a time


def score(
    conllu: Annotated[Path | None, typer.Option(help="Trees to score (.conllu, .conll, .gz).", metavar="FILE")] = None,
    brackets: Annotated[
        Path | None, typer.Option(help="Phrases to score, in Penn brackets (.ptb, .mrg, .gz, .xz).", metavar="FILE")
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="Sentences to score, one on each line; - reads stdin.", metavar="FILE")
    ] = None,
    model: ModelOption = None,
    accuracy: AccuracyOption = None,
    beam: BeamOption = None,
    word_beam: WordBeamOption = None,
    out: OutOption = None,
    format: FormatOption = None,
    base: BaseOption = "2",
    tokenized: TokenizedOption = False,
    project: ProjectOption = None,
    nonprojective: NonProjectiveOption = "lift",
    roots: RootsOption = "error",
    unary: UnaryOption = None,
    functions: FunctionsOption = None,
    traces: TracesOption = None,
    tags: TagsOption = None,
    skip_invalid: SkipInvalidOption = False,
    limit: LimitOption = None,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    device: DeviceOption = "auto",
) -> None:
    """The log-probability of each tree, log p(words, tree), or of each sentence, log p(words).

    dtg score --conllu en_ewt-ud-dev.conllu --model run/best

    dtg score --brackets wsj-dev.mrg --model run-tg/best

    dtg score --text sentences.txt --model run/best --out scores.csv

    --project head scores dependencies by a model of phrases that was trained on them.

    That of a sentence sums over the trees that a beam search finds: a lower bound, and exact for models without trees.
    `torchrun` shares the work between processes (docs/clusters.md).
    """
    if sum(given is not None for given in (conllu, brackets, text)) != 1:
        raise InputError(
            "give trees with --conllu FILE or sentences with --text FILE, and not both; --brackets FILE has trees, too."
        )
    if text is None and tokenized:
        raise InputError("--tokenized is about plain text; the words of --conllu FILE are split already.")
    to = Destination.of(out, format, resume=resume, overwrite=overwrite, inputs=(conllu, brackets, text, model))
    from dtg.cli.loading import load_models
    from dtg.cli.progress import show_changes
    from dtg.cli.sentences import lines_of, tell_empty

    names = None if model is None else [model]
    treebank = conllu or brackets
    if treebank is not None:
        report = TreebankReport()
        reading = ReadingOptions(
            trees="conllu" if brackets is None else "brackets",
            skip_invalid=skip_invalid,
            nonprojective=nonprojective,
            roots=roots,
            project=project,
            unary=unary,
            functions=functions,
            traces=traces,
            tags=tags,
        ).reading([treebank])
        options = {name: value for name, value in reading.options().items() if (name, value) != ("project", None)}
        scores = Scores(load_models(names, device)[0], base, limit)
        command = "score --conllu" if brackets is None else "score --brackets"
        scores.write(scores.of_trees(reading.read([treebank], report)), to, command, options, str(treebank))
        show_changes(report)
    elif text is not None:
        lines, search = lines_of(text), Search(beam, word_beam, tokenized, accuracy=accuracy)
        scores = Scores(load_models(names, device)[0], base, limit)
        scores.write(scores.of_sentences(lines, search), to, "score --text", search.settings, lines.name)
        warn_of_kept(search.kept, to)
        tell_empty(lines)


@dataclass(frozen=True, slots=True)
class Scores:
    """A model, and the unit of its log-probabilities."""

    model: NamedModel
    base: Base
    limit: int | None

    def of_trees(self, trees: Iterable[ReadTree]) -> Work[ReadTree, float]:
        """log p(words, tree) of each tree."""
        from dtg.scoring.columns import TREE_COLUMNS, tree_row
        from dtg.tables.items import tree_items
        from dtg.trees.reading import as_kind

        def fitting(tree: ReadTree) -> Tree:
            return tree if isinstance(tree, DependencyTree) else as_kind(tree, self.model.model.family.system.kind)

        def compute(items: Iterable[Item[ReadTree]]) -> list[float]:
            return self.model.model.score([fitting(item.content) for item in items])

        def rows(item: Item[ReadTree], log_probability: float) -> list[Row]:
            return [tree_row(item.content, item.sentence_id, log_probability, self.base)]

        return Work(tree_items(islice(trees, self.limit)), None, compute, rows, TREE_COLUMNS, TREES)

    def of_sentences(self, lines: Lines, search: Search) -> Work[str | Sentence, SentenceSurprisal]:
        """log p(words) of each line."""
        from dtg.scoring.columns import TEXT_COLUMNS, text_row
        from dtg.tables.records import limited

        def compute(items: Iterator[Item[str | Sentence]]) -> Iterator[SentenceSurprisal]:
            return search.surprisals(self.model.model, items)

        def rows(item: Item[str | Sentence], result: SentenceSurprisal) -> list[Row]:
            return [text_row(result.sentence, item.sentence_id, result.log_probability, self.model.known, self.base)]

        items = limited(lines, self.limit)
        group = search.group_size(lines)
        return Work(items, lines.size, compute, rows, TEXT_COLUMNS, group, (search.kept,))

    def write(
        self, work: Work[Content, Result], to: Destination, command: str, options: Mapping[str, Any], source: str
    ) -> None:
        """The table to a file, or for people."""
        from dtg.cli.surprisal_table import LOGARITHMS

        if not to.is_for_people:
            write_table(work, to, lambda: self.sidecar(command, {**options, "limit": self.limit}, source, work, to))
            return
        known = "" if "beam" not in options else f", {self.model.known}"
        if known and self.model.known != "exact":
            known += " by beam" if "smallest_share" in options else f" by beam {options['beam']}"
        show(work, f"{LOGARITHMS[self.base]} p(words{'' if known else ', tree'}){known}")

    def sidecar(
        self, command: str, options: Mapping[str, Any], source: str, work: Work[Content, Result], to: Destination
    ) -> Sidecar:
        """What is to be known about the table besides its rows."""
        from dtg.cli.loading import provenance

        settings = {
            "unit": UNITS[self.base],
            **options,
            "format": to.format,
            "family": self.model.model.config.family,
            "model_sha256": self.model.sha256,
            "device": str(self.model.model.device),
        }
        return provenance(command, settings, {"model": str(self.model.folder), "input": source}, work.columns)


def show(work: Work[Content, Result], what: str) -> None:
    """A line for each sentence as it comes, and their sum."""
    from dtg.cli.surprisal_table import printable

    names = [column.name for column in work.columns]
    sentences, words, total = 0, 0, 0.0
    typer.echo(f"{what}\n\nsentence  words       log p")
    for values in (row for item, result in work.results() for row in work.rows(item, result)):
        row: dict[str, Any] = dict(zip(names, values, strict=True))
        sentences, words, total = sentences + 1, words + row["words"], total + row["log_probability"]
        label = printable(row.get("text") or row.get("sent_id") or "")
        typer.echo(f"{row['sentence_id']:8}  {row['words']:5}  {row['log_probability']:10.2f}  {label}".rstrip())
    typer.echo(f"\n{pluralize(sentences, 'sentence')}, {pluralize(words, 'word')}: {total:.2f} in all")
