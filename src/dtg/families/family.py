"""A model family: the rule that turns actions into rows, for training and search alike (the design's one idea).

`begin` gives lanes with their first row; `advance` takes one action per lane and gives the rows that it adds. Training
folds `advance` over whole sentences (`packing.py`), search applies it one action at a time. There is no other source of
attention masks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal

import torch
from torch import Tensor

from dtg.errors import InputError
from dtg.families.lanes import Lanes
from dtg.families.reading import Reading, read
from dtg.families.rows import NOTHING, KindCode, LaneRows, Row
from dtg.io.settings import check_choice
from dtg.transitions.action import Operation
from dtg.transitions.lanes import LaneActions, legal
from dtg.transitions.rules import Derivations
from dtg.transitions.system import TransitionSystem
from dtg.trees import DependencyTree

ArcRepresentation = Literal["word+arc", "arc", "word"]
# How a sentence ends: by an arc from <ROOT> like any other (two rows in stack families), or, as in released models, by
# pop_root: one row that composes <ROOT> with the root word and predicts.
End = Literal["arc", "pop_root"]
ENDS: tuple[End, ...] = ("arc", "pop_root")
ARC_REPRESENTATIONS: tuple[ArcRepresentation, ...] = ("word+arc", "arc", "word")


class Family(ABC):
    """One kind of model in the paper's table."""

    name: ClassVar[str]
    doubles_arcs: ClassVar[bool]  # an arc adds two rows, COMPOSE and STACK
    root_kind: ClassVar[KindCode]  # of the first row

    def __init__(
        self,
        *,
        arc_representation: ArcRepresentation = "word+arc",
        derivations: Derivations = "canonical",
        end: End = "arc",
    ) -> None:
        check_choice("arc_representation", arc_representation, ARC_REPRESENTATIONS)
        check_choice("end", end, ENDS)
        self.arc_representation = arc_representation
        self.system = self.make_system(derivations)
        if end == "pop_root" and self.system.keeps_right_dependent:
            raise InputError(f"{self.name} has no pop_root ending; released models of that kind do not exist.")
        self.end = end

    @abstractmethod
    def make_system(self, derivations: Derivations) -> TransitionSystem:
        """The transition system whose actions this family reads."""

    def begin(self, words_left: Tensor, root: int, ids: Tensor | None = None) -> tuple[Lanes, LaneRows]:
        """Lanes at their start, and the `<ROOT>` row of each, which reads piece `root`.

        `words_left` (lanes,) is how many words of a known text each lane will generate, or -1. `ids` (lanes,) names the
        first row of each lane; later rows are numbered from there unless `advance` is told otherwise.
        """
        lanes = Lanes.begin(self.system, words_left, root, ids)
        names = lanes.next_id - 1
        first = LaneRows(
            kind=self.root_kind,
            predicts=True,
            present=torch.ones_like(names, dtype=torch.bool),
            id=names,
            piece=torch.full_like(names, root),
            keys=torch.ones_like(names),
            attends=names,
            relative=torch.zeros_like(names),
        )
        return lanes, first

    @abstractmethod
    def advance(self, lanes: Lanes, actions: LaneActions, ids: Tensor | None = None) -> tuple[LaneRows, ...]:
        """Carry out one action in each lane, in place, and give the rows that this adds, in order.

        Rows of a later group may attend to those of an earlier one. `ids` (lanes, 2) names the rows to be added: the
        COMPOSE row, if there is one, and the row that predicts. Fork lanes first to keep the old ones.
        """

    def composes(self, lanes: Lanes, actions: LaneActions) -> Tensor:
        """(lanes, 1) where these actions add a COMPOSE row before the row that predicts."""
        return torch.zeros_like(actions.arc)

    def represent(self, operation: Tensor, piece: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:
        """What rows read: (operation, piece), with NOTHING where a row does not read it.

        Takes the operation of the action that made the row (NOTHING for the first row), the piece generated or the
        head's, and whether the action is the last arc. An arc reads its operation, its head, or both, by arc
        representation; a POP reads itself.
        """
        operation, piece = self.reads(operation, piece)
        if self.end == "pop_root":
            operation = torch.where(ends & (operation != NOTHING), int(Operation.POPROOT), operation)
        return operation, piece

    def reads(self, operation: Tensor, piece: Tensor) -> tuple[Tensor, Tensor]:
        """What rows read of the operation that made them and their piece, the last arc being like any other."""
        arc = (operation == Operation.LEFTARC) | (operation == Operation.RIGHTARC)
        pop = operation == Operation.POP
        reads_operation = pop | arc if self.arc_representation != "word" else pop
        reads_piece = ~pop if self.arc_representation != "arc" else ~(pop | arc)
        return operation.where(reads_operation, NOTHING), piece.where(reads_piece, NOTHING)

    def legal(self, lanes: Lanes) -> dict[Operation, Tensor]:
        """For each operation, (lanes, distances): where it is legal now."""
        return legal(self.system, lanes.states)

    def rows(
        self,
        tree: DependencyTree,
        pieces: Sequence[Sequence[str]] | None = None,
        arc_representation: ArcRepresentation | None = None,
    ) -> tuple[Row, ...]:
        """Every row of one sentence. `pieces` are those of each word; without them a word is one piece."""
        return self.read(tree, pieces, arc_representation).rows

    def read(
        self,
        tree: DependencyTree,
        pieces: Sequence[Sequence[str]] | None = None,
        arc_representation: ArcRepresentation | None = None,
    ) -> Reading:
        """The rows with the derivation that they come from."""
        if arc_representation is None or arc_representation == self.arc_representation:
            return read(self, tree, pieces)
        family = type(self)(arc_representation=arc_representation, derivations=self.system.derivations, end=self.end)
        return read(family, tree, pieces)
