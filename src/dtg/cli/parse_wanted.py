"""Which trees of each sentence `dtg parse` is to give: the options in, a way to find them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dtg.errors import InputError

if TYPE_CHECKING:
    from dtg.parser import ParsedTree, Parser
    from dtg.tables.items import Item
    from dtg.tables.unparsed import UnparsedSentence


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which trees of each sentence: the best, the k best, or k drawn."""

    nbest: int | None
    sample: int | None
    without_replacement: bool
    seed: int

    def __post_init__(self) -> None:
        if self.nbest is not None and self.sample is not None:
            raise InputError("--nbest lists the best trees and --sample draws some; give one of them.")
        if self.without_replacement and self.sample is None:
            raise InputError("--without-replacement is about drawing trees; say how many with --sample K.")

    @property
    def count(self) -> int:
        return self.nbest or self.sample or 1

    @property
    def group(self) -> int:
        """Sentences computed together, and computed again after an interruption."""
        return max(16, 1024 // self.count)

    @property
    def is_list(self) -> bool:
        return self.nbest is not None or self.sample is not None

    @property
    def settings(self) -> dict[str, Any]:
        drawn = {"without_replacement": self.without_replacement, "seed": self.seed} if self.sample else {}
        return {"nbest": self.nbest, "sample": self.sample, **drawn}

    def find(self, parser: Parser, items: Iterable[Item[UnparsedSentence]]) -> Iterator[list[ParsedTree]]:
        """The trees of a group. What is drawn follows from the seed and the number of the group's first sentence."""
        from dtg.search.sampling import generator_of

        some = list(items)
        words = [item.content.words for item in some]
        if self.sample is None:
            return parser.k_best_all(words, self.count)
        generator = generator_of(f"{self.seed} {some[0].sentence_id}")
        draw = parser.sample_without_replacement_all if self.without_replacement else parser.sample_all
        return draw(words, self.count, generator)
