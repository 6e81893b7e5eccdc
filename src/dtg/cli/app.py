"""The command line's entry point: commands by name, and how a user's mistake is answered."""

from __future__ import annotations

import atexit
import gc
import sys
import warnings
from typing import Annotated, Any

import typer

from dtg import __version__
from dtg.cli.commands.demo import demo
from dtg.cli.commands.evaluation.command import evaluate
from dtg.cli.commands.explore import explore
from dtg.cli.commands.generate import generate
from dtg.cli.commands.info import info
from dtg.cli.commands.inspect import inspect
from dtg.cli.commands.parse import parse
from dtg.cli.commands.prepare import SeveralFiles, prepare
from dtg.cli.commands.report import report
from dtg.cli.commands.rerank import rerank
from dtg.cli.commands.score import score
from dtg.cli.commands.surprisal import surprisal
from dtg.cli.commands.train import train
from dtg.cli.commands.train_parser import train_parser
from dtg.cli.options import DrawCommand
from dtg.environment import keep_freed_memory
from dtg.errors import DtgError
from dtg.io.messages import DtgWarning

app = typer.Typer(
    name="dtg",
    help="Language models that generate a sentence together with its syntax tree.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("inspect", short_help="What a model reads, attends to and predicts, row by row.")(inspect)
app.command("info", short_help="What comes with dtg, what a model or parser is, what is in a treebank.")(info)
app.command("prepare", short_help="Turn treebanks or plain text into a corpus to train on.", cls=SeveralFiles)(prepare)
app.command("train", short_help="Train a model, resumably.")(train)
app.command("train-parser", short_help="Train a parser, resumably.")(train_parser)
app.command("parse", short_help="Trees for sentences that have none.", cls=DrawCommand)(parse)
app.command("rerank", short_help="Rerank a parser's trees by a language model.")(rerank)
app.command("report", short_help="Every model's results side by side, as a page.")(report)
app.command("surprisal", short_help="Surprisal of each word of a text.")(surprisal)
app.command("score", short_help="Log-probabilities of trees or sentences.")(score)
app.command("generate", short_help="Sentences sampled from a model, with their trees.", cls=DrawCommand)(generate)
app.command("explore", short_help="Watch a model read, in the browser.")(explore)
app.command("demo", short_help="What the bundled models make of a few sentences.")(demo)

app.add_typer(evaluate, name="evaluate", short_help="How good something is, measured against gold.")


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
    warnings.showwarning = tell_warning
    keep_freed_memory()
    atexit.register(gc.freeze)  # nothing is left to be collected at the end; looking for it would take half a second
    try:
        app(prog_name="dtg")
    except DtgError as error:
        first, *rest = str(error).splitlines()
        typer.echo("\n".join([f"dtg: {first}", *(f"     {line}" for line in rest)]), err=True)
        sys.exit(1)
    except BrokenPipeError:  # the reader of our output has seen enough
        sys.stderr.close()
        sys.exit(0)
    except SystemExit as end:
        if isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):  # typer makes this of Ctrl-C
            typer.echo("dtg: interrupted.", err=True)
        raise
