"""Checks of what a `ProjectiveCRF` is given; errors say which sentence, word or tree is at fault."""

from __future__ import annotations

import torch
from torch import Tensor

from dtg.errors import InputError, NonProjectiveError, TreeError


def check_scores(scores: Tensor, lengths: Tensor) -> None:
    """Raise unless scores are (batch, words, words + 1) numbers and lengths say how many words each sentence has."""
    if scores.dim() != 3 or scores.shape[2] != scores.shape[1] + 1 or not scores.is_floating_point():
        raise InputError(
            "arc scores of shape (batch, words, words + 1) are expected, floating-point, with the score of head h for word "
            f"m at [m - 1, h]; {tuple(scores.shape)} of {scores.dtype} arrived. If <ROOT> has a row as a word, "
            "drop it: scores[:, 1:]."
        )
    batch, words, _ = scores.shape
    if lengths.shape != (batch,) or lengths.is_floating_point() or lengths.device != scores.device:
        raise InputError(
            f"whole lengths of shape ({batch},) on {scores.device} are expected, one for each sentence; "
            f"{tuple(lengths.shape)} of {lengths.dtype} on {lengths.device} arrived."
        )
    if not batch:
        raise InputError("at least one sentence is expected; the batch is empty.")
    shortest, longest = int(lengths.min()), int(lengths.max())
    if shortest < 1 or longest > words:
        raise InputError(
            f"lengths from 1 to {words} are expected, as the scores have {words} words; {shortest} to {longest} arrived."
        )


def check_numbers(scores: Tensor) -> None:
    """Raise at NaN and plus infinity; minus infinity forbids an arc."""
    wrong = ~(scores < torch.inf)
    if wrong.any():
        sentence, word, head = wrong.nonzero()[0].tolist()
        raise InputError(
            f"sentence {sentence} has {float(scores[sentence, word, head])} as the score of head {head} for word {word + 1}; "
            "numbers are expected, or minus infinity to forbid an arc."
        )


def check_has_tree(total: Tensor) -> None:
    """Raise if the (batch,) value of all trees of some sentence is minus infinity."""
    if (total == -torch.inf).any():
        sentence = int((total == -torch.inf).nonzero()[0])
        raise InputError(
            f"sentence {sentence} has no tree: its arcs of minus infinity forbid every projective tree with one root word. "
            "Allow more arcs, or leave the sentence out."
        )


def check_count(k: int) -> None:
    if k < 1:
        raise InputError(f"at least one tree must be asked for; k is {k}.")


def check_heads(heads: Tensor, lengths: Tensor) -> None:
    """Raise unless every one of the (batch, k, words) heads is a projective tree with one root word."""
    words = heads.shape[2]
    number = torch.arange(1, words + 1, device=heads.device)
    present = (number <= lengths.view(-1, 1, 1)).expand_as(heads)
    end = lengths.view(-1, 1, 1)
    in_range = (heads >= 0) & (heads <= end)
    _raise_at(~in_range & present, heads, TreeError, "has a head outside the sentence")
    heads = torch.where(present, heads, 0)
    _raise_at(
        ((heads == 0) & present).sum(2, keepdim=True) != 1, heads, TreeError, "does not have exactly one root word"
    )
    ancestor = torch.cat([torch.zeros_like(heads[..., :1]), heads], 2)
    for _ in range(words.bit_length()):  # twice as far up each time
        ancestor = ancestor.gather(2, ancestor)
    _raise_at(ancestor != 0, heads, TreeError, "has a cycle")
    low, high = torch.minimum(heads, number), torch.maximum(heads, number)
    low, high = torch.where(present, low, -1), torch.where(present, high, -1)  # an arc that crosses nothing
    crossing = (low.unsqueeze(3) < low.unsqueeze(2)) & (low.unsqueeze(2) < high.unsqueeze(3))
    crossing &= high.unsqueeze(3) < high.unsqueeze(2)
    _raise_at(crossing.flatten(2), heads, NonProjectiveError, "has crossing arcs; dtg.trees.projectivize lifts them")


def _raise_at(
    wrong: Tensor, heads: Tensor, error: type[InputError | TreeError | NonProjectiveError], what: str
) -> None:
    if wrong.any():
        sentence, tree = wrong.nonzero()[0, :2].tolist()
        raise error(
            f"tree {tree} of sentence {sentence} {what}: heads {heads[sentence, tree].tolist()}. Projective trees with one "
            "root word are expected; the distribution has no others."
        )
