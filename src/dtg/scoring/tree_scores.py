"""log p(x, y) of many trees, as a prefix trie: equal prefixes of derivations are computed once.

That is what makes hundreds of trees of one sentence cheap: trees that are near each other share about half of their rows.
Trees of different sentences share what they have in common too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import inf, isnan

import torch
from torch import Tensor

from dtg.errors import InputError, NotFiniteError
from dtg.families import PackedView
from dtg.families.trie import Trie, in_order, pack_trie
from dtg.model.cached.cached_keys import CachedKeys, VisibleRows
from dtg.model.cached.frozen import FrozenDecoder
from dtg.model.model import DecoderModel
from dtg.model.precision import finest
from dtg.search.evaluator import PREDICTIONS_AT_ONCE
from dtg.transitions.batch import ActionBatch, SentenceBatch
from dtg.trees.kinds import Tree

ACTIONS_AT_ONCE = 4_000  # fresh actions in one pass: bounds memory
ACTIONS_TO_FREEZE = 2_000  # with at least this many, putting a decoder's weights in order costs less than it saves


def score_trees(model: DecoderModel, trees: Sequence[Tree], constrained: bool | None = None) -> list[float]:
    """log p(x, y) of each tree, in nats; raises for a tree that the system's limits leave without a derivation."""
    tokenizer = model.require_tokenizer()
    is_constrained = model.is_constrained(constrained)
    if not trees:
        return []
    for number, tree in enumerate(trees, start=1):
        if not hasattr(tree, "words"):
            raise InputError(f"tree {number} of those to be scored is {tree!r}, which is no tree.")
    batch = model.encode(trees, [tokenizer.encode_sentence(tree.words) for tree in trees])
    scores = score_derivations(model, batch, is_constrained)
    for tree, score in zip(trees, scores, strict=True):
        if isnan(score):
            raise NotFiniteError(f"log p(x, y) of {' '.join(tree.words)!r}")
    return scores


def score_reachable(model: DecoderModel, trees: Sequence[Tree], constrained: bool | None = None) -> list[float]:
    """The same, with minus infinity for trees that the model cannot build; one call, so that trees share what is common.

    A tree is out of reach beyond the system's limits, or with a label of a phrase that the model does not know.
    """
    kind = model.family.system.kind
    for tree in trees:
        if kind is not None and not isinstance(tree, kind.type):
            model.family.system.check(tree)  # says which kind is expected
    encode, reaches = cache(model.require_tokenizer().encode_sentence), model.family.system.reaches
    reached = [place for place, tree in enumerate(trees) if reaches(tree, [len(word) for word in encode(tree.words)])]
    scores = [-inf] * len(trees)
    found = score_trees(model, [trees[place] for place in reached], constrained)
    for place, score in zip(reached, found, strict=True):
        scores[place] = score
    return scores


@torch.inference_mode()
def score_derivations(model: DecoderModel, batch: SentenceBatch, constrained: bool) -> list[float]:
    """log p(x, y) of each tree of a batch, in nats."""
    actions = model.family.system.derive(batch)
    order, shared = in_order(actions)
    lengths: list[int] = actions.offsets.diff().tolist()
    scores = [0.0] * len(order)
    frozen = FrozenDecoder(model.decoder) if sum(lengths) - sum(shared) >= ACTIONS_TO_FREEZE else None
    for some in chunks(lengths, order, shared, ACTIONS_AT_ONCE):
        # A derivation that shares all its actions with the one before it is the same one.
        same = [place > 0 and shared[i] == lengths[order[i]] for place, i in enumerate(some)]
        distinct = [i for i, is_same in zip(some, same, strict=True) if not is_same]
        trie = pack_trie(
            model.family,
            actions,
            [order[i] for i in distinct],
            [0, *(shared[i] for i in distinct[1:])],
            model.root,
        )
        totals = iter(trie.totals(evaluate(model, trie, actions, constrained, frozen)).tolist())
        latest = 0.0
        for i, is_same in zip(some, same, strict=True):
            latest = latest if is_same else next(totals)
            scores[order[i]] = latest
    return scores


def evaluate(
    model: DecoderModel, trie: Trie, actions: ActionBatch, constrained: bool, frozen: FrozenDecoder | None = None
) -> Tensor:
    """(fresh actions,) the log-probability of each; with the decoder's own weights, or with those in order."""
    packed = trie.packed
    order, needed = needed_last(model, trie)
    place = torch.empty_like(order).index_copy_(0, order, torch.arange(len(order), device=order.device))
    keys = CachedKeys.of(
        [in_another_order(view, order, place) for view in packed.views],
        model.groups,
        lambda layer, keys_values: keys_values.contiguous(),  # from which many blocks pick theirs
        skip=len(order) - needed,
    )
    operation, piece = model.symbols.read_rows(packed)
    operation, piece = operation.index_select(0, order), piece.index_select(0, order)
    if frozen is None:
        hidden = model.decoder(operation, piece, keys)
    else:
        config = model.config  # no layer needs what another one has stored
        table = model.decoder.embedding.weight.new_empty(len(order), 2, config.attention_heads, config.head_width)
        hidden = frozen(operation, piece, keys, lambda layer: (table, table))
    row = place - (len(order) - needed)  # where each row's output is, if it has one
    attaches = actions.id[trie.action] >= model.symbols.choices
    scores = torch.zeros(len(attaches), dtype=finest(hidden.device), device=hidden.device)
    for some in (~attaches).nonzero()[:, 0].split(PREDICTIONS_AT_ONCE):
        rows = trie.row[some]
        aims = model.aims(packed.features[rows], actions, trie.action[some], constrained)
        scores[some] = model.predict(hidden[row[rows]], aims).to(scores.dtype)
    for some in attaches.nonzero()[:, 0].split(PREDICTIONS_AT_ONCE):
        if len(some):  # then all rows are needed, and stand in the order of the pack
            asked = model.attachable(packed, trie.row[some], actions, trie.action[some], constrained)
            found = model.predict_attachments(hidden, trie.row[some], actions, trie.action[some], asked)
            scores[some] = found.to(scores.dtype)
    return scores


def needed_last(model: DecoderModel, trie: Trie) -> tuple[Tensor, int]:
    """An order of the rows in which those whose output somebody needs come last, and how many they are."""
    rows = len(trie.packed)
    if model.attachment is not None:  # tokens are attached to any row
        return torch.arange(rows, device=trie.row.device), rows
    is_needed = torch.zeros(rows, dtype=torch.bool, device=trie.row.device).index_fill_(0, trie.row, True)
    return torch.argsort(is_needed.long(), stable=True), int(is_needed.sum())


def in_another_order(view: PackedView, order: Tensor, place: Tensor) -> VisibleRows:
    """What rows see, the rows being in this order; `place` is where each of them is."""
    attends = view.attends.index_select(0, order).long()
    return VisibleRows(
        attends=torch.where(attends < 0, attends, place[attends.clamp(min=0)]),
        relative=view.relative.index_select(0, order),
        keys=view.keys.index_select(0, order),
        channel=None if view.channel is None else view.channel.index_select(0, order),
    )


def chunks(lengths: Sequence[int], order: Sequence[int], shared: Sequence[int], at_once: int) -> Iterator[list[int]]:
    """Indices in the order, together as long as they are few enough; the first of a chunk shares nothing."""
    some: list[int] = []
    size = 0
    for place, derivation in enumerate(order):
        fresh = lengths[derivation] - shared[place]
        if some and size + fresh > at_once:
            yield some
            some, size = [], 0
        size += fresh if some else lengths[derivation]
        some.append(place)
    if some:
        yield some
