"""`dtg train`: fit a model to a prepared corpus."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg import configs
from dtg.cli.groups import takes_groups
from dtg.cli.options import SetOption
from dtg.cli.training import ModelRunOptions, RunOptions, Tables, changed, read_config

if TYPE_CHECKING:
    from dtg.text import Corpus
    from dtg.training import Outcome

PATIENCE = 2.0  # seconds without a word


def list_configs(wanted: bool) -> None:
    """Print the configurations that come with dtg, and stop."""
    if wanted:
        for name in configs.names():
            typer.echo(f"{name:20}{configs.title(name)}")
        raise typer.Exit


@takes_groups
def train(
    config: Annotated[
        Path,
        typer.Argument(
            help="A configuration: a .toml file with the tables [model] and [training], or the name of one that comes with "
            "dtg (--list).",
            metavar="FILE|NAME",
        ),
    ],
    *,
    data: Annotated[Path, typer.Option(help="The folder that dtg prepare has written.")],
    out: Annotated[Path, typer.Option(help="The run's folder: checkpoints, log, curves, and the best model.")],
    set_: SetOption = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Start from the weights of a trained model, with its settings: a folder, such as RUN/best, or a bundled one. "
            "[model] of the configuration is not used then. The corpus must have the model's subwords "
            "(dtg prepare --tokenizer MODEL/tokenizer.model).",
            metavar="DIR|NAME",
        ),
    ] = None,
    run: ModelRunOptions,
    no_verify: Annotated[
        bool, typer.Option("--no-verify", help="Do not check the corpus against the hashes in its manifest.")
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", callback=list_configs, is_eager=True, help="List the configurations, and stop.")
    ] = False,
) -> None:
    """Train a model on a prepared corpus; every run can be interrupted and resumed to the same numbers.

    dtg train tiny --data corpus --out runs/tiny

    dtg train tiny --data corpus --out runs/tiny --resume

    dtg train mini --set model.family=txl-tokens --data corpus --out runs/txl

    dtg train modern --from dtg-small --set training.peak_rate=2e-4 --data my-corpus --out runs/tuned

    torchrun --nproc-per-node 4 --no-python dtg train paper --data corpus --out runs/paper --precision bf16
    """
    tables = changed(read_config(config), set_ or [])
    start = None if from_ is None else Start(from_, changed({"model": {}, "training": {}}, set_ or [])["model"])
    outcome = train_model(run, out, tables, data, verify=not no_verify, start=start)
    changes = "".join(f" --set {shlex.quote(change)}" for change in set_ or [])
    changes += "" if from_ is None else f" --from {from_}"
    checks = " --no-verify" if no_verify else ""
    again = f"To resume it:\ndtg train{run.written()}{checks} {config}{changes} --data {data} --out {out} --resume"
    run.end(out, outcome, "model", "prediction", again)


@dataclass(frozen=True)
class Start:
    """A trained model to start from, and the settings of it that --set changes."""

    model: Path
    changes: dict[str, Any]


def train_model(
    run: RunOptions, out: Path, tables: Tables, data: Path, *, verify: bool, start: Start | None = None
) -> Outcome:
    """Hand over to the library. Imported here, so that `--help` and mistakes in the configuration are quick."""
    from dtg.cli.loading import model_folder
    from dtg.cli.training_progress import ProgressReporter
    from dtg.model import DecoderModel, ModelConfig
    from dtg.model.statistics import start_from_statistics
    from dtg.model.warm_start import start_from
    from dtg.text import Corpus
    from dtg.training import TrainingConfig

    config = TrainingConfig.from_dict(tables["training"])
    # Mistakes are reported before the corpus is opened.
    ModelConfig.from_dict(tables["model"])
    run.runtime()
    corpus = Corpus.open(data)
    check: Callable[[], None] | None = None
    if verify:  # by the first of several processes; the others wait for it
        check = Verification(corpus).wait if os.environ.get("RANK", "0") == "0" else lambda: None
    run.set_threads()
    if start is None:
        model_config = ModelConfig.for_corpus(tables["model"], corpus)
        table = model_config.to_dict()
        model = DecoderModel.create(model_config, corpus.tokenizer, seed=config.seed)
        if config.embeddings == "corpus" and not run.resume:
            start_from_statistics(model, corpus.splits["train"], config.seed)
    else:
        model, table = start_from(model_folder(start.model), corpus, start.changes)
    return run.train(out, model, corpus, config, table, ProgressReporter(), check)


class Verification:
    """Checks every file of a corpus against its hash in a thread, while everything else is made ready."""

    def __init__(self, corpus: Corpus) -> None:
        self.folder = corpus.folder
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self.run, args=(corpus,), daemon=True)
        self.thread.start()

    def run(self, corpus: Corpus) -> None:
        try:
            corpus.verify()
        except BaseException as error:
            self.error = error

    def wait(self) -> None:
        """Until it is done; raises if the corpus is damaged."""
        self.thread.join(PATIENCE)
        if self.thread.is_alive():
            typer.echo(f"dtg: checking {self.folder} against its hashes (--no-verify does without) ...", err=True)
            self.thread.join()
        if self.error is not None:
            raise self.error
