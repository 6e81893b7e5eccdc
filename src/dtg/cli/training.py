"""What commands that train share: configuration files, the language of treebanks, the run, and what is said at its end."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg import configs
from dtg.cli.options import (
    LogWithOption,
    MaxMinutesOption,
    PrecisionOption,
    ResumeRunOption,
    ThreadsOption,
    TrainingDeviceOption,
)
from dtg.errors import ConfigError, InputError
from dtg.trees import read_conllu

if TYPE_CHECKING:
    from dtg.cli.training_progress import ProgressReporter
    from dtg.training import Outcome, RuntimeOptions, TrainingConfig

TABLES = ("model", "training")
Tables = dict[str, dict[str, Any]]
UD_NAME = re.compile(r"([a-z]{2,3})_\w+-ud-")
TEXT = re.compile(r"#\s*text\s*=\s*(.*\S)\s*")
SENTENCES = 200  # looked at
ENOUGH = 0.95  # of the words that rules have to find; English rules find 98.6 % of EWT's


def read_config(path: Path) -> Tables:
    """The two tables of a configuration, a file or one that comes with dtg; their content is checked by whom it concerns."""
    path = configs.find(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        known = "" if path.exists() else f"\nThose that come with dtg: {', '.join(configs.names())}."
        raise ConfigError(f"cannot read the configuration {path}: {error.strerror}.{known}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ConfigError(f"{path} is not a TOML file: {error}.") from None
    if unknown := [name for name in content if name not in TABLES]:
        raise ConfigError(f"{path} has an unknown table or key {unknown[0]!r}. Known: [model], [training].")
    for name in TABLES:
        if not isinstance(content.get(name), dict):
            raise ConfigError(
                f"{path} has no table [{name}]; [model] and [training] are needed. See {configs.FOLDER / 'tiny.toml'}."
            )
    return content


def changed(tables: Tables, changes: Sequence[str]) -> Tables:
    """The tables with what --set says; what is no TOML value is taken as a string, so that quotes can be left out.

    Where a file has one of two settings that exclude each other, the other one replaces it.
    """
    from dtg.training.config import EITHER

    tables = {name: dict(table) for name, table in tables.items()}
    said = {change.partition("=")[0].strip() for change in changes}
    for one, other in (*EITHER, *(pair[::-1] for pair in EITHER)):
        if f"training.{one}" in said and f"training.{other}" not in said:
            tables["training"].pop(other, None)
    for change in changes:
        key, sign, text = change.partition("=")
        table, dot, name = key.strip().partition(".")
        if not sign or not dot or table not in TABLES or not name:
            raise ConfigError(
                f"--set {change} is not a setting. Write model.KEY=VALUE or training.KEY=VALUE, as --set model.layers=4."
            )
        try:
            tables[table][name] = tomllib.loads(f"value = {text}")["value"]
        except (tomllib.TOMLDecodeError, RecursionError, ValueError):
            tables[table][name] = text.strip()
    return tables


def language_of(given: str | None, treebanks: Sequence[Path]) -> str:
    """Whose rules split raw text as a treebank's words are; what is not said by the user is said here."""
    from dtg.text.words import ENGLISH, NO_RULES, check_language

    if given is not None:
        check_language(given)
        return given
    names = {found[1] for path in treebanks if (found := UD_NAME.match(path.name))}
    language = names.pop() if len(names) == 1 else ENGLISH
    try:
        share = share_found(treebanks, language) if treebanks else None
    except InputError as error:  # there are no rules for the language
        typer.echo(f"dtg: {error} Raw text will be refused; words can be given.", err=True)
        return NO_RULES
    if share is None or share >= ENOUGH:
        return language
    typer.echo(
        f"dtg: the rules for {language!r} find only {100 * share:.0f} % of the words of {treebanks[0]} as they are split "
        "there, so raw text will be refused. If they are good enough, or another language's are, pass --language CODE.",
        err=True,
    )
    return NO_RULES


