"""A parser's state for one sentence: the generated words, their heads so far, the stack and the buffer head."""

from __future__ import annotations

from dataclasses import dataclass

from dtg.transitions.action import Operation
from dtg.trees.tree import ROOT


@dataclass(frozen=True, slots=True)
class State:
    """Immutable, so that a search can fork it by keeping it. It has the `Features` that legality is judged by."""

    text: tuple[str, ...] | None = None  # the known sentence, or None while generating freely
    words: tuple[str, ...] = ()  # generated so far; word i is words[i - 1]
    heads: tuple[int | None, ...] = ()  # of words, None where not yet known
    stack: tuple[int, ...] = (ROOT,)  # bottom to top
    buffer: int | None = None  # the buffer head, in systems that have one
    last: Operation | int = -1

    @property
    def depth(self) -> int:
        return len(self.stack)

    @property
    def buffered(self) -> bool:
        return self.buffer is not None

    @property
    def headless(self) -> int:
        return self.heads.count(None)

    @property
    def root_has_word(self) -> bool:
        return ROOT in self.heads

    @property
    def words_left(self) -> int:
        return -1 if self.text is None else len(self.text) - len(self.words)

    @property
    def top_has_right_dependent(self) -> bool:
        return any(head == self.stack[-1] for head in self.heads[self.stack[-1] :])

    @property
    def headed_run(self) -> int:
        for run, item in enumerate(reversed(self.stack)):
            if item == ROOT or self.heads[item - 1] is None:
                return run
        return len(self.stack)

    @property
    def next_word(self) -> str | None:
        """The word that GEN must generate, or None for any."""
        return None if self.text is None else self.text[len(self.words)]

    def with_head(self, dependent: int, head: int) -> tuple[int | None, ...]:
        """The heads with one more known."""
        return (*self.heads[: dependent - 1], head, *self.heads[dependent:])
