"""Garden paths as a task: the difference in surprisal between the ambiguous and the unambiguous sentence, word by word.

    dtg.evaluate("dtg-small", "garden-paths", "sap_classic_gp.csv", beams=[1, 10, 100])

The effect at the critical word and at the two after it, in bits and, with a conversion, in ms; for each construction, with
intervals over items; and for several beams, since a narrow beam forgets the analysis that turns out to be right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import dtg
from dtg.errors import InputError
from dtg.evaluation.comparison import other_name
from dtg.evaluation.contract import Content, Interval, Item, Metric, Ready, Row, Tables, Task
from dtg.evaluation.figures import EffectPlot, LinePlot
from dtg.evaluation.probability import Probability
from dtg.evaluation.rendering import Block, pluralize
from dtg.evaluation.tasks.garden_paths import pages
from dtg.evaluation.tasks.garden_paths.conversion import Conversion
from dtg.evaluation.tasks.garden_paths.effects import (
    both,
    human_effect,
    is_at,
    mean_of,
    sentences_of,
    summary_of,
    widest,
)
from dtg.evaluation.tasks.garden_paths.imported import ImportedSentences, import_sentences
from dtg.evaluation.tasks.garden_paths.pages import PLACE_NAMES
from dtg.evaluation.tasks.garden_paths.sentences import AFTER, GardenPath, read_garden_paths
from dtg.evaluation.tasks.selection import content_hash
from dtg.language_model import LanguageModel
from dtg.scoring.columns import SURPRISAL_COLUMNS, surprisal_rows
from dtg.tables.columns import Base, Column, Value
from dtg.text.sentence import Sentence

PAIRS_TOGETHER = 8
PLACES = tuple(range(-2, AFTER + 1))  # around the critical word; those before it only for what spills over
SURPRISAL = [column.name for column in SURPRISAL_COLUMNS].index("surprisal")


@dataclass(frozen=True)
class GardenPaths(Task):
    """Pairs of sentences, and a model or a table. `GardenPaths.of` reads them."""

    name: ClassVar[str] = "garden-paths"
    table: ClassVar[str] = "effects.csv"
    row_name: ClassVar[str] = "effect"
    columns: ClassVar[Sequence[Column]] = (
        Column("construction", str, "the construction"),
        Column("item", str, "the item"),
        Column("beam", int, "the beam of the search; empty where there is none"),
        Column("place", int, "0 is the critical word, 1 and 2 are the words after it"),
        Column("word", str, "the word, in the ambiguous sentence"),
        Column("ambiguous", float, "its surprisal there, in bits"),
        Column(
            "unambiguous",
            float,
            "the surprisal of the word at the same place after the critical one in the other, in bits",
        ),
        Column("effect", float, "the difference, in bits"),
        Column("effect_ms", float, "the difference in ms, by a conversion"),
        Column("human_ms", float, "the difference of people's times, where the table has them"),
        Column(
            "kept", float, "the share of the probability that the search kept at the word in the ambiguous sentence"
        ),
    )

    source: Path
    pairs: tuple[GardenPath, ...]
    how: Probability
    beams: tuple[int, ...] = ()  # the widest is the one that is reported; empty for a model without trees
    conversion: Conversion | None = None
    imported: ImportedSentences | None = None

    @classmethod
    def of(
        cls,
        source: Path,
        *,
        beams: Sequence[int] | None = None,
        conversion: float | str | Path | None = None,
        surprisals: Path | None = None,
        base: Base | None = None,
        **how: Any,
    ) -> Self:
        """Pairs of a table.

        Args:
            source: a table in the format of SAP, or a plain one (see `sentences.py`).
            beams: of the search; the widest is reported, all are drawn.
            conversion: ms for a bit, or the folder of the same model's results on reading times.
            surprisals: a table of another tool, in place of a model.
            base: of the logarithms in that table, where it does not say so.
            **how: `accuracy`, `beam`, `word_beam`, `boundary` (see `Probability.of`).
        """
        pairs = read_garden_paths(Path(source))
        if beams is not None and (not beams or any(type(beam) is not int or beam < 1 for beam in beams)):
            raise InputError(f"beams are whole numbers of at least 1; {list(beams)} were given.")
        if beams:
            how["beam"] = max(beams)
        probability = Probability.of(**how)
        is_fixed = not probability.beam.is_adaptive  # effects are by width; a beam that adapts has none
        widths = tuple(sorted(set(beams or [probability.beam.beam]))) if is_fixed else ()
        imported = None if surprisals is None else import_sentences(surprisals, sentences_of(pairs), base)
        found = None if conversion is None else Conversion.of(conversion)
        return cls(Path(source), pairs, probability, () if imported else widths, found, imported)

    @property
    def data(self) -> str:
        return str(self.source)

    @cached_property
    def data_sha256(self) -> str:
        return content_hash([asdict(pair) for pair in self.pairs])

    def for_model(self, model: LanguageModel) -> Self:
        return replace(self, how=self.how.for_model(model), beams=self.beams if model.has_trees else ())

    def ready(self) -> Ready | None:
        if self.imported is None:
            return None
        settings = {
            "command": "evaluate garden-paths --surprisals",
            "dtg": dtg.__version__,
            "surprisals_sha256": self.imported.sha256,
            "data_sha256": self.data_sha256,
            **self.conversion_settings(),
        }
        rows = [
            self.row(pair, kind, None, self.imported.surprisals[sentence.text], None)
            for pair in self.pairs
            for kind, sentence in both(pair)
        ]
        return Ready(self.imported.name, rows, settings, {"surprisals": str(self.imported.path)})

    def items(self) -> list[list[tuple[int | None, GardenPath]]]:
        size = self.how.together(PAIRS_TOGETHER, 2)
        groups = [self.pairs[first : first + size] for first in range(0, len(self.pairs), size)]
        return [[(beam, pair) for pair in some] for beam in self.beams or (None,) for some in groups]

    def settings(self) -> dict[str, Any]:
        together = {"pairs_together": self.how.together(PAIRS_TOGETHER, 2)}
        return {**self.how.settings(), **together, "beams": list(self.beams), **self.conversion_settings()}

    def conversion_settings(self) -> dict[str, Any]:
        return {} if self.conversion is None else {"ms_per_bit": list(self.conversion.by_lag)}

    def search_remarks(self) -> list[str]:
        return self.how.kept.remarks()

    def measure(self, model: LanguageModel, items: Sequence[tuple[int | None, GardenPath]]) -> list[Row]:
        beam = items[0][0]
        how = self.how
        if beam is not None and beam != self.how.beam.beam:  # narrower ones keep a third of their own
            how = replace(how, beam=replace(how.beam, beam=beam, word_beam=None))
        asked = [(pair, kind, sentence) for _, pair in items for kind, sentence in both(pair)]
        split = [Sentence.of_text(sentence.text, model.language) for _, _, sentence in asked]
        found = how.surprisals(model, split, ends=False)
        rows = []
        for (pair, kind, _), one in zip(asked, found, strict=True):
            table = surprisal_rows(one, 1, base="2", per="whitespace")
            kept = [column.name for column in SURPRISAL_COLUMNS].index("kept")
            values = [row[SURPRISAL] for row in table]
            rows.append(self.row(pair, kind, beam, values, [row[kept] for row in table]))
        return rows

    @staticmethod
    def row(
        pair: GardenPath, kind: str, beam: int | None, values: Sequence[Value], kept: Sequence[Value] | None
    ) -> Row:
        critical = getattr(pair, kind).critical
        around = [critical + place for place in PLACES]
        inside = [place if 0 <= place < len(values) else None for place in around]
        return {
            "construction": pair.construction,
            "item": pair.item,
            "kind": kind,
            "beam": beam,
            "surprisals": [None if place is None else values[place] for place in inside],
            "kept": None if kept is None else [None if place is None else kept[place] for place in inside],
        }

    def effects(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """A row of the table for each item, beam and place."""
        by_key = {(row["construction"], row["item"], row["kind"], row["beam"]): row for row in rows}
        found = []
        for beam in self.beams or (None,):
            for pair in self.pairs:
                one, other = (by_key[pair.construction, pair.item, kind, beam] for kind, _ in both(pair))
                differences = {
                    place: None if a is None or b is None else a - b
                    for place, a, b in zip(PLACES, one["surprisals"], other["surprisals"], strict=True)
                }
                for place in PLACE_NAMES:
                    index = PLACES.index(place)
                    if differences[place] is None:
                        continue  # the sentence is over
                    words = pair.ambiguous.words
                    ms = None if self.conversion is None else self.conversion.effect(differences, place)
                    found.append(
                        {
                            "construction": pair.construction,
                            "item": pair.item,
                            "beam": beam,
                            "place": place,
                            "word": words[pair.ambiguous.critical + place],
                            "ambiguous": one["surprisals"][index],
                            "unambiguous": other["surprisals"][index],
                            "effect": differences[place],
                            "effect_ms": ms,
                            "human_ms": human_effect(pair, place),
                            "kept": None if one["kept"] is None else one["kept"][index],
                        }
                    )
        return found

    def summarize(self, rows: Sequence[Row], name: str) -> Content:
        items = self.effects(rows)
        constructions = list(dict.fromkeys(pair.construction for pair in self.pairs))
        by = (
            f"from {self.imported.path.name}"
            if self.imported
            else f"by {self.how.title.removesuffix(' (lower bound)')}"
        )
        counts = ", ".join(f"{one} {sum(pair.construction == one for pair in self.pairs)}" for one in constructions)
        found: dict[str, Any] = {}
        for beam in self.beams or (None,):
            found[str(beam) if beam else "-"] = {
                construction: {
                    str(place): summary_of([one for one in items if is_at(one, construction, beam, place)])
                    for place in PLACE_NAMES
                }
                for construction in constructions
            }
        missing = 3 * len(self.pairs) * max(1, len(self.beams)) - len(items)
        notes = [f"{missing} places are missing: sentences that end before the second word after."] if missing else []
        if self.conversion is not None:
            a, b, c = self.conversion.by_lag
            notes.append(
                f"ms: {a:.2f} for a bit at the word, {b:.2f} one later, {c:.2f} two later ({self.conversion.source})."
            )
        return {
            "title": f"{pluralize(len(self.pairs), 'item')} ({counts}); surprisals {by}.",
            "notes": notes,
            "items": len(self.pairs),
            "beams": list(self.beams),
            "effects": found,
            "against": None,
        }

    def tables(self, rows: Sequence[Row]) -> Tables:
        return super().tables(self.effects(rows))

    @classmethod
    def metrics(cls, content: Content) -> list[Metric]:
        return [
            Metric(
                construction,
                PLACE_NAMES[int(place)],
                Interval(one[unit]["mean"], *one[unit]["interval"]),
                one["items"],
                rule=unit,
                level=beam,
            )
            for beam, constructions in content["effects"].items()
            for construction, places in constructions.items()
            for place, one in places.items()
            if one is not None
            for unit in ("bits", "ms", "human_ms")
            if one.get(unit)
        ]

    def check_comparable(self, theirs: Sequence[Item], where: str) -> None:
        ours = {(pair.construction, pair.item) for pair in self.pairs}
        if ours != {(one["construction"], str(one["item"])) for one in theirs}:
            raise InputError(
                f"the items in {where} are not those of {self.source}; models are compared on the same items."
            )

    @classmethod
    def compared(
        cls, content: Content, ours: Sequence[Item], theirs: Sequence[Item], names: tuple[str, str]
    ) -> Content:
        first, second = widest(ours), widest(theirs)
        tests: dict[str, Any] = {}
        for construction in dict.fromkeys(one["construction"] for one in first.values()):
            for place, called in PLACE_NAMES.items():
                keys = [key for key in first if key[0] == construction and key[2] == place and key in second]
                if keys:
                    values = [first[key]["effect"] - second[key]["effect"] for key in keys]
                    tests[f"{construction}, {called}"] = mean_of(values)
        return {**content, "against": {"models": [names[0], other_name(*names, "other")], "tests": tests}}

    @classmethod
    def comparison(cls, names: tuple[str, str], content: Content) -> list[Block]:
        return pages.comparison(content)

    @classmethod
    def summary(cls, name: str, content: Content) -> list[Block]:
        return pages.summary(name, content)

    @classmethod
    def page(cls, name: str, content: Content) -> list[Block]:
        return pages.page(name, content)

    @classmethod
    def chart(cls, models: Mapping[str, Sequence[Metric]]) -> EffectPlot:
        """The effect in bits at the critical word and after it, by the widest beam of each model."""
        return pages.chart(models)

    @classmethod
    def pictures(cls, name: str, content: Content) -> dict[str, EffectPlot | LinePlot]:
        return pages.pictures(name, content, cls.metrics(content))
