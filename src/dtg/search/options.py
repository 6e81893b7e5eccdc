"""The limits of a beam search."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from dtg.errors import InputError
from dtg.io.settings import check_choice
from dtg.search.measures.names import check_columns
from dtg.transitions.rules import DERIVATIONS, Derivations

Boundary = Literal["next", "own"]  # which word the probability that a word is over belongs to
BOUNDARIES: tuple[Boundary, ...] = ("next", "own")
SENTENCES_TOGETHER = (32, 256)
HYPOTHESES_TOGETHER = 2_560
MOST = 10**9  # nobody means more


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamOptions:
    """What a search keeps. Larger numbers take longer and lose less; `kept` in the results says how much was lost."""

    beam: int = 300  # candidates just before each word: the most probable ones
    word_beam: int | None = None  # of these, how many are kept once the word is known; a third of them by default
    # Candidates after 0, 1, 2, ... actions since the last word that are kept whatever their rank, for each number.
    fast_track: int = 0
    max_actions: int | None = None  # actions between two words; no limit by default
    derivations: Derivations = "canonical"
    constrained: bool | None = None  # None: as the model was made
    boundary: Boundary = "next"  # decides what is reported, and nothing that is searched
    columns: tuple[str, ...] = ()  # what is measured besides (see `measures/names.py`)

    @classmethod
    def of(cls, **options: Any) -> BeamOptions:
        """From keywords that a user gave; one that is not known is named."""
        known = [field.name for field in fields(cls)]
        if unknown := [name for name in options if name not in known]:
            raise InputError(f"a search has no option {', '.join(unknown)}. Known: {', '.join(known)}.")
        return cls(**options)

    def __post_init__(self) -> None:
        for name, least in (("beam", 1), ("word_beam", 1), ("fast_track", 0), ("max_actions", 0)):
            value = getattr(self, name)
            if value is None and name in ("word_beam", "max_actions"):
                continue
            if type(value) is not int or not least <= value <= MOST:
                raise InputError(f"{name} is {value!r}; a whole number of at least {least} is expected.")
        check_choice("derivations", self.derivations, DERIVATIONS)
        check_choice("boundary", self.boundary, BOUNDARIES)
        object.__setattr__(self, "columns", check_columns(self.columns))

    @property
    def words_kept(self) -> int:
        """The word beam, or its default."""
        return max(1, self.beam // 3) if self.word_beam is None else self.word_beam

    @property
    def sentences_together(self) -> int:
        """How many sentences to hand to a search at a time; the narrower the beam, the more."""
        least, most = SENTENCES_TOGETHER
        return min(most, max(least, HYPOTHESES_TOGETHER // self.beam))
