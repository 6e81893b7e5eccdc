"""What tasks with gold trees share: models are compared sentence by sentence, in points of one measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from dtg.errors import InputError
from dtg.evaluation.contract import Content, Item, Task
from dtg.evaluation.rendering import Block, Lines
from dtg.evaluation.tasks.selection import reading_remarks
from dtg.trees import TreebankReport


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
        return [Lines([f"{names[0]} − {names[1]}: {one['value']:+.2f} [{low:+.2f}, {high:+.2f}] points of {called}."])]

    @classmethod
    def against(cls, content: Content) -> list[Block]:
        """The comparison, if there is one."""
        return cls.comparison(tuple(content["against"]["models"]), content) if content.get("against") else []
