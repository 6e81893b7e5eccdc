"""BLiMP (Warstadt et al. 2020): minimal pairs with a paradigm, a phenomenon and a field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from dtg.errors import InputError
from dtg.evaluation.contract import Item
from dtg.evaluation.probability import Probability
from dtg.evaluation.rendering import pluralize
from dtg.evaluation.tasks.pairs.blimp_files import Pair, read_pairs
from dtg.evaluation.tasks.pairs.paradigms import ALL_PARADIGMS, title
from dtg.evaluation.tasks.pairs.scored import Levels, ScoredPair, numbers_of, scored_of
from dtg.evaluation.tasks.pairs.task import MinimalPairs
from dtg.evaluation.tasks.selection import amount
from dtg.tables.columns import Column


class Blimp(MinimalPairs):
    """BLiMP, or paradigms of one's own in its format."""

    name: ClassVar[str] = "blimp"
    heading: ClassVar[str] = "BLiMP"
    strata: ClassVar[str] = "paradigms"
    levels: ClassVar[Levels] = {
        "fields": lambda pair: pair.field,
        "phenomena": lambda pair: pair.phenomenon,
        "paradigms": lambda pair: pair.uid,
    }
    labels: ClassVar[Mapping[str, str]] = {
        "overall": "",
        "fields": "field",
        "phenomena": "phenomenon",
        "paradigms": "paradigm",
    }
    summarized: ClassVar[Sequence[str]] = ("overall", "fields")
    pictured: ClassVar[Mapping[str, Sequence[str]]] = {
        "fields": ("overall", "fields"),
        "phenomena": ("overall", "phenomena"),
    }
    compared_level: ClassVar[str] = "phenomena"
    columns: ClassVar[Sequence[Column]] = (
        Column("paradigm", str, "BLiMP's UID"),
        Column("pair_id", str, "the pair's number in its paradigm"),
        Column("field", str, "the paradigm's field"),
        Column("phenomenon", str, "one of the twelve phenomena"),
        Column("term", str, "the file's linguistics_term"),
        Column("one_prefix", int, "1 if the pair was made for the one-prefix method, 0 if not"),
        Column("two_prefix", int, "1 if the pair was made for the two-prefix method, 0 if not"),
        *MinimalPairs.columns[2:],
    )

    @classmethod
    def of(
        cls,
        source: Path,
        *,
        paradigms: Sequence[str] | None = None,
        limit: int | None = None,
        sample: int | None = None,
        share: float | None = None,
        seed: int = 0,
        **how: Any,
    ) -> Self:
        """All pairs, or some.

        Args:
            source: BLiMP's folder of .jsonl files, or one such file.
            paradigms: only these.
            limit, sample, share, seed: the first pairs of each paradigm; or some, or such a part, at random.
            **how: how log p is found: `by`, `accuracy`, `beam`, `word_beam`, `proposal`, `trees`, `device` (see
                `Probability.of`).
        """
        found = read_pairs(source, paradigms=paradigms, limit=limit, sample=sample, share=share, seed=seed)
        said = f"{pluralize(len(found.paradigms), 'paradigm')}, {pluralize(len(found.pairs), 'pair')}"
        said += amount(limit, sample, seed, share)
        return cls(source, found.pairs, Probability.of(seed=seed, **how), said, found.notes)

    def pair_row(self, scored: ScoredPair) -> tuple[Any, ...]:
        return pair_row(scored)

    @classmethod
    def scored_pair(cls, item: Item) -> ScoredPair:
        return scored_pair(item)

    @classmethod
    def title(cls, group: str) -> str:
        return group if group in ALL_PARADIGMS else title(group)


def pair_row(scored: ScoredPair) -> tuple[Any, ...]:
    """The row of one pair in the table."""
    pair = scored.pair
    flags = (None if value is None else int(value) for value in (pair.one_prefix, pair.two_prefix))
    return (
        *(pair.uid, pair.pair_id, pair.field, pair.phenomenon, pair.term),
        *flags,
        *(pair.good, pair.bad),
        *numbers_of(scored),
    )


def scored_pair(row: Mapping[str, Any]) -> ScoredPair:
    """What a row of such a table says; values may be text, as CSV has them. Columns that are not needed may be absent."""

    def flag_in(name: str) -> bool | None:
        value = row.get(name)
        return None if value is None or value == "" else bool(int(value))

    try:
        pair = Pair(
            uid=row["paradigm"],
            pair_id=str(row["pair_id"]),
            field=row["field"],
            term=row["term"],
            good=row["good"],
            bad=row["bad"],
            one_prefix=flag_in("one_prefix"),
            two_prefix=flag_in("two_prefix"),
        )
        return scored_of(pair, row)
    except KeyError as error:
        raise InputError(
            f"a table of scored pairs needs the column {error.args[0]}; it has {', '.join(map(str, row))}."
        ) from None
