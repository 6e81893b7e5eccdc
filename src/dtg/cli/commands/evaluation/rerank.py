"""`dtg evaluate rerank`: trees that a language model chose from a parser's, measured against gold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dtg.cli.evaluation_options import (
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
    JsonOption,
    ModelOption,
    ProposalOption,
    RootsOption,
    SkipInvalidOption,
    TreesOption,
    WeightOption,
)


def evaluate_rerank(
    gold: Annotated[Path, typer.Argument(help="A treebank with the right trees (.conllu, .conll, .gz).")],
    model: ModelOption = None,
    parser: ProposalOption = None,
    trees: TreesOption = 300,
    weight: WeightOption = 0.0,
    limit: LimitOption = None,
    sample: SampleOption = None,
    seed: SeedOption = 0,
    roots: RootsOption = "error",
    skip_invalid: SkipInvalidOption = False,
    out: ResultsOption = None,
    against: AgainstOption = None,
    name: NameOption = None,
    as_json: JsonOption = False,
    device: DeviceOption = "auto",
) -> None:
    """Draw trees for the words of a treebank, choose by language model, and compare heads with the treebank's.

    dtg evaluate rerank en_ewt-ud-test.conllu --model runs/dtg/best --parser runs/parser/best --out results/rerank

    The oracle is the best tree that was drawn. Intervals are of the paired bootstrap over sentences. `torchrun` shares the
    work.
    """
    from dtg.evaluation.models import EvaluatedModel
    from dtg.evaluation.tasks.reranking import RerankedTrees

    task = RerankedTrees.of(
        gold,
        proposal=parser,
        trees=trees,
        weight=weight,
        limit=limit,
        sample=sample,
        seed=seed,
        roots=roots,
        skip_invalid=skip_invalid,
        device=device,
    )
    run_and_show(task, EvaluatedModel.of(model, device, name), out=out, against=against, as_json=as_json)
