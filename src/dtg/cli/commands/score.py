"""`dtg score`: the log-probability of trees, or of sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg.cli.options import (
    NonProjectiveChoice,
    NonProjectiveOption,
    RootsChoice,
    RootsOption,
    SkipInvalidOption,
    tell,
)
from dtg.cli.table_options import (
    BaseChoice,
    BaseOption,
    BeamOption,
    DeviceOption,
    FormatOption,
    ModelOption,
    OutOption,
    OverwriteOption,
    ResumeOption,
    TokenizedOption,
    WordBeamOption,
)
from dtg.cli.tables import Content, Destination, Result, Run, Search, Work, write_table
from dtg.errors import InputError
from dtg.io.messages import pluralize
from dtg.trees import DependencyTree, TreebankReport, read_treebank

if TYPE_CHECKING:
    from dtg.scoring.surprisal import SentenceSurprisal
    from dtg.tables.columns import Row
    from dtg.tables.items import Item, Lines

TREES = 256  # scored at a time


def score(
    conllu: Annotated[Path | None, typer.Option(help="Trees to score (.conllu, .conll, .gz).", metavar="FILE")] = None,
    text: Annotated[
        str | None, typer.Option(help="Sentences to score, one on each line; - reads stdin.", metavar="FILE")
    ] = None,
    model: ModelOption = None,
    beam: BeamOption = 300,
    word_beam: WordBeamOption = None,
    out: OutOption = None,
    format: FormatOption = None,
    base: BaseOption = BaseChoice.bits,
    tokenized: TokenizedOption = False,
    nonprojective: NonProjectiveOption = NonProjectiveChoice.lift,
    roots: RootsOption = RootsChoice.error,
    skip_invalid: SkipInvalidOption = False,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    device: DeviceOption = "cpu",
) -> None:
    """The log-probability of each tree, log p(words, tree), or of each sentence, log p(words).

    dtg score --conllu en_ewt-ud-dev.conllu --model run/best

    dtg score --text sentences.txt --model run/best --out scores.csv

    That of a sentence sums over the trees that a beam search finds: a lower bound, and exact for models without trees.
    """
    if (conllu is None) == (text is None):
        raise InputError("give trees with --conllu FILE or sentences with --text FILE, and not both.")
    if conllu is not None and tokenized:
        raise InputError("--tokenized is about plain text; the words of --conllu FILE are split already.")
    to = Destination.of(out, format, resume=resume, overwrite=overwrite)
    if conllu is not None:
        report = TreebankReport()
        policies = {"nonprojective": nonprojective.value, "roots": roots.value, "skip_invalid": skip_invalid}
        trees = read_treebank(
            [conllu], nonprojective=nonprojective.policy, roots=roots.policy, skip_invalid=skip_invalid, report=report
        )
        score_trees(trees, Run.of(model, device, base, to), conllu, policies)
        tell(report)
        return
    assert text is not None
    from dtg.cli.sentences import lines_of, tell_empty

    lines = lines_of(text)
    score_lines(lines, Run.of(model, device, base, to), Search(beam, word_beam, tokenized))
    tell_empty(lines)


def score_trees(trees: Iterable[DependencyTree], run: Run, path: Path, policies: dict[str, Any]) -> None:
    """log p(words, tree) of each tree."""
    from dtg.scoring.columns import TREE_COLUMNS, tree_row
    from dtg.tables.items import tree_items

    def compute(items: Iterable[Item[DependencyTree]]) -> list[float]:
        return run.model.score([item.content for item in items])

    def rows(item: Item[DependencyTree], log_probability: float) -> list[Row]:
        return [tree_row(item.content, item.sentence_id, log_probability, run.base.base)]

    work = Work(tree_items(trees), None, compute, rows, TREE_COLUMNS, TREES)
    if run.to.is_for_people:
        show(work, f"{run.base.log} p(words, tree)")
    else:
        write_table(work, run.to, lambda: run.sidecar("score --conllu", policies, str(path), TREE_COLUMNS))


def score_lines(lines: Lines, run: Run, search: Search) -> None:
    """log p(words) of each line."""
    from dtg.scoring.columns import TEXT_COLUMNS, text_row

    def compute(items: Iterator[Item[str]]) -> Iterator[SentenceSurprisal]:
        return search.surprisals(run.model, items)

    def rows(item: Item[str], result: SentenceSurprisal) -> list[Row]:
        return [text_row(result.sentence, item.sentence_id, result.log_probability, run.known, run.base.base)]

    work = Work(lines, lines.size, compute, rows, TEXT_COLUMNS, search.together(lines))
    if run.to.is_for_people:
        known = "" if run.known == "exact" else f" by beam {search.beam}"
        show(work, f"{run.base.log} p(words), {run.known}{known}")
    else:
        write_table(work, run.to, lambda: run.sidecar("score --text", search.settings, lines.name, TEXT_COLUMNS))


def show(work: Work[Content, Result], what: str) -> None:
    """A line for each sentence as it comes, and their sum."""
    from dtg.cli.surprisal_table import printable
    from dtg.tables.filling import groups, paired

    names = [column.name for column in work.columns]
    sentences, words, total = 0, 0, 0.0
    typer.echo(f"{what}\n\nsentence  words       log p")
    pairs = (pair for some in groups(work.items, work.group) for pair in paired(some, work.compute))
    for values in (row for item, result in pairs for row in work.rows(item, result)):
        row: dict[str, Any] = dict(zip(names, values, strict=True))
        sentences, words, total = sentences + 1, words + row["words"], total + row["log_probability"]
        label = printable(row.get("text") or row.get("sent_id") or "")
        typer.echo(f"{row['sentence_id']:8}  {row['words']:5}  {row['log_probability']:10.2f}  {label}".rstrip())
    typer.echo(f"\n{pluralize(sentences, 'sentence')}, {pluralize(words, 'word')}: {total:.2f} in all")
