"""`dtg evaluate ppl`: how well a model predicts sentences, by every convention."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg.cli.commands.evaluation.options import ResultsGroup, SelectionGroup, names_in
from dtg.cli.groups import ProposalGroup, SearchGroup, takes_groups
from dtg.cli.options import ModelOption, ProjectOption, RootsOption, SkipInvalidOption, TokenizedOption
from dtg.errors import InputError
from dtg.trees.reading import TreeFormat

if TYPE_CHECKING:
    from dtg.tables.items import Lines


@takes_groups
def evaluate_ppl(
    *,
    conllu: Annotated[Path | None, typer.Option(help="A treebank (.conllu, .conll, .gz).", metavar="FILE")] = None,
    brackets: Annotated[
        Path | None, typer.Option(help="A treebank in Penn brackets (.ptb, .mrg, .brackets, .gz).", metavar="FILE")
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="Sentences, one on each line; - reads stdin.", metavar="FILE")
    ] = None,
    model: ModelOption = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="Which probabilities: joint, proposal, estimate, beam, with commas between; all of them if not given. "
            "joint needs trees.",
            metavar="KIND,...",
        ),
    ] = None,
    proposal: ProposalGroup,
    search: SearchGroup,
    selection: SelectionGroup,
    tokenized: TokenizedOption = False,
    project: ProjectOption = None,
    roots: RootsOption = "error",
    skip_invalid: SkipInvalidOption = False,
    results: ResultsGroup,
) -> None:
    """Perplexity per word and per piece, with and without the end of sentences, with intervals.

    dtg evaluate ppl --conllu en_ewt-ud-dev.conllu --model runs/dtg/best --parser runs/parser/best --out results/ppl

    dtg evaluate ppl --brackets wsj-dev.mrg --model runs/tg/best --by joint,beam

    dtg evaluate ppl --text sentences.txt --model runs/dtg/best --by beam --beam 100

    joint is of words and tree, for the treebank's trees, crossing arcs lifted. proposal, estimate and beam are of the words. A
    model without trees has one exact number. docs/perplexity.md has the formulas. `torchrun` shares the work.
    """
    source = source_of(conllu or brackets, text, tokenized=tokenized)
    if conllu is not None and brackets is not None:
        raise InputError("give a treebank with --conllu FILE or with --brackets FILE, and not both.")
    trees_in: TreeFormat = "conllu" if conllu is not None else "brackets" if brackets is not None else "auto"
    from dtg.evaluation.tasks.perplexity import Perplexity

    how: dict[str, Any] = {**vars(selection), **vars(search), **proposal.options, "device": results.device}
    how |= {"tokenized": tokenized, "roots": roots, "skip_invalid": skip_invalid, "project": project}
    task = Perplexity.of(source, by=names_in(by), **how, trees_in=trees_in)
    results.run(task, results.load(model))


def source_of(treebank: Path | None, text: str | None, *, tokenized: bool) -> Path | Lines:
    """The file that was named, as one of trees or one of lines."""
    from dtg.cli.sentences import lines_of

    if treebank is not None and tokenized:
        raise InputError("--tokenized is about plain text; the words of --conllu FILE are split already.")
    if treebank is not None and text is None:
        return treebank
    if text is not None and treebank is None:
        return lines_of(text)
    raise InputError(
        "give a treebank with --conllu FILE or sentences with --text FILE, and not both. --brackets FILE is a treebank too."
    )
