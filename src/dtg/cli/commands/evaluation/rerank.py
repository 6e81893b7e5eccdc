"""`dtg evaluate rerank`: trees that a language model chose from a parser's, measured against gold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dtg.cli.commands.evaluation.options import (
    AgainstOption,
    DeviceOption,
    LimitOption,
    NameOption,
    ResultsOption,
    SampleOption,
    SeedOption,
    run_and_show,
)
from dtg.cli.options import (
    FunctionsOption,
    JsonOption,
    ModelOption,
    ProjectOption,
    ProposalOption,
    RootsOption,
    SkipInvalidOption,
    TagsOption,
    TracesOption,
    TreesOption,
    UnaryOption,
    WeightOption,
)
from dtg.cli.reading import ReadingOptions
from dtg.errors import InputError
from dtg.trees import BracketReading


def evaluate_rerank(
    gold: Annotated[
        Path,
        typer.Argument(help="A treebank with the right trees (.conllu, .conll; .ptb, .mrg, .brackets; also .gz)."),
    ],
    model: ModelOption = None,
    parser: ProposalOption = None,
    project: ProjectOption = None,
    trees: TreesOption = 300,
    weight: WeightOption = 0.0,
    limit: LimitOption = None,
    sample: SampleOption = None,
    seed: SeedOption = 0,
    roots: RootsOption = "error",
    unary: UnaryOption = None,
    functions: FunctionsOption = None,
    traces: TracesOption = None,
    tags: TagsOption = None,
    skip_invalid: SkipInvalidOption = False,
    out: ResultsOption = None,
    against: AgainstOption = None,
    name: NameOption = None,
    as_json: JsonOption = False,
    device: DeviceOption = "auto",
) -> None:
    """Draw trees for the words of a treebank, choose by language model, and compare heads with the treebank's.

    dtg evaluate rerank en_ewt-ud-test.conllu --model runs/dtg/best --parser runs/parser/best --out results/rerank

    dtg evaluate rerank en_ewt-ud-test.conllu --project head --model runs/tg-projected/best --parser runs/parser/best

    dtg evaluate rerank wsj-test.mrg --model runs/tg/best --parser runs/phrases/best

    Of phrases, labelled brackets are compared as EVALB does, without labels for pushdown. The oracle is the best tree that
    was drawn. Intervals are of the paired bootstrap over sentences. `torchrun` shares the work.
    """
    from dtg.evaluation.models import EvaluatedModel
    from dtg.evaluation.tasks.phrase_reranking import RerankedPhrases
    from dtg.evaluation.tasks.reranking import RerankedTrees

    reading = ReadingOptions(
        skip_invalid=skip_invalid,
        roots=roots,
        unary=unary,
        functions=functions,
        traces=traces,
        tags=tags,
    ).reading([gold])
    some: dict[str, Any] = {
        "proposal": parser,
        "trees": trees,
        "weight": weight,
        "limit": limit,
        "sample": sample,
        "seed": seed,
        "device": device,
    }
    task: RerankedTrees | RerankedPhrases
    if isinstance(reading, BracketReading):
        if project is not None:
            raise InputError("--project turns dependencies into phrases, and trees in brackets are phrases already.")
        task = RerankedPhrases.of(gold, **some, reading=reading)
    else:
        task = RerankedTrees.of(gold, **some, roots=roots, skip_invalid=skip_invalid, project=project)
    run_and_show(task, EvaluatedModel.of(model, device, name), out=out, against=against, as_json=as_json)
