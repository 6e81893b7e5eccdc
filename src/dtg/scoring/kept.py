"""How much of the probability searches kept: words at which that was little are counted, for people to be told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LITTLE = 0.75  # of the probability, kept at a word


class KeptTally:
    """Counts words, and those at which the search kept little of the probability."""

    def __init__(self) -> None:
        self.words = self.count = 0

    def add(self, kept: Iterable[float]) -> None:
        """Count the words of one sentence, from the share that was kept at each."""
        for share in kept:
            self.words += 1
            self.count += bool(share < LITTLE)

    def counts(self) -> list[int]:
        """Words, and those with little."""
        return [self.words, self.count]

    def add_counts(self, counts: Sequence[int]) -> None:
        """Add what another process has counted."""
        self.words, self.count = self.words + counts[0], self.count + counts[1]

    def remarks(self) -> list[str]:
        """What is to be said of it; nothing, if nothing was searched."""
        if not self.words:
            return []
        found = f"{self.count:,}" if self.count else "none"
        return [f"at {found} of {self.words:,} words the search kept less than {LITTLE:.0%} of the probability"]
