"""`dtg inspect`: what a model family reads, attends to and predicts for one sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dtg.cli.groups import takes_groups
from dtg.cli.options import JsonOption, NonProjectiveOption, ProjectOption, RootsOption
from dtg.errors import InputError
from dtg.io.pictures import check_picture_path
from dtg.trees import (
    BracketReading,
    ConstituencyTree,
    DependencyTree,
    TreebankReading,
    TreebankReport,
    projectivize,
    read_conllu,
)
from dtg.trees.kinds import DEPENDENCY
from dtg.trees.treebank import NonProjective

if TYPE_CHECKING:
    from dtg.families import ArcRepresentation
    from dtg.families.reading import Reading
    from dtg.families.rows import Row

ReadTree = DependencyTree | ConstituencyTree
STYLES = {"STACK": "blue", "COMPOSE": "dark_orange", "POPSTACK": "cyan", "LINEAR": "blue"}


@dataclass(frozen=True)
class FamilyGroup:
    """Which rows a tree becomes."""

    family: Annotated[
        str | None,
        typer.Option(
            help="dtg, dtg-eager, dtg-swift, dtg-hybrid, txl-trans (actions) or txl-tokens (words); tg, plm, plm-mask, "
            "pushdown or tg-hybrid for phrases. [default: dtg, or tg for phrases]",
        ),
    ] = None
    memory: Annotated[str | None, typer.Option(help="What memory heads of hybrids see: words [default] or rows.")] = (
        None
    )
    memory_on_compose: Annotated[str | None, typer.Option(help="And on COMPOSE rows: composed [default] or all.")] = (
        None
    )
    arc_representation: Annotated[str, typer.Option(help="What arc rows read: word+arc, arc, or word (the head).")] = (
        "word+arc"
    )


@takes_groups
def inspect(
    text: Annotated[str | None, typer.Argument(help="The sentence, its words separated by spaces.")] = None,
    *,
    heads: Annotated[str | None, typer.Option(help='The head of each word, 0 for the root word: "2 0 4 2".')] = None,
    conllu: Annotated[
        Path | None, typer.Option(help="Take a sentence from this treebank (.conllu, .conll, .gz).")
    ] = None,
    brackets: Annotated[
        str | None,
        typer.Option(
            help='A tree of phrases, "(S (NP The dog) (VP barks))", or a file of them (.ptb, .mrg, .brackets, .gz).',
            metavar="TREE|FILE",
        ),
    ] = None,
    sentence: Annotated[int, typer.Option(min=1, help="Which sentence of the treebank, counted from 1.")] = 1,
    family: FamilyGroup,
    project: ProjectOption = None,
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

        dtg inspect --brackets "(S (NP The dog) (VP barks))" --family plm-mask --draw mask.svg

    In the table, what a row attends to has a line for each view, where a family has several.
    """
    tree: ReadTree
    if brackets is not None:
        if text is not None or heads is not None or conllu is not None or project is not None:
            raise InputError("--brackets takes the place of a sentence, --heads, --conllu and --project.")
        tree, pieces = of_brackets(brackets, sentence, split_at)
    elif conllu is None:
        tree, pieces = typed(text, heads, split_at)
    elif text is not None or heads is not None or split_at is not None:
        raise InputError("--conllu FILE takes the place of a sentence, --heads and --split-at; give one or the other.")
    else:
        tree, pieces = numbered(conllu, sentence, TreebankReading(roots=roots, skip_invalid=True)), None
    for path in draw or []:
        check_picture_path(path)
    if isinstance(tree, DependencyTree):
        tree = lifted(tree, nonprojective)
        tree = tree if project is None else ConstituencyTree.from_dependencies(tree, project)
    reading = read(tree, pieces, family)
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
    if wrong := [number for number in numbers if not (number.isascii() and number.isdigit() and len(number) < 10)]:
        raise InputError(
            f"--heads has {wrong[0][:40]!r}; whole numbers are expected, one for each word, 0 for the root word."
        )
    pieces = pieces_of(text.split(), split_at)
    words = text.split() if pieces is None else ["".join(word) for word in pieces]
    return DependencyTree(tuple(words), tuple(map(int, numbers))), pieces


