"""`dtg evaluate rerank`: trees that a language model chose from a parser's, measured against gold."""

from __future__ import annotations

import io
import json
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg.cli.options import JsonOption, RootsChoice, RootsOption, SkipInvalidOption, tell
from dtg.cli.proposals import ProposalOption, tell_changes
from dtg.cli.rerank import GROUP, DrawSeedOption, Reranker, TreesOption, WeightOption
from dtg.cli.table_options import DeviceOption, ModelOption, OverwriteOption, ResumeOption
from dtg.cli.tables import Destination, Work, grow
from dtg.errors import InputError
from dtg.files import FORMAT_VERSION
from dtg.trees import DependencyTree, TreebankReport, read_conllu
from dtg.trees.report import number

if TYPE_CHECKING:
    from dtg.evaluation.reranking import RerankedSentence
    from dtg.inference.reranking import Reranking
    from dtg.tables.columns import Row
    from dtg.tables.files import Existing
    from dtg.tables.items import Item
    from dtg.tables.sidecar import Sidecar

PARTS = {"all": "all words", "without_punctuation": "no punctuation"}
NAMES = {"uas": "UAS", "exact": "exact"}


def evaluate_rerank(
    gold: Annotated[Path, typer.Argument(help="A treebank with the right trees (.conllu, .conll, .gz).")],
    model: ModelOption = None,
    parser: ProposalOption = None,
    trees: TreesOption = 300,
    weight: WeightOption = 0.0,
    limit: Annotated[int | None, typer.Option(min=1, help="The first so many sentences only.")] = None,
    seed: DrawSeedOption = 0,
    out: Annotated[
        Path | None, typer.Option(help="Also write a table with a row for each sentence.", metavar="FILE.jsonl")
    ] = None,
    roots: RootsOption = RootsChoice.error,
    skip_invalid: SkipInvalidOption = False,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
    device: DeviceOption = "cpu",
) -> None:
    """Draw trees for the words of a treebank, choose by language model, and compare heads with the treebank's.

    dtg evaluate rerank en_ewt-ud-test.conllu --model runs/dtg/best --parser runs/parser/best

    The oracle is the best tree that was drawn. Intervals are of the paired bootstrap over sentences. With --out, what is
    finished is kept, and --resume goes on after an interruption.
    """
    to = Destination.of(out, None, resume=resume, overwrite=overwrite)
    if to.format not in (None, "jsonl"):
        raise InputError(f"cannot write {out}: the table is of JSON lines. Let the name end in .jsonl.")
    report = TreebankReport()
    stream = read_conllu(gold, roots=roots.policy, skip_invalid=skip_invalid, report=report)
    reranker = Reranker.of(model, parser, device, trees, seed)
    from dtg.cli.sentences import count_sentences, numbered
    from dtg.evaluation.reranking import COLUMNS, compare, own_tree, summarize
    from dtg.tables.items import tree_items

    def rows(item: Item[DependencyTree], found: Reranking) -> list[Row]:
        return [compare(item.content, own_tree(reranker.proposal, found), found, weight).row]

    options = {"weight": weight, "limit": limit, "roots": roots.value, "skip_invalid": skip_invalid}
    sidecar = reranker.sidecar("evaluate rerank", options, str(gold), COLUMNS)
    size = min(limit or sys.maxsize, count_sentences([gold]))
    work = Work(numbered(tree_items(islice(stream, limit))), size, reranker.rankings, rows, COLUMNS, GROUP)
    found = summarize(finished(work, to.out, to.existing, sidecar), seed)
    tell(report)
    tell_changes(reranker.proposal)
    if as_json:
        used = {**sidecar.given, "trees_wanted": trees, "weight": weight, "seed": seed}
        typer.echo(json.dumps({"format_version": FORMAT_VERSION, **used, **found}, ensure_ascii=False))
    else:
        show(found)


def finished(
    work: Work[DependencyTree, Reranking], out: Path | None, existing: Existing, sidecar: Sidecar
) -> list[RerankedSentence]:
    """Compute what an earlier run has not, and give all sentences."""
    from dtg.evaluation.reranking import RerankedSentence
    from dtg.tables.files import StreamTable, TableFile

    if out is None:
        kept = io.BytesIO()
        grow(StreamTable(kept, "jsonl", work.columns), work, None)
        content = kept.getvalue()
    else:
        grow(TableFile.open(out, "jsonl", work.columns, sidecar, existing), work, out)
        content = out.read_bytes()
    return [RerankedSentence(**json.loads(line)) for line in content.split(b"\n") if line]


def show(found: dict[str, Any]) -> None:
    """A table for people."""
    count, trees = found["sentences"], found["trees"]
    typer.echo(f"{number(count, 'sentence')}, {trees / count:.1f} trees a sentence\n")
    typer.echo(f"{'':29}{'proposal':>10}{'reranked':>10}{'oracle':>10}   reranked − proposal (95 %)")
    for name, label in PARTS.items():
        if found[name] is None:
            continue
        for measure in ("uas", "exact"):
            values = "".join(f"{found[name][who][measure]:10.2f}" for who in ("proposal", "reranked", "oracle"))
            gained = found[name]["difference"][measure]
            low, high = gained["interval"]
            typer.echo(
                f"{f'{NAMES[measure]}, {label}':29}{values}   {gained['value']:+.2f} (from {low:+.2f} to {high:+.2f})"
            )
    if found["crossing"]:
        typer.echo(f"\ncrossing arcs, which no proposal has, are in {number(found['crossing'], 'gold tree')}.")
