"""What tasks with gold trees share: models are compared sentence by sentence, and parsers by groups of sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any, ClassVar, Protocol

from dtg.errors import InputError
from dtg.evaluation.contract import Content, Interval, Item, Metric, Row, Task
from dtg.evaluation.rendering import Block, Heading, Table, TextBlock
from dtg.evaluation.tasks.selection import reading_remarks
from dtg.text.documents import sentence_id
from dtg.trees import TreebankReport

BINS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, None))
GROUP = 64  # sentences parsed together, and again after an interruption
OF_SENTENCES = ("exact", "exact_labelled")  # shares of sentences; all others are of the task's unit


class GoldTask(Task, Protocol):
    """A task of trees that are compared with gold ones."""

    report: TreebankReport
    measured: ClassVar[tuple[str, str]]  # what models are compared by: its key in results, and its name

    @classmethod
    def difference(cls, ours: Sequence[Item], theirs: Sequence[Item]) -> dict[str, Any]:
        """How much higher the first model is, in points: `value` and `interval`."""
        ...

    def remarks(self) -> list[str]:
        return reading_remarks(self.report)

    @classmethod
    def compared(
        cls, content: Content, ours: Sequence[Item], theirs: Sequence[Item], names: tuple[str, str]
    ) -> Content:
        if [one["sent_id"] for one in ours] != [one["sent_id"] for one in theirs]:
            raise InputError("the results are of different sentences; both are expected to be of the same.")
        difference = {cls.measured[0]: cls.difference(ours, theirs)}
        return {**content, "against": {"models": list(names), "difference": difference}}

    @classmethod
    def comparison(cls, names: tuple[str, str], content: Content) -> list[Block]:
        key, called = cls.measured
        one = content["against"]["difference"][key]
        low, high = one["interval"]
        return [
            TextBlock([f"{names[0]} − {names[1]}: {one['value']:+.2f} [{low:+.2f}, {high:+.2f}] points of {called}."])
        ]

    @classmethod
    def against(cls, content: Content) -> list[Block]:
        """The comparison, if there is one."""
        return cls.comparison(tuple(content["against"]["models"]), content) if content.get("against") else []


class ParsingTask(GoldTask, Protocol):
    """How many heads or brackets of gold trees a parser finds, in its best tree and in the best of a list."""

    files: tuple[Path, ...]
    gold: tuple[Any, ...]
    nbest: int
    unit: ClassVar[str]  # what shares are of: words or brackets
    shares: ClassVar[Mapping[str, str]]  # as results.json calls them, with their titles

    @property
    def data(self) -> str:
        return ", ".join(map(str, self.files))

    def items(self) -> list[Sequence[Any]]:
        return [self.gold[first : first + GROUP] for first in range(0, len(self.gold), GROUP)]

    def settings(self) -> dict[str, Any]:
        return {"nbest": self.nbest}

    def given(self) -> dict[str, Any]:
        return {"files": [str(path) for path in self.files]}

    def titled(self, name: str) -> str:
        return f"{name} on {', '.join(path.name for path in self.files)}"

    @classmethod
    def metrics(cls, content: Content) -> list[Metric]:
        overall = {"all words": content["all"]}
        overall |= {"no punctuation": content["without_punctuation"]} if "without_punctuation" in content else {}
        overall |= {f"best of {content['oracle']['nbest']}": content["oracle"]} if "oracle" in content else {}
        found = []
        for level, groups in {"overall": overall, "by_length": content["by_length"]}.items():
            for group, one in groups.items():
                for name in cls.shares:
                    if one.get(name) is not None:
                        low, high = content.get("intervals", {}).get(group, {}).get(name, (nan, nan))
                        n = one["sentences" if name in OF_SENTENCES else cls.unit]
                        found.append(Metric(group, name, Interval(one[name], low, high), n, level=level))
        return found

    @classmethod
    def page(cls, name: str, content: Content) -> list[Block]:
        return [Heading(f"Parser accuracy: {content['title']}"), *cls.summary(name, content)]

    @classmethod
    def shares_table(cls, content: Content) -> Table:
        """A row for all sentences, for each range of lengths, and for the best of a list."""
        columns = {column: title for column, title in cls.shares.items() if column in content["all"]}
        groups = {"all": content["all"], "without punctuation": content.get("without_punctuation")}
        groups |= {f"{name} words": one for name, one in content["by_length"].items()}
        groups |= {f"best of {content['oracle']['nbest']}": content["oracle"]} if "oracle" in content else {}
        rows = [
            [
                label,
                *(f"{one[count]:,}" for count in ("sentences", cls.unit)),
                *("" if one.get(column) is None else f"{one[column]:.2f}" for column in columns),
            ]
            for label, one in groups.items()
            if one is not None
        ]
        return Table(["", "sentences", cls.unit, *columns.values()], rows)


def by_length(rows: Sequence[Row], scores: Callable[[Sequence[Row]], dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The scores of sentences of each range of lengths."""
    bins: dict[str, list[Row]] = {bin_name(first): [] for first, _ in BINS}
    for row in rows:
        bins[bin_name(row["words"])].append(row)
    return {name: scores(some) for name, some in bins.items()}


def bin_name(words: int) -> str:
    first, last = next(ends for ends in BINS if ends[1] is None or words <= ends[1])
    return f"{first}+" if last is None else f"{first}-{last}"


def percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 2) if whole else None


def identity(gold: Any) -> Row:
    """Which sentence of which file a row is about."""
    return {
        "sentence_id": gold.source.sentence if gold.source else 0,
        "sent_id": sentence_id(gold.source) if gold.source else "",
    }


def ticket(tree: Any, seed: int) -> str:
    """What a tree's place in the lottery follows from."""
    assert tree.source is not None
    return "\n".join([str(seed), str(tree.source.sentence), *tree.words])
