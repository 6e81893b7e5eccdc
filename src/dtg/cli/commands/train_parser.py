"""`dtg train-parser`: fit a parser to treebanks, with the loop of `dtg train`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg.cli.options import (
    LanguageOption,
    LogWithOption,
    MaxMinutesOption,
    NonProjectiveOption,
    PrecisionOption,
    ResumeRunOption,
    RootsOption,
    SkipInvalidOption,
    ThreadsOption,
    TrainingDeviceOption,
)
from dtg.cli.training import Tables, TrainingRun, language_of, read_config
from dtg.errors import InputError
from dtg.trees import DependencyTree, TreebankReport, read_treebank

if TYPE_CHECKING:
    from dtg.training import Outcome

HELD_OUT = 20  # without --dev, one of this many training sentences is held out


def train_parser(
    treebanks: Annotated[list[Path], typer.Argument(help="Treebanks to learn from (.conllu, .conll, .gz).")],
    out: Annotated[Path, typer.Option(help="The run's folder: checkpoints, log, curves, and the best parser.")],
    dev: Annotated[
        list[Path] | None,
        typer.Option(help=f"A treebank to choose the best by; without it, each {HELD_OUT}th sentence is held out."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="bilstm, transformer, or a pretrained one of the Hugging Face kind: its folder, or its name on the hub. "
            "[default: bilstm]",
            metavar="KIND|DIR|NAME",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="A configuration file, or the name of one that comes with dtg.", metavar="FILE|NAME"),
    ] = None,
    language: LanguageOption = None,
    nonprojective: NonProjectiveOption = "lift",
    roots: RootsOption = "error",
    skip_invalid: SkipInvalidOption = False,
    resume: ResumeRunOption = False,
    max_minutes: MaxMinutesOption = None,
    precision: PrecisionOption = "no",
    device: TrainingDeviceOption = "auto",
    threads: ThreadsOption = None,
    log_with: LogWithOption = None,
) -> None:
    """Train a parser on treebanks; like every run, it can be interrupted and resumed to the same numbers.

    dtg train-parser en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu --out runs/parser

    dtg train-parser en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu --encoder roberta-large --out runs/parser

    dtg evaluate parser en_ewt-ud-test.conllu --parser runs/parser/best
    """
    from dtg.parser.config import default_tables
    from dtg.training import RuntimeOptions

    tables = default_tables(encoder) if config is None else read_config(config)
    if encoder is not None:
        tables = {**tables, "model": {**tables["model"], "encoder": encoder}}
    check_tables(tables)
    RuntimeOptions(precision, device=device, log_with=tuple(log_with or ()))  # mistakes, before treebanks are read
    if language is not None or "language" not in tables["model"]:
        tables = {**tables, "model": {**tables["model"], "language": language_of(language, treebanks)}}
    reading: dict[str, Any] = {"nonprojective": nonprojective, "roots": roots, "skip_invalid": skip_invalid}
    train = read_split(treebanks, "train", reading)
    if dev:
        held_out = read_split(dev, "dev", reading)
    else:
        train, held_out = hold_out(train)
    run = TrainingRun(out, resume, max_minutes, precision, device, threads, log_with=tuple(log_with or ()))
    outcome = train_model(run, tables, {"train": train, "dev": held_out})
    run.end(outcome, "parser", "word", "The same command with --resume resumes it.")


def check_tables(tables: Tables) -> None:
    """Say what is wrong with a configuration before treebanks are read."""
    from dtg.parser import ParserConfig
    from dtg.parser.encoder.subwords import Subwords
    from dtg.training import TrainingConfig

    config = ParserConfig.from_dict(tables["model"])
    TrainingConfig.from_dict(tables["training"])
    if config.is_pretrained:
        Subwords.of(config.encoder)


def read_split(paths: list[Path], name: str, reading: dict[str, Any]) -> list[DependencyTree]:
    """The trees of some treebanks; what had to be changed is said."""
    from dtg.cli.progress import show_changes, with_progress

    report = TreebankReport()
    trees = list(with_progress(read_treebank(paths, **reading, report=report), report, f"reading {name}"))
    typer.echo(f"dtg: {name}: {report.lines()[0]}.", err=True)
    show_changes(report)
    return trees


def hold_out(trees: list[DependencyTree]) -> tuple[list[DependencyTree], list[DependencyTree]]:
    """Split off every HELD_OUT-th tree for dev."""
    dev = trees[HELD_OUT - 1 :: HELD_OUT]
    if not dev:
        raise InputError(
            f"there are {len(trees)} training sentences, too few to keep one in {HELD_OUT} for dev. Pass --dev FILE."
        )
    train = [tree for place, tree in enumerate(trees, start=1) if place % HELD_OUT]
    typer.echo(f"dtg: no --dev FILE: of {len(trees):,} sentences, {len(dev):,} are kept for dev.", err=True)
    return train, dev


def train_model(run: TrainingRun, tables: Tables, trees: dict[str, list[DependencyTree]]) -> Outcome:
    """Hand over to the library."""
    from dtg.cli.training_progress import ParserReporter
    from dtg.parser import BiaffineParser, ParserConfig
    from dtg.parser.data import ParserCorpus
    from dtg.training import TrainingConfig

    run.set_threads()
    config, training = ParserConfig.from_dict(tables["model"]), TrainingConfig.from_dict(tables["training"])
    corpus = ParserCorpus(trees, config)
    parser = BiaffineParser.create(config, corpus.tokenizer, training.seed)
    return run.train(parser, corpus, training, config.to_dict(), ParserReporter())
