"""`dtg evaluate rerank`: trees that a language model chose from a parser's, measured against gold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dtg.cli.commands.evaluation.options import ResultsGroup, SelectionGroup
from dtg.cli.groups import ProposalGroup, Without, takes_groups
from dtg.cli.options import JsonOption, ModelOption, WeightOption
from dtg.cli.reading import ReadingOptions
from dtg.trees import BracketReading


@takes_groups
def evaluate_rerank(
    gold: Annotated[
        Path,
        typer.Argument(help="A treebank with the right trees (.conllu, .conll; .ptb, .mrg, .brackets; also .gz)."),
    ],
    *,
    model: ModelOption = None,
    proposal: ProposalGroup,
    weight: WeightOption = 0.0,
    selection: SelectionGroup,
    reading: Annotated[ReadingOptions, Without("trees", "nonprojective")],
    results: ResultsGroup,
    as_json: JsonOption = False,
) -> None:
    """Draw trees for the words of a treebank, choose by language model, and compare heads with the treebank's.

    dtg evaluate rerank en_ewt-ud-test.conllu --model runs/dtg/best --parser runs/parser/best --out results/rerank

    dtg evaluate rerank en_ewt-ud-test.conllu --project head --model runs/tg-projected/best --parser runs/parser/best

    dtg evaluate rerank wsj-test.mrg --model runs/tg/best --parser runs/phrases/best

    Of phrases, labelled brackets are compared as EVALB does, without labels for pushdown. The oracle is the best tree that
    was drawn. Intervals are of the paired bootstrap over sentences. `torchrun` shares the work.
    """
    from dtg.evaluation.tasks.phrase_reranking import RerankedPhrases
    from dtg.evaluation.tasks.reranking import RerankedTrees

    how = reading.reading([gold])
    some: dict[str, Any] = {**proposal.options, "weight": weight, **vars(selection), "device": results.device}
    task: RerankedTrees | RerankedPhrases
    if isinstance(how, BracketReading):
        task = RerankedPhrases.of(gold, **some, reading=how)
    else:
        given: dict[str, Any] = {
            "roots": reading.roots,
            "skip_invalid": reading.skip_invalid,
            "project": reading.project,
        }
        task = RerankedTrees.of(gold, **some, **given)
    results.run(task, results.load(model), as_json=as_json)
