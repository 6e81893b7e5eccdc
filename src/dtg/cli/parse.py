"""`dtg parse`: trees for sentences that have none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dtg import __version__
from dtg.cli.parse_wanted import Wanted
from dtg.cli.prepare import interruptible
from dtg.cli.table_options import DeviceOption, OverwriteOption, ResumeOption, TokenizedOption
from dtg.cli.tables import check_device
from dtg.errors import InputError
from dtg.trees.report import number

if TYPE_CHECKING:
    from dtg.parser import BiaffineParser, ParsedTree
    from dtg.parser.unparsed import Unparsed
    from dtg.tables.columns import Row
    from dtg.tables.files import Existing
    from dtg.tables.items import Item
    from dtg.tables.sidecar import Sidecar

TREEBANK = (".conllu", ".conll")
ParserOption = Annotated[
    Path | None, typer.Option(help="The folder of a trained parser, such as RUN/best.", metavar="DIR")
]


def parse(
    source: Annotated[
        str,
        typer.Argument(
            help="A sentence, a file of them (one a line; - for stdin), or .conllu.", metavar="TEXT|FILE|CONLLU"
        ),
    ],
    parser: ParserOption = None,
    nbest: Annotated[int | None, typer.Option(min=1, help="The so many best trees of each sentence.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="So many trees of each sentence, drawn at random.")] = None,
    without_replacement: Annotated[
        bool, typer.Option("--without-replacement", help="Draw no tree of a sentence twice.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="For --sample: the same seed draws the same trees.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Write to a file; printed otherwise.", metavar="FILE.conllu")] = None,
    tokenized: TokenizedOption = False,
    resume: ResumeOption = False,
    overwrite: OverwriteOption = False,
    device: DeviceOption = "cpu",
) -> None:
    """Parse sentences; what comes out is CoNLL-U, with the probability of each tree (# prob).

    dtg parse "The dog barks." --parser runs/parser/best

    dtg parse corpus.txt --parser runs/parser/best --out corpus.conllu

    dtg parse corpus.txt --parser runs/parser/best --sample 300 --without-replacement --out proposals.conllu

    In a list, the trees of a sentence follow each other and have the same sent_id; # tree numbers them.
    """
    wanted = Wanted(nbest, sample, without_replacement, seed)
    existing = checked_out(out, resume=resume, overwrite=overwrite)
    is_conllu = is_treebank(source)
    if is_conllu and tokenized:
        raise InputError(f"--tokenized is about plain text; the words of {source} are split already.")
    found = load_parser(parser, device)
    from dtg.cli.sentences import tell_empty, text_or_file
    from dtg.parser.unparsed import of_conllu, of_lines

    if is_conllu:
        write(
            of_conllu(Path(source)), found, wanted, out, existing, settings(source, parser, wanted, tokenized, device)
        )
        return
    lines = text_or_file(source, is_text=False)
    items = of_lines(lines, tokenized=tokenized)
    write(items, found, wanted, out, existing, settings(lines.name, parser, wanted, tokenized, device), lines.size)
    tell_empty(lines)


def is_treebank(source: str) -> bool:
    """Whether the argument names a CoNLL-U file."""
    name = Path(source.removesuffix(".gz"))
    return name.suffix.lower() in TREEBANK and len(source.split()) == 1


def checked_out(out: Path | None, *, resume: bool, overwrite: bool) -> Existing:
    """What is to happen to a file that is there; mistakes are said before a parser is loaded."""
    from dtg.tables.files import check_can_write

    if resume and overwrite:
        raise InputError("--resume goes on with a file and --overwrite begins it anew; give one of them.")
    existing: Existing = "resume" if resume else "overwrite" if overwrite else "error"
    if out is None:
        if existing != "error":
            raise InputError(f"--{existing} is about a file; name it with --out FILE.")
        return existing
    if out.suffix == ".gz":
        raise InputError(
            f"cannot write {out}: a compressed file cannot be gone on with. Leave .gz off, and compress it later."
        )
    check_can_write(out, "jsonl", existing)
    return existing


def settings(source: str, parser: Path | None, wanted: Wanted, tokenized: bool, device: str) -> Sidecar:
    """What decides the output, for the file beside it."""
    from dtg.parser.saving import parser_hash
    from dtg.tables.sidecar import Sidecar

    assert parser is not None
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
    items: Iterator[Item[Unparsed]],
    parser: BiaffineParser,
    wanted: Wanted,
    out: Path | None,
    existing: Existing,
    sidecar: Sidecar,
    size: int | None = None,
) -> None:
    """Parse group by group, show how far it is, and say what was written. Interrupted, say how to go on."""
    from dtg.cli.table_progress import TableProgress
    from dtg.parser.treefile import TreeFile, TreeStream
    from dtg.parser.unparsed import parsed_conllu
    from dtg.tables.filling import fill

    def rows(item: Item[Unparsed], found: list[ParsedTree]) -> list[Row]:
        places = range(1, len(found) + 1) if wanted.is_list else [None]
        return [(parsed_conllu(item.content, tree, place),) for place, tree in zip(places, found, strict=True)]

    table = TreeStream(sys.stdout.buffer) if out is None else TreeFile.open(out, "jsonl", (), sidecar, existing)
    with closing(table), TableProgress(size, shown=out is not None) as progress, interruptible():
        try:
            fill(table, items, lambda some: wanted.find(parser, some), rows, group=wanted.group, watcher=progress)
        except KeyboardInterrupt:
            if out is not None:
                typer.echo(f"dtg: {out} is not finished. The same command with --resume goes on.", err=True)
            raise
    if out is not None:
        trees, sentences = number(table.progress.rows, "tree"), number(table.progress.sentences, "sentence")
        typer.echo(f"dtg: {out} has {trees} of {sentences}; {out.name}.meta.json says how they were made.", err=True)


def load_parser(folder: Path | None, device: str) -> BiaffineParser:
    """The parser that --parser names, on the device named."""
    if folder is None:
        raise InputError(
            "no parser is named. Pass --parser RUN/best, the folder of one that dtg train-parser has made."
        )
    from dtg.parser import BiaffineParser

    check_device(device)
    return BiaffineParser.load(folder, device)
