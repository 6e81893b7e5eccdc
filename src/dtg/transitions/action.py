"""Actions: what a derivation is made of, and what a model predicts (paper, section 2 and Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Operation(IntEnum):
    """The kinds of action. The numbers are what tensors hold."""

    GEN = 0
    LEFTARC = 1
    RIGHTARC = 2
    POP = 3
    END = 4
    POPROOT = 5  # only read, never done: how released models write the last RIGHTARC, the one from <ROOT>


@dataclass(frozen=True, slots=True)
class Action:
    """One step of a derivation: GEN carries its word (None: any word), an arc-swift arc carries its distance k.

    >>> print(GEN("There"), LEFTARC, RIGHTARC.at(2), END)
    GEN(There) LEFTARC RIGHTARC[2] <END>
    """

    operation: Operation
    word: str | None = None
    distance: int | None = None

    def __str__(self) -> str:
        if self.operation is Operation.GEN:
            return "GEN" if self.word is None else f"GEN({self.word})"
        if self.operation is Operation.END:
            return "<END>"
        return self.operation.name if self.distance is None else f"{self.operation.name}[{self.distance}]"

    def at(self, distance: int) -> Action:
        """The same arc over `distance` stack items, as arc-swift has it."""
        return Action(self.operation, self.word, distance)


def GEN(word: str | None = None) -> Action:  # noqa: N802 - the paper's name, beside LEFTARC and RIGHTARC
    """Generate `word`; without one, it stands for generating any."""
    return Action(Operation.GEN, word)


LEFTARC = Action(Operation.LEFTARC)
RIGHTARC = Action(Operation.RIGHTARC)
POP = Action(Operation.POP)
END = Action(Operation.END)
