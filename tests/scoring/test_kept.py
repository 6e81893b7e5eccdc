"""Words at which the search kept little are counted."""

from __future__ import annotations

from dtg.scoring.kept import KeptTally


def test_it_counts_words_below_three_quarters() -> None:
    tally = KeptTally()
    assert tally.remarks() == []
    tally.add([1.0, 0.75])
    assert tally.remarks() == ["at none of 2 words the search kept less than 75% of the probability"]
    tally.add([0.7499, 0.1] * 600)
    assert tally.remarks() == ["at 1,200 of 1,202 words the search kept less than 75% of the probability"]
