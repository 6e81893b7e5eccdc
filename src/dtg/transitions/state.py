"""A parser's state for one sentence: what every system's state has."""

from __future__ import annotations

from dataclasses import dataclass

from dtg.transitions.action import NOTHING, Operation


@dataclass(frozen=True, slots=True)
class State:
    """Immutable, so that a search can fork it by keeping it. Systems add what they build, and the features of their rules."""

    text: tuple[str, ...] | None = None  # the known sentence, or None while generating freely
    words: tuple[str, ...] = ()  # generated so far; word i is words[i - 1]
    last: Operation | int = NOTHING

    @property
    def words_left(self) -> int:
        """Words of a known text still to be generated; -1 when the text is not known."""
        return -1 if self.text is None else len(self.text) - len(self.words)

    @property
    def next_word(self) -> str | None:
        """The word that GEN must generate, or None for any."""
        return None if self.text is None else self.text[len(self.words)]
