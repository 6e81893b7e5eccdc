"""`dtg evaluate`: how good something is, measured against gold. A command for each kind of thing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from dtg.cli.commands.evaluation.garden_paths import evaluate_garden_paths
from dtg.cli.commands.evaluation.options import ResultsGroup, SelectionGroup
from dtg.cli.commands.evaluation.pairs import evaluate_blimp, evaluate_pairs
from dtg.cli.commands.evaluation.ppl import evaluate_ppl
from dtg.cli.commands.evaluation.reading import evaluate_reading
from dtg.cli.commands.evaluation.rerank import evaluate_rerank
from dtg.cli.commands.evaluation.sg import evaluate_sg
from dtg.cli.groups import Without, takes_groups
from dtg.cli.options import JsonOption, ParserOption
from dtg.cli.reading import ReadingOptions
from dtg.io.json_files import FORMAT_VERSION
from dtg.trees import BracketReading

evaluate = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
PRINTED = ("all", "without_punctuation", "by_length", "nonprojective", "oracle")


@evaluate.callback()
def evaluations() -> None:
    """Measure against gold."""


@evaluate.command("parser", short_help="A parser's trees against those of a treebank.")
@takes_groups
def evaluate_parser(
    gold: Annotated[
        list[Path],
        typer.Argument(help="Treebank files with the right trees (.conllu, .conll; .ptb, .mrg, .brackets; also .gz)."),
    ],
    *,
    parser: ParserOption = None,
    nbest: Annotated[
        int, typer.Option(min=1, help="Also score the best of the parser's N best trees; 1 for none.", metavar="N")
    ] = 10,
    selection: SelectionGroup,
    reading: Annotated[ReadingOptions, Without("project", "nonprojective")],
    results: ResultsGroup,
    as_json: JsonOption = False,
) -> None:
    """Parse the words of a treebank, and compare heads and labels with the treebank's.

    dtg evaluate parser en_ewt-ud-test.conllu --parser runs/parser/best

    dtg evaluate parser wsj-test.mrg --parser runs/phrases/best

    Gold trees are compared as they are: crossing arcs are not lifted. Labels count with their subtypes. Of phrases, labelled
    brackets are compared as EVALB does.
    """
    from dtg.evaluation.models import EvaluatedModel
    from dtg.evaluation.tasks.parsing import Parsing
    from dtg.evaluation.tasks.phrase_parsing import PhraseParsing

    how = reading.reading(gold)
    some: dict[str, Any] = {"nbest": nbest, **vars(selection)}
    task: Parsing | PhraseParsing
    if isinstance(how, BracketReading):
        task = PhraseParsing.of(gold, **some, reading=how)
    else:
        task = Parsing.of(gold, **some, roots=reading.roots, skip_invalid=reading.skip_invalid)
    evaluated = EvaluatedModel.of_parser(parser, results.device, results.name)
    found = results.run(task, evaluated, is_quiet=as_json)
    if as_json and found is not None:
        about = {"format_version": FORMAT_VERSION, "files": [str(path) for path in gold], "parser": evaluated.folder}
        numbers = {part: found.content[part] for part in PRINTED if part in found.content}
        typer.echo(json.dumps({**about, **numbers}, ensure_ascii=False))


evaluate.command("rerank", short_help="A parser's trees, chosen by a language model, against those of a treebank.")(
    evaluate_rerank
)
evaluate.command("ppl", short_help="A model's perplexity on sentences, by every convention.")(evaluate_ppl)
evaluate.command("blimp", short_help="How often a model prefers the acceptable sentence of BLiMP's pairs.")(
    evaluate_blimp
)
evaluate.command("pairs", short_help="The same for minimal pairs of one's own, in a table.")(evaluate_pairs)
evaluate.command("sg", short_help="SyntaxGym: whether a model is surprised where it should be.")(evaluate_sg)
evaluate.command("reading", short_help="Reading times: what surprisal and other columns explain of them.")(
    evaluate_reading
)
evaluate.command("garden-paths", short_help="Garden paths: effects at the word that disambiguates, by beam.")(
    evaluate_garden_paths
)
