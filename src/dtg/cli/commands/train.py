"""`dtg train`: fit a model to a prepared corpus."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg.errors import ConfigError

if TYPE_CHECKING:
    from dtg.training import Outcome

TABLES = ("model", "training")


class Precision(StrEnum):
    no = "no"
    bf16 = "bf16"
    fp16 = "fp16"


class Device(StrEnum):
    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"
    mps = "mps"


ResumeRunOption = Annotated[bool, typer.Option("--resume", help="Continue the run in --out from its last checkpoint.")]
MaxMinutesOption = Annotated[
    float | None, typer.Option(min=0, help="Suspend the run after so long, to be resumed; the schedule stays.")
]
PrecisionOption = Annotated[Precision, typer.Option(help="Mixed precision.")]
TrainingDeviceOption = Annotated[Device, typer.Option(help="Where to compute; auto takes a GPU if there is one.")]
ThreadsOption = Annotated[
    int | None, typer.Option(min=1, help="CPU threads; a run is repeated to the bit on the same number.")
]


def train(
    config: Annotated[
        Path, typer.Argument(help="A configuration file (.toml) with the tables [model] and [training].")
    ],
    data: Annotated[Path, typer.Option(help="The folder that dtg prepare has written.")],
    out: Annotated[Path, typer.Option(help="The run's folder: checkpoints, log, curves, and the best model.")],
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Change a setting of the configuration, as model.family=txl-trans.", metavar="KEY=VALUE"
        ),
    ] = None,
    resume: ResumeRunOption = False,
    max_minutes: MaxMinutesOption = None,
    score_test: Annotated[
        bool, typer.Option("--score-test", help="At the end, score the test set with the best model.")
    ] = False,
    precision: PrecisionOption = Precision.no,
    fsdp: Annotated[bool, typer.Option("--fsdp", help="Share the weights out over the processes (torchrun).")] = False,
    device: TrainingDeviceOption = Device.auto,
    threads: ThreadsOption = None,
) -> None:
    """Train a model on a prepared corpus; every run can be interrupted and resumed to the same numbers.

    dtg train configs/tiny.toml --data corpus --out runs/tiny

    dtg train configs/tiny.toml --data corpus --out runs/tiny --resume

    dtg train configs/mini.toml --set model.family=txl-tokens --data corpus --out runs/txl

    torchrun --nproc-per-node 4 --no-python dtg train configs/paper.toml --data corpus --out runs/paper --precision bf16
    """
    tables = changed(read_config(config), set_ or [])
    outcome = run(tables, data, out, resume, max_minutes, score_test, (precision.value, fsdp, device.value), threads)
    if outcome.is_main:
        changes = "".join(f" --set {shlex.quote(change)}" for change in set_ or [])
        tell(outcome, f"{config}{changes}", data, out, score_test)
    if outcome.finished is None and outcome.signal is not None:
        raise typer.Exit(128 + outcome.signal)  # as a shell reports it: what was to follow should not


def read_config(path: Path) -> dict[str, dict[str, Any]]:
    """The two tables of a configuration file; their content is checked by whom it concerns."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {path}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not a TOML file: {error}.") from None
    if unknown := [name for name in content if name not in TABLES]:
        raise ConfigError(f"{path} has an unknown table or key {unknown[0]!r}. Known: [model], [training].")
    for name in TABLES:
        if not isinstance(content.get(name), dict):
            raise ConfigError(
                f"{path} has no table [{name}]; [model] and [training] are needed. See configs/tiny.toml."
            )
    return content


def changed(tables: dict[str, dict[str, Any]], changes: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The tables with what --set says; what is no TOML value is taken as a string, so that quotes can be left out."""
    tables = {name: dict(table) for name, table in tables.items()}
    for change in changes:
        key, sign, text = change.partition("=")
        table, dot, name = key.strip().partition(".")
        if not sign or not dot or table not in TABLES or not name:
            raise ConfigError(
                f"--set {change} is not a setting. Write model.KEY=VALUE or training.KEY=VALUE, as --set model.layers=4."
            )
        try:
            tables[table][name] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            tables[table][name] = text.strip()
    return tables


def run(
    tables: dict[str, dict[str, Any]],
    data: Path,
    out: Path,
    resume: bool,
    max_minutes: float | None,
    score_test: bool,
    machine: tuple[str, bool, str],
    threads: int | None,
) -> Outcome:
    """Hand over to the library. Imported here, so that `--help` and mistakes in the configuration are quick."""
    import torch

    from dtg.cli.training_progress import ProgressReporter
    from dtg.model import DecoderModel, ModelConfig
    from dtg.text import Corpus
    from dtg.training import RuntimeOptions, TrainingConfig
    from dtg.training import train as train_model

    training = TrainingConfig.from_dict(tables["training"])
    ModelConfig.from_dict(tables["model"])  # a mistake in it is said before the corpus is opened
    options = RuntimeOptions(*machine)
    corpus = Corpus.open(data)
    # A configuration that does not name the vocabulary takes the corpus's; one that does must agree with it.
    model_config = ModelConfig.from_dict({"vocabulary": corpus.tokenizer.size, **tables["model"]})
    if threads is not None:
        torch.set_num_threads(threads)
    model = DecoderModel.create(model_config, corpus.tokenizer, seed=training.seed)
    with ProgressReporter() as reporter:
        outcome = train_model(
            model,
            corpus,
            training,
            out,
            model_table=model_config.to_dict(),
            options=options,
            resume=resume,
            max_minutes=max_minutes,
            score_test=score_test,
            reporter=reporter,
        )
    leave_processes()
    return outcome


def leave_processes() -> None:
    """Part from the other processes of a run, if there are any."""
    import torch

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def tell(outcome: Outcome, config: str, data: Path, out: Path, score_test: bool) -> None:
    """Say how it ended and what to do next."""
    if outcome.finished is None:
        typer.echo(f"suspended after step {outcome.step:,} of {outcome.steps:,}. To go on:")
        typer.echo(f"dtg train {config} --data {data} --out {out} --resume")
        if score_test:
            typer.echo("dtg: the test set was not scored; that comes at the end of the run.", err=True)
        return
    tell_finished(outcome, "prediction")
    if outcome.test is not None:
        typer.echo(
            f"test: {outcome.test.loss:.4f} nats per prediction; perplexity {outcome.test.word_perplexity:.2f} per word, "
            f"{outcome.test.piece_perplexity:.2f} per piece (words and tree together, <END> counted)"
        )
    typer.echo(f"the model is in {out / 'best'}")


def tell_finished(outcome: Outcome, per: str) -> None:
    """Say that a run is over, and how good it got; `per` is what its losses are means of."""
    why = " (dev no longer improved)" if outcome.finished == "early" else ""
    typer.echo(f"finished after step {outcome.step:,}{why}")
    if outcome.best_loss is not None:
        typer.echo(f"best on dev at step {outcome.best_step:,}: {outcome.best_loss:.4f} nats per {per}")
