"""Families over phrase structure: Transformer Grammars (Sartran et al. 2022) and PLM-mask (Qian et al. 2021).

TG is a stack of opened phrases, words and closed phrases. A closing bracket is doubled: a COMPOSE row attends to the phrase
that it closes, from its opening bracket on, and takes its place; then a STACK row, which is not pushed, predicts. Relative
positions are differences of level in the tree, so siblings share one.

PLM-mask reads the same actions as a sequence. Of its heads one sees what comes before the innermost open phrase, one the phrase
from its opening bracket on, and the others everything.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from dtg.errors import ConfigError
from dtg.families.lanes import Lanes
from dtg.families.linear import LinearFamily
from dtg.families.rows import LaneRows, LaneView
from dtg.families.stack import StackFamily
from dtg.transitions.action import Operation
from dtg.transitions.lanes import Change, LaneActions
from dtg.transitions.top_down import PhraseLanes


class PhraseStackFamily(StackFamily):
    """TG: a row reads a subword or a bracket, and positions are levels."""

    def reads(self, operation: Operation) -> tuple[bool, bool]:
        generates = operation == Operation.GEN
        return not generates, generates

    def positions(self, lanes: Lanes, change: Change) -> Tensor:
        """How many levels higher in the tree each row is; the row itself and its siblings are at 0."""
        states = lanes.states
        assert isinstance(states, PhraseLanes)
        return states.level.gather(1, change.new_top.clamp(min=0)) - states.level.gather(1, lanes.item)


class PhraseMaskFamily(LinearFamily):
    """PLM-mask. Rows are in order, so what each view shows is a range of them."""

    views: ClassVar[tuple[str, ...]] = ("before", "phrase", "all")

    @classmethod
    def split_heads(cls, heads: int) -> tuple[int, ...]:
        """One head sees before the innermost open phrase, one the phrase, the others everything."""
        if heads < 3:
            raise ConfigError(f"plm-mask needs at least 3 attention heads, one for each view, not {heads}.")
        return 1, 1, heads - 2

    def advance(self, lanes: Lanes, actions: LaneActions, ids: Tensor | None = None) -> tuple[LaneRows, ...]:
        (rows,) = super().advance(lanes, actions, ids)
        (everything,) = rows.views
        states = lanes.states
        assert isinstance(states, PhraseLanes)
        place = everything.keys - 1  # of the row itself
        # By open phrase: where its opening bracket is. Where nothing was opened, that is written above and has no meaning.
        opened = states.open - actions.does[Operation.NT].long()
        lanes.start.scatter_(1, opened.clamp(max=lanes.start.shape[1] - 1), place)
        innermost = lanes.start.gather(1, (states.open - 1).clamp(min=0))
        is_open = states.open > 0
        before = LaneView(
            keys=torch.where(is_open, innermost, everything.keys),
            attends=everything.attends,
            relative=everything.relative,
        )
        first = torch.where(is_open, innermost, 0)
        columns = torch.arange(lanes.rows.shape[1], device=first.device)
        places = (first + columns).clamp(max=lanes.rows.shape[1] - 1)
        phrase = LaneView(keys=everything.keys - first, attends=lanes.rows.gather(1, places), relative=place - places)
        return (rows._replace(views=(before, phrase, everything)),)
