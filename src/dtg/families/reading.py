"""Rows in words: one tree in, `Row` objects for people out. They come from the same packed rows that training reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dtg.families.packing import PackedRows, pack
from dtg.families.rows import NOTHING, Kind, KindCode, Row
from dtg.transitions.action import Action, Operation
from dtg.transitions.batch import ActionBatch, SentenceBatch
from dtg.trees import DependencyTree

if TYPE_CHECKING:
    from dtg.families.family import Family

ROOT_PIECE = "<ROOT>"


def read_rows(family: Family, tree: DependencyTree, pieces: Sequence[Sequence[str]] | None) -> tuple[Row, ...]:
    """Every row of one sentence."""
    split = [[word] for word in tree.words] if pieces is None else pieces
    names = [ROOT_PIECE, *(piece for word in split for piece in word)]
    actions = derive(family, tree, split)
    packed = pack(family, actions, root=0)
    swift = family.system.distances != (None,)
    predicted = [str(action) for action in in_words(actions, names, swift)]
    return tuple(
        Row(
            index=index,
            reads=reads(packed, index, names, swift),
            kind=Kind[KindCode(int(packed.kind[index])).name],
            attends=tuple(key for key, _ in attended),
            relative=tuple(relative for _, relative in attended),
            predicts=None if packed.target[index] == NOTHING else predicted[int(packed.target[index])],
        )
        for index in range(len(packed))
        for attended in [attended_by(packed, index)]
    )


def actions_in_words(family: Family, tree: DependencyTree, pieces: Sequence[Sequence[str]] | None) -> tuple[str, ...]:
    """The derivation, `<END>` included; a word of several pieces is generated piece by piece."""
    split = [[word] for word in tree.words] if pieces is None else pieces
    names = [ROOT_PIECE, *(piece for word in split for piece in word)]
    actions = derive(family, tree, split)
    return tuple(map(str, in_words(actions, names, family.system.distances != (None,))))


def derive(family: Family, tree: DependencyTree, split: Sequence[Sequence[str]]) -> ActionBatch:
    """One derivation; pieces are numbered as they come, from 1 (0 is `<ROOT>`)."""
    numbers = iter(range(1, 1 + sum(map(len, split))))
    batch = SentenceBatch.of([tree], [[[next(numbers) for _ in word] for word in split]])
    family.system.oracle(tree)  # raises where the tree has no derivation
    return family.system.derive(batch)


def in_words(actions: ActionBatch, names: Sequence[str], swift: bool) -> list[Action]:
    """The derivation as `Action`s whose words are pieces."""
    derivation = []
    for code, piece, distance in zip(
        actions.operation.tolist(), actions.piece.tolist(), actions.distance.tolist(), strict=True
    ):
        operation = Operation(code)
        arc = operation in (Operation.LEFTARC, Operation.RIGHTARC)
        word = names[piece] if operation == Operation.GEN else None
        derivation.append(Action(operation, word, distance if arc and swift else None))
    return derivation


def reads(packed: PackedRows, index: int, names: Sequence[str], swift: bool) -> tuple[str, ...]:
    """What a row reads: the operation, the piece, or both."""
    parts = []
    code, piece = int(packed.operation[index]), int(packed.piece[index])
    if code != NOTHING:
        operation = Operation(code)
        second = "2" if operation != Operation.POP and packed.kind[index] == KindCode.STACK else ""
        distance = f"[{int(packed.distance[index])}]" if swift and operation != Operation.POP else ""
        parts.append(operation.name + second + distance)
    if piece != NOTHING:
        parts.append(names[piece])
    return tuple(parts)


def attended_by(packed: PackedRows, index: int) -> list[tuple[int, int]]:
    """(row, relative position), by row."""
    count = int(packed.keys[index])
    pairs = zip(packed.attends[index, :count].tolist(), packed.relative[index, :count].tolist(), strict=True)
    return sorted(pairs)