def of_brackets(brackets: str, sentence: int, split_at: str | None) -> tuple[ConstituencyTree, list[list[str]] | None]:
    """The tree that is written in brackets, or one of a file."""
    from dtg.trees.phrases.brackets import parse_brackets

    if not brackets.lstrip().startswith("("):
        if split_at is not None:
            raise InputError("--split-at is about a tree on the command line, not about one of a file.")
        found = numbered(Path(brackets), sentence, BracketReading(skip_invalid=True))
        assert isinstance(found, ConstituencyTree)
        return found, None
    tree = parse_brackets(brackets)
    pieces = pieces_of(tree.words, split_at)
    return tree if pieces is None else replace(tree, words=tuple("".join(word) for word in pieces)), pieces


def pieces_of(words: Sequence[str], split_at: str | None) -> list[list[str]] | None:
    """The subwords of each word, if they were marked."""
    if split_at is None:
        return None
    if not split_at or split_at.isspace():
        raise InputError("--split-at needs a mark that can stand between the pieces of a word, such as |.")
    return [[piece for piece in word.split(split_at) if piece] for word in words]


def numbered(path: Path, number: int, reading: TreebankReading | BracketReading) -> ReadTree:
    """One sentence of a treebank, by its place in the file; others may be invalid, this one must not be."""
    report = TreebankReport()
    found: Iterator[ReadTree]
    if isinstance(reading, BracketReading):
        found = reading.read([path], report)
    else:  # as it stands: a tree with crossing arcs is to be told about
        found = read_conllu(path, roots=reading.roots, skip_invalid=True, report=report)
    for tree in found:
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


def read(tree: ReadTree, pieces: list[list[str]] | None, asked: FamilyGroup) -> Reading:
    """Ask the family. Imported here, so that a mistake above is answered at once and `--help` is quick."""
    from dtg import families
    from dtg.trees.reading import as_kind

    labels = tree.labels if isinstance(tree, ConstituencyTree) else None
    name = asked.family or ("dtg" if labels is None else "tg")
    options: dict[str, Any] = {"memory": asked.memory, "memory_on_compose": asked.memory_on_compose}
    representation = cast("ArcRepresentation", asked.arc_representation)
    found = families.get(name, arc_representation=representation, labels=labels, **options)
    if any(options.values()) and len(found.options) == 0:
        raise InputError(f"--memory and --memory-on-compose are about hybrids (dtg-hybrid, tg-hybrid), not {name}.")
    kind = found.system.kind
    if kind is not None and kind is not DEPENDENCY and labels is None:
        raise InputError(
            f"{name} reads phrases. Give a tree in brackets with --brackets, or have dependencies projected (--project head)."
        )
    if kind is DEPENDENCY and labels is not None:
        raise InputError(
            f"{name} reads dependencies, and these are phrases. Choose tg, plm, plm-mask, pushdown or tg-hybrid."
        )
    return found.read(as_kind(tree, kind), pieces)


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
    several = bool(reading.rows[0].views)
    for row in reading.rows:
        table.add_row(
            str(row.index),
            Text(" + ".join(row.reads)),
            Text(row.kind, style=STYLES[row.kind]),
            Text(seen(row, "attends", several)),
            Text(seen(row, "relative", several)),
            Text(row.predicts or "-"),
        )
    console = Console()
    if not console.is_terminal:
        console.width = 10_000  # a file or pipe has no right margin
    console.print(table)


def seen(row: Row, what: str, several: bool) -> str:
    """What a row attends to, or where that is; a line for each view, where there are several, and for its depths."""
    if not several:
        return " ".join(map(str, getattr(row, what)))
    lines = list[str]()
    for view in row.views:
        name = f"{view.name}: " if what == "attends" else ""
        lines.append(name + " ".join(map(str, getattr(view, what))))
        if view.channel is not None:
            lines.append("depths" if what == "attends" else " ".join(map(str, view.channel)))
    return "\n".join(lines)
