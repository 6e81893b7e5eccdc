"""A model family: the rule that turns actions into rows, for training and search alike (the design's one idea).

`begin` gives lanes with their first row; `advance` takes one action per lane and gives the rows that it adds. Training
folds `advance` over whole sentences (`packing.py`), search applies it one action at a time. There is no other source of
attention masks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import torch
from torch import Tensor

from dtg.errors import ConfigError
from dtg.families.lanes import Lanes
from dtg.families.reading import Reading, read
from dtg.families.rows import Kind, LaneRows, LaneView, Row
from dtg.io.settings import check_choice
from dtg.transitions.action import NOTHING, Operation
from dtg.transitions.lanes import LaneActions, legal
from dtg.transitions.system import TransitionSystem
from dtg.trees.kinds import Tree

ArcRepresentation = Literal["word+arc", "arc", "word"]
ARC_REPRESENTATIONS: tuple[ArcRepresentation, ...] = ("word+arc", "arc", "word")


class Family(ABC):
    """One kind of model in the paper's table: a rule, and the transition system whose actions it reads."""

    has_compose_rows: ClassVar[bool]  # an action that composes adds two rows, COMPOSE and the one that predicts
    root_kind: ClassVar[Kind]  # of the first row
    views: ClassVar[tuple[str, ...]]  # the ways in which attention heads may see rows, by name
    channel_views: ClassVar[tuple[str, ...]] = ()  # those that have an integer for each key, which adds to its score
    channel_size: ClassVar[int] = 0  # how many values that integer may have
    constituent_views: ClassVar[tuple[str, ...]] = ()  # those that say which constituent each key is in
    options: ClassVar[tuple[str, ...]] = ()  # further settings of the rule, by name

    def __init__(self, name: str, system: TransitionSystem, *, arc_representation: ArcRepresentation) -> None:
        check_choice("arc_representation", arc_representation, ARC_REPRESENTATIONS)
        self.name, self.system, self.arc_representation = name, system, arc_representation
        self._reads_on: dict[torch.device, Tensor] = {}

    @classmethod
    def split_heads(cls, heads: int) -> tuple[int, ...]:
        """How many attention heads see through each view, where the configuration does not say."""
        if len(cls.views) > 1:
            raise ConfigError(
                f"view_heads is missing: there are {len(cls.views)} views ({', '.join(cls.views)}) and {heads} attention heads;"
                " say how many heads see through each view."
            )
        return (heads,)

    @property
    def has_trees(self) -> bool:
        """Whether the family generates trees, rather than words alone."""
        return self.system.kind is not None

    def begin(self, words_left: Tensor, root: int, ids: Tensor | None = None) -> tuple[Lanes, LaneRows]:
        """Lanes at their start, and the `<ROOT>` row of each, which reads subword `root`.

        `words_left` (lanes,) is how many words of a known text each lane will generate, or -1. `ids` (lanes,) names the
        first row of each lane; later rows are numbered from there unless `advance` is told otherwise.
        """
        lanes = Lanes.begin(self.system, words_left, root, ids)
        names = lanes.next_id - 1
        first = LaneRows(
            kind=self.root_kind,
            predicts=True,
            second=False,
            present=torch.ones_like(names, dtype=torch.bool),
            id=names,
            piece=torch.full_like(names, root),
            views=tuple(self.first_view(names, view) for view in self.views),
        )
        return lanes, first

    def first_view(self, names: Tensor, view: str) -> LaneView:
        """What the `<ROOT>` row sees: itself."""
        channel = torch.zeros_like(names) if view in self.channel_views else None
        constituent = torch.zeros_like(names) if view in self.constituent_views else None
        return LaneView(torch.ones_like(names), names, torch.zeros_like(names), channel, constituent)

    @abstractmethod
    def advance(self, lanes: Lanes, actions: LaneActions, ids: Tensor | None = None) -> tuple[LaneRows, ...]:
        """Carry out one action in each lane, in place, and give the rows that this adds, in order.

        Rows of a later group may attend to those of an earlier one. `ids` (lanes, 2) names the rows to be added: the
        COMPOSE row, if there is one, and the row that predicts. Fork lanes first to keep the old ones.
        """

    def composes(self, actions: LaneActions) -> Tensor:
        """(lanes, 1) where these actions add a COMPOSE row before the row that predicts."""
        return actions.composes if self.has_compose_rows else torch.zeros_like(actions.composes)

    def rows_added(self, ids: Tensor) -> Tensor:
        """(actions,) how many rows each action adds."""
        table = self.system.table.on(ids.device)
        return (table.rows if self.has_compose_rows else table.adds_row.long())[ids]

    def represent(self, ids: Tensor, piece: Tensor) -> tuple[Tensor, Tensor]:
        """What rows read: (action, subword), with NOTHING where a row does not read it.

        Takes the action that made the row (NOTHING for the first row), and the subword generated or the head's.
        """
        if ids.device not in self._reads_on:
            with torch.inference_mode(False):
                reads = [self.reads(operation) for operation, _ in self.system.table.entries] + [(False, True)]
                self._reads_on[ids.device] = torch.tensor(reads, device=ids.device).t()
        reads_action, reads_piece = self._reads_on[ids.device]
        return ids.where(reads_action[ids], NOTHING), piece.where(reads_piece[ids], NOTHING)

    def reads(self, operation: Operation) -> tuple[bool, bool]:
        """Whether a row reads the operation that made it, and whether it reads its subword.

        A composed row reads its operation, its head's subword, or both, by arc representation; a POP reads itself.
        """
        if operation == Operation.GEN:
            return False, True
        if operation == Operation.POP:
            return True, False
        return self.arc_representation != "word", self.arc_representation != "arc"

    def legal(self, lanes: Lanes) -> Tensor:
        """(lanes, ids) where each action is legal now."""
        return legal(self.system, lanes.states)

    def rows(
        self,
        tree: Tree,
        pieces: Sequence[Sequence[str]] | None = None,
        arc_representation: ArcRepresentation | None = None,
    ) -> tuple[Row, ...]:
        """Every row of one sentence.

        Args:
            tree: of the kind that the family's transition system builds.
            pieces: the subwords of each word; without them a word is one subword.
            arc_representation: another one than the family's own.

        Returns:
            The rows in order, as `dtg inspect` shows them.
        """
        return self.read(tree, pieces, arc_representation).rows

    def read(
        self,
        tree: Tree,
        pieces: Sequence[Sequence[str]] | None = None,
        arc_representation: ArcRepresentation | None = None,
    ) -> Reading:
        """The rows with the derivation that they come from."""
        if arc_representation is None or arc_representation == self.arc_representation:
            return read(self, tree, pieces)
        return read(self.with_representation(arc_representation), tree, pieces)

    def with_representation(self, arc_representation: ArcRepresentation) -> Self:
        """The same family with another arc representation."""
        return type(self)(self.name, self.system, arc_representation=arc_representation)
