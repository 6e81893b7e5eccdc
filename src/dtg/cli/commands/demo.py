"""`dtg demo`: surprisals and trees of three minimal pairs by the bundled models, with pictures and a CSV file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dtg import pretrained
from dtg.errors import MissingExtraError
from dtg.io.atomic import replacing
from dtg.tables.columns import Column, Row

if TYPE_CHECKING:
    from dtg.language_model import LanguageModel
    from dtg.scoring.surprisal import SentenceSurprisal
    from dtg.trees.kinds import Tree

COLUMNS = (
    Column("example", int, "the number of the pair, from 1"),
    Column("subject", str, "the subject of the sentence"),
    Column("grammatical", int, "1 for the sentence that people accept"),
    Column("model", str, "the bundled model"),
    Column("word_id", int, "the word's number in the sentence, from 1"),
    Column("word", str, "the word"),
    Column("surprisal", float, "-log2 p(word | words before it)"),
)


@dataclass(frozen=True, slots=True)
class Example:
    """A prefix with a subject, two verbs of which only the first is grammatical then, and the rest of the sentence.

    With the other subject it is the second verb. The effect of subject number is the difference of both cases: that one verb
    is the more frequent word plays no part in it.
    """

    about: str
    prefix: str  # {} is the subject
    subject: str
    other_subject: str
    good: str
    bad: str
    rest: str

    def sentences(self) -> list[list[str]]:
        """The subject with both verbs, then the other one."""
        return [
            [*self.prefix.format(subject).split(), verb, *self.rest.split()]
            for subject in (self.subject, self.other_subject)
            for verb in (self.good, self.bad)
        ]

    @property
    def place(self) -> int:
        return len(self.prefix.split())


EXAMPLES = (
    Example(
        "A relative clause stands between the subject and its verb.",
        "The {} who helped the women",
        "man",
        "men",
        "was",
        "were",
        "in the house .",
    ),
    Example(
        "The verb agrees with “keys”, not with “cabinet”.",
        "The {} to the old cabinet",
        "keys",
        "key",
        "are",
        "is",
        "on the table .",
    ),
    Example(
        "The verb agrees with “manager”, not with the nearer “architects” (the paper's example). Until “to”, “like” may be a "
        "preposition: the sentence decides.",
        "The {} to the side of the architects",
        "manager",
        "managers",
        "likes",
        "like",
        "to gamble .",
    ),
)


def demo(
    out: Annotated[Path, typer.Option(help="The folder for pictures and surprisals.csv.", metavar="FOLDER")] = Path(
        "demo"
    ),
) -> None:
    """Show surprisals and trees of three minimal pairs by the bundled models, and write pictures and a table.

    Each pair has two sentences that differ in the number of the verb. A model that has learned agreement is less surprised
    at the grammatical one, and changes its mind with the number of the subject. Models this small do not always manage.
    Preferences are those at the verb, and those for the whole sentence.
    """
    import dtg

    out.mkdir(parents=True, exist_ok=True)
    console, can_draw = Console(highlight=False), find_spec("matplotlib") is not None
    models = {name: dtg.load(name) for name in (pretrained.MODEL, pretrained.WORDS_MODEL)}
    rows: list[Row] = []
    for number, example in enumerate(EXAMPLES, start=1):
        found = {name: model.surprisal(example.sentences()) for name, model in models.items()}
        console.print(Text(f"\n{number}. {example.about}", style="bold"))
        console.print(words_of(example, found), "")
        console.print(verbs_of(example, found))
        console.print(
            f"Above 0 “{example.good}” is preferred, as it should be after “{example.subject}”; "
            f"below 0 “{example.bad}” is, as it should be after “{example.other_subject}”."
        )
        tree = show_tree(console, models[pretrained.MODEL], example)
        if can_draw:
            tree.picture(out / f"tree-{number}.svg")
            draw(out / f"surprisal-{number}.svg", example, found)
        rows += rows_of(number, example, found)
    write_csv(out / "surprisals.csv", rows)
    if can_draw:
        console.print(f"\nPictures and surprisals.csv are in {out}/.")
    else:
        console.print(f"\nsurprisals.csv is in {out}/.")
        typer.echo(f"dtg: {MissingExtraError('matplotlib', 'draw', 'drawing pictures')}", err=True)


def words_of(example: Example, found: Mapping[str, Sequence[SentenceSurprisal]]) -> Table:
    """A line for each word with a bar for each model; the verb twice, the grammatical one first."""
    in_bits = {name: (bits(good), bits(bad)) for name, (good, bad, *_) in found.items()}
    largest = max(max(good + bad) for good, bad in in_bits.values())
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("word")
    for name in in_bits:
        table.add_column(f"{name}, bits", no_wrap=True)
    for place, word in enumerate(example.sentences()[0]):
        cells = {name: good[place] for name, (good, _) in in_bits.items()}
        table.add_row(word, *(cell(value, largest, "cyan") for value in cells.values()))
        if place == example.place:
            others = {name: bad[place] for name, (_, bad) in in_bits.items()}
            table.add_row(f"*{example.bad}", *(cell(value, largest, "red") for value in others.values()))
    return table


def verbs_of(example: Example, found: Mapping[str, Sequence[SentenceSurprisal]]) -> Table:
    """How much each model prefers the first verb after either subject, and the effect of subject number.

    Then the same of the whole sentences, as Marvin and Linzen (2018) compare them: after a word that may be something else than
    a verb ("like"), the rest decides.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(f"preference for “{example.good}” over “{example.bad}”, bits")
    for heading in (f"after “{example.subject}”", f"after “{example.other_subject}”", "effect of subject number"):
        table.add_column(heading, justify="right")
    for name, surprisals in found.items():
        verbs = [bits(one)[example.place] for one in surprisals]
        sentences = [-one.log_probability / math.log(2) for one in surprisals]
        for what, (good, bad, other_good, other_bad) in (("verb", verbs), ("sentence", sentences)):
            preferences = (bad - good, other_bad - other_good)
            numbers = (*preferences, preferences[0] - preferences[1])
            table.add_row(f"{name}, {what}", *(f"{value:+.2f}" for value in numbers))
    return table


