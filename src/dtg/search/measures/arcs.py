"""How long the arcs are that hypotheses make on their way to a word, in words and in content words.

Hypotheses know their stack as rows, not as words. So the words of their items are kept beside them, and the actions since the
word before are carried out on these again, by the system's own states.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from dtg.transitions.action import NOTHING, Operation
from dtg.transitions.lanes import LaneActions, LaneStates
from dtg.transitions.system import TransitionSystem


@dataclass(frozen=True, slots=True)
class ItemWords:
    """For each stack item of each hypothesis its word, as two numbers: of words, and of content words, up to and with it."""

    counts: Tensor  # (hypotheses, items, 2)

    def fork(self, parents: Tensor) -> ItemWords:
        return ItemWords(self.counts[parents])

    def pushed(self, states: LaneStates, read: Tensor) -> ItemWords:
        """With the word just generated, up to which `read` (hypotheses, 2) were read."""
        top = states.items[:, 0] - 1
        counts = pad(self.counts, (0, 0, 0, max(0, int(top.max()) + 1 - self.counts.shape[1])))
        counts[torch.arange(len(top), device=top.device), top] = read
        return ItemWords(counts)

    @staticmethod
    def join(parts: list[ItemWords]) -> ItemWords:
        width = max(part.counts.shape[1] for part in parts)
        return ItemWords(torch.cat([pad(part.counts, (0, 0, 0, width - part.counts.shape[1])) for part in parts]))


def make_arcs(
    system: TransitionSystem, states: LaneStates, words: ItemWords, actions: Tensor
) -> tuple[ItemWords, Tensor]:
    """Carry out (hypotheses, longest) ids of actions, NOTHING filling up; changes the states.

    Returns:
        The words of the items afterwards, and (hypotheses, 2) the summed lengths of the arcs made: in words, and in content
        words from after the earlier word up to and with the later one.
    """
    counts = pad(words.counts, (0, 0, 0, 1)).clone()
    length = torch.zeros(len(counts), 2, dtype=torch.long, device=counts.device)
    lane = torch.arange(len(counts), device=counts.device)
    nothing = torch.full_like(lane, NOTHING)
    for ids in actions.unbind(1):
        taken = LaneActions.of(system.table, ids, nothing, nothing >= 0)
        change = states.change(taken)
        is_arc = (taken.does[Operation.LEFTARC] | taken.does[Operation.RIGHTARC])[:, 0]
        top, lower, head = (counts[lane, place[:, 0].clamp(min=0)] for place in (change.top, change.lower, change.head))
        length += (top - lower).abs() * is_arc[:, None]
        arcs = is_arc.nonzero()[:, 0]
        counts[arcs, change.lower[arcs, 0]] = head[arcs]
        if change.keeps_top is not None:
            kept = (change.keeps_top[:, 0] & ~taken.idle[:, 0]).nonzero()[:, 0]
            counts[kept, change.new_top[kept, 0]] = top[kept]
        states.apply(taken, change)
    return ItemWords(counts), length
