"""What batched oracles and limits need to know of phrase-structure trees, for a whole batch without a loop over words."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from dtg.transitions.batch import ConstituencyColumns


@dataclass(frozen=True, slots=True)
class PhraseCounts:
    """Counts by word of the batch. Nodes are in preorder, and every sentence closes all phrases that it opens."""

    begin: Tensor  # (words,) phrases that begin there
    end: Tensor  # (words,) phrases that end there
    merges: Tensor  # (words,) binary constituents of more than one word that end there, after right-factoring

    @classmethod
    def of(cls, nodes: ConstituencyColumns, words: int) -> PhraseCounts:
        begin = torch.bincount(nodes.first, minlength=words)
        end = torch.bincount(nodes.last, minlength=words)
        # Right-factoring makes of a node with m children m - 1 binary ones, all of which end where it does: none of a node in
        # a unary chain, and none of one over a single word.
        added = children(nodes, begin, end) - 1
        return cls(begin, end, torch.zeros_like(end).index_add_(0, nodes.last, added))

    @property
    def open(self) -> Tensor:
        """(words,) phrases that are open while the word is generated."""
        return self.begin.cumsum(0) - self.end.cumsum(0) + self.end


def children(nodes: ConstituencyColumns, begin: Tensor, end: Tensor) -> Tensor:
    """(nodes,) how many words and phrases are directly below each node.

    A child's parent is the last node before it that is one level higher. Sorted by level, and in the order of the text within
    a level, parents and children stand so that each child comes after its parent and before the next one.
    """
    count, words = len(nodes.first), len(begin)
    device = nodes.first.device
    begun, ended = begin.cumsum(0), end.cumsum(0) - end  # up to the word, and before it
    number = torch.arange(count, device=device)
    level = number - ended[nodes.first]  # of nodes: how many are open around each
    place = number + nodes.first  # in the order of the text, where a word stands after the nodes that begin with it
    word_level = begun - ended
    word_place = torch.arange(words, device=device) + begun
    # Every node but the outermost ones is a child of one; every word is.
    inner = level > 0
    levels = torch.cat([level, level[inner] - 1, word_level - 1])
    places = torch.cat([place, place[inner], word_place])
    order = torch.argsort(levels * (count + words + 1) + places)
    is_parent = order < count
    parent = order[is_parent][is_parent.cumsum(0)[~is_parent] - 1]
    return torch.bincount(parent, minlength=count)
