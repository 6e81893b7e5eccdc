"""`dtg train-parser`: fit a parser to treebanks, with the loop of `dtg train`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dtg.cli.commands.train import (
    Device,
    MaxMinutesOption,
    Precision,
    PrecisionOption,
    ResumeRunOption,
    ThreadsOption,
    TrainingDeviceOption,
    leave_processes,
    read_config,
    tell_finished,
)
from dtg.cli.options import (
    NonProjectiveChoice,
    NonProjectiveOption,
    RootsChoice,
    RootsOption,
    SkipInvalidOption,
    tell,
    with_progress,
)
from dtg.errors import InputError
from dtg.trees import DependencyTree, TreebankReport, read_treebank

if TYPE_CHECKING:
    from dtg.parser.config import Tables
    from dtg.training import Outcome

HELD_OUT = 20  # without --dev, one of so many training sentences


def train_parser(
    treebanks: Annotated[list[Path], typer.Argument(help="Treebanks to learn from (.conllu, .conll, .gz).")],
    out: Annotated[Path, typer.Option(help="The run's folder: checkpoints, log, curves, and the best parser.")],
    dev: Annotated[
        list[Path] | None,
        typer.Option(
            help=f"A treebank to choose the best by; without it, each {HELD_OUT}th sentence is kept for that."
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="bilstm, transformer, or a pretrained one of the Hugging Face kind: its folder, or its name on the hub. "
            "[default: bilstm]",
            metavar="KIND|DIR|NAME",
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A configuration file; see configs/parser.toml.")] = None,
    nonprojective: NonProjectiveOption = NonProjectiveChoice.lift,
    roots: RootsOption = RootsChoice.error,
    skip_invalid: SkipInvalidOption = False,
    resume: ResumeRunOption = False,
    max_minutes: MaxMinutesOption = None,
    precision: PrecisionOption = Precision.no,
    device: TrainingDeviceOption = Device.auto,
    threads: ThreadsOption = None,
) -> None:
    """Train a parser on treebanks; like every run, it can be interrupted and resumed to the same numbers.

    dtg train-parser en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu --out runs/parser

    dtg train-parser en_ewt-ud-train.conllu --dev en_ewt-ud-dev.conllu --encoder roberta-large --out runs/parser

    dtg evaluate parser en_ewt-ud-test.conllu --parser runs/parser/best
    """
    from dtg.parser.config import default_tables

    tables = default_tables(encoder) if config is None else read_config(config)
    if encoder is not None:
        tables = {**tables, "model": {**tables["model"], "encoder": encoder}}
    check_tables(tables)

    def read(paths: list[Path], what: str) -> list[DependencyTree]:
        report = TreebankReport()
        trees = read_treebank(
            paths, nonprojective=nonprojective.policy, roots=roots.policy, skip_invalid=skip_invalid, report=report
        )
        found = list(with_progress(trees, report, f"reading {what}"))
        typer.echo(f"dtg: {what}: {report.lines()[0]}.", err=True)
        tell(report)
        return found

    train = read(treebanks, "train")
    if dev:
        held_out = read(dev, "dev")
    else:
        train, held_out = hold_out(train)
    outcome = run(tables, train, held_out, out, resume, max_minutes, (precision.value, False, device.value), threads)
    if outcome.is_main:
        say(outcome, out)
    if outcome.finished is None and outcome.signal is not None:
        raise typer.Exit(128 + outcome.signal)  # as a shell reports it: what was to follow should not


def check_tables(tables: Tables) -> None:
    """Say what is wrong with a configuration before treebanks are read."""
    from dtg.parser import ParserConfig
    from dtg.parser.encoder.subwords import Subwords
    from dtg.training import TrainingConfig

    config = ParserConfig.from_dict(tables["model"])
    TrainingConfig.from_dict(tables["training"])
    if config.is_pretrained:
        Subwords.of(config.encoder)


def hold_out(trees: list[DependencyTree]) -> tuple[list[DependencyTree], list[DependencyTree]]:
    """Take each so many-th tree for dev."""
    dev = trees[HELD_OUT - 1 :: HELD_OUT]
    if not dev:
        raise InputError(
            f"there are {len(trees)} training sentences, too few to keep one in {HELD_OUT} for dev. Pass --dev FILE."
        )
    train = [tree for place, tree in enumerate(trees, start=1) if place % HELD_OUT]
    typer.echo(f"dtg: no --dev FILE: of {len(trees):,} sentences, {len(dev):,} are kept for dev.", err=True)
    return train, dev


def run(
    tables: Tables,
    train: list[DependencyTree],
    dev: list[DependencyTree],
    out: Path,
    resume: bool,
    max_minutes: float | None,
    machine: tuple[str, bool, str],
    threads: int | None,
) -> Outcome:
    """Hand over to the library."""
    import torch

    from dtg.cli.parser_progress import ParserReporter
    from dtg.parser import BiaffineParser, ParserConfig
    from dtg.parser.data import ParserCorpus
    from dtg.training import RuntimeOptions, TrainingConfig
    from dtg.training import train as train_model

    if threads is not None:
        torch.set_num_threads(threads)
    config, training = ParserConfig.from_dict(tables["model"]), TrainingConfig.from_dict(tables["training"])
    corpus = ParserCorpus({"train": train, "dev": dev}, config)
    parser = BiaffineParser.create(config, corpus.tokenizer, training.seed)
    with ParserReporter() as reporter:
        outcome = train_model(
            parser,
            corpus,
            training,
            out,
            model_table=config.to_dict(),
            options=RuntimeOptions(*machine),
            resume=resume,
            max_minutes=max_minutes,
            reporter=reporter,
        )
    leave_processes()
    return outcome


def say(outcome: Outcome, out: Path) -> None:
    """How it ended, and what to do next."""
    if outcome.finished is None:
        typer.echo(
            f"suspended after step {outcome.step:,} of {outcome.steps:,}. The same command with --resume goes on."
        )
        return
    tell_finished(outcome, "word")
    typer.echo(f"the parser is in {out / 'best'}")
