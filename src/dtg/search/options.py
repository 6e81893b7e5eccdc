"""The limits of a beam search: a beam that adapts, by the accuracy asked for, or one of fixed width."""

from __future__ import annotations

from collections.abc import Mapping
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
SENTENCES_IF_ADAPTIVE = (
    128  # twice as many as are searched at once: as short ones end, others begin, and passes stay large
)
Accuracy = Literal["fast", "default", "high"]
DEFAULT: Accuracy = "default"
# What each means; docs/search.md has what it costs and how far surprisals are from those of a beam of 1,000.
ACCURACIES: Mapping[Accuracy, Mapping[str, float | int]] = {
    "fast": {"beam": 1_000, "word_beam": 1_000, "smallest_share": 1e-3},
    "default": {"beam": 1_000, "word_beam": 1_000, "smallest_share": 2e-4},
    "high": {"beam": 2_000, "word_beam": 2_000, "smallest_share": 3e-5},
}
FIXED_BEAM = 300  # as in the paper, where a fixed beam is asked for by its other limits
TYPICAL_BEAM = 40  # of a beam that adapts
MOST = 10**9  # nobody means more


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamOptions:
    """What a search keeps; `kept` in the results says how much of the probability that is.

    By default the beam is of a fixed width. `of` is how users' options become limits, where it adapts by default.
    """

    beam: int = FIXED_BEAM  # candidates just before each word: the most probable ones, no more than this many
    word_beam: int | None = None  # of these, how many are kept once the word is known; a third of them by default
    # A beam that adapts: hypotheses with less than this share of the probability of all are pruned, before a word and after
    # it. 0 is a beam of fixed width.
    smallest_share: float = 0.0
    # Candidates after 0, 1, 2, ... actions since the last word that are kept whatever their rank, for each number.
    fast_track: int = 0
    max_actions: int | None = None  # actions between two words; no limit by default
    derivations: Derivations = "canonical"
    constrained: bool | None = None  # None: as the model was made
    accuracy: Accuracy | None = None  # what the limits were made from, if so
    boundary: Boundary = "next"  # decides what is reported, and nothing that is searched
    columns: tuple[str, ...] = ()  # what is measured besides (see `measures/names.py`)

    @classmethod
    def of(cls, *, accuracy: Accuracy | None = None, **options: Any) -> BeamOptions:
        """From keywords that a user gave.

        Args:
            accuracy: "fast", "default" or "high": the beam adapts, and this says how. Without it, and without a width, it is
                "default".
            **options: fields of this class; None is the same as not given. `beam`, `word_beam` or `fast_track` ask for a beam
                of fixed width. One that is not known is named in the error.
        """
        known = [field.name for field in fields(cls)]
        if unknown := [name for name in options if name not in known]:
            raise InputError(f"a search has no option {', '.join(unknown)}. Known: {', '.join(known)}.")
        given = {name: value for name, value in options.items() if value is not None}
        widths = [name for name in ("beam", "word_beam", "fast_track") if given.get(name) not in (None, 0)]
        if accuracy is not None:
            check_choice("accuracy", accuracy, tuple(ACCURACIES))
            if widths:
                raise InputError(
                    f"accuracy is {accuracy!r} and {widths[0]} is {given[widths[0]]!r}: a beam adapts, or has a fixed width. "
                    "Leave one of them out."
                )
        if "beam" in given or widths:
            return cls(**given)
        accuracy = accuracy or DEFAULT
        limits = {name: value for name, value in ACCURACIES[accuracy].items() if name not in given}
        return cls(**{**given, **limits}, accuracy=accuracy)

    def __post_init__(self) -> None:
        for name, least in (("beam", 1), ("word_beam", 1), ("fast_track", 0), ("max_actions", 0)):
            value = getattr(self, name)
            if value is None and name in ("word_beam", "max_actions"):
                continue
            if type(value) is not int or not least <= value <= MOST:
                raise InputError(f"{name} is {value!r}; a whole number of at least {least} is expected.")
        share = self.smallest_share
        if not (isinstance(share, int | float) and 0.0 <= share < 1.0):
            raise InputError(f"smallest_share is {share!r}; a number from 0 up to (not including) 1 is expected.")
        if self.is_adaptive and self.fast_track:
            raise InputError("fast_track is about a beam of fixed width; leave it out, or smallest_share.")
        check_choice("derivations", self.derivations, DERIVATIONS)
        check_choice("boundary", self.boundary, BOUNDARIES)
        object.__setattr__(self, "columns", check_columns(self.columns))

    @property
    def is_adaptive(self) -> bool:
        """Whether hypotheses are pruned by their share, and not by their number alone."""
        return self.smallest_share > 0.0

    @property
    def words_kept(self) -> int:
        """The word beam, or its default."""
        return max(1, self.beam // 3) if self.word_beam is None else self.word_beam

    @property
    def typical_beam(self) -> int:
        """How many candidates a word has, about."""
        return min(self.beam, TYPICAL_BEAM) if self.is_adaptive else self.beam

    @property
    def sentences_together(self) -> int:
        """How many sentences to hand to a search at a time; the narrower the beam, the more."""
        least, most = SENTENCES_TOGETHER
        if self.is_adaptive:
            return SENTENCES_IF_ADAPTIVE
        return min(most, max(least, HYPOTHESES_TOGETHER // self.typical_beam))

    def settings(self) -> dict[str, Any]:
        """What decides the numbers, to be recorded beside them."""
        widths = {"beam": self.beam, "word_beam": self.words_kept}
        if not self.is_adaptive:
            return widths
        made_from = {} if self.accuracy is None else {"accuracy": self.accuracy}
        return made_from | widths | {"smallest_share": self.smallest_share}

    @property
    def short_title(self) -> str:
        """For people who do not ask for all of it."""
        return "beam" if self.is_adaptive else f"beam {self.beam}"

    @property
    def title(self) -> str:
        """For people."""
        if not self.is_adaptive:
            return f"beam {self.beam:,}, word beam {self.words_kept:,}"
        name = f"share {self.smallest_share:g}" if self.accuracy is None else f"accuracy {self.accuracy}"
        return f"{name}, beam up to {self.beam:,}"
