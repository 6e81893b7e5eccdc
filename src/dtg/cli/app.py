"""The command line's entry point: commands by name, and how a user's mistake is answered."""

from __future__ import annotations

import atexit
import gc
import sys
import warnings
from typing import Annotated, Any

import typer

from dtg import __version__
from dtg.cli.exits import mute_helpers, prepare_streams, run
from dtg.cli.lazy import LazyCommand, LazyGroup
from dtg.environment import keep_freed_memory
from dtg.io.messages import DtgWarning

OF_TREEBANKS = {"--trees": "--treebank-format"}  # elsewhere, --trees is how many are drawn
COMMANDS = {
    "inspect": LazyCommand(
        "dtg.cli.commands.inspect:inspect", "What a model reads, attends to and predicts, row by row."
    ),
    "info": LazyCommand(
        "dtg.cli.commands.info:info",
        "What comes with dtg, what a model or parser is, what is in a treebank.",
        renamed=OF_TREEBANKS,
    ),
    "prepare": LazyCommand(
        "dtg.cli.commands.prepare:prepare",
        "Turn treebanks or plain text into a corpus to train on.",
        "dtg.cli.commands.prepare:SeveralFiles",
        renamed=OF_TREEBANKS,
    ),
    "train": LazyCommand("dtg.cli.commands.train:train", "Train a model, resumably."),
    "train-parser": LazyCommand(
        "dtg.cli.commands.train_parser:train_parser", "Train a parser, resumably.", renamed=OF_TREEBANKS
    ),
    "parse": LazyCommand(
        "dtg.cli.commands.parse:parse", "Trees for sentences that have none.", "dtg.cli.options:DrawCommand"
    ),
    "rerank": LazyCommand("dtg.cli.commands.rerank:rerank", "Rerank a parser's trees by a language model."),
    "report": LazyCommand("dtg.cli.commands.report:report", "Every model's results side by side, as a page."),
    "surprisal": LazyCommand("dtg.cli.commands.surprisal:surprisal", "Surprisal of each word of a text."),
    "cite": LazyCommand("dtg.cli.commands.cite:cite", "What a paper should say of a model's surprisals, and BibTeX."),
    "score": LazyCommand("dtg.cli.commands.score:score", "Log-probabilities of trees or sentences."),
    "generate": LazyCommand(
        "dtg.cli.commands.generate:generate",
        "Sentences sampled from a model, with their trees.",
        "dtg.cli.options:DrawCommand",
    ),
    "explore": LazyCommand("dtg.cli.commands.explore:explore", "Watch a model read, in the browser."),
    "demo": LazyCommand("dtg.cli.commands.demo:demo", "What the bundled models make of a few sentences."),
    "evaluate": LazyCommand(
        "dtg.cli.commands.evaluation.command:evaluate",
        "How good something is, measured against gold.",
        renamed={"parser": OF_TREEBANKS},
    ),
}


class Commands(LazyGroup):
    table = COMMANDS


app = typer.Typer(
    name="dtg",
    cls=Commands,
    help="Language models that generate a sentence together with its syntax tree.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dtg {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Language models that generate a sentence together with its syntax tree."""


def tell_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    """Say what the library warns of as commands say things; warnings of others are shown as Python shows them."""
    if issubclass(category, DtgWarning):
        typer.echo(f"dtg: note: {message}", err=True)
    else:
        typer.echo(warnings.formatwarning(message, category, filename, lineno, line), err=True, nl=False)


def main() -> None:
    """Run a command; a user's mistake is answered by one message, without a traceback."""
    prepare_streams()
    mute_helpers()
    warnings.showwarning = tell_warning
    keep_freed_memory()
    atexit.register(gc.freeze)  # nothing is left to be collected at the end; looking for it would take half a second
    sys.exit(run(lambda: app(prog_name="dtg")))