def share_found(treebanks: Sequence[Path], language: str) -> float | None:
    """The share of words that rules find in the texts of the first sentences; None, if the treebank has no texts."""
    from dtg.text.words import agreement

    found = total = 0
    trees = (
        tree for path in treebanks if path.is_file() for tree in read_conllu(path, roots="first", skip_invalid=True)
    )
    for tree in islice(trees, SENTENCES):
        comments = tree.source.comments if tree.source else ()
        text = next((match[1] for comment in comments if (match := TEXT.fullmatch(comment))), None)
        if text is not None:
            found, total = found + agreement(text, tree.words, language), total + len(tree)
    return found / total if total else None


@dataclass(frozen=True)
class RunOptions:
    """How a run is computed; `out` is its folder."""

    resume: ResumeRunOption = False
    max_minutes: MaxMinutesOption = None
    precision: PrecisionOption = "no"
    device: TrainingDeviceOption = "auto"
    threads: ThreadsOption = None
    log_with: LogWithOption = None
    # Of language models.
    score_test: Annotated[
        bool, typer.Option("--score-test", help="At the end, score the test set with the best model.")
    ] = False
    fsdp: Annotated[bool, typer.Option("--fsdp", help="Shard the weights over the processes (torchrun).")] = False

    def written(self) -> str:
        """What was given of it besides --resume and --max-minutes, as it is typed."""
        typed = ""
        for field in fields(self):
            name, value = f"--{field.name.replace('_', '-')}", getattr(self, field.name)
            if value != field.default and field.name not in ("resume", "max_minutes"):
                several = value if isinstance(value, list) else [value]
                typed += "".join(f" {name}" if one is True else f" {name} {one}" for one in several)
        return typed

    def runtime(self) -> RuntimeOptions:
        """For the library, which says what is wrong with it."""
        from dtg.training import RuntimeOptions

        return RuntimeOptions(self.precision, self.fsdp, self.device, tuple(self.log_with or ()))

    def train(
        self,
        out: Path,
        model: Any,
        corpus: Any,
        config: TrainingConfig,
        table: dict[str, Any],
        reporter: ProgressReporter,
        check_corpus: Callable[[], object] | None = None,
    ) -> Outcome:
        """Train, and leave the other processes of the run, if there are any."""
        import torch

        from dtg.training import train

        with reporter:
            outcome = train(
                model,
                corpus,
                config,
                out,
                model_table=table,
                options=self.runtime(),
                resume=self.resume,
                max_minutes=self.max_minutes,
                score_test=self.score_test,
                reporter=reporter,
                check_corpus=check_corpus,
            )
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
        return outcome

    def set_threads(self) -> None:
        """Before a model is made: with another number of threads its first weights can differ."""
        import torch

        if self.threads is not None:
            torch.set_num_threads(self.threads)

    def end(self, out: Path, outcome: Outcome, what: str, per: str, how_to_resume: str) -> None:
        """Say how it ended and what to do next; `per` is what its losses are means of."""
        if outcome.is_main and outcome.finished is None:
            typer.echo(f"suspended after step {outcome.step:,} of {outcome.steps:,}. {how_to_resume}")
            if self.score_test:
                typer.echo("dtg: the test set was not scored; that comes at the end of the run.", err=True)
        elif outcome.is_main:
            why = " (dev no longer improved)" if outcome.finished == "early" else ""
            typer.echo(f"finished after step {outcome.step:,}{why}")
            if outcome.best_loss is not None:
                typer.echo(f"best on dev at step {outcome.best_step:,}: {outcome.best_loss:.4f} nats per {per}")
            if outcome.test is not None:
                typer.echo(
                    f"test: {outcome.test.loss:.4f} nats per prediction; perplexity {outcome.test.word_perplexity:.2f} "
                    f"per word, {outcome.test.piece_perplexity:.2f} per piece (words and tree together, <END> counted)"
                )
            typer.echo(f"the {what} is in {out / 'best'}")
        if outcome.finished is None and outcome.signal is not None:
            raise typer.Exit(128 + outcome.signal)  # as a shell reports it: what was to follow should not


@dataclass(frozen=True)
class ModelRunOptions(RunOptions):
    """The same for language models, which learn as well in bfloat16."""

    precision: PrecisionOption = "auto"
