"""What of a batch can be computed before the model is at hand: derivations, rows, and what rows attend to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dtg.families import Family, PackedRows, pack
from dtg.families.splitting import split_batches, to_device
from dtg.model.attention import HeadGroups
from dtg.model.batch.sentence_keys import SentenceKeys
from dtg.model.packed_keys import PackedKeys
from dtg.transitions.batch import ActionBatch, SentenceBatch


@dataclass(frozen=True, slots=True)
class PreparedBatch:
    """The derivations of some sentences, as rows."""

    actions: ActionBatch
    packed: PackedRows
    keys: SentenceKeys | PackedKeys | None  # None: what rows see may still change
    words: int
    pieces: int  # subwords


def prepare_batches(
    family: Family,
    batch: SentenceBatch,
    sizes: Sequence[int],
    root: int,
    groups: tuple[HeadGroups, ...] | None,
    device: torch.device,
) -> list[PreparedBatch]:
    """Several batches at once.

    Args:
        family: what turns derivations into rows.
        batch: the sentences of all of them.
        sizes: how many sentences each has.
        root: the subword that `<ROOT>` rows read.
        groups: the groups of heads of every layer; None leaves open what rows attend to.
        device: where the model is.

    Returns:
        The batches, as if each had been prepared by itself.
    """
    actions = family.system.derive(batch)
    packed = pack(family, actions, root)
    found, sentence = [], 0
    for size, (of_batch, rows) in zip(sizes, split_batches(actions, packed, sizes), strict=True):
        first, last = batch.word_offsets[[sentence, sentence + size]].tolist()
        begin, end = batch.piece_offsets[[first, last]].tolist()
        sentence += size
        if rows.offsets.device != device:
            rows = to_device(rows, device)
            of_batch = ActionBatch(
                *(column.to(device) for column in (of_batch.id, of_batch.piece, of_batch.starts_word, of_batch.offsets))
            )
        keys = None if groups is None else packed_keys(rows, groups)
        found.append(PreparedBatch(of_batch, rows, keys, last - first, end - begin))
    return found


def packed_keys(packed: PackedRows, groups: tuple[HeadGroups, ...]) -> SentenceKeys | PackedKeys:
    """What the rows of a batch attend to, in the form that suits the device; rows that predict nothing have no output."""
    if packed.offsets.device.type == "cpu":
        return SentenceKeys.of(packed, groups)
    return PackedKeys.of(packed, groups, all_outputs=False)
