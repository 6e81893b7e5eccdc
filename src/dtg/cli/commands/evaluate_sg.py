"""`dtg evaluate sg`: whether a language model is surprised where SyntaxGym's suites say it should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg import __version__
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
from dtg.cli.options import BeamOption, DeviceOption, ModelOption, WordBeamOption
from dtg.cli.sg_scores import show_scores
from dtg.errors import InputError, UnknownNameError
from dtg.io.messages import pluralize
from dtg.tables.columns import Base

if TYPE_CHECKING:
    from dtg.evaluation.sg import Comparison, Rule, Suite
    from dtg.evaluation.sg.running import SurprisedSentence
    from dtg.evaluation.sg.verdicts import RegionSurprisals


class RuleChoice(StrEnum):
    first = "first"
    all = "all"

    @property
    def rule(self) -> Rule:
        return self.value


def evaluate_sg(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of SyntaxGym's .json suites, or one suite.")],
    model: ModelOption = None,
    suites: Annotated[str | None, typer.Option(help="Only these, with commas between them.", metavar="A,B")] = None,
    beam: BeamOption = 100,
    word_beam: WordBeamOption = None,
    rule: Annotated[
        RuleChoice, typer.Option(help="When an item is right, in the picture and the comparison; tables have both.")
    ] = RuleChoice.first,
    surprisals: Annotated[
        Path | None, typer.Option(help="Score this table of surprisals instead of a --model.", metavar="FILE")
    ] = None,
    base: Annotated[
        Base | None, typer.Option(help="Logarithms of --surprisals, where no FILE.meta.json says it: 2 or e.")
    ] = None,
    sentences: Annotated[
        Path | None, typer.Option(help="Write the sentences (.csv, .tsv, .jsonl, .txt) and stop.", metavar="FILE")
    ] = None,
    out: ResultsOption = None,
    against: AgainstOption = None,
    name: NameOption = None,
    device: DeviceOption = "cpu",
) -> None:
    """Surprisals of every region, which predictions hold, and the averages in use.

    dtg evaluate sg syntaxgym/ --model runs/dtg/best --out results/dtg

    dtg evaluate sg syntaxgym/ --surprisals other-tool.csv --name gpt2 --against results/dtg

    docs/syntaxgym.md says how items are counted. `torchrun` shares the work between processes.
    """
    check_options(model, surprisals, sentences, base)
    from dtg.evaluation.sg import RULES, compare, judge_items, score_items
    from dtg.evaluation.sg.reporting import Report, read_report, write_report

    some = chosen_suites(source, names_in(suites))
    if sentences is not None:
        write_sentences(sentences, some)
        return
    other = None if against is None else read_report(against, some)
    if surprisals is None:
        known = by_model(some, EvaluatedModel.of(model, device, name), beam, word_beam, out)
    else:
        known = from_table(some, surprisals, base, name, out)
    if known is None:
        return
    results = judge_items(some, known.regions)
    compared: tuple[str, str] | None = None
    comparisons: list[Comparison] = []
    if other is not None and against is not None:
        compared = (known.name, other_name(known.name, other[0], against))
        comparisons = [compare(results, other[1], each) for each in RULES]
    report = Report(
        known.name,
        f"{pluralize(len(some), 'suite')}, {pluralize(len(results), 'item')}; surprisals {known.title}.",
        known.notes,
        rule.rule,
        results,
        {each: score_items(results, each) for each in ("first", "all")},
        compared,
        comparisons,
    )
    show_scores(report)
    if out is not None:
        given = {**known.given, "data": str(source), "name": known.name}
        tell_files(out, write_report(out, report, some, known.regions, known.words, known.settings, given))


@dataclass(frozen=True, slots=True)
class Known:
    """Surprisals in bits, and where they come from."""

    name: str
    title: str
    notes: tuple[str, ...]
    settings: Mapping[str, Any]
    given: Mapping[str, str]
    regions: RegionSurprisals
    words: Sequence[SurprisedSentence] = ()


def check_options(model: Path | None, surprisals: Path | None, sentences: Path | None, base: Base | None) -> None:
    """Raise unless one thing is asked for."""
    if sentences is not None and (model is not None or surprisals is not None):
        raise InputError("--sentences FILE writes the sentences and stops; leave --model and --surprisals out.")
    if model is not None and surprisals is not None:
        raise InputError("surprisals come from a --model or from a table, --surprisals FILE; give one of them.")
    if base is not None and surprisals is None:
        raise InputError("--base says what the numbers of --surprisals FILE are; name that too.")


def chosen_suites(source: Path, names: Sequence[str] | None) -> tuple[Suite, ...]:
    """The suites that were asked for, by name."""
    from dtg.evaluation.sg import read_suites

    there = read_suites(source)
    if names is None:
        return there
    known = [suite.name for suite in there]
    if unknown := [name for name in names if name not in known]:
        raise UnknownNameError("suite", unknown[0], known)
    if not names:
        raise InputError("no suite was named; name at least one, or leave --suites out for all of them.")
    return tuple(suite for suite in there if suite.name in names)


def write_sentences(path: Path, suites: Sequence[Suite]) -> None:
    """All sentences in a table, or in a .txt file with one on each line, as `dtg surprisal` reads it."""
    from dtg.evaluation.results import write_rows, write_text
    from dtg.evaluation.sg import sentence_row, suite_sentences
    from dtg.evaluation.sg.surprisals import SENTENCE_COLUMNS

    if path.exists():
        raise InputError(f"{path} exists. Name another file, or remove it.")
    sentences = list(suite_sentences(suites))
    if path.suffix == ".txt":
        write_text(path, "".join(f"{sentence.text}\n" for sentence in sentences))
    else:
        write_rows(path, SENTENCE_COLUMNS, map(sentence_row, sentences))
    typer.echo(f"dtg: {path} has {pluralize(len(sentences), 'sentence')}.", err=True)


def by_model(
    suites: Sequence[Suite], evaluated: EvaluatedModel, beam: int, word_beam: int | None, out: Path | None
) -> Known | None:
    """What a model says of every word; None in any process but the main one."""
    from dtg.evaluation.sg.running import ITEMS_TOGETHER, by_region, groups_of, sentence_results, surprised_sentences
    from dtg.search.options import BeamOptions

    options: dict[str, Any] = {"by": "exact"}
    title = "by one pass (exact)"
    if evaluated.is_exact:
        beam = kept = 1
        together = ITEMS_TOGETHER
    else:
        search = BeamOptions(beam=beam, word_beam=word_beam)
        kept, together = search.words_kept, max(ITEMS_TOGETHER, search.sentences_together // 4)  # conditions of an item
        options = {"by": "beam", "beam": beam, "word_beam": kept}
        title = f"by beam {beam:,}, word beam {kept:,}"
    options["items_together"] = together
    settings = evaluated.settings("evaluate sg", options, suites_hash(suites))
    groups = groups_of(suites, together)
    rows = computed(groups, lambda some: sentence_results(evaluated.model, some, beam, kept), settings, out)
    if rows is None:
        return None
    words = list(surprised_sentences(suites, rows))
    given = {"model": str(evaluated.folder)}
    return Known(evaluated.name, title, (), settings, given, by_region(suites, words), words)


def from_table(
    suites: Sequence[Suite], path: Path, base: Base | None, name: str | None, out: Path | None
) -> Known | None:
    """What a table says of every token; None in any process but the main one."""
    from dtg.evaluation.processes import joined
    from dtg.evaluation.sg import import_surprisals
    from dtg.evaluation.work import Store
    from dtg.io.hashing import file_hash

    with joined() as processes:
        if not processes.is_main:
            return None
    found = import_surprisals(path, suites, base=base)
    settings = {
        "command": "evaluate sg --surprisals",
        "dtg": __version__,
        "surprisals_sha256": file_hash(path),
        "data_sha256": suites_hash(suites),
        "unit": found.unit,
    }
    if out is not None:
        Store(out, settings).check()
    counts = {
        f"{pluralize(found.straddling, 'token')} reaching into the next region, counted where they begin": found.straddling,
        f"{pluralize(found.after_end, 'token')} after the end of a sentence, left out": found.after_end,
        f"{pluralize(found.other_suites, 'token')} of other suites, left out": found.other_suites,
    }
    notes = (
        f"{pluralize(found.tokens, 'token')} in {path.name}, in {found.unit}",
        *(text for text in counts if counts[text]),
    )
    return Known(name or path.stem, f"from {path.name}", notes, settings, {"surprisals": str(path)}, found.surprisals)


def suites_hash(suites: Sequence[Suite]) -> str:
    """What identifies the items, formulas and regions of some suites."""
    return content_hash([asdict(suite) for suite in suites])
