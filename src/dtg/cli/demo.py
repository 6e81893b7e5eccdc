"""`dtg demo`: what the models in the box make of a few minimal pairs, as tables, trees, pictures and a CSV file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dtg import box
from dtg.cli.surprisal_table import bar
from dtg.tables.columns import Column, Row

if TYPE_CHECKING:
    from dtg.inference import SentenceSurprisal
    from dtg.model import DecoderModel

BEAM = 100
COLUMNS = (
    Column("example", int, "the number of the pair, from 1"),
    Column("grammatical", int, "1 for the sentence that people accept"),
    Column("model", str, "the model in the box"),
    Column("word_id", int, "the word's number in the sentence, from 1"),
    Column("word", str, "the word"),
    Column("surprisal", float, "-log2 p(word | words before it)"),
)


@dataclass(frozen=True, slots=True)
class Example:
    """A beginning, two words of which only the first is grammatical after it, and how the sentence goes on."""

    about: str
    beginning: str
    good: str
    bad: str
    rest: str

    def sentence(self, word: str) -> list[str]:
        return [*self.beginning.split(), word, *self.rest.split()]

    @property
    def place(self) -> int:
        return len(self.beginning.split())


EXAMPLES = (
    Example(
        "The verb agrees with “manager”, not with the nearer “architects” (the paper's example).",
        "The manager to the side of the architects",
        "likes",
        "like",
        "to gamble .",
    ),
    Example("The verb agrees with “keys”.", "The keys to the old cabinet", "are", "is", "on the table ."),
    Example("Somebody has to be meant by the pronoun.", "The girls in the park saw", "themselves", "himself", "."),
)


def demo(
    out: Annotated[Path, typer.Option(help="The folder for pictures and surprisals.csv.", metavar="FOLDER")] = Path(
        "demo"
    ),
) -> None:
    """Show what the models in the box make of three minimal pairs, and write pictures and a table.

    Each pair has two sentences that differ in one word. A model that has learned the rule is less surprised at the
    grammatical one. Models this small do not always manage.
    """
    import dtg
    from dtg.evaluation.results import write_rows

    out.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False)
    models = {name: dtg.load(name) for name in (box.MODEL, box.WORDS_MODEL)}
    rows: list[Row] = []
    for number, example in enumerate(EXAMPLES, start=1):
        found = {
            name: model.surprisal([example.sentence(example.good), example.sentence(example.bad)], beam=BEAM)
            for name, model in models.items()
        }
        console.print(Text(f"\n{number}. {example.about}", style="bold"))
        console.print(table_of(example, found))
        for name, (good, bad) in found.items():
            console.print(verdict(example, name, good, bad))
        show_tree(console, models[box.MODEL], example, out / f"tree-{number}.svg")
        draw(out / f"surprisal-{number}.svg", example, found)
        rows += rows_of(number, found)
    write_rows(out / "surprisals.csv", COLUMNS, rows)
    console.print(f"\nPictures and surprisals.csv are in {out}/.")


def table_of(example: Example, found: Mapping[str, Sequence[SentenceSurprisal]]) -> Table:
    """The words down, a bar for each model; the word that matters twice, the grammatical one first."""
    in_bits = {name: (bits(good), bits(bad)) for name, (good, bad) in found.items()}
    largest = max(max(good + bad) for good, bad in in_bits.values())
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("word")
    for name in in_bits:
        table.add_column(f"{name}, bits", no_wrap=True)
    for place, word in enumerate(example.sentence(example.good)):
        cells = {name: good[place] for name, (good, _) in in_bits.items()}
        table.add_row(word, *(cell(value, largest, "cyan") for value in cells.values()))
        if place == example.place:
            others = {name: bad[place] for name, (_, bad) in in_bits.items()}
            table.add_row(f"*{example.bad}", *(cell(value, largest, "red") for value in others.values()))
    return table


def cell(value: float, largest: float, colour: str) -> Text:
    return Text.assemble(f"{value:6.2f} ", (bar(value, largest), colour))


def bits(found: SentenceSurprisal) -> list[float]:
    """The surprisal of every word."""
    nats: list[float] = found.surprisals.tolist()
    return [one / math.log(2) for one in nats]


def verdict(example: Example, name: str, good: SentenceSurprisal, bad: SentenceSurprisal) -> str:
    """Which of the two words the model prefers, and by how much."""
    gained = bits(bad)[example.place] - bits(good)[example.place]
    said = "the grammatical word wins" if gained > 0 else "the ungrammatical word wins"
    return f"{name}: {said}, by {abs(gained):.2f} bits."


def show_tree(console: Console, model: DecoderModel, example: Example, path: Path) -> None:
    """The best tree of the grammatical sentence, on the screen and as a picture."""
    parsed = model.parse(example.sentence(example.good), beam=BEAM)
    console.print(f"\nThe best tree that {box.MODEL} finds (ln p of words and tree: {parsed.log_probability:.1f}):\n")
    console.print(Text(parsed.tree.draw()))
    parsed.tree.picture(path)


def draw(path: Path, example: Example, found: Mapping[str, Sequence[SentenceSurprisal]]) -> None:
    """The picture of the table."""
    from dtg.inference.picture import draw_surprisals

    words = example.sentence(example.good)
    words.insert(example.place + 1, f"*{example.bad}")
    surprisals = {}
    for name, (good, bad) in found.items():
        surprisals[name] = bits(good)
        surprisals[name].insert(example.place + 1, bits(bad)[example.place])
    draw_surprisals(path, words, surprisals)


def rows_of(number: int, found: Mapping[str, Sequence[SentenceSurprisal]]) -> list[Row]:
    """Rows of COLUMNS."""
    return [
        (number, grammatical, name, place, word, surprisal)
        for name, pair in found.items()
        for grammatical, one in zip((1, 0), pair, strict=True)
        for place, (word, surprisal) in enumerate(zip(one.sentence.words, bits(one), strict=True), start=1)
    ]
