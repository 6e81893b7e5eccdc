"""From bits to milliseconds: by a number, or by the coefficients of a regression of reading times on surprisal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dtg.evaluation.results import read_content


@dataclass(frozen=True, slots=True)
class Conversion:
    """ms for a bit of surprisal at a word, one word later, and two words later."""

    by_lag: tuple[float, float, float]
    source: str

    @classmethod
    def of(cls, given: float | str | Path) -> Conversion:
        """A number, or the folder of an evaluation of reading times whose coefficients are taken."""
        try:
            return cls((float(str(given)), 0.0, 0.0), "given")
        except ValueError:
            content = read_content(Path(str(given)), "reading")["ms_per_bit"]
            return cls((content["word"], content["after_1"], content["after_2"]), str(given))

    def effect(self, differences: Mapping[int, float | None], place: int) -> float | None:
        """Of a word, from the differences in bits there and at the two words before it."""
        known = [differences.get(place - lag) for lag in range(3)]
        if any(value is None for value, weight in zip(known, self.by_lag, strict=True) if weight):
            return None
        return sum(weight * (value or 0.0) for value, weight in zip(known, self.by_lag, strict=True))
