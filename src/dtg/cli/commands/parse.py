"""`dtg parse`: trees for sentences that have none."""

from __future__ import annotations

from typing import Annotated

import typer

from dtg.cli.options import (
    DeviceOption,
    LimitOption,
    OverwriteOption,
    ParserOption,
    ResumeOption,
    SeedOption,
    TokenizedOption,
    TreesOutOption,
    note_renamed,
)
from dtg.cli.tables import Destination
from dtg.cli.trees import TreeSelection, parser_sidecar, write_parsed

SourceArgument = Annotated[
    str,
    typer.Argument(
        help="A sentence, a file of them (one a line; - for stdin), or .conllu.", metavar="TEXT|FILE|CONLLU"
    ),
]


def parse(
    source: SourceArgument,
    parser: ParserOption = None,
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
    out: TreesOutOption = None,
    tokenized: TokenizedOption = False,
    limit: LimitOption = None,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    device: DeviceOption = "auto",
) -> None:
    """Parse sentences; what comes out is CoNLL-U, with the probability of each tree (# prob).

    dtg parse "The dog barks."

    dtg parse corpus.txt --parser runs/parser/best --out corpus.conllu

    dtg parse corpus.txt --parser runs/parser/best --sample-trees 300 --without-replacement --out proposals.conllu

    In a list, the trees of a sentence follow each other and have the same sent_id; # tree numbers them.
    """
    if sample is not None:
        note_renamed("--sample", "--sample-trees")
    selection = TreeSelection(nbest, sample_trees or sample, without_replacement, seed)
    to = Destination.of_trees(out, resume=resume, overwrite=overwrite)
    from dtg.cli.loading import load_parser, parser_folder
    from dtg.cli.sentences import UnparsedInput

    given = UnparsedInput.of(source, tokenized=tokenized, limit=limit)
    folder = parser_folder(parser)
    loaded = load_parser(folder, device)
    options = {**selection.settings, "tokenized": tokenized, "limit": limit}
    sidecar = parser_sidecar(given.name, folder, options, str(loaded.device))
    write_parsed(given.items, given.size, loaded, selection, to, sidecar)
    given.tell_empty()
