"""`dtg evaluate rerank`: trees that a language model chose from a parser's, measured against gold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg import pretrained
from dtg.cli.evaluation_options import EvaluatedModel, NameOption, ResultsOption, computed, content_hash, details
from dtg.cli.loading import open_proposal, proposal_identity, show_repairs
from dtg.cli.options import (
    DeviceOption,
    JsonOption,
    ModelOption,
    ProposalOption,
    RootsOption,
    SeedOption,
    SkipInvalidOption,
    TreesOption,
    WeightOption,
)
from dtg.cli.progress import show_changes
from dtg.errors import InputError
from dtg.trees import DependencyTree, TreebankReport, read_conllu

if TYPE_CHECKING:
    from dtg.evaluation.reranking_report import Report


def evaluate_rerank(
    gold: Annotated[Path, typer.Argument(help="A treebank with the right trees (.conllu, .conll, .gz).")],
    model: ModelOption = None,
    parser: ProposalOption = None,
    trees: TreesOption = 300,
    weight: WeightOption = 0.0,
    limit: Annotated[int | None, typer.Option(min=1, help="The first so many sentences only.")] = None,
    seed: SeedOption = 0,
    roots: RootsOption = "error",
    skip_invalid: SkipInvalidOption = False,
    out: ResultsOption = None,
    name: NameOption = None,
    as_json: JsonOption = False,
    device: DeviceOption = "cpu",
) -> None:
    """Draw trees for the words of a treebank, choose by language model, and compare heads with the treebank's.

    dtg evaluate rerank en_ewt-ud-test.conllu --model runs/dtg/best --parser runs/parser/best --out results/rerank

    The oracle is the best tree that was drawn. Intervals are of the paired bootstrap over sentences. `torchrun` shares the
    work.
    """
    from dtg.evaluation.reranking import RerankedSentence, compare, own_tree, summarize
    from dtg.evaluation.reranking_report import SENTENCES, Report, write_report
    from dtg.scoring.reranking import check_has_trees

    report = TreebankReport()
    sentences = list(islice(read_conllu(gold, roots=roots, skip_invalid=skip_invalid, report=report), limit))
    if not sentences:
        raise InputError(f"{gold} has no sentences.")
    evaluated = EvaluatedModel.of(model, device, name)
    check_has_trees(evaluated.model)
    proposal_from = parser or pretrained.PARSER
    proposal = open_proposal(proposal_from, device)
    options = {
        **({"limit": limit} if limit else {}),
        "seed": seed,
        "trees": trees,
        "proposal": proposal_identity(proposal_from),
        "weight": weight,
        "constrained": evaluated.model.config.constrained,
    }

    def row(tree: DependencyTree) -> list[dict[str, Any]]:
        found = evaluated.model.rerank(tree.words, proposal, trees, seed=seed)
        return [asdict(compare(tree, own_tree(proposal, found), found, weight))]

    settings = evaluated.settings("evaluate rerank", options, data_hash(sentences))
    rows = computed(sentences, row, settings, out)  # each by itself: a model is given the trees of one at a time
    if rows is None:
        return
    show_changes(report)
    show_repairs(proposal)
    counted = [RerankedSentence(**one) for one in rows]
    weighted = [f"weight: log q of the proposal counts {weight:g} beside log p."] if weight else []
    further = (*details(options, proposal_from), *weighted)
    about = Report(evaluated.name, str(gold), counted, summarize(counted, seed), further)
    given = {"model": str(evaluated.folder), "data": str(gold), "name": evaluated.name, "proposal": proposal_from}
    content = about.content(settings, given)
    if out is not None:
        write_report(out, about, content)
    if as_json:
        typer.echo(json.dumps(content, ensure_ascii=False))
        return
    show(about)
    if out is not None:
        typer.echo(f"\nEvery sentence is in {out / SENTENCES}, and all of this in {out / 'results.md'}.")


def data_hash(sentences: Sequence[DependencyTree]) -> str:
    """What identifies the sentences, their right heads, and which words are punctuation."""
    from dtg.parser.evaluation import is_punctuation

    return content_hash(
        [[tree.source and tree.source.sentence, tree.words, tree.heads, is_punctuation(tree)] for tree in sentences]
    )


def show(report: Report) -> None:
    """A table for people."""
    from dtg.evaluation.reranking_report import TITLES

    typer.echo(f"{report.counts}\n")
    for label, *shares, gained in (TITLES, *report.cells()):
        typer.echo(f"{label:29}{''.join(f'{share:>10}' for share in shares)}   {gained}")
    for line in report.crossing():
        typer.echo(f"\n{line}")
