"""Checks of what a `SpanCRF` is given; errors say which sentence, span or tree is at fault."""

from __future__ import annotations

import torch
from torch import Tensor

from dtg.errors import InputError, TreeError

PAIRS = 1 << 22  # of constituents that are compared at once


def check_span_scores(scores: Tensor, lengths: Tensor) -> None:
    """Raise unless scores are (batch, words, words, labels) numbers and lengths say how many words each sentence has."""
    if scores.dim() != 4 or scores.shape[1] != scores.shape[2] or not scores.is_floating_point():
        raise InputError(
            "span scores of shape (batch, words, words, labels) are expected, floating-point, with the score of label l for "
            f"words i to j at [i - 1, j - 1, l]; {tuple(scores.shape)} of {scores.dtype} arrived."
        )
    batch, words, _, labels = scores.shape
    if lengths.shape != (batch,) or lengths.is_floating_point() or lengths.device != scores.device:
        raise InputError(
            f"whole lengths of shape ({batch},) on {scores.device} are expected, one for each sentence; "
            f"{tuple(lengths.shape)} of {lengths.dtype} on {lengths.device} arrived."
        )
    if not batch or not labels:
        raise InputError(f"at least one sentence and one label are expected; {batch} and {labels} arrived.")
    shortest, longest = int(lengths.min()), int(lengths.max())
    if shortest < 1 or longest > words:
        raise InputError(
            f"lengths from 1 to {words} are expected, as the scores have {words} words; {shortest} to {longest} arrived."
        )


def check_span_numbers(scores: Tensor, is_span: Tensor) -> None:
    """Raise at NaN and plus infinity in spans; minus infinity forbids a label."""
    suspect = ~(scores.amax(3) < torch.inf) & is_span
    if suspect.any():
        sentence, first, last = suspect.nonzero()[0].tolist()
        label = int((~(scores[sentence, first, last] < torch.inf)).nonzero()[0])
        raise InputError(
            f"sentence {sentence} has {float(scores[sentence, first, last, label])} as the score of label {label} for words "
            f"{first + 1} to {last + 1}; numbers are expected, or minus infinity to forbid a label."
        )


def check_sentences_have_trees(total: Tensor) -> None:
    """Raise if the (batch,) value of all trees of some sentence is minus infinity."""
    if (total == -torch.inf).any():
        sentence = int((total == -torch.inf).nonzero()[0])
        raise InputError(
            f"sentence {sentence} has no tree: every label of the whole sentence is forbidden by a score of minus infinity. "
            "Allow one of them, or leave the sentence out."
        )


def check_nodes(nodes: Tensor, lengths: Tensor, labels: int) -> None:
    """Raise unless (batch, nodes, 3) or (batch, k, nodes, 3) are the constituents of trees, no two over the same words."""
    if (
        nodes.dim() not in (3, 4)
        or nodes.shape[0] != lengths.shape[0]
        or nodes.shape[-1] != 3
        or nodes.is_floating_point()
    ):
        raise InputError(
            f"whole nodes of shape ({lengths.shape[0]}, nodes, 3) or ({lengths.shape[0]}, k, nodes, 3) are expected: first "
            f"word, last word, label; {tuple(nodes.shape)} of {nodes.dtype} arrived."
        )
    several = nodes if nodes.dim() == 4 else nodes.unsqueeze(1)
    first, last, label = several.unbind(3)
    is_node, end = first != -1, lengths.view(-1, 1, 1)
    outside = (first < 1) | (last < first) | (last > end)
    raise_at(outside & is_node, several, "has a constituent that is not within the sentence")
    raise_at(
        ((label < -1) | (label >= labels)) & is_node, several, f"has a label that is not among the {labels} there are"
    )
    is_whole = (first == 1) & (last == end) & is_node
    raise_at(is_whole.sum(2, keepdim=True) != 1, several, "does not have exactly one constituent over all words")
    rows = max(1, PAIRS // max(1, nodes.shape[0] * several.shape[2] ** 2))
    for begin in range(0, several.shape[1], rows):
        part = slice(begin, begin + rows)
        # A row that is no constituent lies apart from all others.
        low, high = (torch.where(is_node, bound, -1)[:, part] for bound in (first, last))
        one, other = low.unsqueeze(3), low.unsqueeze(2)
        crosses = (one < other) & (other <= high.unsqueeze(3)) & (high.unsqueeze(3) < high.unsqueeze(2))
        raise_at(crosses.flatten(2), several[:, part], "has constituents that cross", begin)
        same = (one == other) & (high.unsqueeze(3) == high.unsqueeze(2)) & (one > 0)
        raise_at(same.sum(3) > 1, several[:, part], "has two constituents over the same words", begin)


def raise_at(wrong: Tensor, nodes: Tensor, what: str, begin: int = 0) -> None:
    if wrong.any():
        sentence, tree = wrong.nonzero()[0, :2].tolist()
        found = [tuple(node) for node in nodes[sentence, tree].tolist() if node[0] != -1]
        raise TreeError(
            f"tree {begin + tree} of sentence {sentence} {what}: {found}. Constituents (first word, last word, label) are "
            "expected that are inside each other or apart, one of them over all words; a unary chain is one label."
        )
