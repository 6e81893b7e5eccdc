"""`dtg parse`: trees for sentences that have none."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from dtg.cli.options import (
    AccuracyOption,
    BeamOption,
    DeviceOption,
    DrawOption,
    LimitOption,
    LongOption,
    MaxWordsOption,
    ModelOption,
    OverwriteOption,
    ParserOption,
    ResumeOption,
    SeedOption,
    TokenizedOption,
    TreesOutOption,
    WordBeamOption,
    note_renamed,
)
from dtg.cli.output.destination import Destination
from dtg.cli.trees import (
    ModelTrees,
    ParserTrees,
    TreeSelection,
    check_draw,
    check_kind,
    draw_parsed,
    model_sidecar,
    parser_sidecar,
    write_parsed,
)
from dtg.errors import InputError

SourceArgument = Annotated[
    str,
    typer.Argument(
        help="A sentence, a file of them (one a line; - for stdin), or a treebank (.conllu, .ptb).",
        metavar="TEXT|FILE|CONLLU",
    ),
]


def parse(
    source: SourceArgument,
    parser: ParserOption = None,
    kind: Annotated[
        Literal["dependency", "constituency"] | None,
        typer.Option(help="Of the trees; it is the parser's, and only checked."),
    ] = None,
    by: Annotated[
        Literal["parser", "model"],
        typer.Option(help="Trees of a parser, or the best of a language model's own search."),
    ] = "parser",
    model: ModelOption = None,
    accuracy: AccuracyOption = None,
    beam: BeamOption = None,
    word_beam: WordBeamOption = None,
    nbest: Annotated[
        int | None, typer.Option(min=1, help="Number of best trees per sentence (n-best list).", metavar="K")
    ] = None,
    sample_trees: Annotated[
        int | None, typer.Option(min=1, help="Number of trees drawn at random per sentence.", metavar="K")
    ] = None,
    sample: Annotated[int | None, typer.Option(min=1, hidden=True)] = None,
    without_replacement: Annotated[
        bool, typer.Option("--without-replacement", help="Draw no tree of a sentence twice.")
    ] = False,
    seed: SeedOption = 0,
    draw: DrawOption = None,
    out: TreesOutOption = None,
    tokenized: TokenizedOption = False,
    max_words: MaxWordsOption = 200,
    long: LongOption = "skip",
    limit: LimitOption = None,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    device: DeviceOption = "auto",
) -> None:
    """Parse sentences. The output is CoNLL-U, with the probability of each tree (# prob) and arc (Confidence in MISC).

    A constituency parser's is brackets, a tree a line; these have no place for probabilities.

    dtg parse "The dog barks." --draw

    dtg parse corpus.txt --parser runs/parser/best --out corpus.conllu

    dtg parse corpus.txt --sample-trees 300 --without-replacement --out proposals.conllu

    dtg parse corpus.txt --kind constituency --parser runs/phrases/best --out corpus.ptb

    In a list, the trees of a sentence follow each other and have the same sent_id; # tree numbers them.
    `torchrun` shares the work between processes (docs/clusters.md).
    """
    if sample is not None:
        note_renamed("--sample", "--sample-trees")
    if (by == "model" and parser is not None) or (by == "parser" and model is not None):
        raise InputError("--parser is for --by parser, and --model for --by model.")
    selection = TreeSelection(nbest, sample_trees or sample, without_replacement, seed)
    to = Destination.of_trees(out, resume=resume, overwrite=overwrite, inputs=(source, parser, model))
    check_draw(draw or [], out)
    from dtg.cli.loading import load_models, load_parser, parser_folder
    from dtg.cli.sentences import UnparsedInput
    from dtg.tables.long_sentences import LengthLimit

    given = UnparsedInput.of(source, tokenized=tokenized, limit=limit, length=LengthLimit(max_words, long))
    options = {**selection.settings, **given.settings}
    trees: ParserTrees | ModelTrees
    if by == "model":
        trees = ModelTrees(
            load_models(None if model is None else [model], device)[0], selection, beam, word_beam, accuracy
        )
        sidecar = model_sidecar(given.name, trees, options)
    else:
        trees = ParserTrees(load_parser(parser_folder(parser), device), selection)
        check_kind(kind, trees.parser, out)
        sidecar = parser_sidecar(given.name, parser_folder(parser), options, str(trees.parser.device))
    if draw:
        draw_parsed(given.items(trees.language), trees, draw)
    else:
        write_parsed(given.items(trees.language), given.size, trees, to, sidecar)
    given.tell_left_out()