def cell(value: float, largest: float, colour: str) -> Text:
    from dtg.cli.surprisal_table import bar

    return Text.assemble(f"{value:6.2f} ", (bar(value, largest), colour))


def bits(found: SentenceSurprisal) -> list[float]:
    """The surprisal of every word."""
    nats: list[float] = found.surprisals.tolist()
    return [one / math.log(2) for one in nats]


def show_tree(console: Console, model: LanguageModel, example: Example) -> Tree:
    """Print the best tree of the grammatical sentence."""
    parsed = model.parse(example.sentences()[0])
    console.print(
        f"\nThe best tree that {pretrained.MODEL} finds (ln p of words and tree: {parsed.log_probability:.1f}):\n"
    )
    tree: Tree = parsed.tree
    console.print(Text(tree.draw()))
    return tree


def draw(path: Path, example: Example, found: Mapping[str, Sequence[SentenceSurprisal]]) -> None:
    """The picture of the table."""
    from dtg.scoring.picture import draw_surprisals

    words = example.sentences()[0]
    words.insert(example.place + 1, f"*{example.bad}")
    surprisals = {}
    for name, (good, bad, *_) in found.items():
        surprisals[name] = bits(good)
        surprisals[name].insert(example.place + 1, bits(bad)[example.place])
    draw_surprisals(path, words, surprisals)


def rows_of(number: int, example: Example, found: Mapping[str, Sequence[SentenceSurprisal]]) -> list[Row]:
    """Rows of COLUMNS."""
    conditions = ((example.subject, 1), (example.subject, 0), (example.other_subject, 0), (example.other_subject, 1))
    return [
        (number, subject, grammatical, name, place, word, surprisal)
        for name, surprisals in found.items()
        for (subject, grammatical), one in zip(conditions, surprisals, strict=True)
        for place, (word, surprisal) in enumerate(zip(one.sentence.words, bits(one), strict=True), start=1)
    ]


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """All surprisals as a table."""
    from dtg.tables.formats import Encoder

    encoder = Encoder("csv", COLUMNS)
    with replacing(path) as temporary:
        temporary.write_bytes(encoder.header() + encoder.encode(rows))
