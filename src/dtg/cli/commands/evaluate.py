"""`dtg evaluate`: how good something is, measured against gold. A command for each kind of thing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dtg.cli.commands.evaluate_blimp import evaluate_blimp
from dtg.cli.commands.evaluate_ppl import evaluate_ppl
from dtg.cli.commands.evaluate_rerank import evaluate_rerank
from dtg.cli.commands.evaluate_sg import evaluate_sg
from dtg.cli.loading import load_parser, parser_folder
from dtg.cli.options import DeviceOption, JsonOption, ParserOption, RootsOption, SkipInvalidOption
from dtg.cli.progress import show_changes, with_progress
from dtg.io.json_files import FORMAT_VERSION
from dtg.io.messages import pluralize
from dtg.trees import TreebankReport, read_conllu

if TYPE_CHECKING:
    from dtg.parser.evaluation import ParserScores

evaluate = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@evaluate.callback()
def evaluations() -> None:
    """Measure against gold."""


@evaluate.command("parser", short_help="A parser's trees against those of a treebank.")
def evaluate_parser(
    gold: Annotated[list[Path], typer.Argument(help="Treebank files with the right trees (.conllu, .conll, .gz).")],
    parser: ParserOption = None,
    nbest: Annotated[
        int, typer.Option(min=1, help="Also score the best tree among the parser's so many; 1 for none.")
    ] = 10,
    roots: RootsOption = "error",
    skip_invalid: SkipInvalidOption = False,
    as_json: JsonOption = False,
    device: DeviceOption = "cpu",
) -> None:
    """Parse the words of a treebank, and compare heads and labels with the treebank's.

    dtg evaluate parser en_ewt-ud-test.conllu --parser runs/parser/best

    Gold trees are compared as they are: crossing arcs are not lifted. Labels count with their subtypes.
    """
    report = TreebankReport()
    streams = [read_conllu(path, roots=roots, skip_invalid=skip_invalid, report=report) for path in gold]
    folder = parser_folder(parser)
    found = load_parser(folder, device)
    from dtg.parser.evaluation import evaluate as measure

    trees = with_progress((tree for stream in streams for tree in stream), report, "parsing")
    scores = measure(found, trees, nbest)
    show_changes(report)
    if as_json:
        content = {"format_version": FORMAT_VERSION, "files": [str(path) for path in gold], "parser": str(folder)}
        typer.echo(json.dumps({**content, **scores.as_dict()}, ensure_ascii=False))
    else:
        show(scores)


evaluate.command("rerank", short_help="A parser's trees, chosen by a language model, against those of a treebank.")(
    evaluate_rerank
)
evaluate.command("ppl", short_help="A model's perplexity on sentences, by every convention.")(evaluate_ppl)
evaluate.command("blimp", short_help="How often a model prefers the acceptable sentence of two.")(evaluate_blimp)
evaluate.command("sg", short_help="SyntaxGym: whether a model is surprised where it should be.")(evaluate_sg)


def show(scores: ParserScores) -> None:
    """A table for people."""
    content = scores.as_dict()
    columns = [name for name in content["all"] if name not in ("sentences", "words")]
    typer.echo(f"{'':20} sentences     words" + "".join(f"  {name.replace('_', ' '):>14}" for name in columns))
    line("all", content["all"], columns)
    line("without punctuation", content["without_punctuation"], columns)
    for name, values in content["by_length"].items():
        line(f"{name} words", values, columns)
    if "oracle" in content:
        line(f"best of {scores.nbest}", content["oracle"], columns)
    if scores.nonprojective:
        typer.echo(
            f"crossing arcs, which the parser does not give, are in {pluralize(scores.nonprojective, 'gold tree')}."
        )


def line(label: str, values: dict[str, Any], columns: list[str]) -> None:
    shown = ("" if values.get(name) is None else f"{values[name]:.2f}" for name in columns)
    numbers = "".join(f"  {value:>14}" for value in shown)
    typer.echo(f"{label:20} {values['sentences']:9,} {values['words']:9,}{numbers}".rstrip())
