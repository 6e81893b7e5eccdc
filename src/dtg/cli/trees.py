"""Which trees of each sentence `dtg parse` writes, and how: by a parser, or by a language model's own search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtg.cli.loading import provenance
from dtg.cli.tables import RESUME, Destination, Work, write_trees
from dtg.errors import InputError

if TYPE_CHECKING:
    from dtg.parser import BiaffineParser, ParsedTree, Parser
    from dtg.tables.columns import Row
    from dtg.tables.items import Item
    from dtg.tables.sidecar import Sidecar
    from dtg.tables.unparsed import UnparsedSentence


@dataclass(frozen=True, slots=True)
class TreeSelection:
    """Which trees of each sentence: the best, the k best, or k drawn."""

    nbest: int | None = None
    sample: int | None = None
    without_replacement: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.nbest is not None and self.sample is not None:
            raise InputError("--nbest lists the best trees and --sample-trees draws some; give one of them.")
        if self.without_replacement and self.sample is None:
            raise InputError("--without-replacement is about drawing trees; say how many with --sample-trees K.")

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


def parser_sidecar(source: str, parser: Path, options: Mapping[str, Any], device: str) -> Sidecar:
    """What decides the trees of a parser, for the file beside them."""
    from dtg.parser.saving import parser_hash

    settings = {**options, "parser_sha256": parser_hash(parser), "device": device}
    return provenance("parse", settings, {"parser": str(parser), "input": source})


def write_parsed(
    items: Iterator[Item[UnparsedSentence]],
    size: int | None,
    parser: BiaffineParser,
    selection: TreeSelection,
    to: Destination,
    sidecar: Sidecar,
    how_to_resume: str = RESUME,
) -> None:
    """Parse group by group, show progress, and say what was written."""
    from dtg.tables.unparsed import parsed_conllu

    def rows(item: Item[UnparsedSentence], found: list[ParsedTree]) -> list[Row]:
        ranks = range(1, len(found) + 1) if selection.is_list else [None]
        return [
            (parsed_conllu(item.content, parsed.tree, parsed.log_probability, rank),)
            for rank, parsed in zip(ranks, found, strict=True)
        ]

    work = Work(items, size, lambda some: selection.find(parser, some), rows, (), selection.group)
    write_trees(work, to, lambda: sidecar, how_to_resume)
