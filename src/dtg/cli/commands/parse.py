"""`dtg parse`: trees for sentences that have none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dtg import __version__, pretrained
from dtg.cli.parse_wanted import Wanted
from dtg.cli.table_options import DeviceOption, OverwriteOption, ResumeOption, TokenizedOption
from dtg.cli.tables import RESUME, Content, Result, Work, check_device, existing_of, grow
from dtg.errors import InputError
from dtg.io.messages import pluralize

if TYPE_CHECKING:
    from dtg.parser import BiaffineParser, ParsedTree
    from dtg.tables.columns import Row
    from dtg.tables.files import Existing
    from dtg.tables.items import Item
    from dtg.tables.sidecar import Sidecar
    from dtg.tables.unparsed import UnparsedSentence

TREEBANK = (".conllu", ".conll")
SourceArgument = Annotated[
    str,
    typer.Argument(
        help="A sentence, a file of them (one a line; - for stdin), or .conllu.", metavar="TEXT|FILE|CONLLU"
    ),
]
TreesOutOption = Annotated[Path | None, typer.Option(help="Write to a file; printed otherwise.", metavar="FILE.conllu")]
ParserOption = Annotated[
    Path | None,
    typer.Option(
        help=f"A trained parser: its folder, such as RUN/best, or a name. [default: {pretrained.PARSER}]",
        metavar="DIR|NAME",
    ),
]


def parse(
    source: SourceArgument,
    parser: ParserOption = None,
    nbest: Annotated[int | None, typer.Option(min=1, help="The so many best trees of each sentence.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="So many trees of each sentence, drawn at random.")] = None,
    without_replacement: Annotated[
        bool, typer.Option("--without-replacement", help="Draw no tree of a sentence twice.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="For --sample: the same seed draws the same trees.")] = 0,
    out: TreesOutOption = None,
    tokenized: TokenizedOption = False,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    device: DeviceOption = "cpu",
) -> None:
    """Parse sentences; what comes out is CoNLL-U, with the probability of each tree (# prob).

    dtg parse "The dog barks."

    dtg parse corpus.txt --parser runs/parser/best --out corpus.conllu

    dtg parse corpus.txt --parser runs/parser/best --sample 300 --without-replacement --out proposals.conllu

    In a list, the trees of a sentence follow each other and have the same sent_id; # tree numbers them.
    """
    wanted = Wanted(nbest, sample, without_replacement, seed)
    existing = checked_out(out, resume=resume, overwrite=overwrite)
    from dtg.cli.sentences import Given

    given = Given.of(source, tokenized=tokenized)
    folder = parser_folder(parser)
    found = load_parser(folder, device)
    sidecar = settings(given.name, folder, wanted, tokenized, device)
    write(given.items, found, wanted, out, existing, sidecar, given.size)
    given.tell_empty()


def is_treebank(source: str) -> bool:
    """Whether the argument names a CoNLL-U file."""
    name = Path(source.removesuffix(".gz"))
    return name.suffix.lower() in TREEBANK and len(source.split()) == 1


def checked_out(out: Path | None, *, resume: bool, overwrite: bool) -> Existing:
    """What is to happen to a file that is there; mistakes are said before a parser is loaded."""
    from dtg.tables.files import check_can_write

    existing = existing_of(out, "file", "a file", resume=resume, overwrite=overwrite)
    if out is None:
        return existing
    if out.suffix == ".gz":
        raise InputError(
            f"cannot write {out}: a compressed file cannot be gone on with. Leave .gz off, and compress it later."
        )
    check_can_write(out, "jsonl", existing)
    return existing


def settings(source: str, parser: Path, wanted: Wanted, tokenized: bool, device: str) -> Sidecar:
    """What decides the output, for the file beside it."""
    from dtg.parser.saving import parser_hash
    from dtg.tables.sidecar import Sidecar

    content = {
        "command": "parse",
        "dtg": __version__,
        **wanted.settings,
        "tokenized": tokenized,
        "parser_sha256": parser_hash(parser),
        "device": device,
    }
    return Sidecar.begin(content, {"parser": str(parser), "input": source}, ())


def write(
    items: Iterator[Item[UnparsedSentence]],
    parser: BiaffineParser,
    wanted: Wanted,
    out: Path | None,
    existing: Existing,
    sidecar: Sidecar,
    size: int | None = None,
    to_go_on: str = RESUME,
) -> None:
    """Parse group by group, show how far it is, and say what was written."""
    from dtg.tables.unparsed import parsed_conllu

    def rows(item: Item[UnparsedSentence], found: list[ParsedTree]) -> list[Row]:
        ranks = range(1, len(found) + 1) if wanted.is_list else [None]
        return [
            (parsed_conllu(item.content, parsed.tree, parsed.log_probability, rank),)
            for rank, parsed in zip(ranks, found, strict=True)
        ]

    work = Work(items, size, lambda some: wanted.find(parser, some), rows, (), wanted.group)
    write_trees(work, out, existing, sidecar, to_go_on)


def write_trees(
    work: Work[Content, Result], out: Path | None, existing: Existing, sidecar: Sidecar, to_go_on: str = RESUME
) -> None:
    """Rows that are trees, to a file or the standard output; and what was written. Interrupted, how to go on."""
    from dtg.tables.tree_files import TreeFile, TreeStream

    table = TreeStream(sys.stdout.buffer) if out is None else TreeFile.open(out, "jsonl", (), sidecar, existing)
    grow(table, work, out, shown=out is not None, to_go_on=to_go_on)
    if out is not None:
        trees, sentences = pluralize(table.progress.rows, "tree"), pluralize(table.progress.sentences, "sentence")
        typer.echo(f"dtg: {out} has {trees} of {sentences}; {out.name}.meta.json says how they were made.", err=True)


def parser_folder(name: Path | None) -> Path:
    """The folder that --parser names; without it, that of the bundled parser."""
    return pretrained.find(name or pretrained.PARSER)


def load_parser(folder: Path, device: str) -> BiaffineParser:
    """The parser in a folder, on the device named."""
    import dtg

    check_device(device)
    return dtg.load_parser(folder, device)
