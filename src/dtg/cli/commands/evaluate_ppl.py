"""`dtg evaluate ppl`: how well a model predicts sentences, by every convention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg import pretrained
from dtg.cli.evaluation_options import (
    AgainstOption,
    EvaluatedModel,
    NameOption,
    ResultsOption,
    computed,
    content_hash,
    details,
    other_name,
)
from dtg.cli.loading import open_proposal, proposal_identity, show_repairs
from dtg.cli.options import (
    BeamOption,
    DeviceOption,
    ModelOption,
    ProposalOption,
    RootsOption,
    SkipInvalidOption,
    TokenizedOption,
    TreesOption,
    WordBeamOption,
)
from dtg.cli.progress import show_changes
from dtg.errors import InputError
from dtg.trees import TreebankReport, read_conllu

if TYPE_CHECKING:
    from dtg.evaluation.perplexity_report import Report
    from dtg.evaluation.perplexity_rows import GivenSentence, Measuring

GROUP = 8  # sentences computed together, and computed again after an interruption, where trees are drawn for them
GROUP_IN_ONE_PASS = 128  # by a model without trees


def evaluate_ppl(
    conllu: Annotated[Path | None, typer.Option(help="A treebank (.conllu, .conll, .gz).", metavar="FILE")] = None,
    text: Annotated[
        str | None, typer.Option(help="Sentences, one on each line; - reads stdin.", metavar="FILE")
    ] = None,
    model: ModelOption = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="Which probabilities: joint, proposal, estimate, beam, with commas between; all of them if not given. "
            "joint needs --conllu.",
            metavar="KIND,...",
        ),
    ] = None,
    parser: ProposalOption = None,
    trees: TreesOption = 300,
    beam: BeamOption = 100,
    word_beam: WordBeamOption = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The first so many sentences only.")] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="So many sentences, chosen at random; the same ones for every model.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which sentences --sample chooses, and which trees --parser.")] = 0,
    tokenized: TokenizedOption = False,
    roots: RootsOption = "error",
    skip_invalid: SkipInvalidOption = False,
    against: AgainstOption = None,
    out: ResultsOption = None,
    name: NameOption = None,
    device: DeviceOption = "cpu",
) -> None:
    """Perplexity per word and per piece, with and without the end of sentences, with intervals.

    dtg evaluate ppl --conllu en_ewt-ud-dev.conllu --model runs/dtg/best --parser runs/parser/best --out results/ppl

    dtg evaluate ppl --text sentences.txt --model runs/dtg/best --by beam --beam 100

    joint is of words and tree, for the treebank's trees, crossing arcs lifted. proposal, estimate and beam are of the words. A
    model without trees has one exact number. docs/perplexity.md has the formulas. `torchrun` shares the work.
    """
    if (conllu is None) == (text is None):
        raise InputError("give a treebank with --conllu FILE or sentences with --text FILE, and not both.")
    if conllu is not None and tokenized:
        raise InputError("--tokenized is about plain text; the words of --conllu FILE are split already.")
    from dtg.cli.ppl_kinds import Kinds
    from dtg.cli.sentences import lines_of, tell_empty
    from dtg.evaluation.perplexity import summarize
    from dtg.evaluation.perplexity_comparison import compare, kinds_of, kinds_to_compare, read_sentences, same_sentences
    from dtg.evaluation.perplexity_report import Report, write_report
    from dtg.evaluation.perplexity_rows import SENTENCES, Measuring, measure
    from dtg.evaluation.perplexity_sentences import choose, from_lines, from_treebank
    from dtg.search.options import BeamOptions

    report, lines = TreebankReport(), None
    if conllu is not None:
        every = from_treebank(read_conllu(conllu, roots=roots, skip_invalid=skip_invalid, report=report))
    else:
        assert text is not None
        lines = lines_of(text)
        every = from_lines(lines, tokenized=tokenized)
    sentences = choose(every, limit=limit, sample=sample, seed=seed)
    data = str(conllu) if lines is None else lines.name
    if not sentences:
        raise InputError(f"{data} has no sentences.")
    other = None if against is None else read_sentences(against)
    if other is not None:
        same_sentences([{"sentence_id": one.sentence_id, "text": one.text} for one in sentences], other[1])
    evaluated = EvaluatedModel.of(model, device, name)
    kinds = Kinds.of(by, is_exact=evaluated.is_exact, has_gold=lines is None, has_parser=parser is not None)
    proposal_from = parser or pretrained.PARSER if kinds.use_proposal else None
    proposal = None if proposal_from is None else open_proposal(proposal_from, device)
    how = Measuring(kinds.by, BeamOptions(beam=beam, word_beam=word_beam), proposal, trees, seed)
    kinds = kinds.possible(how, sentences[0], was_asked=by is not None)
    how = replace(how, by=kinds.by)
    if other is not None:
        kinds_to_compare(kinds.by, kinds_of(other[1]))  # raises now what would be said after hours
    size = GROUP if how.proposal else GROUP_IN_ONE_PASS if evaluated.is_exact else how.beam.sentences_together
    options = {
        **({"limit": limit} if limit else {"sample": sample} if sample else {}),
        **({"seed": seed} if sample or proposal else {}),
        **method(how, proposal_from),
        "constrained": evaluated.model.config.constrained,
        "group": size,
    }
    settings = evaluated.settings("evaluate ppl", options, data_hash(sentences))
    groups = [sentences[first : first + size] for first in range(0, len(sentences), size)]
    rows = computed(groups, lambda group: measure(evaluated.model, group, how), settings, out)
    if rows is None:
        return
    show_changes(report)
    if lines is not None:
        tell_empty(lines)
    if proposal is not None:
        show_repairs(proposal)
    further = (*details(options, proposal_from), *kinds.lines())
    compared = None
    if other is not None and against is not None:
        compared = other_name(evaluated.name, other[0], against), compare(rows, other[1])
    about = Report(evaluated.name, data, rows, [summarize(rows, kind) for kind in how.by], further, compared)
    show(about)
    if out is not None:
        given = {"model": str(evaluated.folder), "data": data, "name": evaluated.name}
        if proposal_from is not None:
            given["proposal"] = proposal_from
        write_report(out, about, settings, given)
        typer.echo(f"\nEvery sentence is in {out / SENTENCES}, and all of this in {out / 'results.md'}.")


def method(how: Measuring, proposal: str | None) -> dict[str, Any]:
    """What decides the numbers of a sentence."""
    settings: dict[str, Any] = {"by": list(how.by)}
    if proposal is not None:
        settings |= {"trees": how.trees, "proposal": proposal_identity(proposal)}
    if "beam" in how.by:
        settings |= {"beam": how.beam.beam, "word_beam": how.beam.words_kept}
    return settings


def data_hash(sentences: Sequence[GivenSentence]) -> str:
    """What identifies the sentences that are measured."""
    return content_hash([[one.sentence_id, one.words, one.tree and one.tree.heads] for one in sentences])


def show(report: Report) -> None:
    """A table for people."""
    titles, rows = report.cells(counts=False)
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    typer.echo(f"{report.title}\n")
    for cells in [titles, *rows]:
        first, *others = (
            f"{cell:{'>' if place else '<'}{width}}"
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        typer.echo("  ".join([first, *others]).rstrip())
    typer.echo()
    for line in report.lines():
        typer.echo(line)
