"""Actions: what a derivation is made of, and what a model predicts (paper, section 2 and Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

NOTHING = -1  # in tensors, in place of an action, an operation, a subword or a row
Argument = int | str | None  # of an operation: an arc's distance, a label, a number of items; None where it has none


class Operation(IntEnum):
    """The kinds of action. The numbers are what tensors hold."""

    GEN = 0
    LEFTARC = 1
    RIGHTARC = 2
    POP = 3
    END = 4
    POPROOT = 5  # how released models write the last arc, the one from <ROOT>
    NT = 6  # open a phrase
    REDUCE = 7  # close the innermost open phrase
    ATTACH = 8  # merge the last token with constituents on its left


@dataclass(frozen=True, slots=True)
class Role:
    """What an operation does to the rows of a stack, whatever the state it is taken in."""

    adds_row: bool = True
    pushes: bool = False  # the row goes onto the stack
    composes: bool = False  # a COMPOSE row comes before the row that predicts
    removes: bool = False  # rows leave the stack
    puts_in: bool = False  # an item is put where items were taken from, or on top


ROLES: dict[Operation, Role] = {
    Operation.GEN: Role(pushes=True, puts_in=True),
    Operation.LEFTARC: Role(composes=True, removes=True, puts_in=True),
    Operation.RIGHTARC: Role(composes=True, removes=True, puts_in=True),
    Operation.POP: Role(removes=True),
    Operation.END: Role(adds_row=False),
    # One row that composes and predicts at once. Nothing comes after it that could attend to anything.
    Operation.POPROOT: Role(puts_in=True),
    Operation.NT: Role(pushes=True, puts_in=True),
    Operation.ATTACH: Role(),
    Operation.REDUCE: Role(composes=True, removes=True, puts_in=True),
}


@dataclass(frozen=True, slots=True)
class Action:
    """One step of a derivation: GEN carries its word (None: any word), an arc-swift arc carries its distance k.

    >>> print(GEN("There"), LEFTARC, RIGHTARC.at(2), END)
    GEN(There) LEFTARC RIGHTARC[2] <END>
    """

    operation: Operation
    word: str | None = None
    argument: Argument = None

    def __str__(self) -> str:
        if self.operation is Operation.GEN:
            return "GEN" if self.word is None else f"GEN({self.word})"
        if self.operation is Operation.END:
            return "<END>"
        return describe(self.operation.name, self.argument)

    def at(self, argument: Argument) -> Action:
        """The same operation with an argument, such as an arc-swift arc with its distance."""
        return Action(self.operation, self.word, argument)


def describe(name: str, argument: Argument) -> str:
    """An operation's name with its argument: a number in square brackets, a label in round ones."""
    if argument is None:
        return name
    return f"{name}[{argument}]" if isinstance(argument, int) else f"{name}({argument})"


def GEN(word: str | None = None) -> Action:  # noqa: N802 - the paper's name, beside LEFTARC and RIGHTARC
    """Generate `word`; without one, it stands for generating any."""
    return Action(Operation.GEN, word)


LEFTARC = Action(Operation.LEFTARC)
RIGHTARC = Action(Operation.RIGHTARC)
POP = Action(Operation.POP)
END = Action(Operation.END)
REDUCE = Action(Operation.REDUCE)


def NT(label: str) -> Action:  # noqa: N802 - as papers write it
    """Open a phrase with this label."""
    return Action(Operation.NT, None, label)
