"""Reading times as a task: what a model's surprisal and other columns explain of them, on held-out stories.

    dtg.evaluate("dtg-small", "reading", "naturalstories.csv", beam=100, columns=["all"])

docs/reading.md explains every number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import dtg
from dtg.errors import InputError
from dtg.evaluation.contract import Content, Item, Metric, Ready, Row, Tables, Task
from dtg.evaluation.figures import EffectPlot
from dtg.evaluation.probability import Probability
from dtg.evaluation.rendering import Block, pluralize
from dtg.evaluation.tasks.reading import pages
from dtg.evaluation.tasks.reading.analysis import ALL, BY_SURPRISAL, FEW_WORDS, TimesAnalysis, compare
from dtg.evaluation.tasks.reading.data import ReadingTimes, read_times
from dtg.evaluation.tasks.reading.frequencies import FrequencyList, bundled_frequencies, read_frequencies
from dtg.evaluation.tasks.reading.imported import ImportedSurprisals, read_surprisals
from dtg.evaluation.tasks.reading.mixed_models import mixed_model_script
from dtg.evaluation.tasks.reading.predictors import COLUMNS, CONTROLS, controls_of
from dtg.evaluation.tasks.reading.regression import folds_of
from dtg.evaluation.tasks.reading.tables import WORD_COLUMNS, as_numbers, columns_of_words, readings_table, words_table
from dtg.evaluation.tasks.selection import content_hash
from dtg.language_model import LanguageModel
from dtg.scoring.kept import KeptTally
from dtg.search.measures.names import MEASURES
from dtg.tables.columns import Base, Column
from dtg.text.sentence import Sentence

SENTENCES_TOGETHER = 16  # at least, and computed again after an interruption


@dataclass(frozen=True)
class ReadingTask(Task):
    """Words with times, and a model or a table that says how surprising they are. `ReadingTask.of` reads them."""

    name: ClassVar[str] = "reading"
    table: ClassVar[str] = "words.csv"
    row_name: ClassVar[str] = "word"
    columns: ClassVar[Sequence[Column]] = WORD_COLUMNS

    source: Path
    times: ReadingTimes
    how: Probability
    frequencies: FrequencyList
    is_log: bool = True
    without_ends: bool = False
    excluded: frozenset[int] = frozenset()
    imported: ImportedSurprisals | None = None
    measures: tuple[str, ...] = ()  # the columns asked for, as the model has them

    @classmethod
    def of(
        cls,
        source: Path,
        *,
        word: str | None = None,
        time: str | None = None,
        story: str | None = None,
        sentence: str | None = None,
        position: str | None = None,
        participant: str | None = None,
        sentences: Path | None = None,
        only: Mapping[str, Collection[str]] | None = None,
        raw: bool = False,
        without_ends: bool = False,
        shortest: float | None = None,
        longest: float | None = None,
        frequencies: Path | None = None,
        surprisals: Path | ImportedSurprisals | None = None,
        base: Base | None = None,
        excluded: Collection[int] = (),
        **how: Any,
    ) -> Self:
        """Words and times of a table.

        Args:
            source: a table with a row for each word, or for each word and participant.
            word, time, story, sentence, position, participant: its columns, where they are not called like that.
            sentences: a table of the sentences, if the times have no column of words: the columns that both have say which
                sentence a time belongs to.
            only: columns and values, such as {"correct": ["1"]}: rows that have another value are left out.
            raw: fit times in ms; their logarithms otherwise.
            without_ends: leave out the last word of every sentence.
            shortest, longest: of single readings in ms; 100 and 3000 if not given. Others are left out.
            frequencies: a table with columns word and count, in place of the one that comes with dtg.
            surprisals: a table of another tool, or what was read of one, in place of a model.
            base: of the logarithms in that table, where it does not say so.
            excluded: words, by place, that are not fitted.
            **how: `beam`, `word_beam`, `boundary`, `columns` (see `Probability.of`).
        """
        named: dict[Any, str | None] = {"word": word, "time": time, "story": story, "sentence": sentence}
        named |= {"position": position, "participant": participant}
        limits = None
        if shortest is not None or longest is not None:
            limits = (100.0 if shortest is None else shortest, 3000.0 if longest is None else longest)
        times = read_times(Path(source), named, limits, None if sentences is None else Path(sentences), only)
        timed = sum(one.time is not None for one in times.words)
        if timed < FEW_WORDS:
            raise InputError(
                f"{source} has {timed} words with a time; at least {FEW_WORDS} are needed to fit anything."
            )
        used = bundled_frequencies() if frequencies is None else read_frequencies(frequencies)
        task = cls(Path(source), times, Probability.of(**how), used, not raw, without_ends, frozenset(excluded))
        if surprisals is None:
            return task
        read = surprisals if isinstance(surprisals, ImportedSurprisals) else task.import_one(surprisals, base)
        return replace(task, imported=read)

    def again(self, excluded: Collection[int] = (), imported: ImportedSurprisals | None = None) -> Self:
        """The same words and times, for another model or table."""
        how = replace(self.how, kept=KeptTally())
        return replace(self, how=how, excluded=frozenset(excluded), imported=imported)

    def import_all(self, path: Path, base: Base | None = None) -> list[ImportedSurprisals]:
        """The surprisals of another tool: one for each model in the table."""
        extra = ("lexical", *COLUMNS, *MEASURES)
        words = self.times.words
        sentences = [(one.story, one.sentence) for one in words]
        return read_surprisals(path, [one.word for one in words], extra, base, sentences=sentences)

    def import_one(self, path: Path, base: Base | None) -> ImportedSurprisals:
        found = self.import_all(path, base)
        if len(found) > 1:
            raise InputError(f"{path} has several models: {', '.join(one.name for one in found)}. Keep one of them.")
        return found[0]

    @property
    def data(self) -> str:
        return str(self.source)

    @cached_property
    def data_sha256(self) -> str:
        return content_hash([asdict(word) for word in self.times.words])

    @property
    def across_sentences(self) -> bool:
        """Whether texts have several sentences, which are read one after another."""
        return self.times.is_read_on

    @cached_property
    def sentences(self) -> list[list[int]]:
        """The places of each sentence's words."""
        found: dict[tuple[str, str], list[int]] = {}
        for place, word in enumerate(self.times.words):
            found.setdefault((word.story, word.sentence), []).append(place)
        return list(found.values())

    def for_model(self, model: LanguageModel) -> Self:
        return replace(self, how=self.how.for_model(model))

    def ready(self) -> Ready | None:
        if self.imported is None:
            return None
        read = self.imported
        settings = {
            "command": "evaluate reading --surprisals",
            "dtg": dtg.__version__,
            "surprisals_sha256": read.sha256,
            "model": read.name,
            "data_sha256": self.data_sha256,
            **self.analysis_settings(),
        }
        rows = [
            {
                "sentence": number,
                "columns": {name: [values[place] for place in places] for name, values in read.columns.items()},
            }
            for number, places in enumerate(self.sentences)
        ]
        return Ready(read.name, rows, settings, {"surprisals": str(read.path)})

    def items(self) -> list[list[int]]:
        size = self.how.together(SENTENCES_TOGETHER, 1)
        every = list(range(len(self.sentences)))
        return [every[first : first + size] for first in range(0, len(every), size)]

    def settings(self) -> dict[str, Any]:
        columns = {"columns": list(self.how.beam.columns)} if self.how.beam.columns else {}
        together = {"sentences_together": self.how.together(SENTENCES_TOGETHER, 1)}
        return {**self.how.settings(), **columns, **together, **self.analysis_settings()}

    def analysis_settings(self) -> dict[str, Any]:
        """What decides the numbers besides surprisals."""
        return {
            "times": "log" if self.is_log else "raw",
            "without_ends": self.without_ends,
            "frequencies": self.frequencies.sha256,
            "excluded": len(self.excluded),
        }

    def remarks(self) -> list[str]:
        return [*self.times.notes, *(self.imported.notes if self.imported else ())]

    def search_remarks(self) -> list[str]:
        return self.how.kept.remarks()

    def measure(self, model: LanguageModel, items: Sequence[int]) -> list[Row]:
        texts = [" ".join(self.times.words[place].word for place in self.sentences[number]) for number in items]
        found = self.how.surprisals(model, [Sentence.of_text(text, model.language) for text in texts], ends=False)
        words = [[self.times.words[place].word for place in self.sentences[number]] for number in items]
        return [
            {"sentence": number, "columns": columns_of_words(one, some)}
            for number, some, one in zip(items, words, found, strict=True)
        ]

    def words(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Every word with all that is known of it, but for likelihoods."""
        words = self.times.words
        controls = controls_of(words, self.frequencies)
        folds = folds_of([one.story for one in words], [one.sentence for one in words])
        names = list(dict.fromkeys(name for row in rows for name in row["columns"]))
        values: dict[str, list[Any]] = {name: [None] * len(words) for name in names}
        for row in rows:
            for name, some in row["columns"].items():
                for place, value in zip(self.sentences[row["sentence"]], some, strict=True):
                    values[name][place] = value
        return [
            {
                **asdict(one),
                "fold": folds[place],
                "excluded": int(place in self.excluded),
                **{name: controls[name][place] for name in CONTROLS},
                **{name: values[name][place] for name in names},
            }
            for place, one in enumerate(words)
        ]

    def analysis(self, rows: Sequence[Row]) -> TimesAnalysis:
        return TimesAnalysis(self.words(rows), self.is_log, self.across_sentences, self.without_ends)

    def summarize(self, rows: Sequence[Row], name: str) -> Content:
        found = self.analysis(rows)
        stories = len({one.story for one in self.times.words})
        what = "logarithms of times" if self.is_log else "times in ms"
        by = (
            f"from {self.imported.path.name}"
            if self.imported
            else f"by {self.how.title.removesuffix(' (lower bound)')}"
        )
        unknown = sum(not all(map(self.frequencies.knows, one.word.split())) for one in self.times.words)
        called = ("stories", "story") if self.across_sentences else ("items", "item")
        texts = f"{stories:,} {called[stories == 1]}" if self.times.columns["story"] else "no stories"
        title = (
            f"{len(self.times.words):,} words, {pluralize(len(self.sentences), 'sentence')}, {texts}; "
            f"{len(found.fitted.times):,} words fitted; {what}; surprisals {by}."
        )
        notes = [
            f"{unknown:,} words are not among the frequencies ({self.frequencies.name}), and count as never seen.",
            *(
                [f"{len(self.excluded):,} words are left out because some model has no surprisal of them."]
                if self.excluded
                else []
            ),
            *(["words at the ends of sentences are left out."] if self.without_ends else []),
            *self.remarks(),
        ]
        misalignment = found.misalignment()
        return {
            "title": title,
            "notes": notes,
            "warnings": pages.shift_warnings(misalignment),
            "is_log": self.is_log,
            "across_sentences": self.across_sentences,
            "without_ends": self.without_ends,
            "boundary": None if self.imported else self.how.beam.boundary,
            "words": len(found.fitted.times),
            "sets": found.gains(),
            "shifts": found.shifts(),
            "misalignment": misalignment,
            "coefficients": found.coefficients(),
            "effects": found.effects(),
            "ms_per_bit": found.by_bit(),
            "against": None,
        }

    def tables(self, rows: Sequence[Row]) -> Tables:
        tables: Tables = {self.table: words_table(self.analysis(rows))}
        if self.times.readings:
            tables["readings.csv"] = readings_table(self.times)
        return tables

    def texts(self, rows: Sequence[Row]) -> dict[str, str]:
        if not self.times.readings:
            return {}
        name = self.imported.name if self.imported else "the model"
        names = self.analysis(rows).names
        how = {"is_log": self.is_log, "across_sentences": self.across_sentences, "without_ends": self.without_ends}
        return {"mixed_model.R": mixed_model_script(name, dtg.__version__, names, **how)}

    @classmethod
    def metrics(cls, content: Content) -> list[Metric]:
        return [
            Metric(name, "gain", pages.in_thousandths(one[over]), one[over]["words"], rule=over, level="sets")
            for name, one in content["sets"].items()
            for over in ("baseline", BY_SURPRISAL)
            if over in one
        ]

    def check_comparable(self, theirs: Sequence[Item], where: str) -> None:
        ours = [one.word for one in self.times.words]
        if [one["word"] for one in theirs] != ours:
            raise InputError(
                f"the words in {where} are not those of {self.source}; models are compared on the same words."
            )

    @classmethod
    def compared(
        cls, content: Content, ours: Sequence[Item], theirs: Sequence[Item], names: tuple[str, str]
    ) -> Content:
        if [one["word"] for one in ours] != [one["word"] for one in theirs]:
            raise InputError(f"{names[0]} and {names[1]} have not read the same words.")
        how = (content["is_log"], content["across_sentences"], content["without_ends"])
        found = [TimesAnalysis([as_numbers(one) for one in some], *how) for some in (ours, theirs)]
        return {**content, "against": compare(found[0], found[1], names)}

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
        """What each set gains over the controls, for each model."""
        found = {
            name: {one.group: one.value for one in metrics if one.rule == "baseline"}
            for name, metrics in models.items()
        }
        groups = list(dict.fromkeys(group for some in found.values() for group in some))
        if len(models) > 1:
            groups = [group for group in groups if group in (BY_SURPRISAL, ALL)]
        points = {name: [some.get(group) for group in groups] for name, some in found.items()}
        return EffectPlot(groups, points, f"held-out log-likelihood gained over controls, {pages.UNIT}")

    @classmethod
    def pictures(cls, name: str, content: Content) -> dict[str, EffectPlot]:
        drawn = {"gains": cls.chart({name: cls.metrics(content)})}
        return drawn | ({"predictors": pages.predictors_chart(content)} if content.get("effects") else {})
