"""`dtg evaluate ppl`: how well a model predicts sentences, by every convention."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg.cli.commands.evaluation.options import (
    AgainstOption,
    DeviceOption,
    LimitOption,
    NameOption,
    ResultsOption,
    SampleOption,
    SeedOption,
    names_in,
    run_and_show,
)
from dtg.cli.options import (
    AccuracyOption,
    BeamOption,
    ModelOption,
    ProjectOption,
    ProposalOption,
    RootsOption,
    SkipInvalidOption,
    TokenizedOption,
    TreesOption,
    WordBeamOption,
)
from dtg.errors import InputError

if TYPE_CHECKING:
    from dtg.tables.items import Lines


def evaluate_ppl(
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
    parser: ProposalOption = None,
    trees: TreesOption = 300,
    accuracy: AccuracyOption = None,
    beam: BeamOption = None,
    word_beam: WordBeamOption = None,
    limit: LimitOption = None,
    sample: SampleOption = None,
    seed: SeedOption = 0,
    tokenized: TokenizedOption = False,
    project: ProjectOption = None,
    roots: RootsOption = "error",
    skip_invalid: SkipInvalidOption = False,
    against: AgainstOption = None,
    out: ResultsOption = None,
    name: NameOption = None,
    device: DeviceOption = "auto",
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
    trees_in = "conllu" if conllu is not None else "brackets" if brackets is not None else "auto"
    from dtg.evaluation.models import EvaluatedModel
    from dtg.evaluation.tasks.perplexity import Perplexity

    how: dict[str, Any] = {
        "beam": beam,
        "word_beam": word_beam,
        "accuracy": accuracy,
        "proposal": parser,
        "trees": trees,
        "device": device,
    }
    reading: dict[str, Any] = {"tokenized": tokenized, "roots": roots, "skip_invalid": skip_invalid}
    reading |= {"project": project, "trees_in": trees_in}
    task = Perplexity.of(source, by=names_in(by), limit=limit, sample=sample, seed=seed, **reading, **how)
    run_and_show(task, EvaluatedModel.of(model, device, name), out=out, against=against)


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
