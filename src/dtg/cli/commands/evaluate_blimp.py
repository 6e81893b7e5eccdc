"""`dtg evaluate blimp`: how often a language model prefers the acceptable sentence of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
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
    names_in,
    other_name,
    tell_files,
)
from dtg.cli.loading import open_proposal, proposal_identity, show_repairs
from dtg.cli.options import BeamOption, DeviceOption, ModelOption, ProposalOption, TreesOption, WordBeamOption
from dtg.errors import InputError
from dtg.io.messages import pluralize

if TYPE_CHECKING:
    from dtg.evaluation.blimp.comparison import Comparison
    from dtg.evaluation.blimp.pairs import PairSet
    from dtg.evaluation.blimp.reporting import Report
    from dtg.evaluation.blimp.running import LogProbabilities
    from dtg.evaluation.blimp.scored import Convention
    from dtg.evaluation.blimp.scores import Accuracy, Scores
    from dtg.scoring.proposal import Proposal


class ByChoice(StrEnum):
    beam = "beam"
    trees = "trees"


def evaluate_blimp(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="BLiMP's folder of .jsonl files, or one such file.")],
    model: ModelOption = None,
    paradigms: Annotated[str | None, typer.Option(help="Only these, with commas between them.", metavar="A,B")] = None,
    first: Annotated[int | None, typer.Option(min=1, help="The first so many pairs of each paradigm.")] = None,
    share: Annotated[float | None, typer.Option(help="So much of each paradigm, drawn at random: 0.1 is 10 %.")] = None,
    by: Annotated[ByChoice, typer.Option(help="Sum over the trees of a beam search, or over those of --parser.")] = (
        ByChoice.beam
    ),
    beam: BeamOption = 50,
    word_beam: WordBeamOption = None,
    parser: ProposalOption = None,
    trees: TreesOption = 300,
    seed: Annotated[int, typer.Option(min=0, help="Which pairs --share draws, and which trees --parser.")] = 0,
    out: ResultsOption = None,
    against: AgainstOption = None,
    name: NameOption = None,
    device: DeviceOption = "cpu",
) -> None:
    """Compare log p of the two sentences of every pair: right is whoever prefers the acceptable one.

    dtg evaluate blimp blimp/data --model runs/dtg/best --share 0.1 --beam 50 --word-beam 10 --out results/dtg

    dtg evaluate blimp blimp/data --model runs/dtg/best --by trees --parser runs/parser/best --out results/dtg-trees

    docs/blimp.md says how pairs are counted. `torchrun` shares the work between processes.
    """
    from dtg.evaluation.blimp.pairs import read_pairs

    pairs = read_pairs(source, paradigms=names_in(paradigms), first=first, share=share, seed=seed)
    for note in pairs.notes:
        typer.echo(f"dtg: {note}", err=True)
    from dtg.evaluation.blimp.comparison import compare
    from dtg.evaluation.blimp.reporting import Report, read_report, write_report
    from dtg.evaluation.blimp.running import groups_of, pair_results, scored_pairs
    from dtg.evaluation.blimp.scored import CONVENTIONS
    from dtg.evaluation.blimp.scores import score

    other = None if against is None else read_report(against, pairs.pairs)
    evaluated = EvaluatedModel.of(model, device, name)
    method = Method.of(evaluated, by, beam, word_beam, parser, trees, seed)
    options = {**method.settings, "pairs_together": method.pairs_together}
    settings = evaluated.settings("evaluate blimp", options, content_hash([asdict(pair) for pair in pairs.pairs]))
    groups = groups_of(pairs, method.pairs_together)
    rows = computed(groups, lambda group: pair_results(group, method.compute), settings, out, sentences_per_row=2)
    if rows is None:
        return
    if method.proposal is not None:
        show_repairs(method.proposal)
    scored = scored_pairs(pairs, rows)
    comparisons: list[Comparison] = []
    if other is not None and against is not None:
        models = {evaluated.name: scored, other_name(evaluated.name, other[0], against): other[1]}
        comparisons = [compare(models, convention) for convention in CONVENTIONS]
    report = Report(
        evaluated.name,
        f"{amount(pairs, first, share, seed)}; log p by {method.title}.",
        pairs.notes,
        scored,
        {convention: score(scored, convention) for convention in CONVENTIONS},
        comparisons,
    )
    show(report)
    if out is not None:
        given = {"model": str(evaluated.folder), "data": str(source), "name": evaluated.name}
        tell_files(out, write_report(out, report, settings, given))


@dataclass(frozen=True, slots=True)
class Method:
    """How log p of a sentence is found."""

    title: str
    settings: Mapping[str, Any]
    compute: LogProbabilities
    pairs_together: int
    proposal: Proposal | None = None

    @classmethod
    def of(
        cls,
        evaluated: EvaluatedModel,
        by: ByChoice,
        beam: int,
        word_beam: int | None,
        parser: str | None,
        trees: int,
        seed: int,
    ) -> Method:
        """What the options ask for; a model without trees needs none of it."""
        from dtg.evaluation.blimp.running import PAIRS_TOGETHER, by_beam, by_trees
        from dtg.search.options import BeamOptions

        if by is ByChoice.beam and parser is not None:
            raise InputError("--parser is for --by trees; a beam search finds its trees by itself.")
        if evaluated.is_exact:
            return cls("one pass (exact)", {"by": "exact"}, by_beam(evaluated.model, 1, 1), PAIRS_TOGETHER)
        if by is ByChoice.beam:
            search = BeamOptions(beam=beam, word_beam=word_beam)
            kept, together = search.words_kept, max(PAIRS_TOGETHER, search.sentences_together // 2)
            settings = {"by": "beam", "beam": beam, "word_beam": kept}
            title = f"beam {beam:,}, word beam {kept:,} (lower bound)"
            return cls(title, settings, by_beam(evaluated.model, beam, kept), together)
        name = parser or pretrained.PARSER
        proposal = open_proposal(name, evaluated.device)
        settings = {"by": "trees", "trees": trees, "seed": seed, "proposal": proposal_identity(name)}
        title = f"{pluralize(trees, 'tree')} of {name} (lower bound)"
        return cls(title, settings, by_trees(evaluated.model, proposal, trees, seed), PAIRS_TOGETHER, proposal)


def amount(pairs: PairSet, first: int | None, share: float | None, seed: int) -> str:
    """How much of BLiMP was evaluated."""
    said = f"{pluralize(len(pairs.paradigms), 'paradigm')}, {pluralize(len(pairs.pairs), 'pair')}"
    if first is not None:
        return f"{said} (the first {first:,} of each)"
    return said if share is None else f"{said} (a share of {share:g} of each, drawn with seed {seed})"


def show(report: Report) -> None:
    """A table for people: all pairs and the fields."""
    from dtg.evaluation.blimp.markdown import CONVENTION_TITLES, interval
    from dtg.evaluation.blimp.paradigms import title
    from dtg.evaluation.blimp.reporting import INTERVALS
    from dtg.evaluation.markdown import p_value

    typer.echo(f"{report.name}: {report.title}\n")
    conventions = "".join(f"   {CONVENTION_TITLES[convention]:<25}" for convention in report.scores)
    typer.echo(f"{'':20}{'pairs':>8}{conventions}".rstrip())
    show_line("all pairs", {convention: scores.overall for convention, scores in report.scores.items()})
    means = "".join(f"   {100 * scores.overall.paradigm_mean:5.1f}{'':20}" for scores in report.scores.values())
    typer.echo(f"{'mean over paradigms':28}{means}".rstrip())
    fields: Scores = report.scores["sentence"]
    for field in fields.fields:
        show_line(title(field), {convention: scores.fields[field] for convention, scores in report.scores.items()})
    typer.echo(f"\n{INTERVALS}")
    for comparison in report.comparisons[:1]:  # by log p of the sentence; the other is in the files
        test = comparison.tests[0]
        difference = f"{100 * test.difference:+.1f} {interval(test.interval, '+')}; p {p_value(test.p)} (McNemar)"
        typer.echo(f"\n{test.a} − {test.b}: {difference}")
        typer.echo(
            f"right: both {test.both:,}, only {test.a} {test.only_a:,}, only {test.b} {test.only_b:,}, neither {test.neither:,}"
        )
        for note in comparison.notes:
            typer.echo(note)


def show_line(label: str, conventions: Mapping[Convention, Accuracy]) -> None:
    """One group of pairs by each convention."""
    from dtg.evaluation.blimp.markdown import interval

    cells = []
    for one in conventions.values():
        ties = f" {pluralize(one.ties, 'tie')}" if one.ties else ""
        cells.append(f"   {f'{100 * one.share:5.1f} {interval(one.interval)}{ties}':<25}")
    pairs = next(iter(conventions.values())).pairs
    typer.echo(f"{label:20}{pairs:8,}{''.join(cells)}".rstrip())
