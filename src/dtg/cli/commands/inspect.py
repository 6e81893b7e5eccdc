"""`dtg inspect`: what a model family reads, attends to and predicts for one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dtg.cli.options import JsonOption, NonProjectiveOption, RootsOption
from dtg.errors import InputError
from dtg.io.pictures import check_picture_path
from dtg.trees import DependencyTree, TreebankReport, projectivize, read_conllu
from dtg.trees.conllu import Roots
from dtg.trees.treebank import NonProjective

if TYPE_CHECKING:
    from dtg.families import ArcRepresentation
    from dtg.families.reading import Reading

STYLES = {"STACK": "blue", "COMPOSE": "dark_orange", "POPSTACK": "cyan", "LINEAR": "blue"}


def inspect(
    text: Annotated[str | None, typer.Argument(help="The sentence, its words separated by spaces.")] = None,
    heads: Annotated[str | None, typer.Option(help='The head of each word, 0 for the root word: "2 0 4 2".')] = None,
    conllu: Annotated[
        Path | None, typer.Option(help="Take a sentence from this treebank (.conllu, .conll, .gz).")
    ] = None,
    sentence: Annotated[int, typer.Option(min=1, help="Which sentence of the treebank, counted from 1.")] = 1,
    family: Annotated[
        str, typer.Option(help="dtg, dtg-eager, dtg-swift, txl-trans (actions) or txl-tokens (words).")
    ] = "dtg",
    arc_representation: Annotated[
        str, typer.Option(help="What arc rows read: word+arc, arc, or word (the head).")
    ] = "word+arc",
    split_at: Annotated[
        str | None, typer.Option(help='Words are given in subwords, with this mark between them: "differ|ence".')
    ] = None,
    draw: Annotated[
        list[Path] | None, typer.Option(help="Draw the attention mask into this file (.svg, .png, .pdf); repeatable.")
    ] = None,
    as_json: JsonOption = False,
    nonprojective: NonProjectiveOption = "lift",
    roots: RootsOption = "error",
    ascii_only: Annotated[bool, typer.Option("--ascii", help="Draw the tree with ASCII characters only.")] = False,
) -> None:
    """Show what a model family reads, attends to and predicts for a sentence, row by row.

    Give a sentence with its heads, or a sentence of a treebank:

        dtg inspect "There is a difference" --heads "2 0 4 2"

        dtg inspect --conllu en_ewt-ud-dev.conllu --sentence 7 --family dtg-eager --draw mask.svg
    """
    if conllu is None:
        tree, pieces = typed(text, heads, split_at)
    elif text is not None or heads is not None or split_at is not None:
        raise InputError("--conllu FILE takes the place of a sentence, --heads and --split-at; give one or the other.")
    else:
        tree, pieces = numbered(conllu, sentence, roots), None
    for path in draw or []:
        check_picture_path(path)
    reading = read(lifted(tree, nonprojective), pieces, family, arc_representation)
    if as_json:
        typer.echo(json.dumps(reading.as_dict(), ensure_ascii=False))
    else:
        show(reading, ascii_only)
    for path in draw or []:
        from dtg.families.picture import draw_mask

        draw_mask(reading.rows, path)
        typer.echo(f"dtg: drew {path}", err=True)


def typed(text: str | None, heads: str | None, split_at: str | None) -> tuple[DependencyTree, list[list[str]] | None]:
    """The tree given on the command line, and its words' pieces if they were marked."""
    if text is None or heads is None:
        raise InputError(
            "give a sentence and its heads, or a treebank. For example:\n"
            'dtg inspect "There is a difference" --heads "2 0 4 2"\n'
            "dtg inspect --conllu FILE --sentence 1"
        )
    numbers = heads.replace(",", " ").split()
    if wrong := [number for number in numbers if not (number.isascii() and number.isdigit())]:
        raise InputError(
            f"--heads has {wrong[0]!r}; whole numbers are expected, one for each word, 0 for the root word."
        )
    if split_at is None:
        return DependencyTree(tuple(text.split()), tuple(map(int, numbers))), None
    if not split_at or split_at.isspace():
        raise InputError("--split-at needs a mark that can stand between the pieces of a word, such as |.")
    pieces = [[piece for piece in word.split(split_at) if piece] for word in text.split()]
    tree = DependencyTree(tuple("".join(word) for word in pieces), tuple(map(int, numbers)))
    return tree, pieces


def numbered(path: Path, number: int, roots: Roots) -> DependencyTree:
    """One sentence of a treebank, by its place in the file; others may be invalid, this one must not be."""
    report = TreebankReport()
    for tree in read_conllu(path, roots=roots, skip_invalid=True, report=report):
        assert tree.source is not None
        if tree.source.sentence == number:
            return tree
        if tree.source.sentence > number:
            break
    for skipped in report.skipped:
        if skipped.sentence == number:
            raise InputError(f"cannot inspect {skipped}\nFix the file, or choose another sentence.")
    raise InputError(f"{path} has {report.sentences + len(report.skipped)} sentences; number {number} was asked for.")


def lifted(tree: DependencyTree, choice: NonProjective) -> DependencyTree:
    """The tree with crossing arcs lifted, which is said, unless the user wants to be stopped."""
    if tree.is_projective or choice != "lift":
        return tree  # a family that needs a projective tree raises
    projective = projectivize(tree)
    changes = [
        f"word {word} ({tree.words[word - 1]}) from {tree.heads[word - 1]} to {projective.tree.heads[word - 1]}"
        for word in projective.lifted
    ]
    typer.echo(f"dtg: the tree has crossing arcs; lifted {', '.join(changes)}.", err=True)
    return projective.tree


def read(tree: DependencyTree, pieces: list[list[str]] | None, family: str, arc_representation: str) -> Reading:
    """Ask the family. Imported here, so that a mistake above is answered at once and `--help` is quick."""
    from dtg import families

    return families.get(family, arc_representation=cast("ArcRepresentation", arc_representation)).read(tree, pieces)


def show(reading: Reading, ascii_only: bool) -> None:
    """The tree, and the rows as in the paper's Figure 2a, with what they attend to."""
    typer.echo(reading.tree.draw(ascii_only=ascii_only) + "\n")
    table = Table(box=None if ascii_only else box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("i", justify="right")
    table.add_column("Input")
    table.add_column("Attn. mask")
    table.add_column("Attends to", overflow="fold")
    table.add_column("Relative", overflow="fold")
    table.add_column("Prediction")
    for row in reading.rows:
        table.add_row(
            str(row.index),
            Text(" + ".join(row.reads)),
            Text(row.kind, style=STYLES[row.kind]),
            " ".join(map(str, row.attends)),
            " ".join(map(str, row.relative)),
            Text(row.predicts or "-"),
        )
    console = Console()
    if not console.is_terminal:
        console.width = 10_000  # a file or pipe has no right margin
    console.print(table)
