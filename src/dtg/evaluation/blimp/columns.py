"""The table of scored pairs: a `ScoredPair` in, a row in the columns' order out; and back, to count or compare them later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dtg.errors import InputError
from dtg.evaluation.blimp.lines import Pair
from dtg.evaluation.blimp.scored import ScoredPair
from dtg.tables.columns import Column, Row

PAIR_COLUMNS = (
    Column("paradigm", str, "BLiMP's UID"),
    Column("pair_id", str, "the pair's number in its paradigm"),
    Column("field", str, "the paradigm's field"),
    Column("phenomenon", str, "one of the twelve phenomena"),
    Column("term", str, "the file's linguistics_term"),
    Column("one_prefix", int, "1 if the pair was made for the one-prefix method, 0 if not"),
    Column("two_prefix", int, "1 if the pair was made for the two-prefix method, 0 if not"),
    Column("good", str, "the acceptable sentence"),
    Column("bad", str, "the other"),
    Column("good_words", int, "words of the acceptable sentence"),
    Column("bad_words", int, "words of the other"),
    Column("good_log_probability", float, "log p of the acceptable sentence, in nats"),
    Column("bad_log_probability", float, "log p of the other, in nats"),
    Column("right", int, "1 if the acceptable sentence has the higher log p, otherwise 0"),
    Column("tie", int, "1 if both have the same log p, otherwise 0"),
)


def pair_row(scored: ScoredPair) -> Row:
    """The row of one pair."""
    pair, difference = scored.pair, scored.difference("sentence")
    return (
        pair.uid,
        pair.pair_id,
        pair.field,
        pair.phenomenon,
        pair.term,
        None if pair.one_prefix is None else int(pair.one_prefix),
        None if pair.two_prefix is None else int(pair.two_prefix),
        pair.good,
        pair.bad,
        scored.good_words,
        scored.bad_words,
        scored.good,
        scored.bad,
        int(difference > 0),
        int(difference == 0),
    )


def scored_pair(row: Mapping[str, Any]) -> ScoredPair:
    """What a row of such a table says; values may be text, as CSV has them. Columns that are not needed may be absent."""
    try:
        return ScoredPair(
            pair=Pair(
                uid=row["paradigm"],
                pair_id=str(row["pair_id"]),
                field=row["field"],
                term=row["term"],
                good=row["good"],
                bad=row["bad"],
                one_prefix=flag(row.get("one_prefix")),
                two_prefix=flag(row.get("two_prefix")),
            ),
            good=float(row["good_log_probability"]),
            bad=float(row["bad_log_probability"]),
            good_words=int(row["good_words"]),
            bad_words=int(row["bad_words"]),
        )
    except KeyError as error:
        raise InputError(
            f"a table of scored pairs needs the column {error.args[0]}; it has {', '.join(map(str, row))}."
        ) from None
    except (TypeError, ValueError) as error:
        raise InputError(
            f"pair {row.get('pair_id')} of {row.get('paradigm')}: numbers are expected for log-probabilities, words and "
            f"flags, but one is not ({error}). Mend the table, or make it anew."
        ) from None


def flag(value: Any) -> bool | None:
    return None if value is None or value == "" else bool(int(value))
